package import Foundation

/// Writes what a model was compiled to into the folder of a build.
package struct ModelOutput {
    /// The folder.
    package let folder: URL
    /// The names of the Swift files that the build expects, as the plugin has found them by a look at the model.
    package let expected: [String]

    /// Makes an output to a folder that is to hold the expected files.
    package init(folder: URL, expected: [String]) {
        self.folder = folder
        self.expected = expected
    }

    /// Writes the files. What is there already in the same words is left alone, so that it is not compiled again.
    ///
    /// A build system plans once which files there will be, and may not ask again when an entity is added. So a file that is not expected goes
    /// into the one that every model has, and one that is expected and not generated any more is left empty.
    package func write(_ compilation: ModelCompilation) throws {
        let expected = Set(expected)
        var embedding = compilation.embedding.contents
        var contents = Dictionary(uniqueKeysWithValues: expected.map { ($0, "") })
        for file in compilation.sources {
            if expected.contains(file.name) { contents[file.name] = file.contents } else { embedding += "\n" + file.contents }
        }
        contents[compilation.embedding.name] = embedding
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, text) in contents { try Self.write(text, to: folder.appendingPathComponent(name)) }
        try writeResources(of: compilation)
    }

    private func writeResources(of compilation: ModelCompilation) throws {
        let bundle = folder.appendingPathComponent("\(compilation.name).momd")
        let present = Set((try? FileManager.default.contentsOfDirectory(atPath: bundle.path)) ?? [])
        let isSame =
            present == Set(compilation.resources.map(\.name))
            && compilation.resources.allSatisfy {
                (try? Data(contentsOf: bundle.appendingPathComponent($0.name))) == $0.data
            }
        guard !isSame else { return }
        // The build copies the folder when the folder itself is another than before.
        try? FileManager.default.removeItem(at: bundle)
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for file in compilation.resources { try file.data.write(to: bundle.appendingPathComponent(file.name)) }
    }

    private static func write(_ text: String, to url: URL) throws {
        let data = Data(text.utf8)
        if (try? Data(contentsOf: url)) != data { try data.write(to: url, options: .atomic) }
    }
}
