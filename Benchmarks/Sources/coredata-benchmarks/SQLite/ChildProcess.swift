import CoreData
import CountStatements
import Foundation
import GRDB

/// Measures in a separate process, without effects of other benchmarks: the program runs itself with an option.
enum ChildProcess {
    /// The memory that a process takes to fetch all objects and read every property.
    struct Memory: Codable {
        /// The increase of resident memory by the fetch, in bytes.
        let resident: Int
        /// The peak resident memory of the process, in bytes.
        let peak: Int
    }

    /// The resident memory of a process that fetches many objects with a batch size, reads them and resets its context, in bytes.
    struct ResetMemory: Codable {
        let before: Int
        let after: Int
        let reset: Int
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: In the parent process

    /// Measures the memory of each side.
    static func memory(_ rows: SQLiteRows, _ sides: Set<Benchmark.Side>) throws -> [Benchmark.Side: Memory] {
        var found: [Benchmark.Side: Memory] = [:]
        for side in sides { found[side] = try run(["--child-memory", side.rawValue], rows) }
        return found
    }

    /// Measures the memory of a batch insert by each side that has one.
    static func batchMemory(_ rows: SQLiteRows, _ sides: Set<Benchmark.Side>) throws -> [Benchmark.Side: Memory] {
        var found: [Benchmark.Side: Memory] = [:]
        for side in sides where [.raw, .store].contains(side) { found[side] = try run(["--child-batch", side.rawValue], rows) }
        return found
    }

    /// Measures what a reset gives back.
    static func reset(_ rows: SQLiteRows) throws -> ResetMemory {
        let context = try StoreSide.open(resetFile(rows), StoredModel.items)
        try StoreSide.insertBatch(rows.batchCount, rows.sample.values, context)
        try StoreSide.close(context)
        return try run(["--child-reset"], rows)
    }

    private static func resetFile(_ rows: SQLiteRows) -> String { rows.directory + "/reset-\(rows.batchCount).sqlite" }

    /// Returns the number of SQL statements that this store runs in each row, by the name of the row.
    static func statements(_ rows: SQLiteRows) throws -> [String: Int] { try run(["--child-statements"], rows) }

    /// Runs the benchmark of fifty saving contexts.
    static func fiftyContexts(merges: Bool, _ rows: ConcurrencyRows) throws -> FiftyContexts.Run {
        try run(["--child-fifty", merges ? "on" : "off", "--seconds", String(rows.seconds)], rows.rows)
    }

    private static func run<Answer: Decodable>(_ arguments: [String], _ rows: SQLiteRows) throws -> Answer {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments + ["--count", String(rows.count), "--directory", rows.directory]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "The child process with \(arguments) ended with status \(process.terminationStatus).")
        }
        return try JSONDecoder().decode(Answer.self, from: answer)
    }

    // MARK: In the child process

    /// Fetches all objects of a side, reads every property, and prints the memory.
    static func printMemory(of side: Benchmark.Side, _ file: (raw: String, store: String)) throws {
        let before: Int
        let kept: (sum: Int, objects: Any)
        switch side {
        case .raw:
            let connection = try RawConnection(file.raw)
            before = try status("VmRSS")
            let items = try RawSide.fetchAll(connection)
            kept = (items.sumOfAll, (items, connection))
        case .toolkitCodable:
            let queue = try ToolkitSide.open(file.raw)
            before = try status("VmRSS")
            let items = try ToolkitSide.fetchAll(CodableItem.self, queue)
            kept = (items.sumOfAll, (items, queue))
        case .toolkitByHand:
            let queue = try ToolkitSide.open(file.raw)
            before = try status("VmRSS")
            let items = try ToolkitSide.fetchAll(HandWrittenItem.self, queue)
            kept = (items.sumOfAll, (items, queue))
        case .store:
            let context = try StoreSide.open(file.store)
            before = try status("VmRSS")
            let items = try StoreSide.fetchAll(context)
            kept = (items.sumOfAll, (items, context))
        }
        let memory = Memory(resident: try status("VmRSS") - before, peak: try status("VmHWM"))
        guard withExtendedLifetime(kept, { kept.sum != 0 }) else { throw Failure(description: "There is nothing in the file.") }
        try printAnswer(memory)
    }

    /// Inserts the rows of a batch, and prints the memory.
    static func printBatchMemory(of side: Benchmark.Side, _ rows: SQLiteRows) throws {
        let before = try status("VmRSS")
        try rows.insertBatch(side)
        try printAnswer(Memory(resident: try status("VmHWM") - before, peak: try status("VmHWM")))
    }

    /// Fetches many objects with a batch size, reads each, resets the context, and prints the memory.
    static func printResetMemory(_ rows: SQLiteRows) throws {
        let context = try StoreSide.open(resetFile(rows), StoredModel.items)
        let before = try status("VmRSS")
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.fetchBatchSize = 1000
        var items: [Item]? = try context.fetch(request)
        let sum = items?.sumOfTwo ?? 0
        let after = try status("VmRSS")
        items = nil
        context.reset()
        let reset = try status("VmRSS")
        guard sum != 0 else { throw Failure(description: "There is nothing in the file.") }
        try printAnswer(ResetMemory(before: before, after: after, reset: reset))
    }

    /// Runs each row of this store once, and prints the number of statements.
    static func printStatements(_ rows: SQLiteRows) throws {
        guard start_counting_statements() == 0 else { throw Failure(description: "SQLite does not let its statements be counted.") }
        var found: [String: Int] = [:]
        for benchmark in rows.benchmarks where benchmark.side == .store {
            try benchmark.setUp()
            let before = count_statements()
            let outcome = try benchmark.body()
            found[benchmark.group] = count_statements() - before
            withExtendedLifetime(outcome) {}
            try benchmark.tearDown()
        }
        try printAnswer(found)
    }

    /// Runs fifty contexts for a number of seconds, and prints the result.
    static func printFiftyContexts(merges: Bool, seconds: Double, directory: String) throws {
        try printAnswer(try FiftyContexts.measure(merges: merges, seconds: seconds, directory: directory))
    }

    private static func printAnswer(_ answer: some Encodable) throws {
        print(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
    }

    /// Returns the number of threads of this process.
    static func threadCount() throws -> Int { try number("Threads") }

    /// Returns a value of the process status on Linux, in bytes.
    private static func status(_ name: String) throws -> Int { try number(name) * 1024 }

    /// Returns a number of the process status on Linux.
    private static func number(_ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
            if let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) }) {
                return number
            }
        }
        throw Failure(description: "/proc/self/status has no line \(name).")
    }
}
