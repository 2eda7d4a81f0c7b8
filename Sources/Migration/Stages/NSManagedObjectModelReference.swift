public import Foundation
internal import Logging
internal import ModelFiles
public import ObjectGraph
internal import Platform
internal import Predicates

/// Names a version of a model for the stages of a migration; the model is read when it is needed.
///
/// Source: [NSManagedObjectModelReference](https://developer.apple.com/documentation/coredata/nsmanagedobjectmodelreference).
// The model that was found is in a `LockedBox`; the rest is immutable.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    private enum Place {
        case model(NSManagedObjectModel)
        case file(URL)
        case name(String, Bundle?)
        case hashes([String: Data], Bundle?)
    }

    private let place: Place
    /// The checksum of the version, see ``NSManagedObjectModel/versionChecksum``.
    public let versionChecksum: String
    private let found = LockedBox<NSManagedObjectModel?>(nil)

    /// Creates a reference to a model.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        (place, self.versionChecksum) = (.model(model), versionChecksum)
    }

    /// Creates a reference to a model in a file; of a bundle of versions, the one with the checksum.
    public init(fileURL: URL, versionChecksum: String) {
        (place, self.versionChecksum) = (.file(fileURL), versionChecksum)
    }

    /// Creates a reference to a model by its name.
    ///
    /// - Parameters:
    ///   - modelName: The name of the model, one of whose versions has the checksum, or the name of a version.
    ///   - bundle: The bundle to search; nil for all bundles of the program, and the models embedded in it.
    ///   - versionChecksum: The checksum of the version.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        (place, self.versionChecksum) = (.name(modelName, bundle), versionChecksum)
    }

    /// Creates a reference to the version with some entity hashes.
    ///
    /// - Parameters:
    ///   - versionHash: The hashes by the names of the entities.
    ///   - bundle: The bundle to search; nil for all bundles of the program, and the models embedded in it.
    ///   - versionChecksum: The checksum of the version.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        var hashes: [String: Data] = [:]
        for (name, hash) in versionHash { hashes["\(name.base)"] = hash as? Data }
        (place, self.versionChecksum) = (.hashes(hashes, bundle), versionChecksum)
    }

    /// The model. If it cannot be found, the reason is logged and the model has no entities; a migration fails with the reason.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch {
            Log.model.error("\(error.localizedDescription)")
            return NSManagedObjectModel()
        }
    }

    /// Returns the model.
    ///
    /// - Throws: Code 134504 (`NSManagedObjectModelReferenceNotFoundError`) if there is none.
    final func resolve() throws -> NSManagedObjectModel {
        if let model = found.withLock({ $0 }) { return model }
        let model = try read()
        return found.withLock { found in
            if let found { return found }
            found = model
            return model
        }
    }

    private func read() throws -> NSManagedObjectModel {
        switch place {
        case .model(let model): return noted(model, "The model")
        case .file(let url):
            let versions: [ModelVersion]
            do { versions = try ModelVersion.ofModel(at: url) } catch { throw missing("the model at \(url.path)", [], cause: error) }
            return try version(of: versions, called: nil, "the model at \(url.path)")
        case .name(let name, let bundle):
            let versions = ModelVersion.ofModel(named: name, in: bundle)
            if !versions.isEmpty { return try version(of: versions, called: name, "the model “\(name)”") }
            let named = ModelVersion.ofModels(in: bundle.map { [$0] }).joined().filter { $0.name == name }
            return try version(of: named, called: name, "the model “\(name)”")
        case .hashes(let hashes, let bundle):
            let versions = ModelVersion.ofModels(in: bundle.map { [$0] }).flatMap { $0 }
            let wanted = StoreModelHashes([NSStoreModelVersionHashesKey: hashes])
            for version in versions {
                if let wanted, let profiles = version.profiles(), !wanted.areThose(version.hashes(of: profiles)) { continue }
                if let model = try? version.model(),
                    model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
                {
                    return model
                }
            }
            throw missing("a model with the hashes of \(hashes.keys.sorted().joined(separator: ", "))", versions)
        }
    }

    /// Returns the version with the checksum; without a checksum, the only version, or the one with the name. Apple's checksums do not apply to
    /// models that were read from XML.
    private func version(of versions: [ModelVersion], called name: String?, _ what: String) throws -> NSManagedObjectModel {
        // If only the checksum matters, the other versions need not be read.
        for version in versions where version.isKnownToHaveChecksum(versionChecksum) {
            if let model = try? version.model(), version.hasChecksum(versionChecksum, model) { return model }
        }
        var models: [(version: ModelVersion, model: NSManagedObjectModel)] = []
        for version in versions {
            do { models.append((version, try version.model())) } catch { throw missing(what, versions, cause: error) }
        }
        if let same = models.first(where: { $0.version.hasChecksum(versionChecksum, $0.model) }) { return same.model }
        if models.count == 1 { return noted(models[0].model, "The version “\(models[0].version.name)”") }
        if let named = models.first(where: { $0.version.name == name }) { return noted(named.model, "The version “\(named.version.name)”") }
        throw missing(what, versions)
    }

    private func noted(_ model: NSManagedObjectModel, _ what: String) -> NSManagedObjectModel {
        if !versionChecksum.isEmpty, ![model.versionChecksum, model.ownVersionChecksum].contains(versionChecksum) {
            Log.model.notice(
                "\(what) has the checksum \(model.versionChecksum), where a reference says \(versionChecksum). It is used nevertheless.")
        }
        return model
    }

    private func missing(_ what: String, _ versions: [ModelVersion], cause: (any Error)? = nil) -> NSError {
        let known = versions.map { version in
            let checksum = (try? version.model().versionChecksum).map { " (\($0))" } ?? ""
            return "“\(version.name)”\(checksum)"
        }
        return CoreDataError.make(
            NSManagedObjectModelReferenceNotFoundError, "No version with the checksum \(versionChecksum) was found: \(what).",
            reason: known.isEmpty ? "There is no version." : "There are: \(known.joined(separator: ", ")).",
            next: "Give the checksum of one of the versions, or add the version to the bundle.", cause: cause)
    }
}

extension ModelVersion {
    /// Returns whether the version is known to have a checksum without reading it. False means unknown.
    func isKnownToHaveChecksum(_ checksum: String) -> Bool {
        if self.checksum == checksum { return true }
        guard let entities = profiles().map(hashes(of:)) else { return false }
        return [entities.mapValues(\.version), entities.mapValues(\.own)].contains {
            NSManagedObjectModel.versionChecksum(of: $0) == checksum
        }
    }

    /// Returns whether the version has a checksum: that of `VersionInfo.plist`, or of its entities.
    func hasChecksum(_ checksum: String, _ model: NSManagedObjectModel) -> Bool {
        self.checksum == checksum || model.versionChecksum == checksum || model.ownVersionChecksum == checksum
    }
}
