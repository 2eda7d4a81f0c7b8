internal import Foundation
@_spi(Stores) internal import ObjectGraph
package import StoreCommands

extension ExplorerSession {
    /// The maximum number of objects that a relationship's editor offers.
    package static let mostCandidates = 50

    /// Makes a change. All pages of the session share the unsaved changes.
    ///
    /// - Throws: An error in a read-only session, and the mistake in the change, with its property.
    package func apply(_ edit: Edit) async throws -> JSONValue {
        guard isWritable else {
            throw ExplorerError(
                .forbidden, "The store is open for reading only.", reason: "“coredata serve --writable” lets pages change it.")
        }
        return try await ask(isLimited: false) { reading in try Editing(reading).apply(edit) }
    }

    /// Returns the possible objects of a relationship that match a text.
    ///
    /// - Throws: An error if there is no such object or relationship.
    package func candidates(_ reference: String, _ name: String, text: String) async throws -> JSONValue {
        try await ask { reading in
            let object = try reading.object(reference)
            guard let relationship = object.entity.relationshipsByName[name], let destination = relationship.destinationEntity else {
                throw ExplorerError(.notFound, "“\(object.entity)” has no relationship “\(name)”.")
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: destination.name ?? "")
            request.fetchLimit = Self.mostCandidates
            if !text.isEmpty, let label = Labels.attribute(destination) {
                request.predicate = NSPredicate(format: "%K CONTAINS[cd] %@", argumentArray: [label.name, text])
            }
            let ids = try reading.context.fetch(request).map(\.objectID)
            let labels = try Labels.json(ids, in: reading)
            return .members(["objects": .array(ids.map { labels[$0] ?? .null })])
        }
    }
}

/// A change of objects, on the queue of their context.
private struct Editing {
    private let reading: Reading
    private var context: NSManagedObjectContext { reading.context }

    init(_ reading: Reading) { self.reading = reading }

    func apply(_ edit: Edit) throws -> JSONValue {
        switch edit.action {
        case .undo: context.undoManager?.undo()
        case .redo: context.undoManager?.redo()
        case .save: return try save()
        case .discard:
            context.rollback()
            context.undoManager?.removeAllActions()
        case .create: return try create(needed(edit.entity, "entity"))
        case .delete: context.delete(try object(edit))
        case .set: try set(edit)
        case .add, .remove, .move: try relate(edit)
        }
        context.processPendingChanges()
        return .members([:])
    }

    private func needed(_ value: String?, _ name: String) throws -> String {
        guard let value else { throw ExplorerError("The request lacks “\(name)”.") }
        return value
    }

    private func object(_ edit: Edit) throws -> NSManagedObject { try reading.object(needed(edit.id, "id")) }

    private func create(_ name: String) throws -> JSONValue {
        let entity = try reading.store.entity(name)
        guard !entity.isAbstract else { throw ExplorerError("“\(name)” is abstract: only its subentities have objects.") }
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        context.processPendingChanges()
        return .members(["id": .string(Reading.reference(object.objectID))])
    }

    private func set(_ edit: Edit) throws {
        let (object, name) = (try object(edit), try needed(edit.name, "name"))
        if let relationship = object.entity.relationshipsByName[name], !relationship.isToMany {
            object.setValue(try edit.object.map { try related($0, relationship) }, forKey: name)
            return
        }
        guard let attribute = object.entity.attributesByName[name], !attribute.isTransient, !(attribute is NSDerivedAttributeDescription)
        else { throw ExplorerError("“\(object.entity)” has no attribute “\(name)” that can be set.") }
        var value = try ValueParsing.value(edit.value, attribute)
        try object.validateValue(&value, forKey: name)
        object.setValue(value, forKey: name)
    }

    private func related(_ reference: String, _ relationship: NSRelationshipDescription) throws -> NSManagedObject {
        let object = try reading.object(reference)
        if let destination = relationship.destinationEntity, !object.entity.isKindOf(entity: destination) {
            throw ExplorerError("\(reference) is no “\(destination)”.", field: relationship.name)
        }
        return object
    }

    private func relate(_ edit: Edit) throws {
        let (owner, name) = (try object(edit), try needed(edit.name, "name"))
        guard let relationship = owner.entity.relationshipsByName[name], relationship.isToMany else {
            throw ExplorerError("“\(owner.entity)” has no to-many relationship “\(name)”.")
        }
        let object = try related(needed(edit.object, "object"), relationship)
        // Setting the other side has the same effect, without reading the existing objects.
        if !relationship.isOrdered, let inverse = relationship.inverseRelationship, !inverse.isToMany {
            if edit.action == .add {
                object.setValue(owner, forKey: inverse.name)
            } else if object.value(forKey: inverse.name) as? NSManagedObject === owner {
                object.setValue(nil, forKey: inverse.name)
            }
            return
        }
        guard relationship.isOrdered else {
            let set = owner.mutableSetValue(forKey: name)
            if edit.action == .add { set.add(object) } else { set.remove(object) }
            return
        }
        let set = owner.mutableOrderedSetValue(forKey: name)
        switch edit.action {
        case .add: set.add(object)
        case .remove: set.remove(object)
        default:
            let place = min(max(0, edit.place ?? 0), max(0, set.count - 1))
            let from = set.index(of: object)
            if from != NSNotFound, from != place { set.moveObjects(at: IndexSet(integer: from), to: place) }
        }
    }

    /// Saves, and returns the permanent references of new objects.
    private func save() throws -> JSONValue {
        let new = context.insertedObjects.map { ($0, Reading.reference($0.objectID)) }
        try context.save()
        return .members([
            "saved": .object(new.map { object, old in .init(name: old, value: .string(Reading.reference(object.objectID))) })
        ])
    }
}
