internal import Foundation
internal import Logging

/// Finds models: in the bundle of the program, in loaded bundles, and in the resource bundles that packages have beside the executable.
enum ModelLocator {
    /// The folders to look in.
    static func folders(of bundles: [Bundle]?) -> [URL] {
        var folders: [URL] = []
        if let bundles {
            for bundle in bundles { folders += self.folders(of: bundle) }
        } else {
            folders += self.folders(of: Bundle.main)
            // Packages put their resources beside the executable; tests run from one that lies elsewhere, so loaded bundles count as well.
            let beside = [Bundle.main.bundleURL] + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
            for folder in beside + arguments {
                let contents = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                folders += contents.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted().map(
                    folder.appendingPathComponent)
            }
            for bundle in Bundle.allBundles { folders += self.folders(of: bundle) }
        }
        var seen: Set<String> = []
        return folders.map(\.standardizedFileURL).filter { seen.insert($0.path).inserted }
    }

    /// The folder of what the program was started with: a test runner is handed the tests.
    private static var arguments: [URL] {
        CommandLine.arguments.filter { $0.hasSuffix(".xctest") }.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    }

    private static func folders(of bundle: Bundle) -> [URL] {
        [bundle.resourceURL, bundle.bundleURL].compactMap { $0 }
    }

    /// The models in bundles, each name once: compiled ones before sources.
    static func models(in bundles: [Bundle]?) -> [URL] {
        var found: [URL] = []
        for folder in folders(of: bundles) {
            let contents = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
            var names: Set<String> = []
            for ending in ModelFile.endings {
                for file in contents where file.hasSuffix(".\(ending)") && names.insert(String(file.dropLast(ending.count + 1))).inserted {
                    found.append(folder.appendingPathComponent(file))
                }
            }
        }
        return found
    }

    /// Reads the model called `name`: the one in the program, or in a file.
    ///
    /// - Throws: an error that says where it was looked for.
    static func readModel(named name: String) throws -> NSManagedObjectModel {
        if let embedded = EmbeddedModel.called(name) { return try embedded.model() }
        guard let url = model(named: name) else {
            throw ModelFileError.missing(
                name,
                "There is no \(ModelFile.endings.map { "\(name).\($0)" }.joined(separator: ", ")) in "
                    + folders(of: nil).map(\.path).joined(separator: ", ") + ", and none in the program.",
                next: "Give the target that has \(name).xcdatamodeld the plugin ModelCompiler, or use init(name:managedObjectModel:).")
        }
        return try NSManagedObjectModel(reading: url)
    }

    /// The models called as one that is in the program are that one, if they are not in bundles that were named.
    static func embedded(in bundles: [Bundle]?) -> [EmbeddedModel.Type] { bundles == nil ? EmbeddedModel.all : [] }

    /// The versions of each model in bundles, and in the program where no bundles are named.
    static func versions(in bundles: [Bundle]?) -> [[ModelFile]] {
        let embedded = embedded(in: bundles)
        let names = Set(embedded.map(\.name))
        return embedded.map(\.files)
            + models(in: bundles).filter { bundles != nil || !names.contains($0.deletingPathExtension().lastPathComponent) }
            .compactMap { url in
                do { return try ModelFile.versions(at: url) } catch {
                    Log.model.error("\(error.localizedDescription)")
                    return nil
                }
            }
    }

    /// The model called `name`.
    private static func model(named name: String) -> URL? {
        for folder in folders(of: nil) {
            for ending in ModelFile.endings {
                let url = folder.appendingPathComponent("\(name).\(ending)")
                if FileManager.default.fileExists(atPath: url.path) { return url }
            }
        }
        return nil
    }
}
