internal import Foundation
internal import Platform
internal import Predicates

/// Caches the rows of a store's objects and the lists of their relationships, for as long as a context has the objects.
///
/// It serves further contexts without a query, and contains the saves of other contexts.
// Everything is in a `LockedBox`; nodes have locks of their own.
final class RowCache: @unchecked Sendable {
    /// The source of a row: the row itself, or the node of an incremental store, which the store may update.
    enum Content {
        case row(Row)
        case node(NSIncrementalStoreNode)
    }
    struct Entry {
        var content: Content?
        /// The time at which the content was loaded, in nanoseconds of the system's uptime.
        var time: UInt64 = 0
        /// The time at which the content was requested: content that was requested earlier and arrives later is older.
        var queryTime: UInt64 = 0
        /// The IDs of loaded relationships, and the times of the queries.
        var related: [String: (ids: [NSManagedObjectID], time: UInt64)] = [:]
        /// The number of contexts that have the object.
        var holders = 0
        /// Whether a context has deleted the object while others still have it.
        var isDeleted = false
        /// The time at which a context last saved or deleted the object: answers to earlier queries may be older.
        var saveTime: UInt64 = 0
    }

    let entries = LockedBox(IDTable<Entry>())

    /// Changes the entries. `body` adds the removed objects to its second argument: nodes and values may be the program's own, whose deinitializers
    /// must not run under the lock.
    private func change<Result>(_ body: (inout IDTable<Entry>, inout [Content]) -> Result) -> Result {
        var removed: [Content] = []
        defer { withExtendedLifetime(removed) {} }
        return entries.withLock { body(&$0, &removed) }
    }

    /// Changes the entries of many objects, in parts, because other threads need the lock, too.
    func changeInParts(_ count: Int, _ body: (inout IDTable<Entry>, inout [Content], Range<Int>) -> Void) {
        for start in stride(from: 0, to: count, by: 256) {
            change { entries, removed in body(&entries, &removed, start..<min(start + 256, count)) }
        }
    }

