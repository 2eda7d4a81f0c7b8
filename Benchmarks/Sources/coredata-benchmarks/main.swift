import Foundation

// swift run -c release coredata-benchmarks [--count n] [--rounds n] [--only text] [--json file] …: see Benchmarks/README.md
let arguments = CommandLine.arguments
func option(_ name: String) -> String? {
    arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}
func sides(_ names: String?) -> Set<Benchmark.Side>? {
    guard let names else { return nil }
    return Set(
        names.split(separator: ",").map { name in
            guard let side = Benchmark.Side(rawValue: String(name)) else {
                let known = Benchmark.Side.allCases.map(\.rawValue).joined(separator: ",")
                FileHandle.standardError.write(Data("There is no side “\(name)”. All are “\(known)”.\n".utf8))
                exit(2)
            }
            return side
        })
}

let harness = Harness(
    rounds: option("--rounds").flatMap { Int($0) } ?? 7, filter: option("--only"), variant: option("--variant"),
    sides: sides(option("--sides")))
let count = option("--count").flatMap { Int($0) } ?? 100_000
let parent = option("--directory")
if let measured = sides(option("--child-memory"))?.first, let parent {
    let rows = SQLiteRows.files(count: count, directory: parent)
    try ChildProcess.printMemory(of: measured, rows)
    exit(0)
}
if let measured = sides(option("--child-batch"))?.first, let parent {
    try ChildProcess.printBatchMemory(of: measured, SQLiteRows(count: count, directory: parent))
    exit(0)
}
if arguments.contains("--child-reset"), let parent {
    try ChildProcess.printResetMemory(SQLiteRows(count: count, directory: parent))
    exit(0)
}
if arguments.contains("--child-statements"), let parent {
    try ChildProcess.printStatements(SQLiteRows(count: count, directory: parent))
    exit(0)
}
let seconds = option("--seconds").flatMap { Double($0) } ?? 3
if let merges = option("--child-fifty"), let parent {
    try ChildProcess.printFiftyContexts(merges: merges == "on", seconds: seconds, directory: parent)
    exit(0)
}
if arguments.contains("--allocations") {
    try Language.allocations(count: min(count, 10_000))
    exit(0)
}
if arguments.contains("--graph") {
    try ObjectGraph.run(rounds: min(harness.rounds, 5), filter: harness.filter)
    exit(0)
}

if arguments.contains("--serve-pages") {
    try PageServer.serve(count: count)
    exit(0)
}
if arguments.contains("--csv") {
    try CSVComparison.run(count: option("--count").flatMap { Int($0) } ?? 1_000_000)
    exit(0)
}
let runsAll = ![
    "--sqlite", "--concurrency", "--in-memory", "--stores", "--remote", "--cache", "--web", "--migration", "--postgresql", "--linear",
].contains(
    where: arguments.contains)
var report = Report(count: count, rounds: harness.rounds)
print("CPU time of each variant, and its ratio to the first of its group (median of interleaved rounds); several threads by the clock")
/// Runs `body` with a directory that is created before and removed after it.
func withDirectory(_ body: (String) throws -> Void) throws {
    let directory = (parent ?? NSTemporaryDirectory()) + "/coredata-benchmarks-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
}
/// Runs `body` with databases that are created before and removed after it.
func withFiles(_ body: (SQLiteRows, Set<Benchmark.Side>) throws -> Void) throws {
    try withDirectory { directory in
        let rows = SQLiteRows(count: count, directory: directory)
        let sides = harness.sides ?? Set(Benchmark.Side.allCases)
        try rows.makeFiles(for: sides)
        try body(rows, sides)
    }
}
if runsAll || arguments.contains("--sqlite") {
    try withFiles { rows, sides in
        report.findings += try harness.run(rows.benchmarks)
        if harness.filter.map("memory".contains) ?? true {
            for (side, memory) in try ChildProcess.memory(rows, sides) { report.memory[side.rawValue] = memory }
            for (side, memory) in try ChildProcess.batchMemory(rows, sides) { report.batchMemory[side.rawValue] = memory }
            if sides.contains(.store) { report.resetMemory = try ChildProcess.reset(rows) }
        }
        if harness.filter == nil, sides.contains(.store) { report.statements = try ChildProcess.statements(rows) }
        report.printTable()
    }
}
if runsAll || arguments.contains("--in-memory") {
    report.findings += try harness.run(try InMemory.benchmarks(count: count))
    report.findings += try harness.run(try Language.benchmarks(count: count))
}
if runsAll || arguments.contains("--stores") {
    try withDirectory { report.findings += try harness.run(try StoreComparison(count: count, directory: $0).benchmarks()) }
}
if runsAll || arguments.contains("--remote") {
    let rows = RemoteRows(count: count)
    report.findings += try harness.run(try rows.benchmarks())
    if harness.filter == nil { try rows.printCosts() }
}
if runsAll || arguments.contains("--cache") {
    try withDirectory { report.findings += try harness.run(try CacheRows(count: count, directory: $0).benchmarks()) }
}
if runsAll || arguments.contains("--web") {
    let rows = WebRows(count: count, server: try? PageServer(count: count))
    report.findings += try harness.run(try rows.benchmarks())
}
#if PostgreSQL
if arguments.contains("--postgresql") {
    try withDirectory { directory in
        let server = try PostgreSQLServer(in: directory)
        let rows = try PostgreSQLRows(count: count, server: server)
        report.findings += try harness.run(try rows.benchmarks())
        if harness.filter.map("small transactions".contains) ?? true {
            try rows.printSmallTransactions(rounds: min(harness.rounds, 5), seconds: seconds)
        }
        if harness.filter.map("SQLAlchemy".contains) ?? true { try rows.printSQLAlchemy(rounds: min(harness.rounds, 5), seconds: seconds) }
        try server.stop()
    }
}
#else
if arguments.contains("--postgresql") {
    FileHandle.standardError.write(Data("These rows are built with the trait PostgreSQL: --traits PostgreSQL.\n".utf8))
    exit(2)
}
#endif
if arguments.contains("--migration") {
    try withDirectory { report.findings += try harness.run(try MigrationRows(count: count, directory: $0).benchmarks()) }
}
if runsAll && harness.filter == nil || arguments.contains("--linear") { try InMemory.linearity() }
// Last, because they change the memory allocation of the process.
if runsAll || arguments.contains("--concurrency") {
    try withFiles { rows, _ in report.clock = try ConcurrencyRows(rows: rows, harness: harness, seconds: seconds).run() }
}
if let path = option("--json") { try report.write(to: path) }
