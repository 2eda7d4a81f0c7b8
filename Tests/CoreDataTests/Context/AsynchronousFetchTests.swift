import CoreData
import Foundation
import TestSupport
import Testing

@Suite("An asynchronous fetch") struct AsynchronousFetchTests {
    /// The result of an asynchronous fetch, once it is there.
    private func run(
        _ context: NSManagedObjectContext, _ request: NSFetchRequest<Album>, cancel: Bool = false, in block: @escaping () -> Void = {}
    ) async throws -> (titles: [String]?, error: (any Error)?, completed: Int64, onQueue: Bool) {
        try await withCheckedThrowingContinuation { continuation in
            context.perform {
                block()
                let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    continuation.resume(
                        returning: (
                            result.finalResult?.map(\.title), result.operationError, result.progress?.completedUnitCount ?? -1,
                            context.performAndWait { true }
                        ))
                }
                do {
                    let result = try #require(try context.execute(asynchronous) as? NSAsynchronousFetchResult<Album>)
                    #expect(result.managedObjectContext === context)
                    #expect(result.finalResult == nil)
                    if cancel { result.cancel() }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    private func request(_ format: String? = nil) -> NSFetchRequest<Album> {
        let request = NSFetchRequest<Album>(entityName: "Album")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    private func context() async throws -> NSManagedObjectContext {
        let context = try Music.context()
        try await context.perform { _ = try context.saveBand("Low", albums: ["A", "B", "C"]) }
        return context
    }

    @Test("It calls back on the context's queue with the result, and the progress is done")
    func result() async throws {
        let context = try await context()
        let answer = try await run(context, request("title > 'A'"))
        expect(answer.titles, equals: ["B", "C"])
        #expect(answer.error == nil)
        expect(answer.completed, equals: 2)
        #expect(answer.onQueue)
    }

    @Test("The store can tell the context that asks from the one that it is given")
    func requestingContext() async throws {
        let (store, coordinator) = try DictionaryStore.make()
        store.put("Album", 1, ["title": "A", "year": 2018])
        let context = Music.context(coordinator)
        let given = GivenContexts()
        store.fetchAnswer = { request, context in
            given.append(context)
            return [NSManagedObject]()
        }
        _ = try await run(context, request())
        expect(given.count, equals: 1)
        #expect(given.first?.requestingContext === context)
        #expect(given.first !== context)
        try await context.perform { _ = try context.fetch(self.request()) }
        #expect(given.last === context)
        #expect(given.last?.requestingContext === context)
    }

    @Test("Unsaved changes of the context count")
    func pendingChanges() async throws {
        let context = try await context()
        let answer = try await run(context, request()) { Album(context: context).title = "D" }
        expect(answer.titles, equals: ["A", "B", "C", "D"])
    }

    @Test("A cancelled one calls back with an error and no result")
    func cancel() async throws {
        let answer = try await run(try await context(), request(), cancel: true)
        #expect(answer.titles == nil)
        #expect(answer.error is CancellationError)
    }

    @Test("A mistake in the request is thrown at once")
    func mistake() async throws {
        let context = try await context()
        await #expect(throws: (any Error).self) { try await run(context, NSFetchRequest<Album>(entityName: "Nothing")) }
    }

    @Test("An error of the store arrives with the result, and an awaited fetch throws it")
    func storeError() async throws {
        let (store, coordinator) = try DictionaryStore.make()
        store.fetchAnswer = { _, _ in throw NSError(domain: "net", code: 7) }
        let context = Music.context(coordinator)
        let answer = try await run(context, request())
        #expect(answer.titles == nil)
        expect((answer.error as NSError?)?.code, equals: 7)
        do {
            _ = try await context.fetchAsynchronously(request())
            Issue.record("The fetch did not throw.")
        } catch {
            expect((error as NSError).code, equals: 7)
        }
    }

    @Test("An unknown key is an error, whenever it is found")
    func unknownKey() async throws {
        let context = try await context()
        await #expect(throws: (any Error).self) { try await context.fetchAsynchronously(request("colour == 'red'")) }
    }

    @Test("An awaited fetch gives every kind of result")
    func resultTypes() async throws {
        let context = try await context()
        let objects = try await context.fetchAsynchronously(request())
        #expect(await context.perform { objects.map(\.title) } == ["A", "B", "C"])
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
        ids.resultType = .managedObjectIDResultType
        #expect(Set(try await context.fetchAsynchronously(ids)) == Set(await context.perform { objects.map(\.objectID) }))
        let count = NSFetchRequest<NSNumber>(entityName: "Album")
        count.resultType = .countResultType
        #expect(try await context.fetchAsynchronously(count) == [3])
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Album")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["title"]
        #expect(Set(try await context.fetchAsynchronously(dictionaries).compactMap { $0["title"] as? String }) == ["A", "B", "C"])
    }

    @Test("An awaited fetch in a cancelled task throws CancellationError")
    func cancelledTask() async throws {
        let context = try await context()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await context.fetchAsynchronously(request()).count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("An awaited fetch of a child sees the parent's unsaved objects")
    func child() async throws {
        let parent = try await context()
        await parent.perform { Album(context: parent).title = "D" }
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        let albums = try await child.fetchAsynchronously(request())
        #expect(await child.perform { albums.map(\.title) } == ["A", "B", "C", "D"])
    }
}

/// The contexts that a store was given, on whichever queue.
// `lock` guards `contexts`.
private final class GivenContexts: @unchecked Sendable {
    private let lock = NSLock()
    private var contexts: [NSManagedObjectContext] = []

    func append(_ context: NSManagedObjectContext) { lock.withLock { contexts.append(context) } }
    var count: Int { lock.withLock { contexts.count } }
    var first: NSManagedObjectContext? { lock.withLock { contexts.first } }
    var last: NSManagedObjectContext? { lock.withLock { contexts.last } }
}
