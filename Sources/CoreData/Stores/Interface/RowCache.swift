internal import Foundation

/// The rows of a store's objects and the lists of their relationships, for as long as a context has the objects.
///
/// It answers a second context without the store, and tells what other contexts have saved.
// Everything lies in a box with its lock; nodes have locks of their own.
final class RowCache: @unchecked Sendable {
    /// What makes a row: the row itself, or the node of an incremental store, which the store may update.
    enum Content {
        case row(Row)
        case node(NSIncrementalStoreNode)
    }
    struct Entry {
        var content: Content?
        /// When the content came, in nanoseconds of the system's uptime.
        var time: UInt64 = 0
        /// The IDs of relationships that the store was asked for, and when.
        var related: [String: (ids: [NSManagedObjectID], time: UInt64)] = [:]
        /// How many contexts have the object.
        var holders = 0
        /// A context has deleted the object; others have it still.
        var isDeleted = false
        /// When a context has last saved or deleted the object: what a store was asked before may be older.
        var saveTime: UInt64 = 0
    }

    let entries = LockedBox<[NSManagedObjectID: Entry]>([:])

    /// The time as the cache counts it.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private static func isFresh(_ time: UInt64, _ age: TimeInterval) -> Bool {
        age < 0 || Double(now &- time) < age * 1e9
    }

    // MARK: Rows

    private func content(for id: NSManagedObjectID, notOlderThan age: TimeInterval) -> Content? {
        entries.withLock { entries in
            guard let entry = entries[id], let content = entry.content, Self.isFresh(entry.time, age) else { return nil }
            return content
        }
    }

    /// The row unless it is older than so many seconds; any age will do for a negative number.
    func row(for id: NSManagedObjectID, notOlderThan age: TimeInterval) -> Row? {
        if case .row(let row)? = content(for: id, notOlderThan: age) { row } else { nil }
    }

    /// The node unless it is older than so many seconds; any age will do for a negative number.
    func node(for id: NSManagedObjectID, notOlderThan age: TimeInterval = -1) -> NSIncrementalStoreNode? {
        if case .node(let node)? = content(for: id, notOlderThan: age) { node } else { nil }
    }

    /// Those of many objects that have no row that young.
    func withoutRow(_ ids: [NSManagedObjectID], notOlderThan age: TimeInterval) -> [NSManagedObjectID] {
        entries.withLock { entries in
            ids.filter { id in
                guard let entry = entries[id], entry.content != nil else { return true }
                return !Self.isFresh(entry.time, age)
            }
        }
    }

    /// Keeps a row.
    ///
    /// - Parameter asked: when the store was asked for it. A row that a context has saved since is newer and stays.
    /// - Returns: the row that is kept: what is unknown in the new one is taken from one of the same version that was there.
    func setRow(_ row: Row, of id: NSManagedObjectID, asked: UInt64 = .max) -> Row {
        defer { checkInvariants() }
        return entries.withLock { entries in
            var entry = entries[id] ?? Entry()
            if entry.saveTime >= asked {
                if case .row(let saved)? = entry.content { return saved }
                return row
            }
            var row = row
            if row.mayHaveUnknown, case .row(let known)? = entry.content { row = row.completed(from: known) }
            entry.content = .row(row)
            entry.time = Self.now
            entry.isDeleted = false
            entries[id] = entry
            return row
        }
    }

    func setNode(_ node: NSIncrementalStoreNode) {
        defer { checkInvariants() }
        entries.withLock { entries in
            var entry = entries[node.objectID] ?? Entry()
            entry.content = .node(node)
            entry.time = Self.now
            entry.isDeleted = false
            entries[node.objectID] = entry
        }
    }

    /// Whether a context has deleted the object.
    func isDeleted(_ id: NSManagedObjectID) -> Bool { entries.withLock { entries in entries[id]?.isDeleted ?? false } }

    // MARK: Relationships

    func related(_ name: String, of id: NSManagedObjectID, notOlderThan age: TimeInterval = -1) -> [NSManagedObjectID]? {
        entries.withLock { entries in
            guard let known = entries[id]?.related[name], Self.isFresh(known.time, age) else { return nil }
            return known.ids
        }
    }

    /// Keeps the IDs of a relationship, unless a context has saved the object since the store was asked.
    func setRelated(_ ids: [NSManagedObjectID], _ name: String, of id: NSManagedObjectID, asked: UInt64 = .max) {
        defer { checkInvariants() }
        entries.withLock { entries in
            if let entry = entries[id], entry.saveTime >= asked { return }
            entries[id, default: Entry()].related[name] = (ids, Self.now)
        }
    }

    // MARK: Saves

    /// The object has been saved: its row is that of the save, its relationships are asked for again.
    ///
    /// - Parameter makesNode: whether a node is made where there was nothing.
    func didSave(_ row: Row, of id: NSManagedObjectID, changed relationships: [String], makesNode: Bool = false) {
        defer { checkInvariants() }
        entries.withLock { entries in
            var entry = entries[id] ?? Entry()
            entry.isDeleted = false
            for name in relationships { entry.related[name] = nil }
            entry.time = Self.now
            entry.saveTime = entry.time
            switch entry.content {
            case .node(let node): node.adopt(row)
            case nil where makesNode:
                let node = NSIncrementalStoreNode(objectID: id, withValues: [:], version: 0)
                node.adopt(row)
                entry.content = .node(node)
            case .row, nil: entry.content = .row(row)
            }
            entries[id] = entry
        }
    }

    /// The store is to be asked again.
    func forget(_ id: NSManagedObjectID) {
        entries.withLock { entries in
            entries[id]?.content = nil
            entries[id]?.related = [:]
        }
    }

    /// The store is to be asked again for everything.
    func forgetAll() {
        entries.withLock { entries in
            for id in entries.keys {
                entries[id]?.content = nil
                entries[id]?.related = [:]
            }
        }
    }

    /// The object has been deleted: contexts that still have it are to learn so when they save it.
    func didDelete(_ id: NSManagedObjectID) {
        defer { checkInvariants() }
        entries.withLock { entries in entries[id] = entries[id].map { Entry(holders: $0.holders, isDeleted: true, saveTime: Self.now) } }
    }

    // MARK: Who has the objects

    func retain(_ ids: [NSManagedObjectID]) {
        defer { checkInvariants() }
        entries.withLock { entries in for id in ids { entries[id, default: Entry()].holders += 1 } }
    }

    func release(_ ids: [NSManagedObjectID]) {
        defer { checkInvariants() }
        entries.withLock { entries in
            for id in ids {
                guard var entry = entries[id] else { continue }
                InternalChecks.require(entry.holders > 0, "a context gives \(id) up, which none has")
                entry.holders -= 1
                entries[id] = entry.holders > 0 ? entry : nil
            }
        }
    }
}
