import CoreData
import RandomPrograms
import TestSupport
import Testing

/// Each runs in a process of its own, which ends itself if it stands still.
@Suite("Contexts that wait for each other") struct StandstillTests {
    @Test("A main-queue parent that waits for its child serves the merge that the child is in")
    func mergeOfWaitingMain() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            try await Scenes.mainWaitsForMergingChild()
        }
    }

    @Test("What came back to a queue before it began to wait is served, over several contexts")
    func chain() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            try await Scenes.requestBeforeTheWait()
        }
    }

    @Test("Two contexts that wait for each other from two threads both get on, and no one else is let in")
    func circle() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            Scenes.circle()
        }
    }

    @Test("A coordinator's queue and a context's may wait for each other")
    func coordinator() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            try Scenes.coordinatorCircle()
        }
    }

    @Test("A context's thread that runs a block of an asynchronous main queue may use a main-queue context there")
    func asynchronousMain() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            let coordinator = try Music.coordinator()
            let (main, other) = (NSManagedObjectContext(.mainQueue), NSManagedObjectContext(.privateQueue))
            main.persistentStoreCoordinator = coordinator
            other.persistentStoreCoordinator = coordinator
            let count = try await other.perform {
                try DispatchQueue.main.sync {
                    try main.performAndWait { try main.count(for: NSFetchRequest<Band>(entityName: "Band")) }
                }
            }
            expect(count, equals: 0)
        }
    }

    @Test("Blocks of many contexts may wait for one of the last")
    func semaphores() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            Scenes.semaphores()
        }
    }

    @Test("Contexts used one after another take a bounded number of threads")
    func threads() async {
        await #expect(processExitsWith: .success) {
            Deadline.start()
            let most = max(4, ProcessInfo.processInfo.activeProcessorCount) + 24
            let coordinator = try Music.coordinator()
            for number in 0..<5_000 {
                let context = Music.context(coordinator)
                await context.perform { _ = context.hasChanges }
                if number % 500 == 0 { #expect(try Deadline.threadCount() <= most) }
            }
        }
    }

    @Test("Blocks run in the order in which they were given, whoever waits for some of them")
    func order() throws {
        let context = try Music.context()
        let seen = Guarded<[Int]>([])
        for number in 0..<1_000 {
            context.perform { seen.withValue { $0.append(number) } }
            if number % 7 == 0 { context.performAndWait { expect(seen.withValue { $0.count }, equals: number + 1) } }
        }
        context.performAndWait { expect(seen.withValue { $0 }, equals: Array(0..<1_000)) }
    }

    @Test("An error comes out of whichever thread runs the block")
    @MainActor func error() async throws {
        struct Failure: Error {}
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                #expect(throws: Failure.self) { try context.performAndWait { throw Failure() } }
                continuation.resume()
            }
        }
    }
}

private enum Scenes {
    /// The parent saves and waits, while the child's merge asks it.
    @MainActor static func mainWaitsForMergingChild() async throws {
        let coordinator = try Music.coordinator()
        let parent = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        parent.persistentStoreCoordinator = coordinator
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        child.retainsRegisteredObjects = true
        child.automaticallyMergesChangesFromParent = true
        let band = try parent.saveBand("0")
        let id = band.objectID
        child.performAndWait { _ = child.object(with: id).value(forKey: "name") }
        for number in 1...200 {
            band.name = "\(number)"
            // In a closure, so that it is the save that stands still.
            try { try parent.save() }()
            // The merge has begun already, or has not.
            if number % 2 == 0 { for _ in 0..<1_000 { _ = parent.hasChanges } }
            let name = child.performAndWait { child.object(with: id).value(forKey: "name") as? String }
            expect(name, equals: "\(number)")
        }
    }

    /// The main queue waits for a child that waits for it already; serving that, it waits for a parent of its own whose block waits for the main queue.
    @MainActor static func requestBeforeTheWait() async throws {
        let top = try Music.context()
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.parent = top
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = main
        let id = try top.performAndWait { try top.saveBand("a").objectID }
        for _ in 0..<50 {
            let (names, done) = requestsBeforeTheWait(top, main, child, id)
            await withCheckedContinuation { continuation in done.notify(queue: .global()) { continuation.resume() } }
            expect(names.withValue { $0.sorted() }, equals: ["a", "main", "top"])
        }
    }

