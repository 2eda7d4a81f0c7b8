internal import Foundation

/// What lies where in a store, for the entities of a model: the layout that Core Data's own SQLite stores have.
///
/// Entities of one inheritance share a table, `Z` and the name of the one at the top. Entities are numbered in the order of their names,
/// subentities after the one they inherit from.
// Immutable.
final class SQLSchema: @unchecked Sendable {
    let model: NSManagedObjectModel
    /// The entities in the order of their numbers.
    let entities: [SQLEntity]
    let tables: [SQLTable]
    let joins: [SQLJoinTable]
    let indexes: [SQLIndex]
    /// What the model wants to be indexed and is not, for people.
    let unmadeIndexes: [String]
    /// The numbers of the inheritances that have derived attributes.
    let derivedRoots: Set<Int64>
    /// The numbers of the inheritances that have attributes which a transformer makes.
    let transformedRoots: Set<Int64>
    /// Whether rows hold their places in ordered relationships.
    let hasOrders: Bool
    /// Whether relationships are written that lie in no row of either end: tables of pairs, and keys that no relationship leads back from.
    let hasPairs: Bool
    private let byEntity: [ObjectIdentifier: SQLEntity]
    private let byNumber: [Int64: SQLEntity]

    /// Lays out entities of a frozen model.
    ///
    /// - Parameters:
    ///   - entities: those that the store keeps.
    ///   - numbers: the numbers that a file gives to entities, by name; entities it does not know are numbered as in a new store.
    ///   - fileTables: the columns of the tables that a file has, where a layout can be had in two ways.
    init(
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
                    if (entity.entity.frozen!.properties[index] as? NSRelationshipDescription)?.keptInverse == nil { hasPairs = true }
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

    /// Where an entity lies; nil for one that the store does not keep.
    func entity(_ entity: NSEntityDescription) -> SQLEntity? { byEntity[ObjectIdentifier(entity)] }

    /// The entity of a number in `Z_ENT`.
    func entity(numbered number: Int64) -> SQLEntity? { byNumber[number] }
}
