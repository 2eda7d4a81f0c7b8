internal import Foundation
@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// The columns that a statement sets, and its parameters.
package struct MappedValues<Dialect: TableDialect> {
    package private(set) var parameters: [Dialect.Parameter]
    package private(set) var assignments: [(column: String, value: String)] = []

    /// - Parameter first: The first parameters.
    package init(first: [Dialect.Parameter] = []) { parameters = first }

    /// Adds a parameter, and returns its name.
    package mutating func bind(_ value: Dialect.Parameter) -> String {
        parameters.append(value)
        return Dialect.placeholder(parameters.count)
    }

    /// Sets a column, even if it was set before.
    package mutating func set(_ column: String, _ value: String) {
        if let index = assignments.firstIndex(where: { $0.column == column }) {
            assignments[index].value = value
        } else {
            assignments.append((column, value))
        }
    }

    package func contains(_ column: String) -> Bool { assignments.contains { $0.column == column } }
}

/// Converts values of rows to values of columns, for one save.
package protocol MappedValueWriting {
    associatedtype Dialect: TableDialect

    /// Returns the value of an attribute.
    ///
    /// - Throws: Code 134030 for a value that the column cannot hold.
    func value(
        of row: Row, _ slot: RowLayout.Slot, _ storage: SQLStorage, _ attribute: NSAttributeDescription, _ form: Dialect.Form
    ) throws -> Dialect.Parameter
    /// Returns the key of an object of the store, including a newly inserted one.
    ///
    /// - Throws: Code 1600 for another object.
    func key(of id: NSManagedObjectID, _ kind: SQLKeyKind, for property: NSPropertyDescription) throws -> Dialect.Parameter
    /// Returns the key of a saved object.
    ///
    /// - Throws: Code 133000 for an object of another store.
    func key(of change: StoreChange, _ table: MappedTable<Dialect>) throws -> Dialect.Parameter
    /// Returns a new UUID as a value of a column.
    func newUUID(_ column: CatalogueColumn<Dialect>) -> Dialect.Parameter
    /// Returns whether two values are the same to the database.
    func areEqual(_ first: Dialect.Parameter, _ second: Dialect.Parameter) -> Bool
}

extension MappedValueWriting {
    /// Returns the columns that a new row has.
    ///
    /// - Parameter omitted: The slot indexes of properties that are written later.
    /// - Throws: Code 134030 for a row without a key, and for a value that a column cannot hold.
    package func values(
        ofNew change: StoreChange, without omitted: Set<Int>, _ entity: SQLEntity, _ table: MappedTable<Dialect>
    ) throws -> MappedValues<Dialect> {
        var values = MappedValues<Dialect>()
        guard let row = change.row else { return values }
        for (slot, value) in table.values.sorted(by: { $0.key < $1.key }) where !omitted.contains(slot) {
            try add(value, slot, row, base: nil, entity, table, to: &values)
        }
        if !change.objectID.isTemporaryID {
            // The object returns under its former key.
            let parameter = values.bind(try key(of: change, table))
            for (column, value) in table.key.written(parameter) { values.set(column, value) }
        }
        for column in table.key.columns where !column.hasDefault && !values.contains(column.name) {
            guard Dialect.form(of: column.type).map(Dialect.isUUID) ?? false else { throw keyless(change, column, table) }
            values.set(column.name, values.bind(newUUID(column)))
        }
        return values
    }

    private func keyless(_ change: StoreChange, _ column: CatalogueColumn<Dialect>, _ table: MappedTable<Dialect>) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "\(change.objectID) cannot be saved.",
            reason: "\(table.relation.name).\(column.name) is a part of its key, and neither the object nor the database gives it a value.",
            next: "Set the property of the column.", info: [NSAffectedObjectsErrorKey: [change.objectID]])
    }

    /// Adds the columns of a property.
    ///
    /// - Parameter base: The values that the row has in the table; nil for a new row.
    /// - Throws: Code 134030 for a value that the column cannot hold.
    package func add(
        _ value: MappedTable<Dialect>.Value, _ slot: Int, _ row: Row, base: Row?, _ entity: SQLEntity, _ table: MappedTable<Dialect>,
        to values: inout MappedValues<Dialect>
    ) throws {
        let place = row.layout.slots[slot]
        let property = entity.entity.frozenParts.properties[slot]
        switch value {
        case .inverse: return
        case .attribute(let column, let form):
            guard let attribute = property as? NSAttributeDescription, case .attribute(let stored) = entity.properties[slot] else { return }
            // Missing values of a key are checked when all values are known.
            let isOfKey = table.key.columns.contains { $0.name == column.name }
            if base == nil, row.isNil(at: place), column.hasDefault || isOfKey { return }
            let new = try self.value(of: row, place, stored.storage, attribute, form)
            if case .expression = column.source {
                throw unsavable(attribute, "\(table.relation.name).\(column.name) is generated by the database.", row)
            }
            if let base, isOfKey {
                let old = try self.value(of: base, base.layout.slots[slot], stored.storage, attribute, form)
                if areEqual(old, new) { return }
                throw unsavable(attribute, "\(table.relation.name).\(column.name) is the key of its row.", row)
            }
            values.set(column.name, Dialect.written(values.bind(new), form, column.type))
        case .toOne(let key):
            guard let id = row.objectID(at: place) else {
                for column in key.columns where !values.contains(column.name) {
                    if base == nil, column.hasDefault { continue }
                    values.set(column.name, "NULL")
                }
                return
            }
            let isOfKey = key.columns.contains { own in table.key.columns.contains { $0.name == own.name } }
            if let base, isOfKey {
                if let old = base.objectID(at: place), old.namesSameObject(as: id) { return }
                throw unsavable(property, "\(table.relation.name).\(key.columns[0].name) is the key of its row.", row)
            }
            let parameter = values.bind(try self.key(of: id, key.kind, for: property))
            for (column, value) in key.written(parameter) { values.set(column, value) }
        }
    }

    /// Returns the error of a value that cannot be saved.
    package func unsavable(_ property: NSPropertyDescription, _ reason: String, _ row: Row) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "“\(property)” cannot be saved.", reason: reason, next: "Undo the change.",
            info: [NSAffectedObjectsErrorKey: [row.objectID].compactMap { $0 }])
    }
}
