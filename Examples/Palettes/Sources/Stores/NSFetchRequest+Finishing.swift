internal import CoreData

extension NSFetchRequest<any NSFetchRequestResult> {
    /// What the request asks for, made of the objects that may be in its answer: predicate, order, offset and limit are applied here,
    /// and the result has the form of the request's `resultType`.
    ///
    /// - Parameters:
    ///   - candidates: objects of the asking context.
    ///   - isPaged: whether offset and limit have been applied already.
    func answer(from candidates: [NSManagedObject], isPaged: Bool = false) throws -> Any {
        var objects = candidates
        if let predicate { objects = try objects.filtered(matching: predicate) }
        if let sortDescriptors, !sortDescriptors.isEmpty { objects = try objects.sorted(using: sortDescriptors) }
        func page<Element>(_ elements: [Element]) -> [Element] {
            if isPaged { return elements }
            let rest = elements.dropFirst(fetchOffset)
            return Array(fetchLimit > 0 ? rest.prefix(fetchLimit) : rest)
        }
        switch resultType {
        case .countResultType: return [NSNumber(value: page(objects).count)]
        case .managedObjectIDResultType: return page(objects).map(\.objectID)
        case .dictionaryResultType: return page(try dictionaries(of: objects))
        default: return page(objects)
        }
    }

    /// The names of the attributes that dictionaries are to have.
    func attributeNames() throws -> [String] {
        let attributes = entity?.attributesByName ?? [:]
        guard let propertiesToFetch else { return attributes.keys.sorted() }
        return try propertiesToFetch.map { property in
            let name = (property as? NSPropertyDescription)?.name ?? property as? String
            if let name, attributes[name] != nil { return name }
            throw PaletteError.make(.unanswerableFetch, "propertiesToFetch has “\(name ?? "\(property)")”; this store gives attributes.")
        }
    }

    private func dictionaries(of objects: [NSManagedObject]) throws -> [NSDictionary] {
        let names = try attributeNames()
        var dictionaries = objects.map { object in
            let dictionary = NSMutableDictionary()
            for name in names {
                if let value = object.value(forKey: name) { dictionary.setObject(value, forKey: name as NSString) }
            }
            return dictionary as NSDictionary
        }
        if returnsDistinctResults {
            var seen: Set<NSDictionary> = []
            dictionaries.removeAll { !seen.insert($0).inserted }
        }
        return dictionaries
    }
}
