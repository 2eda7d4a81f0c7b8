internal import Foundation
@_spi(Stores) package import ObjectGraph

/// The storage of a value in a column.
package enum SQLStorage: Sendable {
    /// An integer.
    case integer
    /// True or false.
    case boolean
    /// A floating-point number of either size.
    case double
    /// A date.
    case date
    /// A string.
    case text
    /// Bytes.
    case data
    /// Bytes, or a reference to bytes that are kept outside of the table.
    case externalData
    /// A UUID.
    case uuid
    /// A URL.
    case uri
    /// A decimal number.
    case decimal
    /// The data of a value transformer or archiver.
    case transformable
    /// The data of an archived dictionary, for composite attributes.
    case composite

    /// Nil for an attribute that is not stored.
    package init?(_ attribute: NSAttributeDescription) {
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

    package init(column: SQLIdentifier, storage: SQLStorage) {
        self.column = column
        self.storage = storage
    }
}

/// Maps a to-one relationship to a column of the entity's table with the destination's key.
package struct SQLToOne: Sendable {
    package let column: SQLIdentifier
    /// The column with the entity number of the destination, if that has subentities.
    package let entityColumn: SQLIdentifier?

    package init(column: SQLIdentifier, entityColumn: SQLIdentifier?) {
        self.column = column
        self.entityColumn = entityColumn
    }
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
    /// The column of the owner's entity number, if there may be several.
    package let entityColumn: SQLIdentifier?
    /// The column of the position in the owner's order, for an ordered relationship.
    package let orderColumn: SQLIdentifier?

    package init(table: SQLIdentifier, column: SQLIdentifier, entityColumn: SQLIdentifier?, orderColumn: SQLIdentifier?) {
        self.table = table
        self.column = column
        self.entityColumn = entityColumn
        self.orderColumn = orderColumn
    }
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
    package let inverseOrderColumn: SQLIdentifier?
    /// Whether the relationship is its own inverse: the table contains a pair for each direction.
    package let isReflexive: Bool
    /// Whether a pair may name a row that is not there, and whether it may be there twice: in tables of other programs.
    package let mayDangle: Bool
    package let mayRepeat: Bool

    package init(
        table: SQLIdentifier, own: SQLIdentifier, other: SQLIdentifier, orderColumn: SQLIdentifier?, inverseOrderColumn: SQLIdentifier?,
        isReflexive: Bool, mayDangle: Bool = false, mayRepeat: Bool = false
    ) {
        self.table = table
        self.own = own
        self.other = other
        self.orderColumn = orderColumn
        self.inverseOrderColumn = inverseOrderColumn
        self.isReflexive = isReflexive
        self.mayDangle = mayDangle
        self.mayRepeat = mayRepeat
    }
}
