public import Foundation
internal import Logging

extension NSManagedObjectModel {
    /// Reads a model: the current version of an `.xcdatamodeld` or a `.momd`, an `.xcdatamodel`, a `.mom`.
    ///
    /// - Parameter url: the file or bundle.
    /// - Returns: nil when it cannot be read; the reason is logged. `init(reading:)` throws it.
    public convenience init?(contentsOf url: URL) {
        do {
            try self.init(reading: url)
        } catch {
            Log.model.error("\(error.localizedDescription)")
            return nil
        }
    }

    /// Reads a model, as ``init(contentsOf:)`` does.
    ///
    /// - Parameter url: the file or bundle.
    /// - Throws: code 260 (`NSFileReadNoSuchFileError`) where there is no model, and 259 (`NSFileReadCorruptFileError`) for one that is
    ///   malformed, which names file, line and element.
    public convenience init(reading url: URL) throws {
        self.init()
        try ModelFile.current(at: url).read(into: self)
    }

    /// Reads one version of a versioned model.
    ///
    /// - Parameters:
    ///   - url: an `.xcdatamodeld` or a `.momd`.
    ///   - version: the name of the version, without its ending.
    /// - Throws: as ``init(reading:)``, and code 260 for a version that is not there.
    public convenience init(reading url: URL, version: String) throws {
        self.init()
        let versions = try ModelFile.versions(at: url)
        guard let file = versions.first(where: { $0.name == version }) else {
            throw ModelFileError.missing(
                url.path, "It has no version “\(version)”.", next: "There are: \(versions.map(\.name).joined(separator: ", ")).")
        }
        try file.read(into: self)
    }

    /// Reads a compiled model, such as the one that a SQLite store keeps of itself.
    ///
    /// - Parameter compiledModel: the bytes of a `.mom`.
    /// - Throws: code 259 for data that is no compiled model.
    public convenience init(compiledModel: Data) throws {
        self.init()
        try ModelFile.read(compiledModel, form: .compiled, file: nil, into: self)
    }

    /// Reads the XML of a model.
    ///
    /// - Parameter modelContents: the bytes of the file `contents` in an `.xcdatamodel`.
    /// - Throws: code 259 for data that is no model, which names line and element.
    public convenience init(modelContents: Data) throws {
        self.init()
        try ModelFile.read(modelContents, form: .contents, file: nil, into: self)
    }

    /// The names of the versions in a versioned model, in order.
    ///
    /// - Parameter url: an `.xcdatamodeld` or a `.momd`, or a single model.
    public static func versionNames(at url: URL) throws -> [String] { try ModelFile.versions(at: url).map(\.name) }

    /// The name of the version that a bundle says is the current one.
    package static func currentVersionName(at url: URL) throws -> String { try ModelFile.current(at: url).name }

    /// The checksums of the versions in a compiled versioned model, by their names.
    ///
    /// - Parameter url: a `.momd`.
    /// - Returns: those that `VersionInfo.plist` states; for the others ours, see ``versionChecksum``.
    public class func checksumsForVersionedModel(at url: URL) throws -> [String: String] {
        var checksums: [String: String] = [:]
        for file in try ModelFile.versions(at: url) {
            if let checksum = file.checksum {
                checksums[file.name] = checksum
            } else {
                let model = NSManagedObjectModel()
                try file.read(into: model)
                checksums[file.name] = model.versionChecksum
            }
        }
        return checksums
    }
}

// For the compiler of models.
extension NSManagedObjectModel {
    /// What `VersionInfo.plist` calls the module that a model was compiled for.
    package static var moduleKeyOfVersionInfo: String { ModelFile.moduleKey }
}
