internal import Foundation
internal import Predicates

/// A row of a batch insert, before it has an ID.
package struct BatchRow {
    package let row: Row
    /// The attributes with given values, by slot index; the others have their default values.
    package var given = PropertySet()
}

/// Creates the rows of a batch insert.
package struct BatchRows {
    private let request: NSBatchInsertRequest
    private let entity: NSEntityDescription
    private let frozen: FrozenEntity

    package init(_ request: NSBatchInsertRequest) {
        self.request = request
        entity = request.knownEntity
        frozen = entity.frozenParts
    }

    package func made() throws -> [BatchRow] {
        if let handler = request.managedObjectHandler { return try rows(filledBy: handler) }
        if let handler = request.dictionaryHandler { return try rows(filledBy: handler) }
        return try (request.objectsToInsert ?? []).map { try row($0) }
    }

    private func rows(filledBy handler: (NSMutableDictionary) -> Bool) throws -> [BatchRow] {
        var rows: [BatchRow] = []
        while true {
            let dictionary = NSMutableDictionary()
            if handler(dictionary) { return rows }
            var values: [String: Any] = [:]
            for (key, value) in dictionary {
                guard let key = key as? String else { throw BatchRows.unknown("\(key)", entity) }
                values[key] = value
            }
            rows.append(try row(values))
        }
    }

    private func rows(filledBy handler: (NSManagedObject) -> Bool) throws -> [BatchRow] {
        var rows: [BatchRow] = []
        while true {
            let object = frozen.objectClass.init(entity: entity, insertInto: nil)
            if handler(object) { return rows }
            if let refused = object.rejectedValues?.values.first { throw refused }
            let row = blank()
            for property in frozen.properties {
                guard let attribute = property as? NSAttributeDescription else {
                    guard object.hasNoDestination(property) else { throw BatchRows.isRelationship(property) }
                    continue
                }
                if attribute.isTransient { continue }
                let slot = row.layout.slots[attribute.slotIndex]
                row.copyValue(from: object.readableRow, at: slot)
                guard row.isNil(at: slot) || AttributeCheck.holds(row, slot, attribute) else {
                    throw BatchRows.invalidValue(object.anyAttribute(attribute), attribute)
                }
            }
            rows.append(BatchRow(row: row, given: object.changed))
        }
    }

    private func row(_ values: [String: Any]) throws -> BatchRow {
        let row = blank()
        var given = PropertySet()
        for (key, value) in values {
            let attribute = try BatchRows.attribute(key, of: entity)
            guard let storable = AttributeCheck.conform(value, to: attribute) else { throw BatchRows.invalidValue(value, attribute) }
            row.store(storable, in: row.layout.slots[attribute.slotIndex])
            given.insert(attribute.slotIndex)
        }
        return BatchRow(row: row, given: given)
    }

    /// Returns a row with the default values and empty relationships.
    private func blank() -> Row {
        let row = frozen.layout.defaultRow.copy()
        for property in frozen.properties {
            let slot = row.layout.slots[property.slotIndex]
            if let relationship = property as? NSRelationshipDescription, relationship.isToMany { row.setObjectIDs(.empty, at: slot) }
            if property is NSAttributeDescription, property.isTransient { row.store(.null, in: slot) }
        }
        return row
    }

    // MARK: Errors

    /// Returns the attribute of a name that a batch request may set.
    package static func attribute(_ name: String, of entity: NSEntityDescription) throws -> NSAttributeDescription {
        guard let property = entity.frozen?.byName[name] else { throw unknown(name, entity) }
        guard let attribute = property as? NSAttributeDescription else { throw isRelationship(property) }
        guard !attribute.isTransient else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A batch request cannot set “\(attribute)”.", reason: "It is transient: no store keeps it.")
        }
        return attribute
    }

    static func unknown(_ name: String, _ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A batch request cannot set “\(name)”.", reason: "“\(entity)” has no attribute of that name.")
    }

    static func isRelationship(_ property: NSPropertyDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A batch request cannot set “\(property)”.", reason: "It is a relationship.",
            next: "Set relationships by objects of a context.")
    }

    package static func invalidValue(_ value: Any?, _ attribute: NSAttributeDescription) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError, "“\(attribute)” cannot hold the value that a batch request gives.",
            reason: "Unacceptable value \(AttributeCheck.describe(value)).", next: "Give a value of the attribute's type.",
            info: [NSValidationKeyErrorKey: attribute.name, NSValidationValueErrorKey: value ?? NSNull()])
    }
}

extension NSManagedObject {
    /// Returns whether a relationship is empty.
    fileprivate func hasNoDestination(_ property: NSPropertyDescription) -> Bool {
        guard let relationship = property as? NSRelationshipDescription else { return true }
        return relationship.isToMany ? toMany(relationship).objects.isEmpty : toOne(relationship) == nil
    }
}

/// One assignment of a batch update, prepared for many rows.
package struct BatchAssignment {
    private enum Source {
        case constant(StorableValue)
        case expression(CompiledKeyPath)
    }

    private let attribute: NSAttributeDescription
    private let source: Source

    /// Returns all assignments of a request.
    ///
    /// - Throws: An error for a key that is not an attribute, a constant that its attribute cannot hold, or an expression that cannot be
    ///   evaluated.
    package static func all(of request: NSBatchUpdateRequest, _ schema: RowSchema) throws -> [BatchAssignment] {
        let entity = request.knownEntity
        return try (request.propertiesToUpdate ?? [:]).map { key, value in
            let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String ?? "\(key.base)"
            let attribute = try BatchRows.attribute(name, of: entity)
            guard let expression = value as? NSExpression else {
                guard let storable = AttributeCheck.conform(value, to: attribute) else { throw BatchRows.invalidValue(value, attribute) }
                return BatchAssignment(attribute: attribute, source: .constant(storable))
            }
            return BatchAssignment(attribute: attribute, source: .expression(try CompiledKeyPath(expression.tree(), for: schema)))
        }
    }

    /// Sets the value in a copy of a row, computed from the original row.
    package func assign(from row: Row, to copy: Row) throws {
        let slot = copy.layout.slots[attribute.slotIndex]
        switch source {
        case .constant(let value): copy.store(value, in: slot)
        case .expression(let path):
            let value = try path.value(of: row.subject).any
            guard let storable = AttributeCheck.conform(value, to: attribute) else { throw BatchRows.invalidValue(value, attribute) }
            copy.store(storable, in: slot)
        }
    }
}
