internal import Foundation
internal import ObjectGraph
internal import Predicates

extension MappingPlan {
    /// Sets the attributes of a new object by the mappings.
    func setAttributes(of object: NSManagedObject, from source: NSManagedObject, _ scope: ExpressionScope) throws {
        for attribute in attributes {
            switch attribute.value {
            case .copied(let key):
                // The object is new and saved as a whole: no change need be recorded.
                let value = source.value(forKey: key)
                if value == nil, attribute.mapping.keepsDefaultForNil, !attribute.attribute.isOptional { continue }
                object.setPrimitiveValue(value, forKey: attribute.attribute.name)
            case .computed(let tree):
                var scope = scope
                scope.property = attribute.mapping
                try set(try value(of: tree, attribute.mapping, scope), of: attribute, in: object)
            }
        }
        if let refused = object.refusedValues?.first {
            throw MigrationError.make(
                NSMigrationError, mapping, refused.key, reason: refused.value.localizedDescription,
                next: "Correct the value expression, or convert the value in a policy.", cause: refused.value)
        }
    }

    private func set(_ value: Any?, of attribute: Attribute, in object: NSManagedObject) throws {
        let description = attribute.attribute
        guard let value = AttributeCheck.unwrapped(value) else {
            if attribute.mapping.keepsDefaultForNil, !description.isOptional { return }
            return object.setPrimitiveValue(nil, forKey: description.name)
        }
        guard AttributeCheck.conform(value, to: description) == nil else {
            return object.setPrimitiveValue(value, forKey: description.name)
        }
        guard let converted = AttributeConversion.value(value, for: description) else {
            throw MigrationError.make(
                NSMigrationError, mapping, description.name,
                reason: "The attribute cannot hold \(value), a value of the type \(Swift.type(of: value)).",
                next: "Correct the value expression, or convert the value in a policy.")
        }
        object.setPrimitiveValue(converted, forKey: description.name)
    }

    /// Sets the relationships of a new object that can be set at once.
    func setRelationshipsAtOnce(of object: NSManagedObject, from source: NSManagedObject, _ run: MigrationRun) {
        for relationship in relationships where relationship.treatment == .atOnce {
            guard case .migrated(let tables, let key) = relationship.value else { continue }
            var destination: NSManagedObjectID?
            for id in source.objectIDs(forRelationshipNamed: key) {
                for table in tables where destination == nil {
                    run.associations[table].forEachDestinationID(of: id) { if destination == nil { destination = $0 } }
                }
            }
            guard let destination else { continue }
            object.setValue(run.manager.destinationContext.object(with: destination), forKey: relationship.relationship.name)
        }
    }

    /// Sets the relationships of an object by the mappings, except those that are already set.
    func setRelationships(
        of object: NSManagedObject, from source: NSManagedObject?, _ scope: ExpressionScope, _ run: MigrationRun
    ) throws {
        for relationship in relationships {
            if relationship.treatment == .implied || relationship.treatment == .atOnce && !hasOwnObjects { continue }
            let name = relationship.relationship.name
            var objects: [NSManagedObject] = []
            switch relationship.value {
            case .migrated(let tables, let key):
                guard let source else { continue }
                let context = scope.manager.destinationContext
                for id in source.objectIDs(forRelationshipNamed: key) {
                    for table in tables {
                        run.associations[table].forEachDestinationID(of: id) { objects.append(context.object(with: $0)) }
                    }
                }
            case .computed(let tree):
                var scope = scope
                scope.property = relationship.mapping
                let found = try value(of: tree, relationship.mapping, scope)
                guard let related = ExpressionScope.objects(in: found) else {
                    throw MigrationError.make(
                        NSMigrationError, mapping, name, reason: "The value of its expression is no managed object, but \(found ?? "nil").",
                        next: "Correct the value expression.")
                }
                objects = related
            }
            try check(objects, relationship, scope.manager)
            if relationship.relationship.isToMany {
                if !objects.isEmpty { object.setValue(objects, forKey: name) }
            } else if let first = objects.first {
                object.setValue(first, forKey: name)
            }
        }
    }

    private func check(_ objects: [NSManagedObject], _ relationship: Relationship, _ manager: NSMigrationManager) throws {
        guard case .computed = relationship.value,
            let stray = objects.first(where: { $0.managedObjectContext !== manager.destinationContext })
        else { return }
        throw MigrationError.make(
            NSMigrationError, mapping, relationship.relationship.name, reason: "\(stray.objectID) is not an object of the destination.",
            next: "Write FUNCTION($manager, \"\(MappingSelector.destinationInstances)\", \"name of an entity mapping\", …) around it.")
    }

    private func value(of tree: ExpressionTree, _ property: NSPropertyMapping, _ scope: ExpressionScope) throws -> Any? {
        do { return try scope.value(of: tree) } catch {
            throw MigrationError.wrapped(error, NSMigrationError, mapping, property.name, "The store cannot be migrated.")
        }
    }
}

/// Converts values between the types of attributes, as Core Data's lightweight migration does.
enum AttributeConversion {
    /// Converts a value to one that an attribute can hold; nil if it has no counterpart.
    static func value(_ value: Any, for attribute: NSAttributeDescription) -> Any? {
        let candidate: Any?
        switch attribute.attributeType {
        case .stringAttributeType: candidate = text(value)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            candidate = number(value).flatMap { Int64(exactly: $0.rounded(.towardZero)) } ?? (value as? String).flatMap { Int64($0) }
        case .booleanAttributeType: candidate = number(value).map { $0 != 0 } ?? (value as? String).map { ($0 as NSString).boolValue }
        case .doubleAttributeType, .floatAttributeType: candidate = number(value) ?? (value as? String).flatMap { Double($0) }
        case .decimalAttributeType: candidate = NumberConversion.decimal(value) ?? (value as? String).flatMap { Decimal(string: $0) }
        case .dateAttributeType: candidate = number(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .UUIDAttributeType: candidate = (value as? String).flatMap { UUID(uuidString: $0) }
        case .URIAttributeType: candidate = (value as? String).flatMap { URL(string: $0) }
        case .binaryDataAttributeType: candidate = (value as? String).map { Data($0.utf8) }
        default: candidate = nil
        }
        guard let candidate, AttributeCheck.conform(candidate, to: attribute) != nil else { return nil }
        return candidate
    }

    private static func number(_ value: Any) -> Double? {
        switch value {
        case let date as Date: date.timeIntervalSinceReferenceDate
        case let number as NSNumber: number.doubleValue
        case let number as Double: number
        case let number as any BinaryInteger: Double(Int64(clamping: number))
        case let decimal as Decimal: NSDecimalNumber(decimal: decimal).doubleValue
        default: nil
        }
    }

    private static func text(_ value: Any) -> String? {
        switch value {
        case let text as String: text
        case let url as URL: url.absoluteString
        case let identifier as UUID: identifier.uuidString
        case let number as NSNumber: number.stringValue
        case let decimal as Decimal: "\(decimal)"
        case let number as any BinaryInteger: "\(number)"
        case let number as Double: "\(number)"
        default: nil
        }
    }
}
