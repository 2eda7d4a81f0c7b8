internal import FileStores
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Copies a store to a new one of any kind.
package struct StoreCopying {
    private let source: StoreReference

    package init(_ source: StoreReference) { self.source = source }

    /// Returns the kind of a new store from its name.
    ///
    /// - Throws: An error with the names that determine a kind.
    package static func kind(of path: String) throws -> StoreKind {
        switch URL(fileURLWithPath: path).pathExtension.lowercased() {
        case "sqlite", "sqlite3", "db", "store": return .sqlite
        case "xml": return .xml
        case "binary", "bin": return .binary
        case "json": return .json
        case "csv": return .csv
        case "" where path.hasSuffix("/"): return .csv
        default:
            throw CommandError.make(
                "The kind of a store cannot be told from “\(PlaceText.shown(path))”.",
                next:
                    "End it with .sqlite, .xml, .binary, .json or .csv, or with a slash for a folder of CSV files; or name the kind with --kind."
            )
        }
    }

    /// Copies the store.
    ///
    /// - Parameters:
    ///   - path: The place of the copy, which must be empty; for a database its URL, whose schema must have no objects.
    ///   - kind: Its kind; nil for the one that its name determines.
    /// - Returns: The number of objects in the copy.
    /// - Throws: An error if the place is not empty, and the errors of both stores.
    package func copy(to path: String, kind: StoreKind? = nil) throws -> Int {
        if DatabaseReference.isDatabase(path) {
            guard kind == nil || kind == .postgreSQL else {
                throw CommandError.make(
                    "The store is not copied.", reason: "The place is a database, and --kind is another.", next: "Leave it out.")
            }
            let store = try opened(for: .postgreSQL)
            return try Self.count(of: try DatabaseReference(url: path).copy(store), in: store)
        }
        try StoreKind.refuseAddress(path)
        let url = URL(fileURLWithPath: path)
        let kind = try kind ?? Self.kind(of: path)
        // Another command that copies to the place at the same time waits, and finds the copy.
        let place = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).copying")
        guard let lock = try FileLock(.temporaryFile(place.path), timeout: 600) else {
            throw CommandError.make(
                "The store is not copied to \(PlaceText.shown(url.path)).",
                reason: "Another command has been copying to it for ten minutes.",
                next: "Give another place, or wait.")
        }
        defer { lock.removeFile() }
        if FileManager.default.fileExists(atPath: url.path) {
            throw CommandError.make(
                "The store is not copied to \(PlaceText.shown(url.path)).", reason: "There is something already.",
                next: "Give another place, or remove it.")
        }
        let store = try opened(for: kind)
        CSVStore.register()
        JSONStore.register()
        do {
            let copy = try store.coordinator.migratePersistentStore(
                store.store, to: url, options: nil, withType: StoreReference.type(of: kind))
            return try Self.count(of: copy, in: store)
        } catch {
            // Incomplete files are removed.
            try? FileManager.default.removeItem(at: url)
            throw error
        }
    }

    /// Opens the store that will be copied.
    ///
    /// - Throws: An error for a drafted model that lacks something that the copy would have to keep.
    private func opened(for kind: StoreKind) throws -> OpenStore {
        let store = try source.open()
        if case .drafted = store.modelOrigin, kind != .csv, kind != .json, store.kind == .sqlite || store.kind == .xml {
            throw CommandError.make(
                "The store is not copied.", reason: "It keeps no model of itself: a copy with a drafted one would lose what that lacks.",
                next: "Name its model with --model.")
        }
        try StoreCheck.requireObjects(in: store, "The store is not copied.")
        return store
    }

    /// Returns the number of objects in a copy.
    private static func count(of copy: NSPersistentStore, in store: OpenStore) throws -> Int {
        try store.read {
            var count = 0
            for entity in store.model.entities where entity.superentity == nil {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.affectedStores = [copy]
                count += try store.context.count(for: request)
            }
            return count
        }
    }
}
