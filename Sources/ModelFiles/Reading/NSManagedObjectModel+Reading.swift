public import Foundation
internal import Logging
public import ObjectGraph

extension NSManagedObjectModel {
    /// Reads a model: the current version of an `.xcdatamodeld` or `.momd`, an `.xcdatamodel`, or a `.mom`.
    ///
    /// - Parameter url: The file or bundle.
    /// - Returns: The model; nil when it cannot be read. The reason is logged; `init(reading:)` throws it.
    public convenience init?(contentsOf url: URL) {
        do {
            try self.init(reading: url)
        } catch {
            Log.model.error("\(error.localizedDescription)")
            return nil
        }
    }

    /// Reads a model, like ``init(contentsOf:)``.
    ///
    /// - Parameter url: The file or bundle.
    /// - Throws: Code 260 (`NSFileReadNoSuchFileError`) if there is no model, and 259 (`NSFileReadCorruptFileError`) for a malformed one, naming
    ///   file, line and element.
    public convenience init(reading url: URL) throws {
        self.init()
        try ModelFile.current(at: url).read(into: self)
    }

    /// Reads one version of a versioned model.
    ///
    /// - Parameters:
    ///   - url: An `.xcdatamodeld` or `.momd`.
    ///   - version: The name of the version, without its extension.
    /// - Throws: The errors of ``init(reading:)``, and code 260 for a version that does not exist.
    public convenience init(reading url: URL, version: String) throws {
        self.init()
        let versions = try ModelFile.versions(at: url)
        guard let file = versions.first(where: { $0.name == version }) else {
            throw ModelFileError.missing(
                url.path, "It has no version “\(version)”.", next: "There are: \(versions.map(\.name).joined(separator: ", ")).")
        }
        try file.read(into: self)
    }

    /// Decodes a compiled model, such as the one that a SQLite store contains.
    ///
    /// - Parameter compiledModel: The bytes of a `.mom`.
    /// - Throws: Code 259 for data that is not a compiled model.
    public convenience init(compiledModel: Data) throws {
        self.init()
        try ModelFile.read(compiledModel, form: .compiled, file: nil, into: self)
    }

    /// Parses the XML of a model.
    ///
    /// - Parameter modelContents: The bytes of the file `contents` in an `.xcdatamodel`.
    /// - Throws: Code 259 for data that is not a model, naming line and element.
    public convenience init(modelContents: Data) throws {
        self.init()
        try ModelFile.read(modelContents, form: .contents, file: nil, into: self)
    }

    /// Returns the names of the versions in a versioned model, in order.
    ///
    /// - Parameter url: An `.xcdatamodeld` or `.momd`, or a single model.
    public static func versionNames(at url: URL) throws -> [String] { try ModelFile.versions(at: url).map(\.name) }

    /// Returns the name of the current version of a bundle.
    package static func currentVersionName(at url: URL) throws -> String { try ModelFile.current(at: url).name }

    /// Returns the checksums of the versions in a compiled versioned model, by name.
    ///
    /// - Parameter url: A `.momd`.
    /// - Returns: The checksums in `VersionInfo.plist`; for versions without one, this framework's, see ``versionChecksum``.
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

// Used by the model compiler.
extension NSManagedObjectModel {
    /// The key in `VersionInfo.plist` for the module that a model was compiled for.
    package static var moduleKeyOfVersionInfo: String { ModelFile.moduleKey }
}
