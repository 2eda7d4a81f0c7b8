internal import Foundation

/// The changes of one object that an asynchronous save has taken; they are restored if the save fails.
struct SavedObjectState {
    enum Kind { case inserted, updated, locked }

    let object: NSManagedObject
    let kind: Kind
    /// The row before the changes; nil for a new object.
    private let snapshot: Row?
    /// The changed properties.
    private let changed: PropertySet
    /// The changed to-many relationships.
    private var lists: [List] = []

    private struct List {
        let relationship: NSRelationshipDescription
        var storage: ToManyStorage
    }

    /// Takes the changes of an object; its row belongs to the stores from here on and is not written again.
    init(_ object: NSManagedObject, _ kind: Kind) {
        self.object = object
        self.kind = kind
        snapshot = object.snapshot
        changed = object.changed
        if object.eventRow != nil { object.eventRow = nil }
        object.flags.subtract([.inserted, .updated, .inEvent, .insertedInEvent, .hasExclusiveRow])
        object.changed.removeAll()
        if object.extras != nil { object.rejectedValues = nil }
        object.snapshot = object.row
        for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany {
            // The store does not know a new object yet.
            let storage: ToManyStorage
            if case .toMany(let known) = object.state(of: relationship) {
                storage = known
            } else if kind == .inserted {
                storage = ToManyStorage(isOrdered: relationship.isOrdered, isLoaded: true)
                object.setState(.toMany(storage), of: relationship)
            } else {
                continue
            }
            guard kind == .inserted || changed.contains(relationship.slotIndex) else { continue }
            lists.append(List(relationship: relationship, storage: storage))
            storage.beginSave()
        }
    }

    /// Completes the save: additions to an unread relationship are part of the store's list from now on.
    func completeSave() {
        for list in lists where list.storage.endSave() && isCurrent(list) { object.setState(.fault, of: list.relationship) }
    }

    /// Discards later changes: restores the relationships to their state when the save was sent.
    mutating func restoreRelationships() {
        for index in lists.indices {
            let storage = lists[index].storage.withoutLaterChanges
            lists[index].storage = storage
            object.setState(.toMany(storage), of: lists[index].relationship)
        }
    }

    /// Restores the changes of a failed save, under those made since.
    func restoreChanges() {
        object.snapshot = snapshot
        object.changed.formUnion(changed)
        for list in lists { list.storage.cancelSave() }
    }

    /// Returns whether the object still uses the storage that the save was taken from.
    private func isCurrent(_ list: List) -> Bool {
        if case .toMany(let storage) = object.state(of: list.relationship) { storage === list.storage } else { false }
    }
}

extension PropertySet {
    /// Inserts the members of another set.
    mutating func formUnion(_ other: PropertySet) {
        low |= other.low
        for (index, word) in other.high.enumerated() {
            if index < high.count { high[index] |= word } else { high.append(word) }
        }
    }
}
