internal import CoreData
internal import ExampleSupport

extension XYZMyIncrementalStore {
    /// Executes a fetch with the requested result type.
    func fetch(
        _ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, of entity: NSEntityDescription, with context: NSManagedObjectContext
    ) throws -> Any {
        let primaryKeys = try primaryKeys(for: fetchRequest, of: entity)
        switch fetchRequest.resultType {
        case .countResultType: return [NSNumber(value: primaryKeys.count)]
        case .managedObjectIDResultType: return primaryKeys.map { objectID($0, of: entity) }
        case .managedObjectResultType:
            var fetchedObjects = [NSManagedObject]()
            for primaryKey in primaryKeys {
                let objectID = objectID(primaryKey, of: entity)
                let managedObject = context.object(with: objectID)
                fetchedObjects.append(managedObject)
            }
            return fetchedObjects
        default:
            // Dictionaries: a store need not support them, but it must say so.
            throw IncrementalStoreError.invalidRequest
        }
    }

    /// Returns the primary keys of a fetch, in order.
    ///
    /// A plain fetch reads the keys only. This database cannot filter or sort; for a fetch with a predicate or an order, the store reads
    /// the rows of the table in one call and processes them in memory, without objects and thus without firing faults.
    private func primaryKeys(
        for fetchRequest: NSFetchRequest<any NSFetchRequestResult>, of entity: NSEntityDescription
    ) throws -> [String] {
        let sortDescriptors = fetchRequest.resultType == .countResultType ? [] : fetchRequest.sortDescriptors ?? []
        guard fetchRequest.predicate != nil || !sortDescriptors.isEmpty else {
            return fetchRequest.page(try database.primaryKeys(of: table(entity)))
        }
        let tables = XYZTables(store: self)
        let schema = XYZSchema(entity, tables)
        var rows = try tables.rows(of: entity)
        if let predicate = try fetchRequest.predicate?.compiled(for: schema) {
            rows = try rows.filter { try predicate.matches($0.subject) }
        }
        if !sortDescriptors.isEmpty {
            guard !sortDescriptors.contains(where: { $0.key == nil && $0.hasComparator }) else {
                throw IncrementalStoreError.unsupportedSortDescriptor
            }
            let sort = try CompiledSort(sortDescriptors, for: schema)
            rows = try sort.sortedIndices(count: rows.count) { rows[$0].subject }.map { rows[$0] }
        }
        return fetchRequest.page(rows).map(\.row.primaryKey)
    }
}
