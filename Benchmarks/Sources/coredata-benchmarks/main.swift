import Foundation

// swift run -c release coredata-benchmarks [--count n] [--rounds n] [--only text] [--linear] [--graph] [--allocations]
let arguments = CommandLine.arguments
func option(_ name: String) -> String? {
    arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}

let harness = Harness(rounds: option("--rounds").flatMap { Int($0) } ?? 7, filter: option("--only"))
let count = option("--count").flatMap { Int($0) } ?? 100_000
if arguments.contains("--allocations") {
    try Language.allocations(count: min(count, 10_000))
    exit(0)
}
if arguments.contains("--graph") {
    try ObjectGraph.run(rounds: min(harness.rounds, 5), filter: harness.filter)
    exit(0)
}
if !arguments.contains("--linear") {
    print("CPU time of each variant, and its ratio to the first of its group (median of interleaved rounds)")
    try harness.run(try InMemory.benchmarks(count: count))
    try harness.run(try Language.benchmarks(count: count))
}
if option("--only") == nil { try InMemory.linearity() }
