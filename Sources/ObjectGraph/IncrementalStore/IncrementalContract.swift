internal import Foundation

/// Validates and converts the answers of an incremental store.
///
/// An `Any` in an answer may contain an optional: a missing value is detected here, and not by a later crash.
package struct IncrementalContract {
    private let store: NSIncrementalStore
    init(_ store: NSIncrementalStore) { self.store = store }

    func broken(_ method: String, _ reason: String, next: String) -> NSError {
        CoreDataError.contract(store, method, reason, next: next)
    }

    // MARK: Fetches

    func storeAnswer(
        _ answer: Any, to request: NSFetchRequest<any NSFetchRequestResult>, in context: NSManagedObjectContext
    ) throws -> StoreAnswer {
        let method = "execute(_:with:)"
        let wanted = "a fetch of “\(request.entityName ?? "?")”"
        guard let answer = AttributeCheck.unwrapped(answer) else {
            throw broken(method, "It answered \(wanted) with nil.", next: "Return an empty array where nothing is found, or throw.")
        }
        if request.resultType == .countResultType { return .count(try count(answer, wanted)) }
        if let answer = answer as? [NSManagedObject] {
            try check(answer.map(\.objectID), for: request, method)
            if let stranger = answer.first(where: { $0.registry !== context.registry }) {
                throw broken(
                    method, "\(stranger.objectID) does not live in the context that was given.",
                    next: "Get objects by context.object(with:) from the context of the call.")
            }
            return request.resultType == .managedObjectIDResultType ? .ids(answer.map(\.objectID)) : .objects(LiveObjects(elements: answer))
        }
        if let answer = answer as? [NSManagedObjectID] {
            try check(answer, for: request, method)
            return .ids(answer)
        }
        if let answer = answer as? [NSDictionary], request.resultType == .dictionaryResultType {
            return .dictionaries(StoreDictionaries(answer))
        }
        throw broken(
            method, "It answered \(wanted) with \(Swift.type(of: answer)).",
            next: "Return an array of what the request's resultType says: managed objects, IDs, dictionaries, or one number for a count.")
    }

    private func count(_ answer: Any, _ wanted: String) throws -> Int {
        if let number = answer as? Int { return number }
        if let numbers = answer as? [Any], numbers.count == 1, let number = numbers[0] as? Int { return number }
        if let objects = answer as? [NSManagedObject] { return objects.count }
        if let ids = answer as? [NSManagedObjectID] { return ids.count }
        throw broken(
            "execute(_:with:)", "It answered the count of \(wanted) with \(Swift.type(of: answer)).", next: "Return [NSNumber(value: n)].")
    }

    private func check(_ ids: [NSManagedObjectID], for request: NSFetchRequest<any NSFetchRequestResult>, _ method: String) throws {
        guard let entity = request.entity else { return }
        for id in ids where id.owningEntity !== entity && !id.owningEntity.isKindOf(entity: entity) {
            throw broken(method, "\(id) is no “\(entity)”.", next: "Make IDs with the entity of the request or one that inherits from it.")
        }
    }

    // MARK: Faults

    /// Validates the nodes of many objects.
    func check(_ nodes: [NSIncrementalStoreNode], among ids: [NSManagedObjectID]) throws {
        let wanted = Set(ids)
        for node in nodes {
            guard wanted.contains(node.objectID) else {
                throw broken(
                    "newValuesForObjects(with:with:)", "It gave the node of \(node.objectID), which it was not asked for.",
                    next: "Answer with nodes of the IDs of the call.")
            }
            _ = try row(of: node, for: node.objectID)
        }
    }

    func row(of node: NSIncrementalStoreNode, for id: NSManagedObjectID) throws -> Row {
        let method = "newValuesForObject(with:with:)"
        guard node.objectID.isSame(as: id) else {
            throw broken(method, "Asked for \(id), it gave the node of \(node.objectID).", next: "Make the node with the ID of the call.")
        }
        do {
            return try node.makeRow()
        } catch let mistake as NodeMistake {
            throw broken(
                method, "The node of \(id) is wrong: \(mistake)",
                next: "Give the node values of the entity's properties, under their names.")
        }
    }

    func relatedIDs(_ answer: Any, of relationship: NSRelationshipDescription, for id: NSManagedObjectID) throws -> [NSManagedObjectID] {
        let method = "newValue(forRelationship:forObjectWith:with:)"
        let ids: [NSManagedObjectID]
        if relationship.isToMany {
            guard let list = Self.idList(AttributeCheck.unwrapped(answer)) else {
                throw broken(
                    method, "It answered “\(relationship)” of \(id) with \(Self.describe(answer)).",
                    next: "The relationship is to-many: return an array of NSManagedObjectID, empty where there is none.")
            }
            ids = list
        } else if answer is NSNull {
            return []
        } else if let one = AttributeCheck.unwrapped(answer) as? NSManagedObjectID {
            ids = [one]
        } else {
            throw broken(
                method, "It answered “\(relationship)” of \(id) with \(Self.describe(answer)).",
                next: "The relationship is to-one: return an NSManagedObjectID, or NSNull() where there is none.")
        }
        if let destination = relationship.destinationEntity,
            let stranger = ids.first(where: { !$0.owningEntity.isKindOf(entity: destination) })
        {
            throw broken(
                method, "“\(relationship)” leads to “\(destination)”, but \(stranger) is none.", next: "Make IDs of the destination entity."
            )
        }
        return ids
    }

    private static func idList(_ answer: Any?) -> [NSManagedObjectID]? {
        switch answer {
        case let ids as [NSManagedObjectID]: ids
        case let ids as Set<NSManagedObjectID>: Array(ids)
        case let ids as NSOrderedSet: ids.array as? [NSManagedObjectID]
        case let ids as NSSet: ids.allObjects as? [NSManagedObjectID]
        default: nil
        }
    }

    private static func describe(_ answer: Any) -> String {
        AttributeCheck.unwrapped(answer).map { "\(Swift.type(of: $0))" } ?? "nil"
    }

    // MARK: Saves

    func permanentIDs(_ ids: [NSManagedObjectID], for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let method = "obtainPermanentIDs(for:)"
        guard ids.count == objects.count else {
            throw broken(method, "It gave \(ids.count) IDs for \(objects.count) objects.", next: "Return one ID for each object, in order.")
        }
        for (id, object) in zip(ids, objects) {
            if id.isTemporaryID || id.token !== store.token {
                throw broken(method, "\(id) is not an ID of this store.", next: "Make IDs with newObjectID(for:referenceObject:).")
            }
            if id.owningEntity !== object.owningEntity {
                throw broken(
                    method, "\(id) was given to an object of “\(object.owningEntity)”.", next: "Make each ID with the object's entity.")
            }
        }
        if let context = objects.first?.managedObjectContext, let known = context.registry.objects(with: ids).lazy.compactMap({ $0 }).first
        {
            throw broken(method, "It gave \(known.objectID), which another object has.", next: "Give new objects IDs that are not in use.")
        }
        if Set(ids).count != ids.count {
            throw broken(method, "It gave one ID to two objects.", next: "Make a reference object of its own for each object.")
        }
        return ids
    }

    func saveAnswer(_ answer: Any) throws {
        if AttributeCheck.unwrapped(answer) == nil {
            throw broken(
                "execute(_:with:)", "It answered a save with nil.", next: "Return an empty array once everything is saved, or throw.")
        }
    }
}
