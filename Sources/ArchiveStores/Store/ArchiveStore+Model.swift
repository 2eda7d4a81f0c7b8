package import Foundation
internal import ModelFiles
@_spi(Stores) package import ObjectGraph
internal import Platform
internal import Predicates

/// The file keeps the model that it was written with: Apple's files have only its hashes.
extension ArchiveStore: ModelKeepingStore {
    package static func keptModel(at url: URL, options: [AnyHashable: Any]? = nil) throws -> NSManagedObjectModel? {
        let file = ArchiveFile(url)
        guard let read = try file.read() else { throw file.failure(ENOENT, "read", isWriting: false) }
        guard let content = try modelContent(in: read.bytes, of: file) else { return nil }
        let model = NSManagedObjectModel()
        try ModelFile.read(content, form: .compiled, file: file.path, into: model)
        // Another program may have written the file since, with another version, and have kept a copy that it does not know.
        let hashes = try metadata(in: read.bytes, of: file)[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        return hashes.allSatisfy { name, hash in model.entitiesByName[name]?.versionHash == hash } ? model : nil
    }

    /// Returns the compiled model of the coordinator, for programs that have none; nil for a model without a compiled form.
    final func modelContent() -> Data? {
        modelCopy.withLock { copy in
            if copy.isMade { return copy.data }
            let model = persistentStoreCoordinator?.managedObjectModel
            copy = (true, (try? model?.compiledModel()) ?? (try? model?.compiledArchive()))
            return copy.data
        }
    }

    /// Whether the file is of the version of the coordinator's model, by hashes that can be compared.
    final func isOfOwnModel(_ metadata: [String: Any]) -> Bool {
        guard metadata[Self.ownHashesKey] != nil, let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else {
            return false
        }
        return hashes == Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}
