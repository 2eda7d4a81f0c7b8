internal import Foundation
internal import Predicates

/// An index of the objects of a store by the values of its uniqueness constraints.
package struct UniquenessIndex {
    private struct Place: Hashable {
        let constraint: ObjectIdentifier
        let key: UniqueValues
    }
    // A file written without the constraints may contain several objects with equal values.
    private var owners: [Place: [NSManagedObjectID]] = [:]
    private var places: [NSManagedObjectID: [Place]] = [:]

    /// Creates an index over the rows of a store.
    package init(_ table: any RowTable, model: NSManagedObjectModel) throws {
        for entity in model.entities where entity.superentity == nil {
            guard entity.allKinds.contains(where: { !$0.frozen!.uniqueness.isEmpty }) else { continue }
            try table.forEachRow(of: entity, includingSubentities: true) { row in
                if let id = row.objectID { set(row, of: id) }
            }
        }
    }

    /// Returns the objects that have the values.
    package func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) -> [NSManagedObjectID] {
        owners[Place(constraint: ObjectIdentifier(constraint), key: UniqueValues(key))] ?? []
    }

    /// Updates the row of an object, or removes it.
    package mutating func set(_ row: Row?, of id: NSManagedObjectID) {
        let frozen = id.owningEntity.frozen!
        if frozen.uniqueness.isEmpty { return }
        for place in places.removeValue(forKey: id) ?? [] {
            owners[place]?.removeAll { $0 == id }
            if owners[place]?.isEmpty ?? false { owners[place] = nil }
        }
        guard let row else { return }
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            let place = Place(constraint: ObjectIdentifier(constraint), key: UniqueValues(key))
            owners[place, default: []].append(id)
            places[id, default: []].append(place)
        }
    }
}
