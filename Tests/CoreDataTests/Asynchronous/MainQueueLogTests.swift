import CoreData
import Logging
import RandomPrograms
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// In a process of its own: where a program logs to is said once.
@Suite("Waiting on the main queue") struct MainQueueLogTests {
    @Test(
        "A synchronous call that waits on the main queue says so in the log; elsewhere, by await, and where all is there, nothing is said")
    func warning() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            let lines = LogLines()
            LoggingSystem.bootstrap { _ in LogLinesHandler(lines: lines) }
            let (store, coordinator) = try ServerStore.make()
            let writer = Music.context(coordinator)
            // On a thread of its own: the test may begin on the main one.
            let count = try await writer.perform {
                let band = Band(context: writer)
                band.name = "Low"
                let album = Album(context: writer)
                album.title = "Trust"
                album.band = band
                try writer.save()
                return try writer.all(Band.self).count
            }
            expect(count, equals: 1)
            let main = NSManagedObjectContext(.mainQueue)
            main.persistentStoreCoordinator = coordinator
            let bands = try await main.fetchAsynchronously(NSFetchRequest<Band>(entityName: "Band"))
            @Sendable func warnings() -> [String] { lines.all.filter { $0.contains("main queue") } }
            expect(warnings(), equals: [])
            try await main.perform {
                expect(bands[0].name, equals: "Low")
                expect(warnings(), equals: [])
                expect(bands[0].albums.count, equals: 1)
                _ = try main.all(Band.self)
                bands[0].name = "Lower"
                try main.save()
            }
            let ending = ". Load it before by `await`, or use a private-queue context."
            expect(
                warnings(),
                equals: [
                    "warning: The main queue waits for “Band.albums” of 1 objects" + ending,
                    "warning: The main queue waits for a fetch of “Band”" + ending,
                    "warning: The main queue waits for a save of 1 objects" + ending,
                ])
            store.configure { $0.heldBack = ["save"] }
            await main.perform { bands[0].name = "Lowest" }
            let save = Task { try await main.saveAsynchronously() }
            await store.untilHeld()
            Thread.detachNewThread {
                while warnings().count < 4 { sched_yield() }
                store.release()
            }
            // It waits for the save that is under way.
            await main.perform { main.refreshAllObjects() }
            try await save.value
            expect(warnings().count, equals: 4)
        }
    }
}
