internal import Foundation
@_spi(Stores) package import ObjectGraph

/// Maps an entity to its table and columns.
// Immutable once its schema is created. The schema retains the model, which retains the entity.
package final class SQLEntity: @unchecked Sendable {
    package unowned let entity: NSEntityDescription
    /// The table, shared by all entities of one inheritance.
    package let table: SQLIdentifier
    /// The columns of every row's key, entity and version.
    package let identity: SQLIdentityColumns
    /// The number of the entity itself, which its rows have.
    package let number: Int64
    /// The number of the root entity, under which the largest key in use is stored.
    package let rootNumber: Int64
    /// The numbers of the entity and its subentities.
    package let numbers: [Int64]
    /// Whether every row of the table is an object of the entity or its subentities.
    package let isWholeTable: Bool
    /// Whether the entity has the table for itself. The entity number of its rows is then ignored, as in Core Data.
    package var isAlone: Bool { isWholeTable && numbers.count == 1 }
    /// The mapping of each property, by its `slotIndex`.
    package let properties: [SQLProperty]
    /// The kind of the rows' keys.
    package let keyKind: SQLKeyKind

    package init(
        entity: NSEntityDescription, table: SQLIdentifier, identity: SQLIdentityColumns, number: Int64, rootNumber: Int64, numbers: [Int64],
        isWholeTable: Bool,
        properties: [SQLProperty], keyKind: SQLKeyKind = .integer
    ) {
        self.keyKind = keyKind
        self.entity = entity
        self.table = table
        self.identity = identity
        self.number = number
        self.rootNumber = rootNumber
        self.numbers = numbers
        self.isWholeTable = isWholeTable
        self.properties = properties
    }

    /// The mapping of a property.
    package subscript(property: NSPropertyDescription) -> SQLProperty { properties[property.slotIndex] }

    /// Returns the entity numbers of the rows that are of the entity or, if requested, of one that inherits from it; nil if every row of the table
    /// is.
    func requiredNumbers(includingSubentities: Bool) -> [Int64]? {
        if includingSubentities { return isWholeTable ? nil : numbers }
        return isAlone ? nil : [number]
    }

    /// Returns the condition that a row is of the entity or, if requested, of one that inherits from it; nil if every row of the table is.
    package func condition(includingSubentities: Bool, alias: String? = nil) -> String? {
        guard let numbers = requiredNumbers(includingSubentities: includingSubentities) else { return nil }
        let column = (alias.map { $0 + "." } ?? "") + identity.entity.sql
        return numbers.count > 1 ? "\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))" : "\(column) = \(numbers[0])"
    }
}

/// A table of rows: the columns of a root entity and its subentities.
package struct SQLTable: Sendable {
    package struct Column: Sendable {
        package let name: SQLIdentifier
        package let type: String

        package init(name: SQLIdentifier, type: String) {
            self.name = name
            self.type = type
        }
    }
    package let name: SQLIdentifier
    /// The columns in order, after ``SQLIdentityColumns``.
    package let columns: [Column]

    package init(name: SQLIdentifier, columns: [Column]) {
        self.name = name
        self.columns = columns
    }
}

/// The join table of a many-to-many relationship.
package struct SQLJoinTable: Sendable {
    package let name: SQLIdentifier
    /// The columns of the two keys.
    package let columns: [SQLIdentifier]
    package let orderColumns: [SQLIdentifier]

    package init(name: SQLIdentifier, columns: [SQLIdentifier], orderColumns: [SQLIdentifier]) {
        self.name = name
        self.columns = columns
        self.orderColumns = orderColumns
    }
}
