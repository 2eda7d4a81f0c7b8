internal import Foundation
@_spi(Stores) package import ObjectGraph

/// Maps the entities of a model to tables and columns. A store chooses the names and the types of columns.
///
/// The entities of one inheritance share a table, in which each row has the number of its entity.
// Immutable.
package final class SQLSchema: @unchecked Sendable {
    package let model: NSManagedObjectModel
    /// The entities in the order of their numbers.
    package let entities: [SQLEntity]
    /// The tables of the root entities.
    package let tables: [SQLTable]
    /// The join tables.
    package let joins: [SQLJoinTable]
    /// The root entity numbers of inheritances with derived attributes.
    package let derivedRoots: Set<Int64>
    /// The root entity numbers of inheritances with transformable attributes.
    package let transformedRoots: Set<Int64>
    /// Whether rows contain positions of ordered relationships.
    package let hasOrders: Bool
    /// Whether there are relationships stored in no row of either end: join tables, and one-way foreign keys.
    package let hasPairs: Bool
    private let byEntity: [ObjectIdentifier: SQLEntity]
    private let byNumber: [Int64: SQLEntity]

    /// Creates the schema of a frozen model.
    ///
    /// - Parameters:
    ///   - entities: The mapping of each entity that the store holds.
    ///   - tables: The tables of the root entities.
    ///   - joins: The join tables.
    package init(model: NSManagedObjectModel, entities: [SQLEntity], tables: [SQLTable], joins: [SQLJoinTable]) {
        self.model = model
        self.entities = entities
        self.tables = tables
        self.joins = joins
        derivedRoots = Set(
            self.entities.filter { $0.entity.frozen!.properties.contains { $0 is NSDerivedAttributeDescription } }.map(\.rootNumber))
        transformedRoots = Set(
            self.entities.filter { entity in
                entity.properties.contains {
                    guard case .attribute(let place) = $0 else { return false }
                    return switch place.storage {
                    case .transformable, .composite: true
                    default: false
                    }
                }
            }.map(\.rootNumber))
        var (hasOrders, hasPairs) = (false, false)
        for entity in self.entities {
            for (index, property) in entity.properties.enumerated() {
                guard case .toMany(let place) = property else { continue }
                switch place {
                case .join: hasPairs = true
                case .foreignKey(let key):
                    if key.orderColumn != nil { hasOrders = true }
                    if (entity.entity.frozen!.properties[index] as? NSRelationshipDescription)?.storedInverse == nil { hasPairs = true }
                }
            }
        }
        (self.hasOrders, self.hasPairs) = (hasOrders, hasPairs)
        // Bounded: each entity of the model is there once, with a number of its own.
        byEntity = Dictionary(uniqueKeysWithValues: self.entities.map { (ObjectIdentifier($0.entity), $0) })
        // Bounded: each entity of the model is there once, with a number of its own.
        byNumber = Dictionary(uniqueKeysWithValues: self.entities.map { ($0.number, $0) })
    }

    /// Returns the mapping of an entity; nil for an entity that the store does not hold.
    package func entity(_ entity: NSEntityDescription) -> SQLEntity? { byEntity[ObjectIdentifier(entity)] }

    /// Returns the kind of the keys of an inheritance tree.
    func keyKind(root: ObjectIdentifier) -> SQLKeyKind { byEntity[root]?.keyKind ?? .integer }

    /// Returns the entity with a number.
    package func entity(numbered number: Int64) -> SQLEntity? { byNumber[number] }
}
