internal import Foundation

/// The nodes of an incremental store's objects, for as long as a context has the objects.
///
/// It answers a second context without the store, and tells what other contexts have saved.
// `lock` guards `entries`.
final class RowCache: @unchecked Sendable {
    private struct Entry {
        var node: NSIncrementalStoreNode?
        /// When the node came, in nanoseconds of the system's uptime.
        var nodeTime: UInt64 = 0
        /// The IDs of relationships that the store was asked for, and when.
        var related: [String: (ids: [NSManagedObjectID], time: UInt64)] = [:]
        /// How many contexts have the object.
        var holders = 0
        /// A context has deleted the object; others have it still.
        var isDeleted = false
    }

    private let lock = NSLock()
    private var entries: [NSManagedObjectID: Entry] = [:]

    func node(for id: NSManagedObjectID) -> NSIncrementalStoreNode? { lock.withLock { entries[id]?.node } }

    /// The node unless it is older than so many seconds; any age will do for a negative number.
    func node(for id: NSManagedObjectID, notOlderThan age: TimeInterval) -> NSIncrementalStoreNode? {
        lock.withLock {
            guard let entry = entries[id], let node = entry.node, Self.isFresh(entry.nodeTime, age) else { return nil }
            return node
        }
    }

    /// Those of many objects that have no such node.
    func withoutNode(_ ids: [NSManagedObjectID], notOlderThan age: TimeInterval) -> [NSManagedObjectID] {
        lock.withLock {
            ids.filter { id in
                guard let entry = entries[id], entry.node != nil else { return true }
                return !Self.isFresh(entry.nodeTime, age)
            }
        }
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private static func isFresh(_ time: UInt64, _ age: TimeInterval) -> Bool {
        age < 0 || Double(now &- time) < age * 1e9
    }

    func setNode(_ node: NSIncrementalStoreNode) {
        lock.withLock {
            var entry = entries[node.objectID] ?? Entry()
            entry.node = node
            entry.nodeTime = Self.now
            entry.isDeleted = false
            entries[node.objectID] = entry
        }
    }

    /// Whether a context has deleted the object.
    func isDeleted(_ id: NSManagedObjectID) -> Bool { lock.withLock { entries[id]?.isDeleted ?? false } }

    func related(_ name: String, of id: NSManagedObjectID, notOlderThan age: TimeInterval = -1) -> [NSManagedObjectID]? {
        lock.withLock {
            guard let known = entries[id]?.related[name], Self.isFresh(known.time, age) else { return nil }
            return known.ids
        }
    }

    func setRelated(_ ids: [NSManagedObjectID], _ name: String, of id: NSManagedObjectID) {
        lock.withLock { entries[id, default: Entry()].related[name] = (ids, Self.now) }
    }

    /// The object has been saved: its node is the row of the save, its relationships are asked for again.
    func didSave(_ row: Row, of id: NSManagedObjectID, changed relationships: [String]) {
        lock.withLock {
            var entry = entries[id] ?? Entry()
            entry.isDeleted = false
            for name in relationships { entry.related[name] = nil }
            entry.nodeTime = Self.now
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
