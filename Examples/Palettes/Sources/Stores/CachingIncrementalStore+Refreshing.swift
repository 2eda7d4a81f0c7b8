public import CoreData
internal import ExampleSupport

extension CachingIncrementalStore {
    /// The result of a refresh that a fetch has started.
    public struct Refresh: Sendable {
        /// The IDs of objects that are new in the cache. The next fetch returns them.
        public let inserted: [NSManagedObjectID]
        /// The IDs of objects whose values have changed. In the fetching context they are refreshed already.
        public let updated: [NSManagedObjectID]
        /// The error of a failed refresh, which leaves the cache unchanged; nil after success.
        public let error: (any Error)?

        /// Reads the refresh of a ``CachingIncrementalStore/didRefreshNotification``; nil for any other notification.
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

    /// Starts the request to the service for a fetch, and returns at once.
    ///
    /// No queue waits for another one that may wait for it. This is called on the queue of `context`, so it does not wait. The answer
    /// arrives on a queue of the session, which only enqueues the rest on the queue of `context`. From there, the code waits for the
    /// queue of the child, and from that for the queue of the backing context; neither ever waits for `context`.
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

    /// Inserts or updates palettes in the backing context, and saves it.
    ///
    /// - Parameters:
    ///   - palettes: The palettes from the service.
    ///   - entity: The entity in the application's model.
    ///   - context: The child of the fetching context. It gets the new and changed objects without values: values set there would become
    ///     unsaved edits in its parent, and overwrite those of the application.
    ///   - completion: Called with the objects of the child, once the cache has their values, and with the result of the refresh.
    private func insertOrUpdateObjects(
        _ palettes: [[String: Any]], ofEntity entity: NSEntityDescription, context: NSManagedObjectContext,
        completion: (_ managedObjects: [NSManagedObject], _ refresh: Refresh) -> Void
    ) {
        let backingContext = self.backingManagedObjectContext!
        // Fetched, inserted and saved in one block: two concurrent refreshes must not insert a palette twice.
        let refresh = backingContext.performAndWait {
            do {
                return try insertOrUpdateBackingObjects(palettes, ofEntity: entity)
            } catch {
                // Unsaved changes must not affect the next refresh.
                backingContext.rollback()
                return Refresh(error: error)
            }
        }
        completion((refresh.inserted + refresh.updated).map { context.object(with: $0) }, refresh)
    }

    /// Inserts or updates the objects of the backing context, on its queue.
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
