import CoreData
import Foundation
import MachineSettings

/// The rows in which several threads work concurrently. They are timed by the clock, so that waiting counts.
struct ConcurrencyRows {
    let rows: SQLiteRows
    let harness: Harness
    /// The duration of variants that run for a fixed time.
    let seconds: Double

    /// The number of rounds of rows that run for a fixed time, which need fewer rounds.
    var timedRounds: Int { min(harness.rounds, 5) }

    /// Returns whether the variants of a side run.
    func runs(_ side: Benchmark.Side) -> Bool { harness.sides?.contains(side) ?? true }

    /// Runs the rows whose name the filter accepts, prints the results and returns them.
    ///
    /// The process keeps freed memory from then on: two threads that request pages from the system concurrently slow each other down,
    /// whatever they use them for.
    func run() throws -> [ClockFinding] {
        let all: [(name: String, run: (String) throws -> [ClockFinding])] = [
            ("two threads fetching and reading \(rows.count) objects each", { try TwoReaders(rows: self, group: $0).run() }),
            ("small indexed fetches beside a saving context", { try FetchesBesideSaves(rows: self, group: $0).run() }),
            ("fifty contexts that insert two objects and save", { try FiftyContexts(rows: self, group: $0).run() }),
        ]
        if keep_freed_memory() == 0 { FileHandle.standardError.write(Data("The allocator does not keep what is freed.\n".utf8)) }
        var findings: [ClockFinding] = []
        for (name, run) in all where harness.filter.map(name.contains) ?? true {
            let found = try run(name)
            ClockFinding.print(name, found)
            findings += found
        }
        return findings
    }
}

extension StoreSide {
    /// Returns a context with a private queue.
    static func privateContext(_ coordinator: NSPersistentStoreCoordinator?) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}
