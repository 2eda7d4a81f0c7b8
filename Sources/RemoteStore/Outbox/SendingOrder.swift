/// Decides which pending changes can be sent now.
///
/// A new object goes before the objects that refer to it, a deletion after the changes that remove references to the object, and an object that takes over the
/// identifier of a deleted one after the deletion. Independent changes are sent concurrently. Objects that refer to each other are sent one after the other:
/// the first without its references, which an update adds later.
struct SendingOrder {
    /// The properties of a pending change that determine the order.
    struct Item {
        let key: LocalKey
        let kind: Resource.Saving.Kind
        /// Whether it may be sent now: no part of it is in flight, and it is due and not set aside.
        var canGo: Bool
        /// Whether it waits for a decision of the application.
        var isSetAside = false
        /// The objects that it refers to, by property.
        var needs: [(name: String, key: LocalKey)] = []
        /// The objects that it referred to according to the backend, including those of a deleted object.
        var left: [LocalKey] = []
        /// The backend's identifier of the object, if it is deleted or new.
        var resource: Identity?
        /// Whether the object was deleted since its change was sent: the deletion follows, and until then the object has its identifier.
        var isLeaving = false

        struct Identity: Hashable {
            let root: String
            let id: ResourceID
        }
    }

    /// A change that can be sent.
    struct Ready: Equatable {
        let index: Int
        /// The omitted properties.
        var postponed: Set<String> = []
    }

    /// Returns the changes that can be sent now, in the order of the queue.
    static func next(_ items: [Item]) -> [Ready] {
        let new = Dictionary(
            items.indices.filter { items[$0].kind == .insert }.map { (items[$0].key, $0) }, uniquingKeysWith: { first, _ in first })
        var deletions: [Item.Identity: Int] = [:]
        var referring: [LocalKey: [Int]] = [:]
        for (index, item) in items.enumerated() {
            if item.kind == .delete || item.isLeaving, let resource = item.resource { deletions[resource] = index }
            for key in item.left where key != item.key { referring[key, default: []].append(index) }
        }
        func isReplacing(_ item: Item) -> Bool {
            item.kind == .insert && !item.isLeaving && item.resource.map { deletions[$0] != nil } ?? false
        }
        func blockers(_ item: Item) -> [(name: String, index: Int)] {
            item.needs.compactMap { need in
                guard need.key != item.key, let index = new[need.key] else { return nil }
                return (need.name, index)
            }
        }
        func own(_ item: Item) -> Set<String> {
            item.kind == .insert ? Set(item.needs.filter { $0.key == item.key }.map(\.name)) : []
        }
        let deleted = Dictionary(items.filter { $0.kind == .delete }.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var ready: [Ready] = []
        for (index, item) in items.enumerated() where item.canGo {
            if item.kind == .delete {
                // Changes and deletions of objects that refer to it go first, unless they are set aside, or it refers to them as well.
                let isReferred = (referring[item.key] ?? []).contains { other in
                    if items[other].isSetAside { return false }
                    if items[other].kind != .delete { return true }
                    return !isReachable(from: item.key, to: items[other].key, deleted)
                }
                if !isReferred { ready.append(Ready(index: index)) }
            } else if !isReplacing(item), blockers(item).isEmpty {
                ready.append(Ready(index: index, postponed: own(item)))
            }
        }
        if ready.contains(where: { items[$0.index].kind != .delete }) { return ready }
        // The remaining objects refer to each other, or wait for a change that cannot be sent.
        var waiting: [Int: [Int]] = [:]
        for (index, item) in items.enumerated() { for (_, other) in blockers(item) { waiting[other, default: []].append(index) } }
        var open = items.indices.filter { !items[$0].canGo || isReplacing(items[$0]) }
        var stuck = Set(open)
        while let index = open.popLast() { open += (waiting[index] ?? []).filter { stuck.insert($0).inserted } }
        if let first = items.indices.first(where: { items[$0].kind == .insert && !stuck.contains($0) }) {
            let item = items[first]
            ready.append(Ready(index: first, postponed: own(item).union(blockers(item).map(\.name))))
        }
        return ready.sorted { $0.index < $1.index }
    }

    /// Returns the changes that wait, directly or indirectly, for one that is set aside, each with that one.
    static func held(_ items: [Item]) -> [LocalKey: LocalKey] {
        let new = Set(items.filter { $0.kind == .insert }.map(\.key))
        var waiting: [LocalKey: [LocalKey]] = [:]
        for item in items {
            for need in item.needs where need.key != item.key && new.contains(need.key) { waiting[need.key, default: []].append(item.key) }
        }
        var held: [LocalKey: LocalKey] = [:]
        for start in items where start.isSetAside {
            var open = [start.key]
            while let key = open.popLast() {
                for next in waiting[key] ?? [] where next != start.key && held[next] == nil {
                    held[next] = start.key
                    open.append(next)
                }
            }
        }
        return held
    }

    /// Whether a deleted object refers to another one, directly or indirectly: then neither goes first.
    private static func isReachable(from start: LocalKey, to end: LocalKey, _ byKey: [LocalKey: Item]) -> Bool {
        var open = [start]
        var seen: Set<LocalKey> = [start]
        while let key = open.popLast() {
            for next in byKey[key]?.left ?? [] where byKey[next] != nil && seen.insert(next).inserted {
                if next == end { return true }
                open.append(next)
            }
        }
        return false
    }
}
