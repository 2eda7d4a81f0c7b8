internal import Foundation
internal import ObjectGraph
internal import StoreCommands

/// The names of objects, for people: the values of the most telling attribute of each entity.
enum Labels {
    private static let preferred = [
        "name", "title", "fullname", "displayname", "label", "subject", "summary", "text", "identifier", "key", "id",
    ]
    private static let limit = 80

    /// Returns the attribute that names objects of an entity; nil if it has no text attribute.
    static func attribute(_ entity: NSEntityDescription) -> NSAttributeDescription? {
        let texts = Reading.attributes(entity).filter { $0.attributeType == .stringAttributeType }
        for name in preferred { if let found = texts.first(where: { $0.name.lowercased() == name }) { return found } }
        for name in preferred.prefix(4) { if let found = texts.first(where: { $0.name.lowercased().hasSuffix(name) }) { return found } }
        return texts.first
    }

    /// The maximum number of requests to a web service for names. If more are needed, objects are shown by their IDs.
    private static let mostRequests = 3

    /// Returns the names of a web service's objects, if a few requests suffice.
    private static func texts(
        of ids: [NSManagedObjectID], _ key: String, _ reading: Reading
    ) throws -> [NSManagedObjectID: String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: ids.first?.entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [ids])
        let known = ids.compactMap { reading.context.registeredObject(for: $0) }.filter { !$0.isFault }
        var objects = known
        if known.count < ids.count, let requests = reading.store.expectedRequests(request, in: reading.context), requests <= mostRequests {
            objects = try reading.context.fetch(request)
        }
        var texts: [NSManagedObjectID: String] = [:]
        for object in objects { texts[object.objectID] = object.value(forKey: key) as? String }
        return texts
    }

    /// Returns objects by their IDs, with their names. Each entity takes one fetch.
    static func json(_ ids: [NSManagedObjectID], in reading: Reading) throws -> [NSManagedObjectID: JSONValue] {
        var result: [NSManagedObjectID: JSONValue] = [:]
        var texts: [NSManagedObjectID: String] = [:]
        let unique = Set(ids)
        for (entity, ids) in Dictionary(grouping: unique, by: \.entity) {
            guard let attribute = attribute(entity) else { continue }
            var missing: [NSManagedObjectID] = []
            for id in ids {
                // Objects with unsaved changes are in memory.
                if let object = reading.context.registeredObject(for: id), object.isInserted || object.isUpdated {
                    texts[id] = object.value(forKey: attribute.name) as? String
                } else {
                    missing.append(id)
                }
            }
            if missing.isEmpty { continue }
            if reading.store.service != nil {
                for (id, text) in try Self.texts(of: missing, attribute.name, reading) { texts[id] = text }
                continue
            }
            let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["objectID", attribute.name]
            request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [missing])
            for row in try reading.context.fetch(request) {
                if let id = row["objectID"] as? NSManagedObjectID { texts[id] = row[attribute.name] as? String }
            }
        }
        for id in unique {
            let label = texts[id].map { $0.count > limit ? $0.prefix(limit) + "…" : $0[...] }
            result[id] = .members(["object": .string(Reading.reference(id)), "label": label.map { .string(String($0)) }])
        }
        return result
    }
}
