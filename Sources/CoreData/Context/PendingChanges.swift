internal import Foundation
internal import Predicates

/// What is unsaved in a context and bears on a fetch: the stores' answer is corrected by it.
struct PendingChanges {
    private let context: NSManagedObjectContext
    private let changed: [NSManagedObject]
    private let deleted: [NSManagedObject]
    private let predicate: CompiledPredicate?
    private let sort: CompiledSort?

    /// Nil where nothing pending bears on the request.
    init?(in context: NSManagedObjectContext, for query: StoreQuery) throws {
        guard query.includesPendingChanges, context.hasChanges else { return nil }
        let entity = query.entity
        func concerns(_ object: NSManagedObject) -> Bool {
            query.includesSubentities ? object.owningEntity.isKindOf(entity: entity) : object.owningEntity === entity
        }
        changed = (context.insertedList.elements + context.updatedList.elements).filter(concerns)
        deleted = context.deletedList.elements.filter(concerns)
        if changed.isEmpty, deleted.isEmpty { return nil }
        self.context = context
        predicate = try query.predicate?.compiled(for: entity.frozen!.schema)
        sort = query.sortDescriptors.isEmpty ? nil : try CompiledSort(query.sortDescriptors, for: entity.frozen!.schema)
    }

    /// The query to ask the stores with: a limit must leave room for what falls out, and an offset is counted afterwards.
    func widened(_ query: StoreQuery) -> StoreQuery {
        guard query.fetchLimit > 0 || query.fetchOffset > 0 else { return query }
        let limit = query.fetchLimit > 0 ? query.fetchOffset + query.fetchLimit + changed.count + deleted.count : 0
        return query.with(fetchOffset: 0, fetchLimit: limit)
    }

    /// The stores' answer with what is pending: without what was deleted or no longer matches, with what matches now, in order.
    func apply(to fetched: [NSManagedObject], of query: StoreQuery) throws -> [NSManagedObject] {
        var matching: [NSManagedObject] = []
        var touched = Set(deleted.map(ObjectIdentifier.init))
        for object in changed {
            touched.insert(ObjectIdentifier(object))
            if try predicate?.matches(object.subject()) ?? true { matching.append(object) }
        }
        var objects = fetched
        if sort == nil {
            // Without an order, what was fetched keeps its place.
            let stays = Set(matching.map(ObjectIdentifier.init))
            objects.removeAll { touched.contains(ObjectIdentifier($0)) && !stays.contains(ObjectIdentifier($0)) }
            let present = Set(objects.map(ObjectIdentifier.init))
            objects += matching.filter { !present.contains(ObjectIdentifier($0)) }
        } else {
            objects.removeAll { touched.contains(ObjectIdentifier($0)) }
            objects += matching
            if let sort, !matching.isEmpty { objects = try sort.sorted(objects) }
        }
        if query.fetchOffset > 0 { objects.removeFirst(min(query.fetchOffset, objects.count)) }
        if query.fetchLimit > 0, objects.count > query.fetchLimit { objects.removeLast(objects.count - query.fetchLimit) }
        return objects
    }
}