    /// The current time of the cache.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    private static func isFresh(_ time: UInt64, _ age: TimeInterval) -> Bool {
        age < 0 || Double(now &- time) < age * 1e9
    }

    // MARK: Rows

    /// Makes room for rows that are about to be cached.
    func reserve(_ count: Int) {
        if count > 1 { entries.withLock { $0.reserveCapacity($0.count + count) } }
    }

    private func content(for id: NSManagedObjectID, maximumAge age: TimeInterval) -> Content? {
        entries.withLock { entries in
            guard let entry = entries[id], let content = entry.content, Self.isFresh(entry.time, age) else { return nil }
            return content
        }
    }

    /// Returns the row unless it is older than `age` seconds; of any age for a negative number.
    func row(for id: NSManagedObjectID, maximumAge age: TimeInterval) -> Row? {
        if case .row(let row)? = content(for: id, maximumAge: age) { row } else { nil }
    }

    /// Returns the node unless it is older than `age` seconds; of any age for a negative number.
    func node(for id: NSManagedObjectID, maximumAge age: TimeInterval = -1) -> NSIncrementalStoreNode? {
        if case .node(let node)? = content(for: id, maximumAge: age) { node } else { nil }
    }

    /// Returns the objects that have no row of at most an age.
    func withoutRow(_ ids: [NSManagedObjectID], maximumAge age: TimeInterval) -> [NSManagedObjectID] {
        entries.withLock { entries in
            ids.filter { id in
                guard let entry = entries[id], entry.content != nil else { return true }
                return !Self.isFresh(entry.time, age)
            }
        }
    }

    /// Returns whether a row is older than the cached one, according to its version. If versions do not decide, the row that was requested earlier is
    /// older.
    private static func isOlder(
        _ row: Row, than known: Row, _ wasAskedForEarlier: Bool, _ observer: (any RowCacheObserver)?
    ) -> Bool {
        guard let observer else { return wasAskedForEarlier }
        return observer.isOlder(row, than: known) || wasAskedForEarlier && !observer.isOlder(known, than: row)
    }

    /// The facts that decide whether an arriving row replaces the cached one.
    struct Arrival {
        /// The time of the query. A row that a context has saved since, or that was requested later, is newer and kept.
        var queryTime: UInt64 = .max
        /// The time that the row's age counts from.
        var loadTime: UInt64
        /// The store, if it knows which of two rows is older, whenever they were requested. It is called under the lock, so that two concurrent
        /// answers are compared with each other.
        var observer: (any RowCacheObserver)?
    }

    /// Caches a row.
    ///
    /// - Parameters:
    ///   - queryTime: See ``Arrival``.
    ///   - loadTime: The time that the row's age counts from; nil for now.
    ///   - observer: See ``Arrival``.
    /// - Returns: The cached row: unknown values of the new row are taken from the previous one of the same version.
    func setRow(
        _ row: Row, of id: NSManagedObjectID, queryTime: UInt64 = .max, loadTime: UInt64? = nil,
        comparedBy observer: (any RowCacheObserver)? = nil
    ) -> Row {
        defer { checkInvariants() }
        let arrival = Arrival(queryTime: queryTime, loadTime: loadTime ?? Self.now, observer: observer)
        return change { entries, removed in Self.file(row, in: &entries[id, default: Entry()], arrival, &removed) }
    }

    /// Caches rows that have arrived together.
    func setRows(_ rows: RowList, queryTime: UInt64, comparedBy observer: (any RowCacheObserver)?) {
        defer { checkInvariants() }
        reserve(rows.count)
        let arrival = Arrival(queryTime: queryTime, loadTime: Self.now, observer: observer)
        let mayBeEarlier = queryTime != .max && observer?.mayHaveEarlierQueries ?? false
        changeInParts(rows.count) { entries, removed, part in
            for index in part {
                Row.with(rows.slots(index)) { row in
                    guard let id = row.objectID else { return }
                    var own = arrival
                    if mayBeEarlier, let earlier = observer?.timeOfEarlierQuery(for: row), earlier < queryTime {
                        (own.queryTime, own.loadTime) = (earlier, earlier)
                    }
                    let number = entries.number(id, default: Entry())
                    _ = Self.file(row, in: &entries.values[number]!, own, &removed)
                }
            }
        }
    }

    private static func file(_ row: Row, in entry: inout Entry, _ arrival: Arrival, _ removed: inout [Content]) -> Row {
        let queryTime = arrival.queryTime
        if entry.saveTime >= queryTime {
            if case .row(let saved)? = entry.content { return saved }
            return row
        }
        var row = row
        if let old = entry.content {
            if case .row(let known) = old {
                if queryTime != .max, isOlder(row, than: known, queryTime < entry.queryTime, arrival.observer) {
                    // Values that are unknown in the newer row may still be taken from an older one of the same version.
                    guard known.mayHaveUnknown else { return known }
                    let completed = known.completed(from: row)
                    removed.append(old)
                    entry.content = .row(completed)
                    return completed
                }
                if row.mayHaveUnknown { row = row.completed(from: known) }
            }
            removed.append(old)
        }
        entry.content = .row(row)
        entry.time = arrival.loadTime
        if queryTime != .max { entry.queryTime = max(queryTime, entry.queryTime) }
        entry.isDeleted = false
        return row
    }

    func setNode(_ node: NSIncrementalStoreNode) {
        defer { checkInvariants() }
        change { entries, removed in
            var entry = entries[node.objectID] ?? Entry()
            if let old = entry.content { removed.append(old) }
            entry.content = .node(node)
            entry.time = Self.now
            entry.isDeleted = false
            entries[node.objectID] = entry
        }
    }

    /// Returns whether a context has deleted the object.
    func isDeleted(_ id: NSManagedObjectID) -> Bool { entries.withLock { entries in entries[id]?.isDeleted ?? false } }

    // MARK: Relationships

    func related(_ name: String, of id: NSManagedObjectID, maximumAge age: TimeInterval = -1) -> [NSManagedObjectID]? {
        entries.withLock { entries in
            guard let known = entries[id]?.related[name], Self.isFresh(known.time, age) else { return nil }
            return known.ids
        }
    }

    /// Caches the IDs of a relationship, unless a context has saved the object since the query.
    func setRelated(_ ids: [NSManagedObjectID], _ name: String, of id: NSManagedObjectID, queryTime: UInt64 = .max) {
        defer { checkInvariants() }
        entries.withLock { entries in
            if let entry = entries[id], entry.saveTime >= queryTime { return }
            entries[id, default: Entry()].related[name] = (ids, Self.now)
        }
    }

    // MARK: Saves

    /// Updates an object after a save: caches the saved row and forgets its changed relationships.
    ///
    /// - Parameters:
    ///   - relationships: The names of the changed relationships; nil for all, as for a new object, or for an object that others have deleted and
    ///     that is restored.
    ///   - makesNode: Whether to create a node if nothing was cached.
    func didSave(_ row: Row, of id: NSManagedObjectID, changed relationships: [String]?, makesNode: Bool = false) {
        defer { checkInvariants() }
        let known = change { entries, removed in
            let number = entries.number(id, default: Entry())
            return Self.noteSaved(
                row, of: id, in: &entries.values[number]!, changed: relationships, makesNode: makesNode, at: Self.now, &removed)
        }
        known?.adopt(row)
    }

    /// The same for many objects.
    ///
    /// - Parameters:
    ///   - areNew: Whether the objects were inserted.
    ///   - isLeftOut: Returns whether an object was not saved with the others.
    func didSave(_ changes: [StoreChange], areNew: Bool, except isLeftOut: (NSManagedObjectID) -> Bool) {
        defer { checkInvariants() }
        if areNew { reserve(changes.count) }
        var known: [(node: NSIncrementalStoreNode, row: Row)] = []
        changeInParts(changes.count) { entries, removed, part in
            let now = Self.now
            for index in part {
                guard let row = changes[index].row else { continue }
                let id = changes[index].objectID
                if isLeftOut(id) { continue }
                let number = entries.number(id, default: Entry())
                let relationships = areNew ? nil : changes[index].lists.map(\.name)
                let node = Self.noteSaved(
                    row, of: id, in: &entries.values[number]!, changed: relationships, makesNode: false, at: now, &removed)
                if let node { known.append((node, row)) }
            }
        }
        for (node, row) in known { node.adopt(row) }
    }

    /// Records a saved row, and returns the node that must adopt it, which the caller does without the lock: the lock guards the node's place only.
    private static func noteSaved(
        _ row: Row, of id: NSManagedObjectID, in entry: inout Entry, changed relationships: [String]?, makesNode: Bool, at time: UInt64,
        _ removed: inout [Content]
    ) -> NSIncrementalStoreNode? {
        entry.isDeleted = false
        if let relationships {
            for name in relationships { entry.related[name] = nil }
        } else if !entry.related.isEmpty {
            entry.related = [:]
        }
        (entry.time, entry.saveTime) = (time, time)
        switch entry.content {
        case .node(let node)?: return node
        case nil where makesNode:
            let node = NSIncrementalStoreNode(objectID: id, withValues: [:], version: 0)
            entry.content = .node(node)
            return node
        case let old:
            if let old { removed.append(old) }
            entry.content = .row(row)
            return nil
        }
    }

    /// Forgets an object, so that the store is queried again.
    func forget(_ id: NSManagedObjectID) {
        change { entries, removed in
            guard let content = entries[id]?.content else {
                entries[id]?.related = [:]
                return
            }
            removed.append(content)
            entries[id]?.content = nil
            entries[id]?.related = [:]
        }
    }

    /// Forgets everything, so that the store is queried again.
    func forgetAll() {
        change { entries, removed in
            entries.updateEach { _, entry in
                if let content = entry.content { removed.append(content) }
                entry.content = nil
                entry.related = [:]
            }
        }
    }

    /// Marks an object as deleted, so that saves of other contexts that have it meet a conflict.
    func didDelete(_ id: NSManagedObjectID) {
        defer { checkInvariants() }
        change { entries, removed in
            guard let entry = entries[id] else { return }
            if let content = entry.content { removed.append(content) }
            entries[id] = Entry(holders: entry.holders, isDeleted: true, saveTime: Self.now)
        }
    }

    // MARK: Registered objects

    func retain(_ ids: [NSManagedObjectID]) {
        defer { checkInvariants() }
        entries.withLock { entries in
            ids.forEachUncounted { id in
                let number = entries.number(id, default: Entry())
                entries.values[number]!.holders += 1
            }
        }
    }

    /// Returns the objects that no context has any more.
    @discardableResult func release(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        defer { checkInvariants() }
        return change { entries, removed in
            var gone: [NSManagedObjectID] = []
            for id in ids {
                guard let number = entries.number(of: id) else { continue }
                InternalChecks.require(entries.values[number]!.holders > 0, "a context gives \(id) up, which none has")
                entries.values[number]!.holders -= 1
                if entries.values[number]!.holders > 0 { continue }
                gone.append(id)
                if let content = entries.values[number]!.content { removed.append(content) }
                entries.remove(id)
            }
            return gone
        }
    }
}
