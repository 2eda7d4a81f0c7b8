internal import Platform

extension NSManagedObject: ObjectClass {
    package class var isStandardClass: Bool { self == NSManagedObject.self }
    package class var overridesValidateValue: Bool { ValidationOverride.exists(in: self) }
}

extension FrozenEntity {
    /// The class of the entity's objects.
    // A class that conforms to `ObjectClass` is NSManagedObject's or inherits from it.
    var objectClass: NSManagedObject.Type {
        guard let ownClass else { return NSManagedObject.self }
        return unsafeBitCast(ownClass, to: NSManagedObject.Type.self)
    }

    /// Resolves the properties of the entity's objects for compiled predicates; created on first use.
    var schema: EntitySchema {
        madeSchema.withLock { schema in
            // Nothing else sets it.
            if let schema { return unsafeDowncast(schema, to: EntitySchema.self) }
            let made = EntitySchema(entity: entity)
            schema = made
            return made
        }
    }
}

extension NSEntityDescription {
    /// The class of the objects, for predicates that compare it.
    package var predicateClass: AnyClass { frozenParts.objectClass }
}

extension NSManagedObjectID: ClassStandIn {
    /// The class of the object, for predicates that compare it: they know an object by its ID.
    package var predicateClass: AnyClass { owningEntity.predicateClass }
}
