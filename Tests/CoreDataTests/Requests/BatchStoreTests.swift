import CoreData
import TestSupport
import Testing

/// Batch requests to stores that others write.
@Suite struct BatchStoreTests {
    /// Serves batch requests with whatever it is told to answer.
    private final class BatchStore: DictionaryStore {
        override class var typeName: String { "BatchStore" }
        var batchAnswer: ((NSPersistentStoreRequest) throws -> Any)?

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            switch request.requestType {
            case .batchInsertRequestType, .batchUpdateRequestType, .batchDeleteRequestType:
                calls.append("batch")
                return try batchAnswer?(request) ?? true
            default: return try super.execute(request, with: context)
            }
        }
    }

    private func run(_ body: (BatchStore, NSManagedObjectContext) throws -> Void) throws {
        let (store, coordinator) = try BatchStore.make()
        let context = Music.context(coordinator)
        try context.performAndWait { try body(store as! BatchStore, context) }
    }

    @Test func anIncrementalStoreIsHandedTheRequestAndItsAnswerIsTheResult() throws {
        try run { store, context in
            let id = store.put("Band", 1, ["name": "a"])
            store.batchAnswer = { request in
                let update = request as! NSBatchUpdateRequest
                #expect(update.entity === store.entity("Band") && update.predicate != nil)
                return update.resultType == .updatedObjectIDsResultType
                    ? [id] : update.resultType == .updatedObjectsCountResultType ? 1 : true
            }
            let request = NSBatchUpdateRequest(entityName: "Band")
            request.predicate = NSPredicate(format: "name == 'a'")
            request.propertiesToUpdate = ["name": "b"]
            try expect((context.execute(request) as? NSBatchUpdateResult)?.result as? Bool, equals: true)
            request.resultType = .updatedObjectIDsResultType
            try expect((context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID], equals: [id])
            request.resultType = .updatedObjectsCountResultType
            try expect((context.execute(request) as? NSBatchUpdateResult)?.result as? Int, equals: 1)
            expect(store.calls.filter { $0 == "batch" }.count, equals: 3)
        }
    }

    @Test func aStoreIsAskedAgainForRowsAfterABatchRequest() throws {
        try run { store, context in
            let id = store.put("Band", 1, ["name": "a"])
            try expect((context.existingObject(with: id) as? Band)?.name, equals: "a")
            store.batchAnswer = { _ in
                store.put("Band", 1, ["name": "b"])
                return true
            }
            let request = NSBatchUpdateRequest(entityName: "Band")
            request.propertiesToUpdate = ["name": "b"]
            _ = try context.execute(request)
            let other = Music.context(context.persistentStoreCoordinator!)
            try expect(other.performAndWait { try (other.existingObject(with: id) as? Band)?.name }, equals: "b")
        }
    }

    @Test func anAnswerOfAnotherKindBreaksTheContract() throws {
        try run { store, context in
            store.batchAnswer = { _ in "yes" }
            let error = failure { try context.execute(NSBatchInsertRequest(entityName: "Band", objects: [["name": "a"]])) }
            expect(error?.code, equals: NSPersistentStoreOperationError)
        }
    }

    @Test func theErrorOfAStoreIsThrownAsItIs() throws {
        try run { store, context in
            store.batchAnswer = { _ in throw NSError(domain: "Own", code: 7) }
            let error = failure { try context.execute(NSBatchInsertRequest(entityName: "Band", objects: [["name": "a"]])) }
            #expect(error?.domain == "Own" && error?.code == 7)
        }
    }

    @Test func aStoreThatDoesNotServeTheRequestIsNamedInTheError() throws {
        final class Silent: NSIncrementalStore {
            override func loadMetadata() throws { metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: "Silent"] }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Silent.self, forStoreType: "Silent")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(ofType: "Silent", configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        context.performAndWait {
            let error = failure { try context.execute(NSBatchInsertRequest(entityName: "Band", objects: [["name": "a"]])) }
            expect(error?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            expect(error?.localizedDescription.contains("Silent"), equals: true)
        }
    }

    @Test func anAtomicStoreServesNone() throws {
        let coordinator = try ListStore.coordinator(FakeDisk())
        let context = Music.context(coordinator)
        context.performAndWait {
            let error = failure {
                try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Band")))
            }
            expect(error?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            expect(error?.localizedDescription.contains("ListStore"), equals: true)
        }
    }

    @Test func aStoreThatIsOpenForReadingOnlyIsNotChanged() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: [NSReadOnlyPersistentStoreOption: true])
        let context = Music.context(coordinator)
        context.performAndWait {
            let error = failure { try context.execute(NSBatchInsertRequest(entityName: "Band", objects: [["name": "a"]])) }
            expect(error?.code, equals: NSPersistentStoreSaveError)
        }
    }
}
