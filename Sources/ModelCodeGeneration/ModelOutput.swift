package import Foundation

/// Writes the output of a model's compilation to the directory of a build.
package struct ModelOutput {
    /// The output directory.
    package let folder: URL
    /// The names of the Swift files that the build expects, as determined by the plugin.
    package let expected: [String]

    /// Creates an output to a directory for the expected files.
    package init(folder: URL, expected: [String]) {
        self.folder = folder
        self.expected = expected
    }

    /// Writes the files. Unchanged files are not written, so that they are not compiled again.
    ///
    /// A build system determines the files once, and may not do so again when an entity is added. Therefore an unexpected file is appended to the one
    /// that every model has, and an expected file that is no longer generated is empty.
    package func write(_ compilation: ModelCompilation) throws {
        let expected = Set(expected)
        var embedding = compilation.embedding.contents
        // Bounded: the names are a set.
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
        // The build copies the directory when the directory itself has changed.
        try? FileManager.default.removeItem(at: bundle)
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for file in compilation.resources { try file.data.write(to: bundle.appendingPathComponent(file.name)) }
    }

    static func write(_ text: String, to url: URL) throws {
        let data = Data(text.utf8)
        if (try? Data(contentsOf: url)) != data { try data.write(to: url, options: .atomic) }
    }
}