    @MainActor private static func requestsBeforeTheWait(
        _ top: NSManagedObjectContext, _ main: NSManagedObjectContext, _ child: NSManagedObjectContext, _ id: NSManagedObjectID
    ) -> (Guarded<[String]>, DispatchGroup) {
        let began = DispatchSemaphore(value: 0)
        let names = Guarded<[String]>([])
        let done = DispatchGroup()
        done.enter()
        child.perform {
            child.reset()
            began.signal()
            let name = child.object(with: id).value(forKey: "name") as? String ?? ""
            names.withValue { $0.append(name) }
        }
        top.perform {
            began.signal()
            main.performAndWait {
                #expect(Thread.isMainThread || main.isIsolatingCurrentContext() == true)
                expect(top.isIsolatingCurrentContext(), equals: true)
                names.withValue { $0.append("top") }
            }
            done.leave()
        }
        began.wait()
        began.wait()
        main.reset()
        child.performAndWait {
            expect(main.isIsolatingCurrentContext(), equals: true)
            names.withValue { $0.append("main") }
        }
        return (names, done)
    }

    static func circle() {
        let contexts = (0..<3).map { _ in NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
        let isForeignOut = Guarded(true)
        let stop = Guarded(false)
        nonisolated(unsafe) var isInside = false
        let done = DispatchGroup()
        for start in 0..<3 {
            done.enter()
            Thread.detachNewThread {
                for _ in 0..<500 {
                    contexts[start].performAndWait {
                        if start == 0 { isInside = true }
                        contexts[(start + 1) % 3].performAndWait {
                            expect(contexts[start].isIsolatingCurrentContext(), equals: true)
                            expect(contexts[(start + 1) % 3].isIsolatingCurrentContext(), equals: true)
                            expect(contexts[(start + 2) % 3].isIsolatingCurrentContext(), equals: false)
                        }
                        expect(contexts[start].isIsolatingCurrentContext(), equals: true)
                        if start == 0 { isInside = false }
                    }
                    expect(contexts[start].isIsolatingCurrentContext(), equals: false)
                }
                done.leave()
            }
        }
        let foreign = DispatchGroup()
        foreign.enter()
        Thread.detachNewThread {
            while !stop.withValue({ $0 }) { contexts[0].performAndWait { if isInside { isForeignOut.withValue { $0 = false } } } }
            foreign.leave()
        }
        done.wait()
        stop.withValue { $0 = true }
        foreign.wait()
        #expect(isForeignOut.withValue { $0 })
    }

    static func coordinatorCircle() throws {
        let coordinator = try Music.coordinator()
        let context = Music.context(coordinator)
        let done = DispatchGroup()
        let count = Guarded(0)
        let (coordinatorIsBusy, contextIsBusy) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        for isCoordinatorFirst in [true, false] {
            done.enter()
            Thread.detachNewThread {
                for _ in 0..<200 {
                    // Each has its first queue before it asks for the other's.
                    if isCoordinatorFirst {
                        coordinator.performAndWait {
                            coordinatorIsBusy.signal()
                            contextIsBusy.wait()
                            context.performAndWait { count.withValue { $0 += 1 } }
                        }
                    } else {
                        context.performAndWait {
                            contextIsBusy.signal()
                            coordinatorIsBusy.wait()
                            coordinator.performAndWait { count.withValue { $0 += 1 } }
                        }
                    }
                }
                done.leave()
            }
        }
        done.wait()
        expect(count.withValue { $0 }, equals: 400)
    }

    static func semaphores() {
        let contexts = (0..<100).map { _ in NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        for (number, context) in contexts.enumerated() {
            done.enter()
            context.perform {
                // Each waits for the one after it.
                if number == 99 { for _ in 0..<99 { gate.signal() } } else { gate.wait() }
                done.leave()
            }
        }
        done.wait()
    }
}
