internal import Foundation
internal import Predicates

/// The unsaved changes of a context that affect a fetch: they are applied to the stores' answer.
struct PendingChanges {
    private let context: NSManagedObjectContext
    private let changed: [NSManagedObject]
    private let deleted: [NSManagedObject]
    /// The IDs of objects deleted since the stores were queried.
    private let deletedIDs: Set<NSManagedObjectID>
    private let predicate: CompiledPredicate?
    /// The attributes that the predicate reads; nil if it may read others.
    private let predicateAttributes: Set<String>?
    private let sort: CompiledSort?

    /// The number of objects that may enter or leave the result.
    var count: Int { changed.count + deleted.count + deletedIDs.count }

    /// Collects the changes; nil if no pending change affects the request.
    ///
    /// - Parameter mark: The mark of a suspended fetch: changes saved since then are included.
    init?(in context: NSManagedObjectContext, for query: StoreQuery, since mark: AsynchronousWork.Mark? = nil) throws {
        guard query.includesPendingChanges else { return nil }
        let further = context.asynchronousWork?.changes(since: mark) ?? AsynchronousWork.Changes()
        guard context.hasChanges || !further.isEmpty else { return nil }
        let entity = query.entity
        func concerns(_ object: NSManagedObject) -> Bool {
            query.includesSubentities ? object.owningEntity.isKindOf(entity: entity) : object.owningEntity === entity
        }
        var changed = (context.insertedList.elements + context.updatedList.elements).filter(concerns)
        var deleted = context.deletedList.elements.filter(concerns)
        if !further.isEmpty {
            var seen = Set((changed + deleted).map(ObjectIdentifier.init))
            deleted += further.deleted.filter { concerns($0) && seen.insert(ObjectIdentifier($0)).inserted }
            changed += further.changed.filter {
                $0.registry === context.registry && !$0.isDeleted && concerns($0) && seen.insert(ObjectIdentifier($0)).inserted
            }
        }
        deletedIDs = further.deletedIDs.filter {
            query.includesSubentities ? $0.owningEntity.isKindOf(entity: entity) : $0.owningEntity === entity
        }
        if changed.isEmpty, deleted.isEmpty, deletedIDs.isEmpty { return nil }
        self.changed = changed
        self.deleted = deleted
        self.context = context
        predicate = try query.predicate?.compiled(for: entity.frozen!.schema)
        predicateAttributes = try query.predicateTree()?.attributesItReads
        sort = query.sortDescriptors.isEmpty ? nil : try CompiledSort(query.sortDescriptors, for: entity.frozen!.schema)
    }

    /// Returns the query for the stores: a limit allows for objects that are removed, and an offset is applied afterwards.
    func widened(_ query: StoreQuery) -> StoreQuery {
        guard query.fetchLimit > 0 || query.fetchOffset > 0 else { return query }
        let limit = query.fetchLimit > 0 ? query.fetchOffset + query.fetchLimit + count : 0
        return query.with(fetchOffset: 0, fetchLimit: limit)
    }

    /// Applies the changes to the stores' answer: removes deleted objects and those that no longer match, and adds new matches in order.
    func apply(to fetched: [NSManagedObject], of query: StoreQuery) throws -> [NSManagedObject] {
        var matching: [NSManagedObject] = []
        var touched = Set(deleted.map(ObjectIdentifier.init))
        for object in changed {
            touched.insert(ObjectIdentifier(object))
            // This queries a store for unknown values of the object.
            if try predicate?.matches(object.subject(reading: predicateAttributes)) ?? true { matching.append(object) }
        }
        var objects = deletedIDs.isEmpty ? fetched : fetched.filter { !deletedIDs.contains($0.objectID) }
        if sort == nil {
            // Without a sort order, fetched objects keep their position.
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
