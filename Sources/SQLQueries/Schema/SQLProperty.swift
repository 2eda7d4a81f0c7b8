internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The storage of a value in a column.
package enum SQLStorage: Sendable {
    /// An integer.
    case integer
    /// 0 or 1.
    case boolean
    /// A floating-point number of either size.
    case double
    /// A floating-point number: seconds since 2001.
    case date
    /// A UTF-8 string.
    case text
    /// A blob.
    case data
    /// A blob whose first byte says whether it contains the value (1) or the name of an external file (2).
    case externalData
    /// The 16 bytes of a UUID.
    case uuid
    /// The text of a URL.
    case uri
    /// A number: an integer or a floating-point number where these are exact, otherwise a blob with its numeral.
    case decimal
    /// The data of a value transformer or archiver.
    case transformable
    /// The data of an archived dictionary, for composite attributes.
    case composite

    /// The declared type of the column.
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

    /// The rank of the column in its table.
    var rank: Int {
        switch self {
        case .integer, .boolean: 0
        case .double, .date: 1
        case .decimal: 2
        case .text, .uri: 3
        case .data, .externalData, .uuid, .transformable, .composite: 4
        }
    }

    /// Nil for an attribute that is not stored.
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

/// Maps a property to tables and columns.
package enum SQLProperty: Sendable {
    case attribute(SQLAttribute)
    case toOne(SQLToOne)
    case toMany(SQLToMany)
    /// A transient property, or one of a type that is not stored.
    case unstored
}

/// Maps an attribute to a column of the entity's table.
package struct SQLAttribute: Sendable {
    package let column: SQLIdentifier
    package let storage: SQLStorage
}

/// Maps a to-one relationship to a column of the entity's table with the destination's key.
package struct SQLToOne: Sendable {
    package let column: SQLIdentifier
    /// The column with the entity number of the destination, where that has subentities.
    package let entityColumn: SQLIdentifier?
}

/// Maps a to-many relationship to columns or a join table.
package enum SQLToMany: Sendable {
    /// A foreign key in the rows of the destination.
    case foreignKey(SQLForeignKey)
    /// A join table.
    case join(SQLJoin)
}

/// A column of the destination's table that contains the key of a to-many relationship's owner.
package struct SQLForeignKey: Sendable {
    /// The table of the destination.
    package let table: SQLIdentifier
    /// The column of the owner's key.
    package let column: SQLIdentifier
    /// The column of the owner's entity number, where there may be several.
    package let entityColumn: SQLIdentifier?
    /// The column of the position in the owner's order, for an ordered relationship.
    package let orderColumn: SQLIdentifier?
}

/// A join table, seen from one of its ends.
package struct SQLJoin: Sendable {
    package let table: SQLIdentifier
    /// The column of the owner's key.
    package let own: SQLIdentifier
    /// The column of the related row's key.
    package let other: SQLIdentifier
    /// The column of the related row's position in the owner's order, for an ordered relationship.
    package let orderColumn: SQLIdentifier?
    /// The column of the owner's position in the related row's order, for an ordered inverse.
    let inverseOrderColumn: SQLIdentifier?
    /// Whether the relationship is its own inverse: the table contains a pair for each direction.
    package let isReflexive: Bool
}
