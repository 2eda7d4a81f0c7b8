internal import Foundation

/// Where the objects of an entity lie in a store.
// Immutable once its schema is made. The model, which the schema keeps, keeps the entity.
final class SQLEntity: @unchecked Sendable {
    unowned let entity: NSEntityDescription
    /// The table, shared by all entities of one inheritance.
    let table: SQLIdentifier
    /// What stands in `Z_ENT` for objects of the entity itself.
    let number: Int64
    /// The number of the entity at the top of the inheritance, under which the largest key in use is kept.
    let rootNumber: Int64
    /// What stands in `Z_ENT` for objects of the entity and of all that inherit from it.
    let numbers: [Int64]
    /// Whether every row of the table is an object of the entity or of one that inherits from it.
    let isWholeTable: Bool
    /// Whether the entity has the table for itself. What its rows say in `Z_ENT` counts for nothing then, as with Core Data.
    var isAlone: Bool { isWholeTable && numbers.count == 1 }
    /// Where each property lies, by its `slotIndex`.
    let properties: [SQLProperty]

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

    /// Where a property of the entity lies.
    subscript(property: NSPropertyDescription) -> SQLProperty { properties[property.slotIndex] }

    /// The numbers of which a row has one if it is of the entity or, as is asked, of one that inherits from it; nil where every row of the
    /// table is.
    func requiredNumbers(includingSubentities: Bool) -> [Int64]? {
        if includingSubentities { return isWholeTable ? nil : numbers }
        return isAlone ? nil : [number]
    }

    /// The condition that a row is of the entity or, as is asked, of one that inherits from it; nil where every row of the table is.
    func condition(includingSubentities: Bool, alias: String? = nil) -> String? {
        guard let numbers = requiredNumbers(includingSubentities: includingSubentities) else { return nil }
        let column = (alias.map { $0 + "." } ?? "") + SQLIdentifier.entity.sql
        return numbers.count > 1 ? "\(column) IN (\(numbers.map(String.init).joined(separator: ", ")))" : "\(column) = \(numbers[0])"
    }
}

/// A table of rows: the columns of an entity at the top of an inheritance and of all that inherit from it.
struct SQLTable: Sendable {
    struct Column: Sendable {
        let name: SQLIdentifier
        let type: String
    }
    let name: SQLIdentifier
    /// The columns in order, after `Z_PK`, `Z_ENT` and `Z_OPT`.
    let columns: [Column]
}

/// A table of the pairs of a many-to-many relationship.
struct SQLJoinTable: Sendable {
    let name: SQLIdentifier
    /// The two keys.
    let columns: [SQLIdentifier]
    let orderColumns: [SQLIdentifier]
}

/// An index, as SQL makes it.
struct SQLIndex: Sendable {
    let name: SQLIdentifier
    let sql: String
}
