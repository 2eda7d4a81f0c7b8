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
    init?(in context: NSManagedObjectContext, for request: NSFetchRequest<any NSFetchRequestResult>) throws {
        guard request.includesPendingChanges, context.hasChanges, let entity = request.entity else { return nil }
        func concerns(_ object: NSManagedObject) -> Bool {
            request.includesSubentities ? object.owningEntity.isKindOf(entity: entity) : object.owningEntity === entity
        }
        changed = (context.insertedList.elements + context.updatedList.elements).filter(concerns)
        deleted = context.deletedList.elements.filter(concerns)
        if changed.isEmpty, deleted.isEmpty { return nil }
        self.context = context
        predicate = try request.predicate?.compiled(for: entity.frozen!.schema)
        sort = try request.sortDescriptors.flatMap { $0.isEmpty ? nil : try CompiledSort($0, for: entity.frozen!.schema) }
    }

    /// The request to ask the stores with: a limit must leave room for what falls out, and an offset is counted afterwards.
    func widened(_ request: NSFetchRequest<any NSFetchRequestResult>) -> NSFetchRequest<any NSFetchRequestResult> {
        guard request.fetchLimit > 0 || request.fetchOffset > 0 else { return request }
        let wide = request.copy() as! NSFetchRequest<any NSFetchRequestResult>
        wide.fetchOffset = 0
        if request.fetchLimit > 0 { wide.fetchLimit = request.fetchOffset + request.fetchLimit + changed.count + deleted.count }
        return wide
    }

    /// The stores' answer with what is pending: without what was deleted or no longer matches, with what matches now, in order.
    func apply(to fetched: [NSManagedObject], of request: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSManagedObject] {
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
        if request.fetchOffset > 0 { objects.removeFirst(min(request.fetchOffset, objects.count)) }
        if request.fetchLimit > 0, objects.count > request.fetchLimit { objects.removeLast(objects.count - request.fetchLimit) }
        return objects
    }
}
