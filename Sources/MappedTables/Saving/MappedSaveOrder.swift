internal import Foundation
@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// The order in which the rows of a save are written to tables whose rows refer to each other.
///
/// Rows are inserted after the rows that they refer to, and deleted before them; references to a deleted row are changed before its deletion. If a
/// save needs it, unique values are given up before other rows take them. A cycle is broken: a reference is temporarily NULL, or a unique value is
/// temporarily another one.
package struct MappedSaveOrder<Dialect: TableDialect> {
    /// A change with some of its properties: those that are written later for a new row, those that are written for another row; nil for all changed
    /// ones.
    package typealias Part = (change: StoreChange, slots: Set<Int>?)

    /// The changes that are written together.
    package enum Step {
        case update([Part])
        /// Deleted objects of one entity.
        case delete(SQLEntity, [StoreChange])
        /// New objects, which do not refer to each other.
        case insert([Part])
        /// A reference of a row that will be deleted becomes NULL.
        case clear(StoreChange, slot: Int)
        /// A row gives up its unique value until it is written, or deleted: one of the columns gets another value.
        case park(StoreChange, columns: [CatalogueColumn<Dialect>])
    }

    /// The steps to write, in order.
    package private(set) var steps: [Step] = []

    /// Returns whether an existing row has a place in a partial index; nil for an order that ignores unique values.
    package typealias Membership = (SQLEntity, UniqueRule, NSManagedObjectID) -> Bool

    let mapping: Mapping<Dialect>
    /// Returns the mapping of an entity.
    private let sqlEntity: (NSEntityDescription) throws -> SQLEntity
    /// The rows in the database of changes that do not contain their values.
    private let current: [NSManagedObjectID: Row]

    /// One operation on one row.
    struct Node {
        enum Kind { case update, delete, insert }
        let kind: Kind
        let change: StoreChange
        let entity: SQLEntity
        let table: MappedTable<Dialect>
        /// The properties that are written; for a new row, those that are written later.
        var slots: Set<Int>?
    }
    /// The reason why one operation comes before another.
    enum Reason {
        /// The second row refers to the first one, which is new, by some property.
        case isNeeded(slot: Int)
        /// The first row refers to the second one, which is deleted, by some property.
        case refers(slot: Int)
        /// The second row gets a unique value of the first one.
        case givesUp(UniqueRule)
    }
    private(set) var nodes: [Node] = []
    private(set) var graph = SaveGraph<Reason>(count: 0)

    /// - Parameters:
    ///   - sqlEntity: Returns the mapping of an entity; throws for an entity that the store does not hold.
    ///   - current: The rows in the database of deleted objects that were never read.
    ///   - membership: See ``Membership``.
    /// - Throws: Code 134030 if no new object can be inserted first; the errors of `sqlEntity`.
    package init(
        _ changes: StoreChangeSet, _ mapping: Mapping<Dialect>, _ sqlEntity: @escaping (NSEntityDescription) throws -> SQLEntity,
        current: [NSManagedObjectID: Row] = [:], membership: Membership? = nil
    ) throws {
        (self.mapping, self.sqlEntity, self.current) = (mapping, sqlEntity, current)
        try addNodes(changes, splits: membership != nil)
        graph = SaveGraph(count: nodes.count)
        addReferences(changes)
        if let membership { addUniqueness(membership) }
        try order()
    }

    /// Checks that the save writes no read-only rows.
    ///
    /// - Throws: Code 134030 for an object with a read-only row.
    package static func checkWritable(
        _ changes: StoreChangeSet, _ mapping: Mapping<Dialect>, _ sqlEntity: (NSEntityDescription) throws -> SQLEntity
    ) throws {
        for change in changes.inserted + changes.updated + changes.deleted {
            guard let reason = mapping.table(try sqlEntity(change.entity)).readOnlyReason else { continue }
            // An object at the far end of a relationship has nothing to write.
            let isAtFarEnd = change.changedProperties.allSatisfy { ($0 as? NSRelationshipDescription)?.isToMany ?? false }
            if change.row != nil, change.base != nil, isAtFarEnd { continue }
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.", reason: reason,
                next: "Change the tables that the view reads, and refresh the object.", info: [NSAffectedObjectsErrorKey: [change.objectID]]
            )
        }
    }

    // MARK: Operations

    private mutating func addNodes(_ changes: StoreChangeSet, splits: Bool) throws {
        let waiting = splits ? Set(changes.inserted.map(\.objectID)) : []
        func node(_ kind: Node.Kind, _ change: StoreChange, _ slots: Set<Int>? = nil) throws -> Node {
            let entity = try sqlEntity(change.entity)
            return Node(kind: kind, change: change, entity: entity, table: mapping.table(entity), slots: slots)
        }
        for change in changes.updated {
            let whole = try node(.update, change)
            let written = whole.table.columnSlots(of: change)
            if written.isEmpty { continue }
            let late =
                waiting.isEmpty
                ? []
                : written.filter { slot in
                    guard case .toOne? = whole.table.values[slot] else { return false }
                    return change.row?.reference(slot).map(waiting.contains) ?? false
                }
            if late.isEmpty || late.count == written.count {
                nodes.append(whole)
            } else {
                // Values are given up before the row refers to a new one, which may need them.
                nodes.append(try node(.update, change, Set(written).subtracting(late)))
                nodes.append(try node(.update, change, Set(late)))
            }
        }
        for change in changes.deleted { nodes.append(try node(.delete, change)) }
        for change in changes.inserted {
            var new = try node(.insert, change, [])
            // An object that refers to itself has no key yet.
            for (slot, value) in new.table.values {
                guard case .toOne = value, change.objectID.isTemporaryID, change.row?.reference(slot) == change.objectID else { continue }
                guard mayBeNull(slot, new) else { throw circular([change]) }
                new.slots?.insert(slot)
            }
            nodes.append(new)
        }
    }

    /// The values that the row of a change has in the database.
    func stored(_ change: StoreChange) -> Row? { change.base ?? current[change.objectID] }

    private mutating func addReferences(_ changes: StoreChangeSet) {
        var new: [NSManagedObjectID: Int] = [:]
        var deleted: [NSManagedObjectID: Int] = [:]
        for (index, node) in nodes.enumerated() {
            switch node.kind {
            case .insert: new[node.change.objectID] = index
            case .delete: deleted[node.change.objectID] = index
            case .update: continue
            }
        }
        if new.isEmpty, deleted.isEmpty { return }
        for (index, node) in nodes.enumerated() {
            for (slot, value) in node.table.values {
                guard case .toOne = value else { continue }
                if node.kind != .delete, !new.isEmpty, node.writes(slot), let id = node.change.row?.reference(slot), let first = new[id] {
                    graph.add(first, before: index, .isNeeded(slot: slot))
                }
                if node.kind != .insert, !deleted.isEmpty, let id = stored(node.change)?.reference(slot), let second = deleted[id] {
                    graph.add(index, before: second, .refers(slot: slot))
                }
            }
        }
    }

    mutating func add(_ first: Int, before second: Int, _ rule: UniqueRule) { graph.add(first, before: second, .givesUp(rule)) }

    // MARK: The order

    private mutating func order() throws {
        var free = Free()
        var postponed: [Int: Set<Int>] = [:]
        for index in nodes.indices where graph.isFree(index) { free.add(index, nodes[index].kind) }
        for (index, node) in nodes.enumerated() where node.kind == .insert {
            if let slots = node.slots, !slots.isEmpty { postponed[index] = slots }
        }
        while graph.leftCount > 0 {
            let (kind, next) = free.take()
            if next.isEmpty {
                for index in try cut(&postponed) { free.add(index, nodes[index].kind) }
                continue
            }
            switch kind {
            case .update: steps.append(.update(next.map { (nodes[$0].change, nodes[$0].slots) }))
            case .insert: steps.append(.insert(next.map { (nodes[$0].change, nodes[$0].slots) }))
            case .delete:
                let groups = Dictionary(grouping: next) { nodes[$0].entity.number }
                for number in groups.keys.sorted() {
                    let group = groups[number, default: []]
                    steps.append(.delete(nodes[group[0]].entity, group.map { nodes[$0].change }))
                }
            }
            for index in next { for follower in graph.finish(index) { free.add(follower, nodes[follower].kind) } }
        }
        // All rows are there now.
        if !postponed.isEmpty {
            steps.append(.update(postponed.sorted { $0.key < $1.key }.map { (nodes[$0.key].change, $0.value) }))
        }
    }

    /// The operations that wait for no other one. Values are given up first, and new rows need keys that are free.
    private struct Free {
        private var updates: [Int] = []
        private var deletions: [Int] = []
        private var insertions: [Int] = []

        mutating func add(_ index: Int, _ kind: Node.Kind) {
            switch kind {
            case .update: updates.append(index)
            case .delete: deletions.append(index)
            case .insert: insertions.append(index)
            }
        }

        mutating func take() -> (Node.Kind, [Int]) {
            func all(_ list: inout [Int]) -> [Int] {
                defer { list = [] }
                return list
            }
            if !updates.isEmpty { return (.update, all(&updates)) }
            if !deletions.isEmpty { return (.delete, all(&deletions)) }
            return (.insert, all(&insertions))
        }
    }

    /// Breaks a cycle, and returns the operations that then wait for no other one.
    ///
    /// - Throws: Code 134030 if all are new objects, and no reference may be NULL.
    private mutating func cut(_ postponed: inout [Int: Set<Int>]) throws -> [Int] {
        let circle = graph.circle()
        let edges = circle.map { (number: $0, edge: graph.edges[$0]) }
        // A new row may refer to nothing until the others exist.
        for (number, edge) in edges {
            guard case .isNeeded(let slot) = edge.reason, nodes[edge.second].kind == .insert, mayBeNull(slot, nodes[edge.second]) else {
                continue
            }
            nodes[edge.second].slots?.insert(slot)
            postponed[edge.second, default: []].insert(slot)
            return [graph.remove(number)].compactMap(\.self)
        }
        // A row that will be deleted may.
        for (number, edge) in edges {
            guard case .refers(let slot) = edge.reason, nodes[edge.first].kind == .delete, mayBeNull(slot, nodes[edge.first]) else {
                continue
            }
            steps.append(.clear(nodes[edge.first].change, slot: slot))
            return [graph.remove(number)].compactMap(\.self)
        }
        let claims = edges.compactMap { number, edge -> (first: Int, rule: UniqueRule, columns: [CatalogueColumn<Dialect>])? in
            guard case .givesUp(let rule) = edge.reason else { return nil }
            return (edge.first, rule, parkedColumns(nodes[edge.first], rule))
        }
        if let claim = claims.first(where: { $0.columns.first.map { !$0.isRequired } ?? false })
            ?? claims.first(where: { !$0.columns.isEmpty }) ?? claims.first
        {
            // Without such a column, the database decides.
            if !claim.columns.isEmpty { steps.append(.park(nodes[claim.first].change, columns: claim.columns)) }
            return graph.edgesThere(from: claim.first).compactMap { number in
                guard case .givesUp(let rule) = graph.edges[number].reason, rule.number == claim.rule.number else { return nil }
                return graph.remove(number)
            }
        }
        // Rows that are deleted together: if the database checks references after each statement, those of one table are deleted by one.
        let deletions = edges.filter { nodes[$0.edge.first].kind == .delete && nodes[$0.edge.second].kind == .delete }
        if deletions.isEmpty { throw circular(Set(edges.flatMap { [$0.edge.first, $0.edge.second] }).map { nodes[$0].change }) }
        return deletions.compactMap { graph.remove($0.number) }
    }

    private func mayBeNull(_ slot: Int, _ node: Node) -> Bool {
        guard case .toOne(let key)? = node.table.values[slot] else { return false }
        return key.columns.allSatisfy { column in !column.isRequired && !node.table.key.columns.contains { $0.name == column.name } }
    }

    private func circular(_ changes: [StoreChange]) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "New objects cannot be saved.",
            reason: "They refer to each other, and no column of their references may be NULL, so that none can be the first.",
            next: "Save some of them before others.", info: [NSAffectedObjectsErrorKey: changes.map(\.objectID)])
    }
}

extension MappedSaveOrder.Node {
    /// Whether a property is written by the node.
    func writes(_ slot: Int) -> Bool {
        switch kind {
        case .insert: !(slots?.contains(slot) ?? false)
        case .update: slots?.contains(slot) ?? change.changed.contains(slot)
        case .delete: false
        }
    }
}

extension MappedTable {
    /// Returns the changed properties that have columns in the table.
    package func columnSlots(of change: StoreChange) -> [Int] {
        values.compactMap { slot, value in
            if case .inverse = value { return nil }
            return change.changed.contains(slot) ? slot : nil
        }
    }
}

extension Row {
    /// Returns the object that a to-one relationship leads to.
    func reference(_ slot: Int) -> NSManagedObjectID? { objectID(at: layout.slots[slot]) }
}

/// A pair of a many-to-many relationship.
package struct MappedPair: Hashable {
    package let table: SQLIdentifier
    package let first: NSManagedObjectID.Reference
    package let second: NSManagedObjectID.Reference

    package init(table: SQLIdentifier, first: NSManagedObjectID.Reference, second: NSManagedObjectID.Reference) {
        (self.table, self.first, self.second) = (table, first, second)
    }
}
