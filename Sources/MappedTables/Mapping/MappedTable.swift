@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// The keys of the user info with which a model names tables and columns of an existing schema.
package enum MappingKey {
    /// Of an entity: the table or view; by default the entity's name in lower case and underscores.
    package static let table = "tableName"
    /// Of an entity: the columns that name a row, separated by commas; by default the primary key.
    package static let key = "keyColumns"
    /// Of an attribute: the column; by default the attribute's name in lower case and underscores.
    package static let column = "columnName"
    /// Of a to-one relationship: the columns with the destination's key, in its order; by default the relationship's name and `_id`.
    package static let columns = "columnNames"
    /// Of a many-to-many relationship, one of both: the table of pairs.
    package static let joinTable = "joinTable"
    /// Its columns with the key of the object that has the relationship.
    package static let joinOwner = "joinOwner"
    /// Its columns with the key of the related object.
    package static let joinMember = "joinMember"
    /// Of an entity: `YES` if it must not be saved.
    package static let readOnly = "isReadOnly"
    /// As the columns that identify a row: all of them, if there is no key.
    package static let allColumns = "*"

    /// Returns the names in a list.
    package static func names(_ list: String) -> [String] {
        list.split(separator: ",").map { String($0.drop { $0 == " " }) }.map { name in
            String(name.reversed().drop { $0 == " " }.reversed())
        }
    }
}

/// The table or view of an entity.
// Immutable.
package struct MappedTable<Dialect: TableDialect>: Sendable {
    /// The value of a property.
    package enum Value: Sendable {
        case attribute(CatalogueColumn<Dialect>, Dialect.Form)
        /// The columns with the key of the destination.
        case toOne(KeyColumns<Dialect>)
        /// The other end of a to-one relationship whose columns are in the destination's table.
        case inverse
    }

    package let relation: CatalogueRelation<Dialect>
    /// The name in SQL, with its schema; or, for a table without a key, the SQL that selects its rows with their digest as the key.
    package let sql: String
    package let key: KeyColumns<Dialect>
    /// The reason why the rows cannot be saved; nil if they can.
    package let readOnlyReason: String?
    /// Whether the key is made of the values of all columns.
    package let isNamedByValues: Bool
    /// The values by the slot indexes of the properties.
    package var values: [Int: Value] = [:]

    /// The kind and the name, for messages.
    package var shown: String { "\(relation.kind.name) \(relation.name)" }

    /// The name of the table within the statements of one row.
    package static var alias: String { "\"@\"" }

    /// The columns that the model knows, in the order of their table.
    package var knownColumns: [CatalogueColumn<Dialect>] {
        var names = Set(key.columns.map(\.name))
        for value in values.values {
            switch value {
            case .attribute(let column, _): names.insert(column.name)
            case .toOne(let key): names.formUnion(key.columns.map(\.name))
            case .inverse: continue
            }
        }
        return (relation.columns + [relation.rowNumber].compactMap { $0 }).filter { names.contains($0.name) }
    }

    /// The SQL that selects the version of a row, which changes with each update. A row whose key consists of its values has a constant one.
    package var version: String {
        isNamedByValues ? Dialect.literal(1) : Dialect.version(of: relation, knownColumns, as: Self.alias)
    }
}

/// The table of a many-to-many relationship.
// Immutable.
package struct MappedJoin<Dialect: TableDialect>: Sendable {
    /// The name in SQL, with its schema.
    package let sql: String
    /// The columns with the keys of the objects at the end whose ``SQLJoin/own`` is ``firstColumn``.
    package let first: KeyColumns<Dialect>
    package let second: KeyColumns<Dialect>
    /// Whether the only rule is one that keeps pairs distinct.
    package let isUnique: Bool
    /// The reason why pairs cannot be saved; nil if they can.
    package let readOnlyReason: String?

    package static var firstColumn: SQLIdentifier { TableNames.identifier("first") }
    package static var secondColumn: SQLIdentifier { TableNames.identifier("second") }
}

extension NSManagedObjectID.Reference {
    /// The key in messages.
    package var shown: String {
        switch self {
        case .integer(let number): "\(number)"
        case .string(let text): text
        case .uuid(let uuid): uuid.uuidString
        default: "\(self)"
        }
    }
}
