public import Foundation
internal import Predicates

// The methods that Xcode generates for to-many relationships (`addToTracks(_:)`, `insertIntoTracks(_:at:)`, …), for properties that are
// resolved once. NSManagedObject+Members.swift describes them.
extension NSManagedObject {
    private func toMany<Value>(at property: ManagedProperty<Value>) -> NSRelationshipDescription {
        let place = property.placeForWriting(in: self)
        stopProgram(unless: !place.isMissing, undefinedKeyMessage(property.name.description))
        guard let relationship = place.property(of: self) as? NSRelationshipDescription, relationship.isToMany
        else { stopProgram("“\(property.name)” is not a to-many relationship of “\(owningEntity)”.") }
        return relationship
    }

    /// Adds an object to a to-many relationship, at the end of an ordered one, and updates the inverse. Call it on the context's queue.
    public func add<Value>(_ object: NSManagedObject, to property: ManagedProperty<Value>) { add(object, to: toMany(at: property)) }

    /// Adds objects to a to-many relationship, at the end of an ordered one. An element that the relationship cannot hold is rejected;
    /// validation reports it when the object is saved.
    public func add<Value>(_ objects: some Sequence<Any>, to property: ManagedProperty<Value>) {
        let relationship = toMany(at: property)
        for object in objects {
            if let object = object as? NSManagedObject { add(object, to: relationship) } else { rejectMember(object, of: relationship) }
        }
    }

    /// Removes an object from a to-many relationship and updates the inverse. Call it on the context's queue.
    public func remove<Value>(_ object: NSManagedObject, from property: ManagedProperty<Value>) {
        remove(object, from: toMany(at: property))
    }

    /// Removes objects from a to-many relationship; objects not in it are skipped.
    public func remove<Value>(_ objects: some Sequence<Any>, from property: ManagedProperty<Value>) {
        let relationship = toMany(at: property)
        for case let object as NSManagedObject in objects { remove(object, from: relationship) }
    }

    /// Inserts objects into an ordered relationship, like ``insertObjects(_:at:intoRelationship:)``.
    public func insert<Value>(_ objects: [NSManagedObject], at indexes: NSIndexSet, into property: ManagedProperty<Value>) {
        insertObjects(objects, at: IndexSet(indexes), intoRelationship: toMany(at: property).name)
    }

    /// Removes the objects at indexes from an ordered relationship, like ``removeObjects(at:fromRelationship:)``.
    public func remove<Value>(at indexes: NSIndexSet, from property: ManagedProperty<Value>) {
        removeObjects(at: IndexSet(indexes), fromRelationship: toMany(at: property).name)
    }

    /// Replaces the objects at indexes of an ordered relationship, like ``replaceObjects(at:with:inRelationship:)``.
    public func replace<Value>(at indexes: NSIndexSet, with objects: [NSManagedObject], in property: ManagedProperty<Value>) {
        replaceObjects(at: IndexSet(indexes), with: objects, inRelationship: toMany(at: property).name)
    }
}
