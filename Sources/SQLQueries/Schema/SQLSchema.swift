internal import Foundation
@_spi(Stores) package import ObjectGraph

/// Maps the entities of a model to tables and columns, in the layout of Core Data's own SQLite stores.
///
/// The entities of one inheritance share a table, whose name is `Z` and that of the root entity. Entities are numbered in the order of
/// their names, subentities after their superentity.
// Immutable.
package final class SQLSchema: @unchecked Sendable {
    let model: NSManagedObjectModel
    /// The entities in the order of their numbers.
    package let entities: [SQLEntity]
    package let tables: [SQLTable]
    package let joins: [SQLJoinTable]
    let indexes: [SQLIndex]
    /// The indexes of the model that are not created, as messages.
    package let unmadeIndexes: [String]
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
    ///   - entities: The entities that the store holds.
    ///   - numbers: The entity numbers of an existing file, by name; other entities are numbered as in a new store.
    ///   - fileTables: The columns of an existing file's tables, where a layout has variants.
    package init(
        model: NSManagedObjectModel, entities: [NSEntityDescription], numbers: [String: Int64] = [:], fileTables: [String: [String]] = [:]
    ) {
        let layout = SQLSchemaLayout(entities: entities, numbers: numbers, fileTables: fileTables)
        self.model = model
        self.entities = layout.sqlEntities()
        tables = layout.tables
        joins = layout.joinTables
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
        byEntity = Dictionary(uniqueKeysWithValues: self.entities.map { (ObjectIdentifier($0.entity), $0) })
        byNumber = Dictionary(uniqueKeysWithValues: self.entities.map { ($0.number, $0) })
        let indexes = SQLIndexes(entities: self.entities, joins: layout.joinTables)
        self.indexes = indexes.all
        unmadeIndexes = indexes.unmade
    }

    /// Returns the mapping of an entity; nil for one that the store does not hold.
    package func entity(_ entity: NSEntityDescription) -> SQLEntity? { byEntity[ObjectIdentifier(entity)] }

    /// Returns the entity with a number in `Z_ENT`.
    package func entity(numbered number: Int64) -> SQLEntity? { byNumber[number] }
}
