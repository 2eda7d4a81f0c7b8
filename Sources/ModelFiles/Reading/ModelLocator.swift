internal import Foundation
internal import Logging
internal import ObjectGraph

/// Finds models in the main bundle of the program, in loaded bundles, and in the resource bundles that packages place beside the
/// executable.
enum ModelLocator {
    /// Returns the directories to search.
    static func folders(of bundles: [Bundle]?) -> [URL] {
        var folders: [URL] = []
        if let bundles {
            for bundle in bundles { folders += self.folders(of: bundle) }
        } else {
            folders += self.folders(of: Bundle.main)
            // Packages place their resources beside the executable; test runners are elsewhere, so loaded bundles are searched as well.
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

    /// The directories of the program's arguments: a test runner receives the path of the tests.
    private static var arguments: [URL] {
        CommandLine.arguments.filter { $0.hasSuffix(".xctest") }.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    }

    private static func folders(of bundle: Bundle) -> [URL] {
        [bundle.resourceURL, bundle.bundleURL].compactMap { $0 }
    }

    /// Returns the models in bundles, each name once: compiled ones take precedence over sources.
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

    /// Reads the model called `name`: the one embedded in the program, or one in a file.
    ///
    /// - Throws: An error that lists the searched places.
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

    /// Returns the embedded models, which take precedence over files of the same name: they belong to the main bundle, as the models of an
    /// app do. `Bundle.allBundles` contains that bundle on Apple's platforms and is empty in programs of other platforms.
    static func embedded(in bundles: [Bundle]?) -> [EmbeddedModel.Type] {
        guard let bundles, !bundles.isEmpty else { return EmbeddedModel.all }
        let main = Bundle.main.bundleURL.standardizedFileURL
        return bundles.contains { $0.bundleURL.standardizedFileURL == main } ? EmbeddedModel.all : []
    }

    /// Returns the versions of each model in bundles, and in the program if the main bundle is among them or no bundles are given.
    static func versions(in bundles: [Bundle]?) -> [[ModelFile]] {
        let embedded = embedded(in: bundles)
        let names = Set(embedded.map(\.name))
        return embedded.map(\.files)
            + models(in: bundles).filter { !names.contains($0.deletingPathExtension().lastPathComponent) }
            .compactMap { url in
                do { return try ModelFile.versions(at: url) } catch {
                    Log.model.error("\(error.localizedDescription)")
                    return nil
                }
            }
    }

    /// Returns the URL of the model called `name`.
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
