internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A change that is being sent to the backend.
struct PendingChange {
    /// The state of a change.
    enum State {
        case waiting
        case done(IncompleteSave.Outcome)
    }

    let number: Int
    let kind: Resource.Saving.Kind
    let change: StoreChange
    let saving: Resource.Saving
    /// The row that is sent: the row of the change. If whole objects are sent, its unknown values are loaded first.
    var row: Row?
    var state = State.waiting
    /// The new objects that must be saved first, by their IDs in the changes.
    var dependencies: Set<NSManagedObjectID> = []
    /// The relationships that a later update sends, because they lead back to this object.
    var postponed: Set<String> = []
    /// The new objects that postponed references lead to.
    var awaited: Set<NSManagedObjectID> = []
    /// The only properties to send; nil for all changed properties.
    private(set) var only: Set<String>?
    /// The version of the object, for a change that follows another one.
    private(set) var followedVersion: ResourceVersion?
    /// An earlier change of the object with an unknown outcome. It is sent again unchanged, and later edits follow it.
    var repeated: BackendChange?
    /// The saved change that the repeated change follows.
    var followed: BackendChange?
    /// The saved change that this one follows: only the difference is sent.
    private(set) var settled: BackendChange?

    var id: NSManagedObjectID { change.objectID }
    var entity: NSEntityDescription { change.entity }

    init(_ number: Int, _ kind: Resource.Saving.Kind, _ change: StoreChange, _ saving: Resource.Saving) {
        self.number = number
        self.kind = kind
        self.change = change
        self.saving = saving
        row = change.row
    }

    /// Creates the update that sends the postponed references of a saved object.
    init(_ number: Int, following saved: PendingChange, _ version: ResourceVersion?) {
        self.init(number, .update, saved.change, saved.saving)
        only = saved.postponed
        dependencies = saved.awaited
        followedVersion = version
    }

    /// Creates the change that sends the difference to an earlier change of the object.
    init(_ number: Int, of one: PendingChange, following settled: BackendChange, _ version: ResourceVersion?) {
        self.init(number, one.kind == .delete ? .delete : .update, one.change, one.saving)
        row = one.row
        self.settled = settled
        followedVersion = version
    }

    /// Whether it follows a change of the same save.
    var isFollowing: Bool { only != nil || settled != nil }

    /// Whether it creates an object whose identifier the backend assigns. This includes an object that others have deleted and that is inserted again: the
    /// backend does not accept its former identifier.
    var awaitsIdentifier: Bool {
        guard kind == .insert, settled == nil, case .assignedByBackend = saving.identity else { return false }
        return true
    }

    // MARK: Properties

    /// The attributes and to-one relationships to send.
    var sentProperties: [NSPropertyDescription] {
        let all = entity.frozenParts.properties.filter { !$0.isTransient && !$0.isToManyRelationship }
        if let only, !saving.sendsWholeObjects { return all.filter { only.contains($0.name) } }
        if let settled, kind == .update {
            if settled.kind == .insert || saving.sendsWholeObjects { return all }
            let changed = Set(change.changedProperties.map(\.name)).union(settled.values.keys)
            return all.filter { changed.contains($0.name) }
        }
        switch kind {
        case .delete: return []
        case .insert: return all.filter { property in row.map { !$0.isUnknown(property) && !$0.isNilValue(of: property) } ?? false }
        case .update:
            if saving.sendsWholeObjects { return all }
            let changed = Set(change.changedProperties.map(\.name))
            return all.filter { changed.contains($0.name) }
        }
    }

    /// The changes of lists to send.
    var sentLists: [ListDifference] {
        change.lists.filter { list in
            guard let relationship = entity.frozenParts.byName[list.name] as? NSRelationshipDescription else { return false }
            if list.added.isEmpty, list.removed.isEmpty, kind == .insert { return false }
            if let only { return only.contains(list.name) }
            return saving.sends(relationship)
        }
    }

    /// Whether there is nothing to send, even if objects are sent whole, because only the other end of a relationship has changed.
    var isEmpty: Bool {
        kind == .update && settled == nil && sentLists.isEmpty
            && !change.changedProperties.contains { !$0.isTransient && !$0.isToManyRelationship }
    }

