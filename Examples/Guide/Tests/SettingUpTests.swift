import CoreData
import Guide
import Testing

struct SettingUpTests {
    private func add(_ url: URL?) throws -> NSPersistentStore {
        XYZApplication.applicationDidFinishLaunching()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GuideModel.oneEntity())
        return try coordinator.addPersistentStore(ofType: XYZMyIncrementalStore.storeType, configurationName: nil, at: url)
    }

    @Test func aStoreWithoutAURLIsRefused() throws {
        #expect(throws: IncrementalStoreError.noStoreURL) { _ = try add(nil) }
    }

    @Test func aURLOfAnotherKindIsRefusedWithAnErrorThatNamesIt() throws {
        let url = URL(string: "https://example.com/store")!
        #expect(throws: IncrementalStoreError.unsupportedURL(url)) { _ = try add(url) }
        #expect(IncrementalStoreError.unsupportedURL(url).localizedDescription.contains("https://example.com/store"))
    }

    @Test func everyInstanceAtOneURLHasTheSameUUIDAndAnyOtherAnother() throws {
        let stack = try Stack()
        let twin = try stack.another(GuideModel.oneEntity())
        #expect(twin.store.identifier == stack.store.identifier)
        try #expect(Stack().store.identifier != stack.store.identifier)
        #expect(stack.store.type == "XYZMyIncrementalStore")
    }

    @Test func theURIOfAnObjectLeadsToItInAnotherCoordinator() throws {
        let stack = try Stack()
        stack.populate()
        let uri = try stack.run { try $0.employee("Cleo").objectID.uriRepresentation() }
        let other = try stack.another(GuideModel.oneEntity())
        try other.run { context in
            let id = try #require(other.coordinator.managedObjectID(forURIRepresentation: uri))
            try #expect((context.existingObject(with: id) as? Employee)?.name == "Cleo")
        }
    }

    @Test func theCallsOfASaveComeInTheOrderOfTheGuide() throws {
        let stack = try Stack()
        try stack.run { context in
            let first = Employee(context: context)
            first.name = "First"
            let second = Employee(context: context)
            second.name = "Second"
            #expect(first.objectID.isTemporaryID)
            try context.save()
            #expect(stack.store.calls.filter { $0.registeredIDs.isEmpty } == [.loadMetadata, .permanentIDs(2), .save])
            second.salary = 1
            try context.save()
            #expect(stack.store.calls.last == .save)
            #expect(stack.store.calls.filter { $0 == .permanentIDs(1) }.isEmpty)
        }
    }

    @Test func theStoreIsToldWhichObjectsLiveInContexts() throws {
        let stack = try Stack()
        stack.populate()
        try stack.run { context in
            let ids = try context.employees().map(\.objectID)
            #expect(stack.store.calls.flatMap(\.registeredIDs) == ids)
            context.reset()
            #expect(Set(stack.store.calls.flatMap(\.unregisteredIDs)) == Set(ids))
        }
    }

    @Test func anInsertThatIsDeletedBeforeTheSaveNeverReachesTheStore() throws {
        let stack = try Stack()
        try stack.run { context in
            let employee = Employee(context: context)
            employee.name = "Nobody"
            context.delete(employee)
            try context.save()
        }
        #expect(stack.store.calls == [.loadMetadata])
        #expect(stack.database.calls.commits == 0)
    }
}
