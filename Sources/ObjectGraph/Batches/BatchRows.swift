internal import Foundation
internal import Predicates

/// A row of a batch insert, before it has an ID.
package struct BatchRow {
    package let row: Row
    /// The attributes with given values, by slot index; the others have their default values.
    package var given = PropertySet()

    package init(row: Row, given: PropertySet = PropertySet()) {
        self.row = row
        self.given = given
    }
}

/// Creates the rows of a batch insert.
package struct BatchRows {
    private let request: NSBatchInsertRequest
    private let entity: NSEntityDescription
    private let frozen: FrozenEntity
    /// A row with the default values and empty relationships.
    private let blank: Row
    /// The attributes that rows keep.
    private let attributes: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)]
    /// The attributes whose slots can hold values that are invalid for them.
    private let bounded: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)]
    private let others: [NSPropertyDescription]

    package init(_ request: NSBatchInsertRequest) {
        self.request = request
        entity = request.knownEntity
        frozen = entity.frozenParts
        blank = frozen.layout.defaultRow.copy()
        var attributes: [(attribute: NSAttributeDescription, slot: RowLayout.Slot)] = []
        var others: [NSPropertyDescription] = []
        for property in frozen.properties {
            let slot = frozen.layout.slots[property.slotIndex]
            guard let attribute = property as? NSAttributeDescription else {
                others.append(property)
                if (property as? NSRelationshipDescription)?.isToMany ?? false { blank.setObjectIDs(.empty, at: slot) }
                continue
            }
            if property.isTransient { blank.store(.null, in: slot) } else { attributes.append((attribute, slot)) }
        }
        self.attributes = attributes
        bounded = attributes.filter { AttributeCheck.isBounded($0.attribute) }
        self.others = others
    }

    /// Returns all rows.
    package func made() throws -> [BatchRow] {
        var rows: [BatchRow] = []
        try forEach { rows.append($0) }
        return rows
    }

    /// Calls `body` with one row after the other, as the request's handler fills them.
    package func forEach(_ body: (BatchRow) throws -> Void) throws {
        if let handler = request.managedObjectHandler { return try forEach(filledBy: handler, body) }
        if let handler = request.dictionaryHandler { return try forEach(filledBy: handler, body) }
        for values in request.objectsToInsert ?? [] {
            var new = BatchRow(row: blank.copy())
            for (key, value) in values { try set(value, key, in: &new) }
            try body(new)
        }
    }

    private func forEach(filledBy handler: (NSMutableDictionary) -> Bool, _ body: (BatchRow) throws -> Void) throws {
        while true {
            let dictionary = NSMutableDictionary()
            if handler(dictionary) { return }
            var new = BatchRow(row: blank.copy())
            for (key, value) in dictionary {
                guard let key = key as? String else { throw BatchRows.unknown("\(key)", entity) }
                try set(value, key, in: &new)
            }
            try body(new)
        }
    }

    private func forEach(filledBy handler: (NSManagedObject) -> Bool, _ body: (BatchRow) throws -> Void) throws {
        try forEachObject(filledBy: handler) { object, values in
            let row = blank.copy()
            for (_, slot) in attributes { row.copyValue(from: values, at: slot) }
            try body(BatchRow(row: row, given: object.changed))
        }
    }

    /// Calls `body` with the attributes of one row after the other, in a row that may be changed afterwards, and in which the other properties
    /// have any value.
    package func forEachRow(_ body: (Row) throws -> Void) throws {
        guard let handler = request.managedObjectHandler else { return try forEach { try body($0.row) } }
        try forEachObject(filledBy: handler) { try body($1) }
    }

    /// Calls `body` with each object that the handler has filled, and with its values.
    private func forEachObject(filledBy handler: (NSManagedObject) -> Bool, _ body: (NSManagedObject, Row) throws -> Void) throws {
        while true {
            let object = frozen.objectClass.init(entity: entity, insertInto: nil)
            if handler(object) { return }
            if object.extras != nil, let refused = object.rejectedValues?.values.first { throw refused }
            for property in others where !object.hasNoDestination(property) { throw BatchRows.isRelationship(property) }
            let values = object.readableRow
            for (attribute, slot) in bounded where !values.isNil(at: slot) && !AttributeCheck.holds(values, slot, attribute) {
                throw BatchRows.invalidValue(object.anyAttribute(attribute), attribute)
            }
            try body(object, values)
        }
    }

    private func set(_ value: Any, _ key: String, in new: inout BatchRow) throws {
        let attribute = try BatchRows.attribute(key, of: entity)
        guard let storable = AttributeCheck.conform(value, to: attribute) else { throw BatchRows.invalidValue(value, attribute) }
        new.row.store(storable, in: new.row.layout.slots[attribute.slotIndex])
        new.given.insert(attribute.slotIndex)
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
