internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLiteStore
internal import StoreCommands

/// What one page reads, on the queue of its context.
struct Reading {
    let store: OpenStore
    let context: NSManagedObjectContext
    let isWritable: Bool

    /// The store, where it reads no more than it is asked for.
    var sqlite: SQLiteStore? { store.store as? SQLiteStore }

    /// Returns the reference of an object, as `coredata get` takes it: `Album/p12`.
    static func reference(_ id: NSManagedObjectID) -> String { ValueText.short(id) }

    /// Returns an object by its reference.
    ///
    /// - Throws: What is wrong with the reference; an error where there is no such object.
    func object(_ reference: String) throws -> NSManagedObject {
        // An object that is not saved yet has no key.
        if let new = context.insertedObjects.first(where: { Self.reference($0.objectID) == reference }) { return new }
        let id = try ObjectReport(reference, in: store).id
        // A fetch, because it notices what others have written meanwhile; an object that is already there may be older.
        let request = NSFetchRequest<NSManagedObject>(entityName: id.entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF == %@", argumentArray: [id])
        request.returnsObjectsAsFaults = false
        if let object = try context.fetch(request).first { return object }
        throw ExplorerError(.notFound, "The store has no object \(reference).", reason: "It is deleted, or it was never there.")
    }

    /// Returns the persistent attributes of an entity in the order of their names.
    static func attributes(_ entity: NSEntityDescription) -> [NSAttributeDescription] {
        entity.properties.compactMap { $0 as? NSAttributeDescription }.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    /// Returns the persistent relationships of an entity, those to one object first, in the order of their names.
    static func relationships(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.properties.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isTransient }
            .sorted { ($0.isToMany ? 1 : 0, $0.name) < ($1.isToMany ? 1 : 0, $1.name) }
    }

    /// Returns what is unsaved, and what can be undone.
    func state() -> JSONValue {
        let undo = context.undoManager
        return .members([
            "inserted": .count(context.insertedObjects.count), "updated": .count(context.updatedObjects.count),
            "deleted": .count(context.deletedObjects.count), "canUndo": .bool(undo?.canUndo ?? false),
            "canRedo": .bool(undo?.canRedo ?? false),
        ])
    }
}
