internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Replaces a store by its migrated version, written elsewhere, unless the store has been changed since.
///
/// The class of the store does this if it can, under the locks of its files. The file of another store is compared by its number, size and time.
struct StoreReplacement {
    let opening: StoreOpening
    let url: URL
    /// The stamp of the files at the beginning of the migration.
    let stamp: String

    /// - Throws: Code 134090 if others have the store open.
    init(of opening: StoreOpening, at url: URL) throws {
        (self.opening, self.url) = (opening, url)
        stamp = try Self.stamp(opening, url)
    }

    private static func stamp(_ opening: StoreOpening, _ url: URL) throws -> String {
        if let files = opening.storeClass as? any MovableStore.Type { return try files.stampOfFiles(at: url, options: opening.options) }
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        let (number, size) = (attributes[.systemFileNumber] as? NSNumber, attributes[.size] as? NSNumber)
        let written = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
        return "\(number?.stringValue ?? "-") \(size?.stringValue ?? "-") \(written)"
    }

    /// Copies the store to a place without a store.
    func copy(to place: URL) throws {
        switch opening.storeClass {
        case let files as any MovableStore.Type: try files.copyClosedFiles(from: url, to: place, options: opening.options)
        case let files as any FileStore.Type:
            try files.replaceFiles(at: place, options: opening.options, from: url, sourceOptions: opening.options)
        default: try FileManager.default.copyItem(at: url, to: place)
        }
    }

    /// Replaces the older store by a complete one that is not open.
    ///
    /// - Throws: Code 134110 if the older store was changed since the migration began. It is left unchanged.
    func put(_ written: URL) throws {
        let isDone: Bool
        switch opening.storeClass {
        case let files as any MovableStore.Type:
            isDone = try files.moveFiles(from: written, to: url, options: opening.options, replacing: stamp)
        case let files as any FileStore.Type:
            isDone = try Self.stamp(opening, url) == stamp
            if isDone { try files.replaceFiles(at: url, options: opening.options, from: written, sourceOptions: opening.options) }
        default:
            isDone = try Self.stamp(opening, url) == stamp
            if isDone {
                try FileCalls.synchronize(written)
                try FileCalls.rename(written, to: url)
                try FileCalls.synchronize(url.deletingLastPathComponent())
            }
        }
        if isDone { return }
        throw CoreDataError.make(
            NSMigrationError, "The store at \(url.path) cannot be migrated.", reason: "Others have changed it meanwhile.",
            next: "Open it again to migrate it; it is as they left it.", info: [NSFilePathErrorKey: url.path])
    }
}
