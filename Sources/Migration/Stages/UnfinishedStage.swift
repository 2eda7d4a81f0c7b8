internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The mark, in the store's metadata, of a custom stage that has begun to change a store: finished work is not repeated, and a store with the mark is
/// not opened before the stage has ended.
struct UnfinishedStage {
    /// The checksums that the stage specifies for its versions.
    let source: String
    let destination: String

    init(_ stage: NSCustomMigrationStage) {
        (source, destination) = (stage.currentModel.versionChecksum, stage.nextModel.versionChecksum)
    }

    /// Reads metadata; nil if no stage is unfinished.
    init?(_ metadata: [String: Any]) {
        guard let texts = metadata[StoreOpening.unfinishedStageKey] as? [String], texts.count == 2 else { return nil }
        (source, destination) = (texts[0], texts[1])
    }

    /// Returns whether the mark is that of a stage.
    func isOf(_ stage: NSCustomMigrationStage) -> Bool {
        source == stage.currentModel.versionChecksum && destination == stage.nextModel.versionChecksum
    }

    /// Writes the mark into the files of a store that is not open.
    func write(to storeClass: NSPersistentStore.Type, at url: URL) throws {
        var metadata = try storeClass.metadataForPersistentStore(with: url)
        metadata[StoreOpening.unfinishedStageKey] = [source, destination]
        try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// Removes the mark.
    static func remove(from storeClass: NSPersistentStore.Type, at url: URL) throws {
        var metadata = try storeClass.metadataForPersistentStore(with: url)
        guard metadata.removeValue(forKey: StoreOpening.unfinishedStageKey) != nil else { return }
        try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
    }
}
