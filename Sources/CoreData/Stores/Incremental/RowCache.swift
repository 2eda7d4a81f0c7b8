internal import Foundation

/// The nodes of an incremental store's objects, for as long as a context has the objects.
///
/// It answers a second context without the store, and tells what other contexts have saved.
// `lock` guards `entries`.
final class RowCache: @unchecked Sendable {
    private struct Entry {
        var node: NSIncrementalStoreNode?
        /// The IDs of relationships that the store was asked for.
        var related: [String: [NSManagedObjectID]] = [:]
        /// How many contexts have the object.
        var holders = 0
        /// A context has deleted the object; others have it still.
        var isDeleted = false
    }

    private let lock = NSLock()
    private var entries: [NSManagedObjectID: Entry] = [:]

    func node(for id: NSManagedObjectID) -> NSIncrementalStoreNode? { lock.withLock { entries[id]?.node } }

    func setNode(_ node: NSIncrementalStoreNode) {
        lock.withLock {
            entries[node.objectID, default: Entry()].node = node
            entries[node.objectID]?.isDeleted = false
        }
    }

    /// Whether a context has deleted the object.
    func isDeleted(_ id: NSManagedObjectID) -> Bool { lock.withLock { entries[id]?.isDeleted ?? false } }

    func related(_ name: String, of id: NSManagedObjectID) -> [NSManagedObjectID]? { lock.withLock { entries[id]?.related[name] } }

    func setRelated(_ ids: [NSManagedObjectID], _ name: String, of id: NSManagedObjectID) {
        lock.withLock { entries[id, default: Entry()].related[name] = ids }
    }

    /// The object has been saved: its node is the row of the save, its relationships are asked for again.
    func didSave(_ row: Row, of id: NSManagedObjectID, changed relationships: [String]) {
        lock.withLock {
            var entry = entries[id] ?? Entry()
            entry.isDeleted = false
            for name in relationships { entry.related[name] = nil }
            if let node = entry.node {
                node.adopt(row)
            } else {
                let node = NSIncrementalStoreNode(objectID: id, withValues: [:], version: 0)
                node.adopt(row)
                entry.node = node
            }
            entries[id] = entry
        }
    }

    /// The store is to be asked again.
    func forget(_ id: NSManagedObjectID) {
        lock.withLock {
            entries[id]?.node = nil
            entries[id]?.related = [:]
        }
    }

    /// The store is to be asked again for everything.
    func forgetAll() {
        lock.withLock {
            for id in entries.keys {
                entries[id]?.node = nil
                entries[id]?.related = [:]
            }
        }
    }

    /// The object has been deleted: contexts that still have it are to learn so when they save it.
    func didDelete(_ id: NSManagedObjectID) {
        lock.withLock { entries[id] = entries[id].map { Entry(holders: $0.holders, isDeleted: true) } }
    }

    func retain(_ ids: [NSManagedObjectID]) {
        lock.withLock { for id in ids { entries[id, default: Entry()].holders += 1 } }
    }

    func release(_ ids: [NSManagedObjectID]) {
        lock.withLock {
            for id in ids {
                guard var entry = entries[id] else { continue }
                entry.holders -= 1
                entries[id] = entry.holders > 0 ? entry : nil
            }
        }
    }
}
