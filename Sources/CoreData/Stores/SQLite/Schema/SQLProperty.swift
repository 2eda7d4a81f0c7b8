internal import Foundation

/// How a value is kept in a column.
enum SQLStorage: Sendable {
    /// A whole number.
    case integer
    /// 0 or 1.
    case boolean
    /// A floating-point number of either width.
    case double
    /// A floating-point number: seconds since 2001.
    case date
    /// UTF-8 text.
    case text
    /// Bytes.
    case data
    /// Bytes behind a byte that says whether they follow (1) or lie in a file that is named there (2).
    case externalData
    /// The 16 bytes of a UUID.
    case uuid
    /// The text of a URL.
    case uri
    /// A number: an integer or a floating-point number where these are exact, otherwise the bytes (a blob) of its numeral.
    case decimal
    /// The bytes that a value transformer or an archiver made.
    case transformable
    /// The bytes of an archived dictionary, for composite attributes.
    case composite

    /// The type that the table declares for the column.
    var columnType: String {
        switch self {
        case .integer, .boolean: "INTEGER"
        case .double: "FLOAT"
        case .date: "TIMESTAMP"
        case .decimal: "DECIMAL"
        case .text, .uri: "VARCHAR"
        case .data, .externalData, .uuid, .transformable, .composite: "BLOB"
        }
    }

    /// Which columns of a table come first.
    var rank: Int {
        switch self {
        case .integer, .boolean: 0
        case .double, .date: 1
        case .decimal: 2
        case .text, .uri: 3
        case .data, .externalData, .uuid, .transformable, .composite: 4
        }
    }

    /// Nil for an attribute that stores do not keep.
    init?(_ attribute: NSAttributeDescription) {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: self = .integer
        case .booleanAttributeType: self = .boolean
        case .doubleAttributeType, .floatAttributeType: self = .double
        case .dateAttributeType: self = .date
        case .stringAttributeType: self = .text
        case .binaryDataAttributeType: self = attribute.allowsExternalBinaryDataStorage ? .externalData : .data
        case .UUIDAttributeType: self = .uuid
        case .URIAttributeType: self = .uri
        case .decimalAttributeType: self = .decimal
        case .transformableAttributeType: self = .transformable
        case .compositeAttributeType: self = .composite
        case .undefinedAttributeType, .objectIDAttributeType: return nil
        }
    }
}

/// Where the value of a property lies in the tables of a store.
enum SQLProperty: Sendable {
    case attribute(SQLAttribute)
    case toOne(SQLToOne)
    case toMany(SQLToMany)
    /// A transient property, or one of a type that no store keeps.
    case unstored
}

/// Where an attribute lies: a column of the entity's table.
struct SQLAttribute: Sendable {
    let column: SQLIdentifier
    let storage: SQLStorage
}

/// Where a to-one relationship lies: the other row's key in a column of the entity's table.
struct SQLToOne: Sendable {
    let column: SQLIdentifier
    /// The column with the number of the other row's entity, where the destination has subentities.
    let entityColumn: SQLIdentifier?
}

/// Where a to-many relationship lies.
enum SQLToMany: Sendable {
    /// In the rows of the destination, which hold the owner's key.
    case foreignKey(SQLForeignKey)
    /// In a table of pairs.
    case join(SQLJoin)
}

/// A column of the destination's table that holds the key of the owner of a to-many relationship.
struct SQLForeignKey: Sendable {
    /// The table of the destination.
    let table: SQLIdentifier
    /// The key of the owner.
    let column: SQLIdentifier
    /// The number of the owner's entity, where that may be one of several.
    let entityColumn: SQLIdentifier?
    /// The place among the owner's related rows, where the relationship is ordered.
    let orderColumn: SQLIdentifier?
}

/// A table of pairs, seen from one of its ends.
struct SQLJoin: Sendable {
    let table: SQLIdentifier
    /// The key of the owner.
    let own: SQLIdentifier
    /// The key of the related row.
    let other: SQLIdentifier
    /// The place of the related row among the owner's, where the relationship is ordered.
    let orderColumn: SQLIdentifier?
    /// The place of the owner among the related row's, where the inverse is ordered.
    let inverseOrderColumn: SQLIdentifier?
    /// Whether a relationship is its own inverse: a pair stands in the table once for each direction.
    let isReflexive: Bool
}
