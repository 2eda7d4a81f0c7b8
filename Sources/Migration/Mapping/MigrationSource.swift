internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The store that is migrated: opened read-only, read in batches.
final class MigrationSource {
    private let url: URL
    private let type: String
    private let options: [AnyHashable: Any]?
    private(set) var store: NSPersistentStore?

    init(url: URL, type: String, options: [AnyHashable: Any]?) {
        self.url = url
        self.type = type
        var readOnly = MigrationDestination.withoutMigration(options) ?? [:]
        readOnly[NSReadOnlyPersistentStoreOption] = NSNumber(value: true)
        self.options = readOnly
    }

    /// The type and the place of the store.
    var place: (type: String, url: URL) { (type, url) }

    func open(in context: NSManagedObjectContext) throws {
        try reading {
            store = try context.persistentStoreCoordinator?.addPersistentStore(
                ofType: type, configurationName: nil, at: url, options: options)
        }
    }

    func close(in context: NSManagedObjectContext) throws {
        context.reset()
        guard let store else { return }
        self.store = nil
        try context.persistentStoreCoordinator?.remove(store)
    }

    /// Identifies the source and its content, as far as the files allow.
    var fingerprint: String {
        let files = ["", "-wal"].map { ending -> String in
            guard url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + ending),
                let size = attributes[.size] as? NSNumber, ending.isEmpty || size.intValue > 0
            else { return "-" }
            let written = (attributes[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
            return "\((attributes[.systemFileNumber] as? NSNumber)?.stringValue ?? "-") \(size) \(written)"
        }
        return ([url.absoluteString, type, store?.identifier ?? "-"] + files).joined(separator: "\n")
    }

    /// Calls `body`, whose errors become errors of the source.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            throw MigrationError.wrapped(error, NSMigrationManagerSourceStoreError, nil, nil, "The store cannot be migrated.")
        }
    }

    /// Copies the program's own metadata, and the store's UUID, by which the URIs of other stores' objects refer to it.
    ///
    /// - Parameter withUUID: False for stores that are filled in place, which assign themselves a UUID.
    func copyMetadata(to destination: NSPersistentStore, withUUID: Bool) {
        guard let own = store?.metadata, var metadata = destination.metadata else { return }
        for (key, value) in own where metadata[key] == nil && !key.hasPrefix("NS") && !key.hasPrefix("_") { metadata[key] = value }
        if withUUID, let uuid = own[NSStoreUUIDKey] { metadata[NSStoreUUIDKey] = uuid }
        destination.persistentStoreCoordinator?.setMetadata(metadata, for: destination)
    }

    // MARK: Objects

    /// Returns the source objects of a mapping, in an order that is the same when the migration is resumed.
    func objects(of plan: MappingPlan, _ manager: NSMigrationManager) throws -> CompactIDs {
        guard let store, plan.mapping.sourceEntityName != nil || plan.mapping.sourceExpression != nil else {
            return CompactIDs(of: try store.orThrow(plan.mapping))
        }
        guard let expression = plan.mapping.sourceExpression else {
            let request = try manager.fetchRequest(forSourceEntityNamed: plan.mapping.sourceEntityName ?? "", predicateString: nil)
            return try ids(of: request, store, manager.sourceContext)
        }
        let scope = ExpressionScope(manager: manager, policy: plan.policy, mapping: plan.mapping)
        let tree = try expression.tree()
        if case .fetch(let request, _, false) = tree,
            let request = try scope.value(of: request) as? NSFetchRequest<any NSFetchRequestResult>
        {
            return try ids(of: request, store, manager.sourceContext)
        }
        guard let objects = ExpressionScope.objects(in: try scope.value(of: tree)) else {
            throw MigrationError.make(
                NSMigrationError, plan.mapping, reason: "The source expression gives no managed objects.",
                next:
                    "Write FETCH(FUNCTION($manager, \"\(MappingSelector.fetchRequest)\", \"Entity\", \"predicate\"), $manager.sourceContext, NO)."
            )
        }
        var ids = CompactIDs(of: store)
        for object in objects { ids.append(object.objectID) }
        return ids
    }

    private func ids(
        of request: NSFetchRequest<any NSFetchRequestResult>, _ store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws -> CompactIDs {
        try reading {
            var ids = CompactIDs(of: store)
            guard let copy = request.copy() as? NSFetchRequest<any NSFetchRequestResult>,
                let all = NSFetchRequest<NSManagedObjectID>.converted(from: copy)
            else { throw CoreDataError.make(NSMigrationError, "The fetch request of a source expression cannot be copied.") }
            all.resultType = .managedObjectIDResultType
            all.includesPropertyValues = false
            // In pages, for the objects of IDs are ten times as large as their numbers; other stores may not know offsets.
            let inPages = store is any FileStore && request.fetchLimit == 0 && request.fetchOffset == 0
            let page = 100_000
            if inPages { all.fetchLimit = page }
            while true {
                let found = try context.fetch(all)
                for id in found { ids.append(id) }
                guard inPages, found.count == page else { break }
                all.fetchOffset += page
            }
            if request.sortDescriptors?.isEmpty ?? true { ids.sort() }
            return ids
        }
    }

    /// Calls `body` with source objects, loaded together with the objects of relationships.
    func withObjects(
        _ ids: [NSManagedObjectID], of plan: MappingPlan, _ prefetched: [String], in context: NSManagedObjectContext,
        _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let loaded = try reading { try Self.load(ids, prefetched, in: context) }
        try withExtendedLifetime(loaded) { try body(ids.map { context.object(with: $0) }) }
    }

    static func load(_ ids: [NSManagedObjectID], _ prefetched: [String], in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        guard let first = ids.first else { return [] }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        let entity = first.entity
        request.entity = ids.allSatisfy { $0.entity === entity } ? entity : entity.rootEntity
        request.predicate = NSPredicate(format: "SELF IN %@", ids)
        request.returnsObjectsAsFaults = false
        if !prefetched.isEmpty { request.relationshipKeyPathsForPrefetching = prefetched }
        return try context.fetch(request).compactMap { $0 as? NSManagedObject }
    }
}

extension Optional<NSPersistentStore> {
    /// Returns the store of a source that is open.
    fileprivate func orThrow(_ mapping: NSEntityMapping) throws -> NSPersistentStore {
        if let self { return self }
        throw MigrationError.make(NSMigrationManagerSourceStoreError, mapping, reason: "The source store is not open.")
    }
}