    /// The referenced objects.
    var references: [(name: String, id: NSManagedObjectID)] {
        var found: [(name: String, id: NSManagedObjectID)] = []
        for case let relationship as NSRelationshipDescription in sentProperties where !postponed.contains(relationship.name) {
            if let id = row?.relatedIDs(relationship).first { found.append((relationship.name, id)) }
        }
        for list in sentLists where !postponed.contains(list.name) { found += (list.members ?? list.added).map { (list.name, $0) } }
        return found
    }

    // MARK: The change for the backend

    /// Returns the change as a value for the backend.
    ///
    /// - Parameter current: A closure that returns the current ID of an object.
    func sent(
        _ decoding: AnswerDecoding, version: ResourceVersion?, idempotencyKey: UUID, current: (NSManagedObjectID) -> NSManagedObjectID
    ) -> BackendChange {
        var sent = BackendChange(
            key: BackendChange.Key(number: number), kind: kind, entity: entity.name ?? "?", idempotencyKey: idempotencyKey)
        let now = current(id)
        sent.id = awaitsIdentifier && now == id.current ? nil : decoding.resourceID(now)
        sent.version = version
        func reference(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription) -> ResourceReference? {
            let own = id.owningEntity === relationship.destinationEntity ? nil : id.owningEntity.name
            return decoding.resourceID(current(id)).map { ResourceReference($0, entity: own) }
        }
        func value(_ property: NSPropertyDescription, _ row: Row) -> ResourceValue? {
            switch property {
            case let attribute as NSAttributeDescription: .value(row.value(of: attribute))
            case let relationship as NSRelationshipDescription:
                .one(row.relatedIDs(relationship).first.flatMap { reference($0, relationship) })
            default: nil
            }
        }
        for property in sentProperties where !postponed.contains(property.name) {
            sent.values[property.name] = row.flatMap { value(property, $0) }
        }
        // A deletion needs no base if it has a version, or if the store itself detects conflicts.
        let isCompared = kind == .update || kind == .delete && version == nil && saving.conflicts == .backend
        if isCompared, !isFollowing, let base = change.base {
            let changed = Set(change.changedProperties.map(\.name))
            for property in entity.frozenParts.properties where !property.isTransient && !property.isToManyRelationship {
                guard kind == .delete || changed.contains(property.name), !base.isUnknown(property) else { continue }
                sent.base[property.name] = value(property, base)
            }
        }
        for list in sentLists where !postponed.contains(list.name) {
            guard let relationship = entity.frozenParts.byName[list.name] as? NSRelationshipDescription else { continue }
            var change = BackendChange.ListChange()
            change.added = list.added.compactMap { reference($0, relationship) }
            change.removed = list.removed.compactMap { reference($0, relationship) }
            change.members = list.members?.compactMap { reference($0, relationship) }
            sent.lists[list.name] = change
        }
        let changed = only ?? (kind == .update ? Set(change.changedProperties.map(\.name)) : Set(sent.values.keys))
        sent.changedProperties = changed.intersection(sent.values.keys).union(sent.lists.keys)
        if let settled, kind == .update { sent.follow(settled, isWhole: saving.sendsWholeObjects) }
        return sent
    }
}

extension Row {
    /// Whether a property has no value, or no destination.
    fileprivate func isNilValue(of property: NSPropertyDescription) -> Bool {
        switch property {
        case let relationship as NSRelationshipDescription: relatedIDs(relationship).isEmpty
        case let attribute as NSAttributeDescription: any(of: attribute) == nil
        default: true
        }
    }
}

extension Resource.Saving {
    /// Whether the changes of a to-many relationship are sent with its owner.
    func sends(_ relationship: NSRelationshipDescription) -> Bool {
        if let lists { return lists.contains(relationship.name) }
        guard let inverse = relationship.storedInverse else { return true }
        if !inverse.isToMany { return false }
        return (relationship.entity?.name ?? "", relationship.name) <= (inverse.entity?.name ?? "", inverse.name)
    }
}
