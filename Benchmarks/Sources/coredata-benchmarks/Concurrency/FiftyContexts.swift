import CoreData
import Foundation

/// Fifty tasks that repeatedly create a background context, insert two objects and save, like the requests of a server.
///
/// Each variant runs in a separate process, with its own threads.
struct FiftyContexts {
    let rows: ConcurrencyRows
    let group: String

    /// The result of one run.
    struct Run: Codable {
        /// The number of saves that returned in time.
        var saves = 0
        /// The 99th percentile and the maximum, in milliseconds, from creating the context to the return of the save.
        var p99 = 0.0
        var longest = 0.0
        /// The number of threads of the process at the end, and its maximum.
        var threadsAtEnd = 0
        var mostThreads = 0
    }

    private static let taskCount = 50

    // MARK: In the parent process

    func run() throws -> [ClockFinding] {
        guard rows.runs(.store) else { return [] }
        var runs: [Bool: [Run]] = [:]
        for _ in 0..<rows.timedRounds {
            for merges in [false, true] { runs[merges, default: []].append(try ChildProcess.fiftyContexts(merges: merges, rows)) }
        }
        return [false, true].map { merges in
            let found = runs[merges] ?? []
            let rates = found.map { Double($0.saves) / rows.seconds }
            var figures = [ClockFinding.Figure("saves a second", rates)]
            if merges {
                let unit = (runs[false] ?? []).map { Double($0.saves) / rows.seconds }
                figures.append(
                    ClockFinding.Figure(
                        "… as a share of those without merging", zip(rates, unit).map { $0 / max($1, 1) }, target: .atLeast(0.8)))
            }
            figures += [
                ClockFinding.Figure("p99, ms", found.map(\.p99)), ClockFinding.Figure("longest, ms", found.map(\.longest)),
                ClockFinding.Figure("threads at the end", found.map { Double($0.threadsAtEnd) }),
                ClockFinding.Figure("most threads", found.map { Double($0.mostThreads) }),
            ]
            return ClockFinding(
                group: group, name: merges ? "this store, automatic merging on" : "this store, automatic merging off", side: .store,
                figures: figures)
        }
    }

    // MARK: In the child process

    /// Runs one variant for a number of seconds, and checks that the file contains all acknowledged saves.
    static func measure(merges: Bool, seconds: Double, directory: String) throws -> Run {
        let path = directory + "/work.sqlite"
        SampleDatabase.remove(path)
        let container = NSPersistentContainer(name: "Requests", managedObjectModel: StoredModel.items)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: path))]
        var failure: (any Error)?
        container.loadPersistentStores { failure = failure ?? $1 }
        if let failure { throw failure }

        let deadline = WallClock.now + UInt64(seconds * 1e9)
        let finished = Flag()
        let watcher = ThreadTeam.begin(processor: nil) {
            var most = 0
            while !finished.isRaised {
                most = max(most, try ChildProcess.threadCount())
                usleep(20_000)
            }
            return most
        }
        let all = try saveByTasks(container, merges: merges, until: deadline)
        var run = Run()
        run.threadsAtEnd = try ChildProcess.threadCount()
        finished.raise()
        // The watcher is a thread of the benchmark itself.
        run.threadsAtEnd -= 1
        run.mostThreads = max(try watcher.wait() - 1, run.threadsAtEnd)
        let times = all.flatMap(\.times).sorted()
        run.saves = times.count
        run.p99 = times.milliseconds(at: 0.99)
        run.longest = times.milliseconds(at: 1)

        let stored = try RawConnection(path).prepare("SELECT COUNT(*) FROM ZITEM")
        let acknowledged = all.reduce(0) { $0 + $1.acknowledged }
        guard stored.next(), stored.number(0) == 2 * acknowledged else {
            throw ChildProcess.Failure(
                description: "\(acknowledged) saves of two objects returned; the file has \(stored.number(0)) objects.")
        }
        return run
    }

    /// The result of one task.
    private struct Done: Sendable {
        /// All saves that returned, including those after the end.
        var acknowledged = 0
        /// The durations of the saves that returned in time, in nanoseconds.
        var times: [UInt64] = []
    }

    /// Lets the tasks save until the end, and waits for them.
    private static func saveByTasks(_ container: NSPersistentContainer, merges: Bool, until deadline: UInt64) throws -> [Done] {
        let finished = DispatchSemaphore(value: 0)
        let result = Box<Result<[Done], any Error>>()
        Task.detached {
            do {
                result.value = .success(
                    try await withThrowingTaskGroup(of: Done.self) { group in
                        for _ in 0..<taskCount {
                            group.addTask { try await save(container, merges: merges, until: deadline) }
                        }
                        var all: [Done] = []
                        for try await done in group { all.append(done) }
                        return all
                    })
            } catch {
                result.value = .failure(error)
            }
            finished.signal()
        }
        finished.wait()
        return try result.value?.get() ?? []
    }

    /// The result of a task.
    // The task writes `value` before it signals the semaphore that the reader waits for.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value?
    }

    /// Runs one task.
    private static func save(_ container: NSPersistentContainer, merges: Bool, until deadline: UInt64) async throws -> Done {
        let values = Values.make(2)
        var done = Done()
        while true {
            let start = WallClock.now
            if start >= deadline { return done }
            let context = container.newBackgroundContext()
            context.automaticallyMergesChangesFromParent = merges
            try await context.perform {
                for value in values { value.fill(Item(context: context)) }
                try context.save()
            }
            done.acknowledged += 1
            let end = WallClock.now
            if end <= deadline { done.times.append(end - start) }
        }
    }
}

extension [UInt64] {
    /// Returns a percentile of sorted nanoseconds, in milliseconds.
    func milliseconds(at part: Double) -> Double {
        isEmpty ? 0 : Double(self[Swift.min(count - 1, Int((Double(count) * part).rounded(.up)) - 1)]) / 1e6
    }
}
