internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLiteStore
internal import StoreCommands

/// The context of one page's reading, on its queue.
struct Reading {
    let store: OpenStore
    let context: NSManagedObjectContext
    let isWritable: Bool

    /// The store, if it is a SQLite store, which can read a part of a relationship.
    var sqlite: SQLiteStore? { store.store as? SQLiteStore }

    /// Returns the reference of an object, in the form for `coredata get`: `Album/p12`.
    static func reference(_ id: NSManagedObjectID) -> String { ValueText.short(id) }

    /// Returns an object by its reference.
    ///
    /// - Throws: The mistake in the reference, and an error if there is no such object.
    func object(_ reference: String) throws -> NSManagedObject {
        // An unsaved object has no key.
        if let new = context.insertedObjects.first(where: { Self.reference($0.objectID) == reference }) { return new }
        let id = try ObjectReport(reference, in: store).id
        // A fetch notices the changes of others; a registered object may be stale.
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

    /// Returns the persistent relationships of an entity, to-one relationships first, in the order of their names.
    static func relationships(_ entity: NSEntityDescription) -> [NSRelationshipDescription] {
        entity.properties.compactMap { $0 as? NSRelationshipDescription }.filter { !$0.isTransient }
            .sorted { ($0.isToMany ? 1 : 0, $0.name) < ($1.isToMany ? 1 : 0, $1.name) }
    }

    /// Returns the unsaved changes, and the steps that can be undone.
    func state() -> JSONValue {
        let undo = context.undoManager
        return .members([
            "inserted": .count(context.insertedObjects.count), "updated": .count(context.updatedObjects.count),
            "deleted": .count(context.deletedObjects.count), "canUndo": .bool(undo?.canUndo ?? false),
            "canRedo": .bool(undo?.canRedo ?? false),
        ])
    }
}
