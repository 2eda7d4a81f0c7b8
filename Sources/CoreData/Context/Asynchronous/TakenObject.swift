internal import Foundation

/// What an asynchronous save has taken of one object: the object counts as saved from then on, and gets this back where the save fails.
struct TakenObject {
    enum Kind { case inserted, updated, locked }

    let object: NSManagedObject
    let kind: Kind
    /// The values from which the object was changed; nil for a new one.
    private let snapshot: Row?
    /// The properties that were changed.
    private let changed: PropertySet
    /// The to-many relationships that were changed.
    private var lists: [List] = []

    private struct List {
        let relationship: NSRelationshipDescription
        var storage: ToManyStorage
    }

    /// Takes the changes of an object, whose row has been given to stores: nobody writes to that any more.
    init(_ object: NSManagedObject, _ kind: Kind) {
        self.object = object
        self.kind = kind
        snapshot = object.snapshot
        changed = object.changed
        if object.eventRow != nil { object.eventRow = nil }
        object.flags.subtract([.inserted, .updated, .noted, .insertedInEvent, .ownsRow])
        object.changed.removeAll()
        if object.rarities != nil { object.refusedValues = nil }
        object.snapshot = object.row
        for relationship in object.owningEntity.frozen!.relationships where relationship.isToMany {
            // The store has no new object to be asked about yet.
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

    /// The save is done. What was added to a relationship that had not been read is in the store's list from now on.
    func settle() {
        for list in lists where list.storage.endSave() && isCurrent(list) { object.setState(.fault, of: list.relationship) }
    }

    /// What was changed since the save was taken is given up: the relationships are as they were then.
    mutating func restoreRelationships() {
        for index in lists.indices {
            let storage = lists[index].storage.withoutLaterChanges
            lists[index].storage = storage
            object.setState(.toMany(storage), of: lists[index].relationship)
        }
    }

    /// The save has failed: the object has its changes back, and those that were made since.
    func giveBack() {
        object.snapshot = snapshot
        object.changed.formUnion(changed)
        for list in lists { list.storage.takeBackSave() }
    }

    /// Whether the object still has the storage from which the save has taken.
    private func isCurrent(_ list: List) -> Bool {
        if case .toMany(let storage) = object.state(of: list.relationship) { storage === list.storage } else { false }
    }
}

extension PropertySet {
    /// Adds the numbers of another set.
    mutating func formUnion(_ other: PropertySet) {
        low |= other.low
        for (index, word) in other.high.enumerated() {
            if index < high.count { high[index] |= word } else { high.append(word) }
        }
    }
}
