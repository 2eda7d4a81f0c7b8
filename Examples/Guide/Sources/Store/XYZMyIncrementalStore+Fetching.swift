internal import CoreData
internal import ExampleSupport

extension XYZMyIncrementalStore {
    /// Answers a fetch in the form that it asks for.
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
            // Dictionaries: a store need not serve them, but it has to say so.
            throw IncrementalStoreError.invalidRequest
        }
    }

    /// The primary keys of what a fetch asks for, in its order.
    ///
    /// A plain fetch takes the keys alone from the database. This database cannot filter or sort; a fetch that wants either takes the
    /// rows of the table in one request and operates on them in memory, without objects and so without firing faults.
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
