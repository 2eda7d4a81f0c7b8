import BenchmarkSQLite
import Foundation

/// All results of a run.
struct Report: Codable {
    let count: Int
    let rounds: Int
    /// The version of SQLite, which all sides share.
    let sqlite: String
    /// The ratios of all variants.
    var findings: [Harness.Finding] = []
    /// The results of rows that are timed by the clock.
    var clock: [ClockFinding] = []
    /// The memory that a process takes to fetch everything, by side.
    var memory: [String: ChildProcess.Memory] = [:]
    /// The memory that a batch insert of ten times as many rows takes at its peak, by side.
    var batchMemory: [String: ChildProcess.Memory] = [:]
    /// The memory before and after ten times as many objects were fetched with a batch size, and after a reset.
    var resetMemory: ChildProcess.ResetMemory?
    /// The number of statements that this store runs, by row.
    var statements: [String: Int] = [:]

    init(count: Int, rounds: Int) {
        self.count = count
        self.rounds = rounds
        sqlite = String(cString: sqlite3_libversion())
    }

    /// Writes the report as JSON.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }

    /// Prints a table with a row for each benchmark and a column for each side.
    func printTable() {
        let sides = Benchmark.Side.allCases
        print("\nSQLite \(sqlite), \(count) rows, \(rounds) rounds. CPU time as a multiple of raw C's in the same round (median).\n")
        print("| work | " + sides.map(\.rawValue).joined(separator: " | ") + " | target | statements |")
        print("| --- |" + String(repeating: " --- |", count: sides.count + 2))
        var groups: [String] = []
        for finding in findings where finding.side != nil && !groups.contains(finding.group) { groups.append(finding.group) }
        for group in groups {
            let row = findings.filter { $0.group == group }
            let cells = sides.map { side -> String in
                guard let finding = row.first(where: { $0.side == side }) else { return "–" }
                let ratio = String(format: "%.2f", finding.ratio)
                return side == .raw ? ratio + String(format: " (%.0f ms)", finding.milliseconds) : ratio
            }
            let store = row.first { $0.side == .store }
            printRow(group, cells, store.flatMap { mark($0.ratio, $0.target, "%.2f") }, statements[group])
        }
        defer { printMoreMemory() }
        guard let raw = memory[Benchmark.Side.raw.rawValue], let own = memory[Benchmark.Side.store.rawValue] else { return }
        // The target of 40 MB corresponds to 37.8 MB of the handwritten side.
        let target = 40 / 37.8
        func cells(_ value: (ChildProcess.Memory) -> Int) -> [String] {
            sides.map { side in memory[side.rawValue].map { String(format: "%.1f MB", Double(value($0)) / 1e6) } ?? "–" }
        }
        let ratio = Double(own.resident) / Double(raw.resident)
        printRow("memory after fetching all", cells(\.resident), mark(ratio, target, "%.2f of raw C"), nil)
        printRow("peak memory of the process", cells(\.peak), nil, nil)
    }

    private func printMoreMemory() {
        if !batchMemory.isEmpty {
            let cells = Benchmark.Side.allCases.map { side in
                batchMemory[side.rawValue].map { String(format: "%.1f MB", Double($0.resident) / 1e6) } ?? "–"
            }
            printRow("peak memory of a batch insert of \(count * 10) rows, beyond that before", cells, nil, nil)
        }
        if let resetMemory {
            let text = [resetMemory.before, resetMemory.after, resetMemory.reset].map { String(format: "%.1f MB", Double($0) / 1e6) }
            print(
                "\nResident memory with \(count * 10) objects fetched with a batch size of 1000: \(text[0]) before, \(text[1]) when all are "
                    + "read, \(text[2]) after reset().")
        }
    }

    private func mark(_ ratio: Double, _ target: Double?, _ format: String) -> String? {
        target.map { String(format: format, $0) + (ratio <= $0 ? ", met" : String(format: ", missed by %.0f %%", (ratio / $0 - 1) * 100)) }
    }

    private func printRow(_ work: String, _ cells: [String], _ target: String?, _ statements: Int?) {
        print("| \(work) | " + cells.joined(separator: " | ") + " | \(target ?? "–") | \(statements.map(String.init) ?? "–") |")
    }
}
