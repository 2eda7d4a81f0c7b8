import CoreData
import Foundation

/// Fifty tasks, each of which makes a background context, inserts two objects and saves, again and again; as a server's requests do.
///
/// Each variant runs in a process of its own, so that the threads are its own.
struct FiftyContexts {
    let rows: ConcurrencyRows
    let group: String

    /// What one run finds.
    struct Run: Codable {
        /// How many saves returned within the time.
        var saves = 0
        /// How long most of a hundred took, and the longest, in milliseconds: from making the context to the return of the save.
        var p99 = 0.0
        var longest = 0.0
        /// The threads of the process at the end, and the most that there ever were.
        var threadsAtEnd = 0
        var mostThreads = 0
    }

    private static let taskCount = 50

    // MARK: In the parent

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

    // MARK: In the child

    /// Runs one variant for so many seconds, and finds all in the file that was acknowledged.
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
        // The watcher is a thread of the benchmark's own.
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

    /// What one task has done.
    private struct Done: Sendable {
        /// All saves that returned, those after the time was over included.
        var acknowledged = 0
        /// How long each took that returned in time, in nanoseconds.
        var times: [UInt64] = []
    }

    /// Lets the tasks save until the time is over, and waits for them.
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

    /// Holds what a task leaves.
    // The task writes `value` before it signals the semaphore that the reader waits for.
    private final class Box<Value>: @unchecked Sendable {
        var value: Value?
    }

    /// What one task does.
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
    /// The time that so great a part of these sorted nanoseconds does not exceed, in milliseconds.
    func milliseconds(at part: Double) -> Double {
        isEmpty ? 0 : Double(self[Swift.min(count - 1, Int((Double(count) * part).rounded(.up)) - 1)]) / 1e6
    }
}
