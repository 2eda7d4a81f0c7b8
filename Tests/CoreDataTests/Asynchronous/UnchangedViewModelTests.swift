import CoreData
import TestSupport
import Testing

/// A view model as programs for Apple's platforms have it. It is to compile without a change, and without a warning.
@MainActor private final class ViewModel {
    let viewContext: NSManagedObjectContext
    private(set) var titles: [String] = []

    init(_ viewContext: NSManagedObjectContext) { self.viewContext = viewContext }

    func refresh() async {
        do {
            let album = try viewContext.fetch(NSFetchRequest<Album>(entityName: "Album"))[0]
            album.title += "!"
            viewContext.refresh(album, mergeChanges: true)
            viewContext.refreshAllObjects()
            try viewContext.save()
            titles = try viewContext.fetch(NSFetchRequest<Album>(entityName: "Album")).map(\.title)
        } catch {
            Issue.record(error)
        }
    }
}

@Suite("Code for Apple's platforms in asynchronous functions") struct UnchangedViewModelTests {
    /// A context of a kind over a store with one album.
    private func context(_ type: NSManagedObjectContext.ConcurrencyType) throws -> NSManagedObjectContext {
        let coordinator = try Music.coordinator()
        let writer = Music.context(coordinator)
        try writer.performAndWait {
            Album(context: writer).title = "Debut"
            try writer.save()
        }
        let context = NSManagedObjectContext(type)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("A view model of the main actor fetches, refreshes and saves by the synchronous calls, without await")
    @MainActor func viewModel() async throws {
        let model = ViewModel(try context(.mainQueue))
        await model.refresh()
        expect(model.titles, equals: ["Debut!"])
        #expect(!model.viewContext.hasChanges)
    }

    /// On its caller's actor, whichever that is.
    nonisolated(nonsending) private func rename(in context: NSManagedObjectContext) async throws -> Int {
        let found = try context.fetch(NSFetchRequest<Album>(entityName: "Album"))
        found[0].title = "Second"
        context.refresh(found[0], mergeChanges: true)
        context.refreshAllObjects()
        try context.save()
        return try context.count(for: NSFetchRequest<Album>(entityName: "Album"))
    }

    @Test("So does an asynchronous function of no actor, on the queue of its caller")
    @MainActor func ofNoActor() async throws {
        let context = try context(.mainQueue)
        expect(try await rename(in: context), equals: 1)
        expect(try context.fetch(NSFetchRequest<Album>(entityName: "Album")).map(\.title), equals: ["Second"])
    }
}
