import Foundation
import Platform
import TestSupport
import Testing

@testable import ObjectGraph
@testable import Predicates

@Suite("The threads of tasks that others wait for", .watchesThePool)
struct WaitingThreadsTests {
    @Test("A task gets a thread, also while two hundred others block theirs", .timeLimit(.minutes(30)))
    func blockedThreads() async {
        let blocked = DispatchSemaphore(value: 0)
        let tasks = (0..<200).map { number in
            Task(executorPreference: BlockingCall.executor) {
                Self.wait(blocked)
                return number
            }
        }
        let free = await Task(executorPreference: BlockingCall.executor) { "free" }.value
        expect(free, equals: "free")
        for _ in tasks { blocked.signal() }
        var sum = 0
        for task in tasks { sum += await task.value }
        expect(sum, equals: 199 * 200 / 2)
    }

    @Test("Thousands of short tasks that wait for each other all end", .timeLimit(.minutes(30)))
    func shortTasks() async {
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<2_000 {
                group.addTask(executorPreference: BlockingCall.executor) {
                    await Task(executorPreference: BlockingCall.executor) { number }.value
                }
            }
            return await group.reduce(0, +)
        }
        expect(sum, equals: 1_999 * 2_000 / 2)
    }

    @Test("A task that a thread begins runs there until it waits, and on another one afterwards", .timeLimit(.minutes(30)))
    func beginsHere() async throws {
        let executor = try #require(BlockingCall.startingExecutor())
        let begun = LockedBox(false)
        let (stream, source) = AsyncStream.makeStream(of: Void.self)
        let task = Task(executorPreference: executor) {
            let first = Self.thread
            begun.withLock { $0 = true }
            for await _ in stream { break }
            return (first, Self.thread)
        }
        #expect(!begun.withLock { $0 })
        let here = Self.begin(executor)
        #expect(begun.withLock { $0 })
        source.yield()
        let (first, last) = await task.value
        expect(first, equals: here)
        #expect(last != here)
    }

    @Test(
        "A task that leaves the thread that has begun it goes on elsewhere; one that has left stays where it is", .timeLimit(.minutes(30)))
    func leaves() async throws {
        let executor = try #require(BlockingCall.startingExecutor())
        let task = Task(executorPreference: executor) {
            let first = Self.thread
            await executor.leave()
            let second = Self.thread
            await executor.leave()
            return [first, second, Self.thread]
        }
        let here = Self.begin(executor)
        let threads = await task.value
        expect(threads[0], equals: here)
        #expect(threads[1] != here)
        expect(threads[2], equals: threads[1])
    }

    @Test("A task that is begun within another task's work leaves that one's values alone")
    func beginsWithinAnother() async throws {
        let values = try await Task(executorPreference: BlockingCall.executor) {
            let executor = try #require(BlockingCall.startingExecutor())
            return await Name.$current.withValue("outer") {
                let inner = Name.$current.withValue("inner") { Task(executorPreference: executor) { Name.current } }
                _ = Self.begin(executor)
                return [Name.current, await inner.value, Name.current]
            }
        }.value
        expect(values, equals: ["outer", "inner", "outer"])
    }

    @Test("Work that the waiting thread does itself stays there, also after it has waited for others", .timeLimit(.minutes(30)))
    func onCallingThread() async throws {
        let (here, threads, mayWait) = try await Task(executorPreference: BlockingCall.executor) {
            let here = Self.thread
            let (threads, mayWait) = try BlockingCall.wait(for: "a test", onCallingThread: true) {
                let first = Self.thread
                let number = await Task.detached { 1 }.value
                let second = Self.thread
                let sum = await withTaskGroup(of: Int.self) { group in
                    for part in 1...100 {
                        group.addTask {
                            await Task.yield()
                            return part
                        }
                    }
                    return await group.reduce(number, +)
                }
                return (sum == 5051 ? [first, second, Self.thread] : [], BlockingCall.mayWait)
            }
            return (here, threads, mayWait)
        }.value
        expect(threads, equals: [here, here, here])
        #expect(mayWait)
        #expect(!BlockingCall.mayWait)
    }

    @Test("An error of work that the waiting thread does itself is thrown there, and the next work is done")
    func errorOnCallingThread() async throws {
        struct Failure: Error {}
        // The other tests have the pool, whose turn each round waits for.
        try await onOwnThread {
            for _ in 0..<100 {
                #expect(throws: Failure.self) {
                    try BlockingCall.wait(for: "a test", onCallingThread: true) {
                        await Task.yield()
                        throw Failure()
                    }
                }
                let value = try BlockingCall.wait(for: "a test", onCallingThread: true) {
                    await Task(executorPreference: BlockingCall.executor) { 7 }.value
                }
                expect(value, equals: 7)
            }
        }
    }

    #if DEBUG
    @Test("A call that blocks a thread of the pool for a turn of the pool is reported; others are not", arguments: [false, true])
    func reported(onCallingThread: Bool) async throws {
        // Its threads look like those of the pool, and no other test needs them.
        let pool = DispatchQueue(label: PoolWaits.queueName, attributes: .concurrent)
        let others = DispatchQueue(label: "others", attributes: .concurrent)
        @Sendable func reports(waitsOn caller: DispatchQueue, resumedBy answering: DispatchQueue) async throws -> Int {
            try await withCheckedThrowingContinuation { continuation in
                caller.async {
                    let reports = LockedBox(0)
                    let result = Result {
                        try PoolWaits.$told.withValue({ _ in reports.withLock { $0 += 1 } }) {
                            try BlockingCall.wait(for: "a test", onCallingThread: onCallingThread) {
                                await Task.yield()
                                await withCheckedContinuation { waiting in answering.async { waiting.resume() } }
                            }
                        }
                        return reports.withLock { $0 }
                    }
                    continuation.resume(with: result)
                }
            }
        }
        #expect(try await reports(waitsOn: pool, resumedBy: pool) == 1)
        #expect(try await reports(waitsOn: pool, resumedBy: others) == 0)
        #expect(try await reports(waitsOn: others, resumedBy: pool) == 0)
    }

    @Test("The threads of the pool are known") func recognized() async {
        #expect(await Task.detached { Self.isPool }.value)
        #expect(await Task(executorPreference: BlockingCall.executor) { !Self.isPool }.value)
    }
    #endif

    @Test(
        "While contexts wait for a store, all others have their turn: each is answered once all have asked, with as many other blocks before and after",
        .timeLimit(.minutes(30)), arguments: [20, 200])
    func queuesWhileOthersWait(count: Int) async {
        let (asked, answers) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchGroup()
        let done = LockedBox(0)
        for _ in 0..<count {
            let queue = ContextQueue.makePrivate()
            for waits in [false, true, false] {
                ended.enter()
                queue.async {
                    if waits {
                        asked.signal()
                        BlockingCall.whileWaiting { answers.wait() }
                    }
                    done.withLock { $0 += 1 }
                    ended.leave()
                }
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                for _ in 0..<count { asked.wait() }
                for _ in 0..<count { answers.signal() }
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in ended.notify(queue: .global()) { continuation.resume() } }
        expect(done.withLock { $0 }, equals: 3 * count)
    }

    private enum Name {
        @TaskLocal static var current = ""
    }

    private static var isPool: Bool { PoolWaits.isPool }

    private static func wait(_ semaphore: DispatchSemaphore) { semaphore.wait() }

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// Begins a task, and returns the thread that has done so.
    private static func begin(_ executor: StartingExecutor) -> ObjectIdentifier {
        executor.run()
        return thread
    }
}
