internal import Foundation
internal import ObjectGraph
internal import SQLiteStore

/// Drafts a model from the tables of a SQLite store that keeps none, as systems before 2012 did.
///
/// The tables determine the entities and their inheritance, attributes with the types of their columns, and to-one relationships whose column has the
/// name of an entity. Names are in lower case, because columns are all in upper case. To-many relationships cannot be derived.
struct TableModel {
    private let file: SQLiteInspection

    init(_ file: SQLiteInspection) { self.file = file }

    private struct Entity {
        let name: String
        let superNumber: Int64
        let description = NSEntityDescription()
    }

    func model() throws -> NSManagedObjectModel {
        var entities: [Int64: Entity] = [:]
        for row in try file.rows("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT") {
            guard case .integer(let number) = row[0], case .text(let name) = row[1] else { continue }
            var above: Int64 = 0
            if case .integer(let number) = row[2] { above = number }
            let entity = Entity(name: name, superNumber: above)
            entity.description.name = name
            entities[number] = entity
        }
        for (_, entity) in entities.sorted(by: { $0.key < $1.key }) {
            entities[entity.superNumber]?.description.subentities.append(entity.description)
        }
        let byTable = Dictionary(entities.values.map { ("Z" + $0.name.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for entity in entities.values where entities[entity.superNumber] == nil {
            entity.description.properties = try properties(of: entity, byTable)
        }
        return NSManagedObjectModel(entities: entities.sorted { $0.key < $1.key }.map(\.value.description))
    }

    private func properties(of entity: Entity, _ byTable: [String: Entity]) throws -> [NSPropertyDescription] {
        let table = "Z" + entity.name.uppercased()
        let columns = try file.rows("SELECT name, type FROM pragma_table_info('\(table.replacing("'", with: "''"))') ORDER BY cid")
            .compactMap { row -> (name: String, type: String)? in
                if case .text(let name) = row[0], case .text(let type) = row[1] { (name.uppercased(), type.uppercased()) } else { nil }
            }
        let names = Set(columns.map(\.name))
        return columns.compactMap { column in
            // Columns for keys and positions of relationships begin with Z_ or a number.
            guard column.name.hasPrefix("Z"), column.name.count > 1, !column.name.hasPrefix("Z_"),
                !(column.name.dropFirst().first?.isNumber ?? true)
            else { return nil }
            let name = column.name.dropFirst().lowercased()
            if column.type == "INTEGER", let destination = byTable[column.name] {
                let hasColumnOfEntity = names.contains { $0.hasSuffix("_" + name.uppercased()) && $0.dropFirst().first?.isNumber == true }
                if destination.description.subentities.isEmpty || hasColumnOfEntity {
                    let relationship = NSRelationshipDescription()
                    relationship.name = name
                    relationship.maxCount = 1
                    relationship.destinationEntity = destination.description
                    return relationship
                }
            }
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.type = Self.type(column.type)
            return attribute
        }
    }

    private static func type(_ column: String) -> NSAttributeDescription.AttributeType {
        switch column {
        case "INTEGER": .integer64
        case "FLOAT": .double
        case "DECIMAL": .decimal
        case "TIMESTAMP": .date
        case "BLOB": .binaryData
        default: .string
        }
    }
}
