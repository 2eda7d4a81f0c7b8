public import CoreData
internal import ExampleSupport

extension CachingIncrementalStore {
    /// How the refresh that a fetch began has ended.
    public struct Refresh: Sendable {
        /// The objects that are in the cache now and were not before. The next fetch has them.
        public let inserted: [NSManagedObjectID]
        /// The objects whose values have changed. In the context that fetched they are up to date.
        public let updated: [NSManagedObjectID]
        /// Why the refresh failed; nil when it did not. The cache is as it was before.
        public let error: (any Error)?

        /// The refresh that a ``CachingIncrementalStore/didRefreshNotification`` tells of; nil for any other notification.
        public init?(_ notification: Notification) {
            guard let refresh = notification.userInfo?[Self.key] as? Refresh else { return nil }
            self = refresh
        }

        fileprivate init(inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], error: (any Error)? = nil) {
            self.inserted = inserted
            self.updated = updated
            self.error = error
        }

        fileprivate static let key = "refresh"
    }

    /// Starts asking the service for what a fetch asks for. Returns at once.
    ///
    /// No queue waits for another one that may wait for it. This is called on the queue of `context`, so nothing here waits. The answer
    /// comes on a queue of the session, which only enqueues the rest on the queue of `context`. From there, the queue of the child is
    /// waited for, and from that one the queue of the backing context; neither ever waits for `context`.
    func fetchRemoteObjectsWithRequest(
        _ fetchRequest: NSFetchRequest<any NSFetchRequestResult>, context: NSManagedObjectContext
    ) throws {
        let offset = fetchRequest.fetchOffset
        let limit = fetchRequest.fetchLimit
        // what is more than a page is asked for otherwise
        let httpRequest =
            try PaletteRequest(beyondPageOf: fetchRequest) ?? ColourLovers.topPalettes.request(offset: offset, limit: limit)
        let entity = fetchRequest.entity!

        // make asynchronous request for remote resources
        networkController.task(
            httpRequest,
            completion: { (palettes, error) -> Void in
                guard let palettes else { return context.perform { self.finishRefresh(Refresh(error: error)) } }

                context.perform {
                    let childContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                    childContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
                    childContext.parent = context

                    childContext.performAndWait {
                        self.insertOrUpdateObjects(
                            palettes.dictionaries, ofEntity: entity, context: childContext,
                            completion: { (managedObjects: [NSManagedObject], refresh: Refresh) in
                                // The backing context is saved, and the child has nothing to save: see insertOrUpdateObjects.
                                let objectIDs = managedObjects.map(\.objectID)

                                // find objects in main context and refresh them
                                context.perform {
                                    for objectID in objectIDs {
                                        let parentObject = context.object(with: objectID)
                                        context.refresh(parentObject, mergeChanges: true)
                                    }
                                    self.finishRefresh(refresh)
                                }
                            })
                    }
                }
            }
        ).resume()
    }

    private func finishRefresh(_ refresh: Refresh) {
        counters.withLock { $0.refreshes += 1 }
        NotificationCenter.default.post(name: Self.didRefreshNotification, object: self, userInfo: [Refresh.key: refresh])
    }

    /// Puts palettes into the backing context, as new objects or as new values of those that are there, and saves it.
    ///
    /// - Parameters:
    ///   - palettes: what the service has sent.
    ///   - entity: the entity in the application's model.
    ///   - context: the child of the context that fetched. It gets the objects that are new or have changed, without values: values set
    ///     there would become unsaved edits in its parent, and overwrite those that the application has made.
    ///   - completion: called with the objects of the child, once the cache has their values, and with what has come of the refresh.
    private func insertOrUpdateObjects(
        _ palettes: [[String: Any]], ofEntity entity: NSEntityDescription, context: NSManagedObjectContext,
        completion: (_ managedObjects: [NSManagedObject], _ refresh: Refresh) -> Void
    ) {
        let backingContext = self.backingManagedObjectContext!
        // Looked for, inserted and saved in one go: two refreshes at once must not insert a palette twice.
        let refresh = backingContext.performAndWait {
            do {
                return try insertOrUpdateBackingObjects(palettes, ofEntity: entity)
            } catch {
                // What was not saved must not be in the way of the next refresh.
                backingContext.rollback()
                return Refresh(error: error)
            }
        }
        completion((refresh.inserted + refresh.updated).map { context.object(with: $0) }, refresh)
    }

    /// The part on the queue of the backing context.
    private func insertOrUpdateBackingObjects(_ palettes: [[String: Any]], ofEntity entity: NSEntityDescription) throws -> Refresh {
        let backingContext = self.backingManagedObjectContext!
        var inserted: [String: NSManagedObject] = [:]
        var insertedIDs: [NSManagedObjectID] = []
        var updatedIDs: [NSManagedObjectID] = []
        for dictionary in palettes {
            guard let resourceId = Palette.identifier(in: dictionary) else { continue }
            let objectId = objectIDForEntity(entity, withResourceIdentifier: resourceId)
            let known = try inserted[resourceId] ?? backingObjectIDs[resourceId].map { try backingContext.existingObject(with: $0) }
            let backingObject = known ?? NSEntityDescription.insertNewObject(forEntityName: entity.name!, into: backingContext)
            guard (backingObject as? Palette)?.transform(dictionary: dictionary) ?? false else { continue }
            backingObject.setValue(resourceId, forKey: kPALResourceIdentifierAttributeName)
            backingObject.setValue(Date(), forKey: kPALLastModifiedAttributeName)
            if known == nil {
                inserted[resourceId] = backingObject
                insertedIDs.append(objectId)
            } else {
                updatedIDs.append(objectId)
            }
        }
        try backingContext.save()
        for (resourceId, object) in inserted { backingObjectIDs[resourceId] = object.objectID }
        counters.withLock { [count = backingObjectIDs.count] in $0.objects = count }
        return Refresh(inserted: insertedIDs, updated: updatedIDs)
    }
}
