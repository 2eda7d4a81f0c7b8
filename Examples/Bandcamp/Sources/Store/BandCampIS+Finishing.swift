internal import CoreData
internal import ExampleSupport

extension BandCampIS {
    /// Applies the parts of a request that the service cannot: the whole predicate, the order, offset and limit.
    ///
    /// The predicate is evaluated completely, because the service returns more than was requested. The values come from the cache; only a
    /// predicate over a relationship sends further requests.
    func finish(_ request: NSFetchRequest<any NSFetchRequestResult>, _ found: [NSManagedObject]) throws -> [NSManagedObject] {
        var seen: Set<NSManagedObjectID> = []
        var objects = found.filter { seen.insert($0.objectID).inserted }
        if let predicate = request.predicate { objects = try objects.filtered(matching: predicate) }
        if let descriptors = request.sortDescriptors, !descriptors.isEmpty { objects = try objects.sorted(using: descriptors) }
        // Equal dictionaries are combined first and counted afterwards.
        return request.joinsEqualResults ? objects : request.page(objects)
    }

    /// Returns the objects as dictionaries of the attributes that the request names, or of all.
    func dictionaries(of objects: [NSManagedObject], for request: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSDictionary] {
        let attributes = request.entity?.attributesByName ?? [:]
        let names =
            try request.propertiesToFetch.map { try $0.map { try attributeName($0, among: attributes) } } ?? attributes.keys.sorted()
        let dictionaries = objects.map { object in
            let dictionary = NSMutableDictionary()
            for name in names {
                if let value = object.value(forKey: name) { dictionary.setObject(value, forKey: name as NSString) }
            }
            return dictionary as NSDictionary
        }
        return request.joinsEqualResults ? request.page(request.joined(dictionaries)) : dictionaries
    }

    private func attributeName(_ property: Any, among attributes: [String: NSAttributeDescription]) throws -> String {
        let name = (property as? NSPropertyDescription)?.name ?? property as? String
        if let name, attributes[name] != nil { return name }
        throw NSError.failure(
            BandCampErrorCode.unanswerableFetch, "propertiesToFetch has “\(name ?? "\(property)")”; this store gives attributes.")
    }
}
