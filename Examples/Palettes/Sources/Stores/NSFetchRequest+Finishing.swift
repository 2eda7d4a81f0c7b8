internal import CoreData
internal import ExampleSupport

extension NSFetchRequest<any NSFetchRequestResult> {
    /// Returns the palettes that match the request, with its predicate, order, offset and limit applied.
    ///
    /// - Parameters:
    ///   - items: The candidates, as JSON objects.
    ///   - store: The store, which knows the IDs that the predicate may name.
    ///   - isPage: Whether offset and limit were applied already.
    /// - Throws: An error for a format that did not parse and for an unknown key.
    func finish(_ items: [[String: Any]], in store: NSIncrementalStore, isPage: Bool = false) throws -> [[String: Any]] {
        guard let entity else { return [] }
        let schema = PaletteSchema(entity)
        var rows = items.compactMap { PaletteRow($0, of: entity, in: store) }
        if let predicate = try predicate?.compiled(for: schema) { rows = try rows.filter { try predicate.matches($0.subject) } }
        if let sortDescriptors, !sortDescriptors.isEmpty {
            guard !sortDescriptors.contains(where: { $0.key == nil && $0.hasComparator }) else {
                throw NSError.failure(
                    PaletteErrorCode.unanswerableFetch,
                    "A sort descriptor names no key, and JSON has nothing but keys. Make it with NSSortDescriptor(key:ascending:).")
            }
            let sort = try CompiledSort(sortDescriptors, for: schema)
            rows = try sort.sortedIndices(count: rows.count) { rows[$0].subject }.map { rows[$0] }
        }
        // Equal dictionaries are combined first and counted afterwards.
        return (isPage || joinsEqualResults ? rows : page(rows)).map(\.item)
    }

    /// Converts the result to another type: IDs, the number of objects, or dictionaries.
    ///
    /// - Parameters:
    ///   - objects: The objects of ``finish(_:in:isPage:)``.
    ///   - values: Returns the values of an object by property name.
    func answer(from objects: [NSManagedObject], values: (NSManagedObjectID) -> [String: Any]?) throws -> Any {
        switch resultType {
        case .countResultType: return [NSNumber(value: objects.count)]
        case .managedObjectIDResultType: return objects.map(\.objectID)
        case .dictionaryResultType:
            let names = try attributeNames()
            let dictionaries = objects.map { object in
                let dictionary = NSMutableDictionary()
                let values = values(object.objectID) ?? [:]
                for name in names {
                    if let value = values[name] { dictionary.setObject(value, forKey: name as NSString) }
                }
                return dictionary as NSDictionary
            }
            return joinsEqualResults ? page(joined(dictionaries)) : dictionaries
        default: return objects
        }
    }

    /// Returns the names of the attributes in dictionaries.
    func attributeNames() throws -> [String] {
        let attributes = entity?.attributesByName ?? [:]
        guard let propertiesToFetch else { return attributes.keys.sorted() }
        return try propertiesToFetch.map { property in
            let name = (property as? NSPropertyDescription)?.name ?? property as? String
            if let name, attributes[name] != nil { return name }
            throw NSError.failure(
                PaletteErrorCode.unanswerableFetch, "propertiesToFetch has “\(name ?? "\(property)")”; this store gives attributes.")
        }
    }
}
