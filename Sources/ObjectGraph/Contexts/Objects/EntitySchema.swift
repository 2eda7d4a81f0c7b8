internal import Foundation
public import Predicates

extension NSManagedObject {
    /// Returns the subject for compiled predicates: the object, with its values loaded.
    @inline(__always) func subject() throws -> PredicateSubject {
        if let slots, !flags.contains(.partial) {
            return PredicateSubject(slots: slots, address: Unmanaged.passUnretained(self).toOpaque())
        }
        return try loadedSubject()
    }

    /// Returns the subject for code that reads certain properties only: others may be unknown.
    @inline(__always) func subject(reading names: Set<String>?) throws -> PredicateSubject {
        if let slots, !flags.contains(.partial) {
            return PredicateSubject(slots: slots, address: Unmanaged.passUnretained(self).toOpaque())
        }
        return try loadedSubject(reading: names)
    }

    @inline(never) private func loadedSubject(reading names: Set<String>?) throws -> PredicateSubject {
        guard let names else { return try subject() }
        try loadRow()
        guard flags.contains(.partial), let context = registry?.context else { return try subject() }
        for name in names {
            guard let property = owningEntity.frozen?.byName[name], isUnknown(at: property.slotIndex) else { continue }
            try context.loadUnknown(property, of: self)
        }
        return PredicateSubject(slots: slots ?? owningEntity.frozen!.layout.nilRow.slots, object: self)
    }

    @inline(never) private func loadedSubject() throws -> PredicateSubject {
        try loadRow()
        if flags.contains(.partial) { try completeAllUnknown() }
        return PredicateSubject(slots: slots ?? owningEntity.frozen!.layout.nilRow.slots, object: self)
    }
}

/// Resolves the properties of an entity for compiled predicates: attributes by their slots, relationships by reading them.
// Immutable; its subjects belong to the queue of the requesting context.
package final class EntitySchema: PredicateSchema, @unchecked Sendable {
    private unowned let entity: NSEntityDescription
    init(entity: NSEntityDescription) { self.entity = entity }

    package var schemaName: String { entity.name ?? "?" }

    package func predicateProperty(named name: String) -> PredicateProperty? {
        guard let frozen = entity.frozen, let property = frozen.byName[name] else {
            return IdentityKeys.property(name) { Self.object($0).objectID }
        }
        guard let relationship = property as? NSRelationshipDescription else {
            let slot = frozen.layout.slots[property.slotIndex]
            if let kind = slot.kind.slotKind { return .slot(slot.location, kind) }
            return CompositeSchema.property(property, of: schemaName) { Self.object($0).anyAttribute(property) }
        }
        let destination = relationship.destinationEntity!.frozen!.schema
        if relationship.isToMany {
            return .toMany(
                destination: destination, count: { try Self.related($0, relationship).count },
                forEach: { subject, visit in
                    // The array keeps the objects alive, whatever a visit does to the relationship.
                    let objects = try Self.related(subject, relationship)
                    for index in objects.indices {
                        if index & 7 == 0 { objects.prefetchRows(from: index, count: 8) }
                        let goesOn = try objects.uncounted(index)._withUnsafeGuaranteedRef { try visit(try $0.subject()) }
                        if !goesOn { return }
                    }
                })
        }
        return .toOne(
            destination: destination,
            identity: { try Self.target($0, relationship).map { .object(ObjectReference($0.objectID)) } ?? .null },
            follow: { try Self.target($0, relationship)?.subject() })
    }

    package func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(Self.object(subject).objectID)) }

    package func constant(for object: AnyObject) -> PropertyValue? { Self.identifier(of: object) }

    package func publicObject(of subject: PredicateSubject) -> Any { Self.object(subject) }

    /// Returns the ID of an object or ID in an argument, by which rows and objects are compared.
    package static func identifier(of object: AnyObject) -> PropertyValue? {
        switch object {
        case let object as NSManagedObject: .object(ObjectReference(object.objectID.current))
        case let id as NSManagedObjectID: .object(ObjectReference(id.current))
        default: nil
        }
    }

    // The subjects of an entity are its objects, see `NSManagedObject.subject()`.
    private static func object(_ subject: PredicateSubject) -> NSManagedObject {
        unchecked(subject.object, as: NSManagedObject.self)
    }

    /// Calls `body` with the object of a subject, which the caller of the predicate keeps alive, without counting a reference.
    @inline(__always) private static func with<Result>(
        _ subject: PredicateSubject, _ body: (NSManagedObject) throws -> Result
    ) rethrows -> Result {
        try Unmanaged<NSManagedObject>.fromOpaque(subject.address)._withUnsafeGuaranteedRef(body)
    }

    private static func target(_ subject: PredicateSubject, _ relationship: NSRelationshipDescription) throws -> NSManagedObject? {
        try with(subject) { object in
            if case .toOne(let known) = object.state(of: relationship) { return known }
            return try checked(object) { $0.toOne(relationship) }
        }
    }

    private static func related(_ subject: PredicateSubject, _ relationship: NSRelationshipDescription) throws -> [NSManagedObject] {
        try with(subject) { object in
            if case .toMany(let known) = object.state(of: relationship), known.isLoaded { return known.objects }
            return try checked(object) { $0.toMany(relationship).objects }
        }
    }

    /// Reads a relationship; an error of the store makes the fetch fail.
    private static func checked<Result>(_ object: NSManagedObject, _ read: (NSManagedObject) -> Result) throws -> Result {
        guard let context = object.registry?.context else { return read(object) }
        return try context.throwingReadErrors { read(object) }
    }
}

/// The keys that every object has: `objectID`, and `entity` with its `name`.
package enum IdentityKeys {
    static func property(_ name: String, _ id: @escaping (PredicateSubject) -> NSManagedObjectID) -> PredicateProperty? {
        switch name {
        case "objectID": .computed { .object(ObjectReference(id($0))) }
        case "entity": .computed { .object(ObjectReference(id($0).entity)) }
        default: nil
        }
    }
}

extension NSEntityDescription: KeyValueReadable {
    /// Returns the value of a key in predicates: `name` and `managedObjectClassName`; nil for any other key.
    public func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "managedObjectClassName": managedObjectClassName
        default: nil
        }
    }
}
