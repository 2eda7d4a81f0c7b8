internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// The place of the migrated store: its files are written in a folder beside it, and moved into place when they are complete.
struct MigrationDestination {
    /// The way in which the store gets to its place.
    private enum Kind {
        /// Files that the store class copies.
        case files(any FileStore.Type)
        /// The file or folder of an atomic store.
        case atomic
        /// Any other store is filled in place.
        case direct
    }
    let url: URL
    let type: String
    let options: [AnyHashable: Any]?
    private let kind: Kind
    private let isPersistent: Bool

    init(url: URL, type: String, options: [AnyHashable: Any]?) throws {
        self.url = url
        self.type = type
        var options = options
        options?[NSReadOnlyPersistentStoreOption] = nil
        // Recreating a store is not a change that others need to know about.
        options?[NSPersistentHistoryTrackingKey] = nil
        self.options = Self.withoutMigration(options)
        guard let storeClass = NSPersistentStoreCoordinator.registeredStoreTypes[type] else {
            throw CoreDataError.make(
                NSMigrationManagerDestinationStoreError, "The store cannot be migrated.",
                reason: "There is no store class for the type “\(type)”.", next: "Call registerStoreClass(_:forStoreType:) first.")
        }
        isPersistent = storeClass.isPersistent
        if url.isFileURL, storeClass.isSingleStoreURL(url), isPersistent {
            kind = (storeClass as? any FileStore.Type).map { .files($0) } ?? (storeClass is NSAtomicStore.Type ? .atomic : .direct)
        } else {
            kind = .direct
        }
    }

    /// Returns options without those that migrate a store when it is opened.
    static func withoutMigration(_ options: [AnyHashable: Any]?) -> [AnyHashable: Any]? {
        var options = options
        for key in [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            "NSPersistentStoreStagedMigrationManagerOptionKey", "NSPersistentStoreDeferredLightweightMigrationOptionKey",
        ] { options?[key] = nil }
        return options
    }

    /// Whether the store may be saved repeatedly while it is filled; an atomic store writes its whole file each time.
    var savesInParts: Bool {
        if case .atomic = kind {
            false
        } else {
            NSPersistentStoreCoordinator.registeredStoreTypes[type].map { !($0 is NSAtomicStore.Type) } ?? true
        }
    }
    /// Whether the store is made in files of its own, which are moved into place.
    var hasFiles: Bool { if case .direct = kind { false } else { true } }
    /// Whether a migration that was killed can be resumed.
    var isResumable: Bool { if case .files = kind { true } else { false } }

    /// The folder of the unfinished store.
    var folder: URL { url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent)-migration", isDirectory: true) }
    /// The place of the store while it is filled.
    var unfinished: URL { if case .direct = kind { url } else { folder.appendingPathComponent(url.lastPathComponent) } }
    var journal: URL { folder.appendingPathComponent("journal") }

    /// Whether the place of the store is occupied.
    var isTaken: Bool {
        guard case .direct = kind else {
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return false }
            // A destroyed store leaves an empty file.
            return attributes[.type] as? FileAttributeType != .typeRegular || (attributes[.size] as? NSNumber)?.intValue != 0
        }
        return false
    }

    /// Makes the folder of the unfinished store, empty.
    func prepare() throws {
        if case .direct = kind { return }
        try removeUnfinished()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func removeUnfinished() throws {
        if case .direct = kind { return }
        if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    }

    /// Moves the complete store, which is closed, to its place, and syncs it.
    func moveIntoPlace() throws {
        switch kind {
        case .direct: return
        case .files(let files as any MovableStore.Type):
            _ = try files.moveFiles(from: unfinished, to: url, options: options, replacing: nil)
        case .files(let files): try files.replaceFiles(at: url, options: options, from: unfinished, sourceOptions: options)
        case .atomic:
            try synchronize(unfinished)
            // An empty file may be there.
            try FileCalls.rename(unfinished, to: url)
            try synchronize(url.deletingLastPathComponent())
        }
        do { try removeUnfinished() } catch { Log.store.notice("The folder \(folder.path) stays: \(error.localizedDescription)") }
    }

    /// Syncs a file, or a folder and its contents.
    private func synchronize(_ url: URL) throws {
        if url == unfinished, let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil) {
            for case let file as URL in files { try FileCalls.synchronize(file) }
        }
        try FileCalls.synchronize(url)
    }
}
