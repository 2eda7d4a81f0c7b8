internal import CoreData
internal import ExampleSupport

extension MyIncrementalStore {
    /// Executes a fetch with the requested result type.
    func fetch(_ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, with context: NSManagedObjectContext) throws -> Any {
        counters.withLock { $0.fetches += 1 }
        try updateHeaders()
        if fetchRequest.resultType == .dictionaryResultType { return try dictionaries(fetchRequest) }
        let songIDs = try getSongsIds(byRequest: fetchRequest)
        switch fetchRequest.resultType {
        case .countResultType: return [NSNumber(value: songIDs.count)]
        case .managedObjectIDResultType: return songIDs.compactMap { objectID($0) }
        default:
            var songs: [NSManagedObject] = []
            for songID in songIDs {
                guard let objectID = objectID(songID) else { continue }
                // The registered object, or a new fault, whose values are read on demand.
                songs.append(context.object(with: objectID))
            }
            return songs
        }
    }

    /// Returns the identifiers of a request's objects: songs, or objects of another entity.
    ///
    /// The predicate and the order are evaluated on rows. A row is read only when one of them needs an attribute, and once at most.
    private func getSongsIds(byRequest fetchRequest: NSFetchRequest<any NSFetchRequestResult>) throws -> [UUID] {
        let found = try rows(for: fetchRequest)
        return fetchRequest.page(found).map(\.header.id)
    }

    /// Returns the rows that match the predicate, in order, before offset and limit.
    private func rows(for fetchRequest: NSFetchRequest<any NSFetchRequestResult>) throws -> [SongRow] {
        guard let entity = fetchRequest.entity else { return [] }
        let rows = SongRows(store: self)
        let schema = rows.schema(of: entity)
        var found = index.order.compactMap { index.headers[$0] }.filter { header in
            fetchRequest.includesSubentities ? header.entity.isKindOf(entity: entity) : header.entity === entity
        }.compactMap { rows[$0.id] }
        if let predicate = try fetchRequest.predicate?.compiled(for: schema) {
            found = try found.filter { try predicate.matches($0.subject) }
        }
        if let descriptors = fetchRequest.sortDescriptors, !descriptors.isEmpty, fetchRequest.resultType != .countResultType {
            guard !descriptors.contains(where: { $0.key == nil && $0.hasComparator }) else {
                throw SongFileError(
                    .unanswerable, file.url, "A sort descriptor names no key, and rows have nothing but keys.",
                    advice: "Make it with NSSortDescriptor(key:ascending:).")
            }
            let sort = try CompiledSort(descriptors, for: schema)
            found = try sort.sortedIndices(count: found.count) { found[$0].subject }.map { found[$0] }
        }
        if let failure = rows.failure { throw failure }
        return found
    }

    private func dictionaries(_ fetchRequest: NSFetchRequest<any NSFetchRequestResult>) throws -> [NSDictionary] {
        guard let entity = fetchRequest.entity else { return [] }
        let found = try rows(for: fetchRequest)
        let names =
            fetchRequest.propertiesToFetch.map { $0.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" } }
            ?? entity.attributesByName.keys.sorted()
        let paths = try names.map { ($0, try CompiledKeyPath($0, for: SongRows(store: self).schema(of: entity))) }
        let dictionaries = try found.map { row in
            let dictionary = NSMutableDictionary()
            for (name, path) in paths {
                if let value = try path.value(of: row.subject).any { dictionary.setObject(value, forKey: name as NSString) }
            }
            return dictionary as NSDictionary
        }
        return fetchRequest.page(fetchRequest.joined(dictionaries))
    }
}
