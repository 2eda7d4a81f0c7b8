internal import Foundation
@_spi(Stores) package import ObjectGraph

/// Maps an entity to its table and columns.
// Immutable once its schema is created. The schema retains the model, which retains the entity.
package final class SQLEntity: @unchecked Sendable {
    package unowned let entity: NSEntityDescription
    /// The table, shared by all entities of one inheritance.
    package let table: SQLIdentifier
    /// The value of `Z_ENT` for objects of the entity itself.
    package let number: Int64
    /// The number of the root entity, under which the largest key in use is stored.
    package let rootNumber: Int64
    /// The values of `Z_ENT` for objects of the entity and its subentities.
    package let numbers: [Int64]
    /// Whether every row of the table is an object of the entity or its subentities.
    let isWholeTable: Bool
    /// Whether the entity has the table for itself. The `Z_ENT` of its rows is then ignored, as in Core Data.
    package var isAlone: Bool { isWholeTable && numbers.count == 1 }
    /// The mapping of each property, by its `slotIndex`.
    package let properties: [SQLProperty]

    init(
        entity: NSEntityDescription, table: SQLIdentifier, number: Int64, rootNumber: Int64, numbers: [Int64], isWholeTable: Bool,
        properties: [SQLProperty]
    ) {
        self.entity = entity
        self.table = table
        self.number = number
        self.rootNumber = rootNumber
        self.numbers = numbers
        self.isWholeTable = isWholeTable
        self.properties = properties
    }

    /// The mapping of a property.
    package subscript(property: NSPropertyDescription) -> SQLProperty { properties[property.slotIndex] }

    /// The numbers of which a row has one if it is of the entity or, as is asked, of one that inherits from it; nil where every row of the
    /// table is.
    func requiredNumbers(includingSubentities: Bool) -> [Int64]? {
        if includingSubentities { return isWholeTable ? nil : numbers }
        return isAlone ? nil : [number]
    }

    /// The condition that a row is of the entity or, as is asked, of one that inherits from it; nil where every row of the table is.
    package func condition(includingSubentities: Bool, alias: String? = nil) -> String? {
        guard let numbers = requiredNumbers(includingSubentities: includingSubentities) else { return nil }
        let column = (alias.map { $0 + "." } ?? "") + SQLIdentifier.entity.sql
        return numbers.count > 1 ? "\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))" : "\(column) = \(numbers[0])"
    }
}

/// A table of rows: the columns of a root entity and its subentities.
package struct SQLTable: Sendable {
    package struct Column: Sendable {
        package let name: SQLIdentifier
        let type: String
    }
    package let name: SQLIdentifier
    /// The columns in order, after `Z_PK`, `Z_ENT` and `Z_OPT`.
    package let columns: [Column]
}

/// The join table of a many-to-many relationship.
package struct SQLJoinTable: Sendable {
    package let name: SQLIdentifier
    /// The columns of the two keys.
    package let columns: [SQLIdentifier]
    package let orderColumns: [SQLIdentifier]
}

/// An index, with its definition in SQL.
struct SQLIndex: Sendable {
    let name: SQLIdentifier
    let sql: String
}
