import CoreData
import TestSupport
import Testing

@Suite("Contexts and threads") struct ConcurrencyTests {
    @Test("performAndWait nests, returns values and throws errors")
    func performAndWait() throws {
        let context = try Music.context()
        let sum = context.performAndWait { 1 + context.performAndWait { 2 } }
        expect(sum, equals: 3)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try context.performAndWait { throw Stop() } }
    }

    @Test("One context may wait for another from within")
    func acrossContexts() throws {
        try withTwoContexts { first, second in
            try first.performAndWait {
                let name = try second.performAndWait { try second.saveBand("Low").name }
                try expect(first.all(Band.self).map(\.name), equals: [name])
            }
        }
    }

    @Test("A block may go back to a context that waits for it, over other private contexts and the main one")
    func backToWaitingContext() async throws {
        let coordinator = try Music.coordinator()
        let (first, second) = (Music.context(coordinator), Music.context(coordinator))
        let main = NSManagedObjectContext(.mainQueue)
        main.persistentStoreCoordinator = coordinator
        let names = try await first.perform {
            try first.saveBand("Low")
            return try second.performAndWait {
                try main.performAndWait {
                    try first.performAndWait {
                        try second.performAndWait { try main.performAndWait { try first.all(Band.self).map(\.name) } }
                    }
                }
            }
        }
        expect(names, equals: ["Low"])
        // Afterwards nobody waits: each context is entered by its own queue again.
        let value = await second.perform { first.performAndWait { 1 } }
        expect(value, equals: 1)
    }

    @Test("Blocks run in their order")
    func order() async throws {
        let context = try Music.context()
        let log = Log()
        func enqueue(_ number: Int) { context.perform { log.append(number) } }
        for number in 0..<100 { enqueue(number) }
        let last: () -> Void = { log.append(100) }
        await context.perform(schedule: .enqueued, last)
        expect(log.numbers, equals: Array(0...100))
    }

    // Used on one context's queue.
    private final class Log: @unchecked Sendable {
        private(set) var numbers: [Int] = []
        func append(_ number: Int) { numbers.append(number) }
    }

    @Test("await perform returns values and throws errors")
    func asyncPerform() async throws {
        let context = try Music.context()
        let name = try await context.perform { try context.saveBand("Low").name }
        expect(name, equals: "Low")
        struct Stop: Error {}
        await #expect(throws: Stop.self) { try await context.perform { throw Stop() } }
    }

    @Test("Many tasks fetch from one context at once, and none loses its answer")
    func manyFetches() async throws {
        let context = try Music.context()
        try await context.perform { _ = try context.saveBand("Low", albums: (0..<20).map { "\($0)" }) }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 {
                group.addTask { try await context.fetchAsynchronously(NSFetchRequest<Album>(entityName: "Album")).count }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expect(counts, equals: Array(repeating: 20, count: 50))
    }

    @Test("Many contexts save into one store at once, and nothing is lost")
    func manySaves() async throws {
        let coordinator = try Music.coordinator()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let context = Music.context(coordinator)
                    for round in 0..<20 {
                        try await context.perform { _ = try context.saveBand("\(task).\(round)", albums: ["A", "B"]) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let context = Music.context(coordinator)
        try await context.perform {
            let bands = try context.all(Band.self)
            expect(Set(bands.map(\.name)).count, equals: 160)
            #expect(bands.allSatisfy { $0.albums.count == 2 })
            expect(Set(try context.all(Album.self).map(\.objectID)).count, equals: 320)
        }
    }

    @Test("Many contexts count one object up with retries, and every increment arrives")
    func optimisticLocking() async throws {
        let coordinator = try Music.coordinator()
        let setUp = Music.context(coordinator)
        let id = try await setUp.perform { () -> NSManagedObjectID in
            let album = Album(context: setUp)
            album.year = 0
            try setUp.save()
            return album.objectID
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let context = Music.context(coordinator)
                    for _ in 0..<25 {
                        try await context.perform {
                            while true {
                                let album = try context.existingObject(with: id) as! Album
                                album.year += 1
                                do { return try context.save() } catch { context.refresh(album, mergeChanges: false) }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let year = try await setUp.perform { () -> Int16? in
            setUp.reset()
            return (try setUp.existingObject(with: id) as? Album)?.year
        }
        expect(year, equals: 100)
    }

    @Test("Objects may be released on other threads while their context works")
    func releasesElsewhere() async throws {
        let coordinator = try Music.coordinator()
        let setUp = Music.context(coordinator)
        try await setUp.perform { _ = try setUp.saveBand("Low", albums: (0..<50).map { "\($0)" }) }
        let context = Music.context(coordinator)
        let held = Held()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for _ in 0..<200 {
                    try await context.perform {
                        let albums = try context.all(Album.self)
                        expect(albums.count, equals: 50)
                        expect(Set(albums.map(ObjectIdentifier.init)).count, equals: 50)
                        #expect(albums.allSatisfy { $0.band?.name == "Low" })
                        held.put(albums)
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<2000 {
                        held.drop()
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        held.dropAll()
        await context.perform {
            context.processPendingChanges()
            #expect(context.registeredObjects.isEmpty)
        }
    }

    /// Objects that other threads give up; they do not look at them.
    // `lock` guards `objects`.
    private final class Held: @unchecked Sendable {
        private let lock = NSLock()
        private var objects: [NSManagedObject] = []
        func put(_ new: [NSManagedObject]) { lock.withLock { objects += new } }
        func drop() {
            let last = lock.withLock { objects.popLast() }
            withExtendedLifetime(last) {}
        }
        func dropAll() {
            let all = lock.withLock {
                defer { objects = [] }
                return objects
            }
            withExtendedLifetime(all) {}
        }
    }

    @Test("A main-queue context works on the main thread directly")
    @MainActor
    func mainQueue() async throws {
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        container.loadPersistentStores { #expect($1 == nil) }
        let context = container.viewContext
        try context.performAndWait { _ = try context.saveBand("Low") }
        let bands = try await context.fetchAsynchronously(NSFetchRequest<Band>(entityName: "Band"))
        expect(bands.map(\.name), equals: ["Low"])
        #expect(context.performAndWait { bands.first?.managedObjectContext } === context)
    }
}
