internal import Foundation
package import ObjectGraph
internal import Platform
internal import PropertyLists

/// A version of a model in a file or bundle.
package struct ModelFile {
    package enum Form {
        /// The XML of an `.xcdatamodel`.
        case contents
        /// The archive of an `.xcdatamodel` from before Xcode 4.
        case elements
        /// The archive of a `.mom`.
        case compiled
    }

    let form: Form
    /// The file that contains the model.
    let url: URL
    /// The name of the version: that of its `.xcdatamodel` or `.mom`.
    let name: String
    /// Whether the version is the current one of its bundle, or is not in a bundle.
    let isCurrent: Bool
    /// The hashes by Apple's tools, from `VersionInfo.plist`.
    var hashes: [String: Data]?
    /// The checksum from `VersionInfo.plist`.
    var checksum: String?
    /// The module for class names without one, if the model was compiled for a module.
    var module: String?
    /// The content of the file, for a model embedded in the program.
    private var contents: Data?

    /// The extensions of model files and bundles, in order of preference.
    static let endings = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    /// Returns the version to read at `url`: the current one of a bundle.
    static func current(at url: URL) throws -> ModelFile {
        try current(of: versions(at: url), in: url)
    }

    /// Returns the version to read among those of a bundle.
    static func current(of versions: [ModelFile], in bundle: URL? = nil) throws -> ModelFile {
        if let current = versions.first(where: \.isCurrent) ?? (versions.count == 1 ? versions.first : nil) { return current }
        let path = bundle?.path ?? versions.first?.url.deletingLastPathComponent().path ?? "the bundle"
        throw ModelFileError.missing(
            path, versions.isEmpty ? "It holds no version of a model." : "It does not say which of its versions is the current one.",
            next: versions.isEmpty ? nil : "Name a version: \(versions.map(\.name).joined(separator: ", ")).")
    }

    /// Returns all versions at `url`, by name.
    static func versions(at url: URL) throws -> [ModelFile] {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw ModelFileError.missing(url.path, "There is no such file.")
        }
        let name = url.deletingPathExtension().lastPathComponent
        switch (url.pathExtension, isDirectory.boolValue) {
        case ("xcdatamodeld", true): return try sources(in: url)
        case ("momd", true): return try compiled(in: url)
        case ("mom", false): return [ModelFile(form: try compiledForm(of: url), url: url, name: name, isCurrent: true)]
        case ("omo", false):
            // The format of optimized models is not public; the compiler writes the archive beside it.
            let archive = url.deletingPathExtension().appendingPathExtension("mom")
            guard FileManager.default.fileExists(atPath: archive.path) else {
                throw ModelFileError.missing(
                    url.path, "The optimised form of a model cannot be read, and there is no \(archive.lastPathComponent) beside it.")
            }
            return [ModelFile(form: .compiled, url: archive, name: name, isCurrent: true)]
        case ("xcdatamodel", true): return [try source(at: url, isCurrent: true)]
        case (_, false): return [try ModelFile(plainFile: url)]
        default:
            throw ModelFileError.missing(
                url.path, "It is not a model: those end in \(endings.map { ".\($0)" }.joined(separator: ", ")) or .omo.")
        }
    }

    /// Opens a file whose name does not identify a model: `contents`, or saved data.
    private init(plainFile url: URL) throws {
        let start = try RegularFile.start(of: url, 8)
        form = BinaryPropertyList.isOne(start) ? (url.lastPathComponent == "elements" ? .elements : .compiled) : .contents
        self.url = url
        name = url.lastPathComponent
        isCurrent = true
    }

    init(form: Form, url: URL, name: String, isCurrent: Bool, contents: Data? = nil) {
        self.contents = contents
        self.form = form
        self.url = url
        self.name = name
        self.isCurrent = isCurrent
    }

    private static func source(at url: URL, isCurrent: Bool) throws -> ModelFile {
        let name = url.deletingPathExtension().lastPathComponent
        let contents = url.appendingPathComponent("contents")
        if FileManager.default.fileExists(atPath: contents.path) {
            return ModelFile(form: .contents, url: contents, name: name, isCurrent: isCurrent)
        }
        let elements = url.appendingPathComponent("elements")
        guard FileManager.default.fileExists(atPath: elements.path) else {
            throw ModelFileError.missing(url.path, "There is neither a file “contents” nor a file “elements” in it.")
        }
        return ModelFile(form: .elements, url: elements, name: name, isCurrent: isCurrent)
    }

    private static func names(in url: URL, ending: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasSuffix(".\(ending)") }
        return names.map { String($0.dropLast(ending.count + 1)) }.sorted().map { "\($0).\(ending)" }
    }

    private static func sources(in url: URL) throws -> [ModelFile] {
        let names = try names(in: url, ending: "xcdatamodel")
        let current: String?
        let mark = url.appendingPathComponent(".xccurrentversion")
        if FileManager.default.fileExists(atPath: mark.path) {
            current = try dictionary(at: mark)["_XCCurrentVersionName"] as? String
            if let current, !names.contains(current) {
                throw ModelFileError.missing(
                    mark.path, "It names “\(current)” as the current version, which is not there.",
                    next: "There are: \(names.joined(separator: ", ")).")
            }
        } else {
            current = names.count == 1 ? names[0] : nil
        }
        return try names.map { try source(at: url.appendingPathComponent($0), isCurrent: $0 == current) }
    }

    private static func compiled(in url: URL) throws -> [ModelFile] {
        let names = try names(in: url, ending: "mom").map { String($0.dropLast(4)) }
        let information = url.appendingPathComponent("VersionInfo.plist")
        let dictionary = FileManager.default.fileExists(atPath: information.path) ? try dictionary(at: information) : [:]
        let current = dictionary["NSManagedObjectModel_CurrentVersionName"] as? String ?? (names.count == 1 ? names[0] : nil)
        if let current, !names.contains(current) {
            throw ModelFileError.missing(
                information.path, "It names “\(current)” as the current version, which is not there.",
                next: "There are: \(names.joined(separator: ", ")).")
        }
        let hashes = dictionary["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]] ?? [:]
        let checksums = dictionary["NSManagedObjectModel_VersionChecksums"] as? [String: String] ?? [:]
        return try names.map { name in
            let version = url.appendingPathComponent("\(name).mom")
            var file = ModelFile(form: try compiledForm(of: version), url: version, name: name, isCurrent: name == current)
            file.module = dictionary[moduleKey] as? String
            file.hashes = hashes[name]
            file.checksum = checksums[name]
            return file
        }
    }

    /// The key in `VersionInfo.plist` for the module that the `ModelCompiler` plugin has compiled a model for.
    static let moduleKey = "OpenCoreData_Module"

    /// Compilers write archives; early builds of the `ModelCompiler` plugin wrote XML.
    private static func compiledForm(of url: URL) throws -> Form {
        let start: Data
        do {
            start = try RegularFile.start(of: url, 8)
        } catch { throw ModelFileError.missing(url.path, "It cannot be opened: \(error.localizedDescription)") }
        return start.starts(with: Data("<?xml".utf8)) ? .contents : .compiled
    }

    private static func dictionary(at url: URL) throws -> [String: Any] {
        do {
            return try PropertyListValues.dictionary(RegularFile.data(url))
        } catch let error as BinaryPropertyList.FormatError { throw ModelFileError.malformed(url.path, error.reason) }
    }

    /// The bytes of the version.
    private func data() throws -> Data {
        do { return try contents ?? RegularFile.data(url) } catch {
            throw ModelFileError.missing(url.path, "It cannot be opened: \(error.localizedDescription)")
        }
    }

    /// Returns the profiles of the version's entities without reading the model; nil if only the model has them.
    func profiles() -> [String: EntityProfile]? {
        guard case .contents = form, let data = try? data() else { return nil }
        return EntityProfiles.shared.profiles(in: data)
    }

    /// Returns the hashes of the version's entities: those by Apple's tools, if there are any.
    func hashes(of profiles: [String: EntityProfile]) -> [String: StoreModelHashes.Hashes] {
        Dictionary(
            // Bounded: the keys of a dictionary.
            uniqueKeysWithValues: profiles.map { name, profile in
                (name, StoreModelHashes.Hashes(version: hashes?[name] ?? profile.ownHash, own: profile.ownHash))
            })
    }

    /// Reads the version into the empty `model`.
    func read(into model: NSManagedObjectModel) throws {
        try ModelFile.read(data(), form: form, file: url.path, into: model)
        if contents == nil, let bundle = bundleOfVersions { model.versionsURL = bundle }
        for entity in model.entities {
            entity.moduleOfClasses = module
            if let hash = hashes?[entity.name ?? ""] { entity.adopt(versionHash: hash) }
        }
    }

    package static func read(_ data: Data, form: Form, file: String?, into model: NSManagedObjectModel) throws {
        switch form {
        case .contents: try ContentsReader.read(data, file: file, into: model)
        case .elements: try ElementsReader.read(data, file: file, into: model)
        case .compiled: try CompiledModelReader.read(data, file: file, into: model)
        }
    }
}
