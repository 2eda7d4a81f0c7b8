package import Foundation
internal import Logging
package import ObjectGraph

/// A version of a model that the program has: embedded, or in a file.
package struct ModelVersion {
    private let file: ModelFile
    /// The name of the version, such as “Music 2”.
    package var name: String { file.name }
    /// Whether it is the current version of its model.
    package var isCurrent: Bool { file.isCurrent }

    /// The file of the version.
    package var place: URL { file.url.resolvingSymlinksInPath() }

    /// The checksum in `VersionInfo.plist`; nil if there is none.
    package var checksum: String? { file.checksum }

    /// The hashes in `VersionInfo.plist`; nil if there are none.
    package var listedHashes: [String: Data]? { file.hashes }

    /// Returns the profiles of the version's entities without reading the model; nil if only the model has them.
    package func profiles() -> [String: EntityProfile]? { file.profiles() }

    /// Returns the hashes that entities of some profiles have in the version.
    package func hashes(of profiles: [String: EntityProfile]) -> [String: StoreModelHashes.Hashes] { file.hashes(of: profiles) }

    /// Reads the version.
    ///
    /// - Throws: Code 259 or 260 for a file that cannot be read.
    package func model() throws -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        try file.read(into: model)
        return model
    }

    /// Returns the versions of each model in bundles, in the order of their names, in which 10 comes after 9.
    ///
    /// - Parameter bundles: The bundles; nil for all bundles of the program, and the models embedded in it.
    package static func ofModels(in bundles: [Bundle]?) -> [[ModelVersion]] { ModelLocator.versions(in: bundles).map(inOrder) }

    /// Returns the versions of the model at a URL, in order.
    ///
    /// - Throws: Code 259 or 260 for a bundle that cannot be read.
    package static func ofModel(at url: URL) throws -> [ModelVersion] { inOrder(try ModelFile.versions(at: url)) }

    /// Returns the versions of the model called `name` in a bundle, or in all bundles of the program; empty if there is no such model.
    package static func ofModel(named name: String, in bundle: Bundle?) -> [ModelVersion] {
        if let embedded = ModelLocator.embedded(in: bundle.map { [$0] }).first(where: { $0.name == name }) {
            return inOrder(embedded.files)
        }
        for url in ModelLocator.models(in: bundle.map { [$0] }) where url.deletingPathExtension().lastPathComponent == name {
            do { return try ofModel(at: url) } catch { Log.model.error("\(error.localizedDescription)") }
        }
        return []
    }

    private static func inOrder(_ files: [ModelFile]) -> [ModelVersion] {
        files.sorted { isEarlier($0.name, $1.name) }.map(ModelVersion.init)
    }

    /// Returns whether a version's name comes before another's: numbers in them are compared as such, and “Music” comes before “Music 2”.
    package static func isEarlier(_ name: String, _ other: String) -> Bool {
        switch name.compare(other, options: [.numeric, .caseInsensitive]) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: name < other
        }
    }
}

extension ModelFile {
    /// The bundle of the version; nil if it is in none.
    var bundleOfVersions: URL? {
        // The version is a file of a .momd, or a file in a folder of an .xcdatamodeld.
        let folder = url.deletingLastPathComponent()
        return [folder, folder.deletingLastPathComponent()].first { ["momd", "xcdatamodeld"].contains($0.pathExtension) }
    }
}
