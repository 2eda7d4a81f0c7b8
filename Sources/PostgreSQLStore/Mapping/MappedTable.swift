#if PostgreSQL
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The keys of the user info that say which tables and columns of an existing schema a model is about.
enum MappingKey {
    /// Of an entity: the table or view; by default the entity's name in lower case and underscores.
    static let table = "tableName"
    /// Of an entity: the columns that name a row, separated by commas; by default the primary key.
    static let key = "keyColumns"
    /// Of an attribute: the column; by default the attribute's name in lower case and underscores.
    static let column = "columnName"
    /// Of a to-one relationship: the columns with the destination's key, in its order; by default the relationship's name and `_id`.
    static let columns = "columnNames"
    /// Of a many-to-many relationship, one of both: the table of pairs.
    static let joinTable = "joinTable"
    /// Its columns with the key of the object that has the relationship.
    static let joinOwner = "joinOwner"
    /// Its columns with the key of the related object.
    static let joinMember = "joinMember"
    /// Of an entity: `YES` where it is not to be saved.
    static let readOnly = "isReadOnly"

    /// Returns the names in a list.
    static func names(_ list: String) -> [String] {
        list.split(separator: ",").map { String($0.drop { $0 == " " }) }.map { name in
            String(name.reversed().drop { $0 == " " }.reversed())
        }
    }
}

/// The table or view of an entity.
// Immutable.
struct MappedTable: Sendable {
    /// The value of a property.
    enum Value: Sendable {
        case attribute(CatalogueColumn, ColumnForm)
        /// The columns with the key of the destination.
        case toOne(KeyColumns)
        /// The other end of a to-one relationship whose columns are in the destination's table.
        case inverse
    }

    let relation: CatalogueRelation
    /// The name in SQL, with its schema.
    let sql: String
    let key: KeyColumns
    /// Why the rows cannot be saved; nil where they can.
    let readOnlyReason: String?
    /// The values by the slot indexes of the properties.
    var values: [Int: Value] = [:]

    /// The name of the table within the statements of one row.
    static let alias = "\"@\""

    /// What selects the version of a row, which changes with each update: the number of the transaction that wrote it. The rows of what is not a
    /// table have none; their content says whether they have changed.
    var version: String {
        relation.kind == .table ? "\(Self.alias).xmin::text::bigint" : "hashtextextended(\(Self.alias)::text, 0)"
    }
}

/// The table of a many-to-many relationship.
// Immutable.
struct MappedJoin: Sendable {
    /// The name in SQL, with its schema.
    let sql: String
    /// The columns with the keys of the objects at the end where ``SQLJoin/own`` is ``firstColumn``.
    let first: KeyColumns
    let second: KeyColumns
    /// Why pairs cannot be saved; nil where they can.
    let readOnlyReason: String?

    static let firstColumn = LayoutNames.identifier("first")
    static let secondColumn = LayoutNames.identifier("second")
}
#endif
