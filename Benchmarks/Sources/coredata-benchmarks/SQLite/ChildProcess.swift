import CoreData
import CountStatements
import Foundation
import GRDB

/// What is measured in a process of its own, so that nothing else is in the figure: this program runs itself with an option.
enum ChildProcess {
    /// What a process takes to fetch all objects and read every property.
    struct Memory: Codable {
        /// How much more of the process lies in memory than before the fetch, in bytes.
        let resident: Int
        /// The most of the process that ever lay in memory, in bytes.
        let peak: Int
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: In the parent

    /// What each side takes.
    static func memory(_ rows: SQLiteRows, _ sides: Set<Benchmark.Side>) throws -> [Benchmark.Side: Memory] {
        var found: [Benchmark.Side: Memory] = [:]
        for side in sides { found[side] = try run(["--child-memory", side.rawValue], rows) }
        return found
    }

    /// How many SQL statements this store runs in each row, by the name of the row.
    static func statements(_ rows: SQLiteRows) throws -> [String: Int] { try run(["--child-statements"], rows) }

    /// What fifty contexts reach that save again and again.
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

    // MARK: In the child

    /// Fetches all of a side and reads every property, and prints what that takes.
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

    /// Runs each row of this store once, and prints how many statements it takes.
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

    /// Runs fifty contexts for so many seconds, and prints what they reach.
    static func printFiftyContexts(merges: Bool, seconds: Double, directory: String) throws {
        try printAnswer(try FiftyContexts.measure(merges: merges, seconds: seconds, directory: directory))
    }

    private static func printAnswer(_ answer: some Encodable) throws {
        print(String(decoding: try JSONEncoder().encode(answer), as: UTF8.self))
    }

    /// How many threads this process has.
    static func threadCount() throws -> Int { try number("Threads") }

    /// A line of what Linux tells of this process, in bytes.
    private static func status(_ name: String) throws -> Int { try number(name) * 1024 }

    /// The number in a line of what Linux tells of this process.
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
