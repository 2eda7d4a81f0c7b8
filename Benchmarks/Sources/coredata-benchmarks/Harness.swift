import Foundation

/// One thing that is timed.
struct Benchmark {
    /// What a body leaves behind: a checksum that all variants of a group share, and what is to be released outside the clock.
    typealias Outcome = (checksum: Int, keepAlive: Any?)

    let group: String
    let name: String
    /// The ratio that the project aims for; nil where there is none.
    let target: Double?
    let setUp: () throws -> Void
    let body: () throws -> Outcome

    init(
        _ group: String, _ name: String, target: Double? = nil, setUp: @escaping () throws -> Void = {},
        body: @escaping () throws -> Outcome
    ) {
        self.group = group
        self.name = name
        self.target = target
        self.setUp = setUp
        self.body = body
    }
}

/// Times benchmarks group by group, in rounds that take each variant in turn, so that a busy machine hits all of them alike.
///
/// The figure is the median over the rounds of a variant's CPU time divided by that of the group's first variant in the same round. It
/// is a ratio within one run: times of different runs or machines cannot be compared.
struct Harness {
    var rounds = 7
    var filter: String?

    private static func processorMilliseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    func run(_ benchmarks: [Benchmark]) throws {
        var groups: [String] = []
        for benchmark in benchmarks where !groups.contains(benchmark.group) { groups.append(benchmark.group) }
        for group in groups where filter.map(group.contains) ?? true { try run(group, benchmarks.filter { $0.group == group }) }
    }

    private func run(_ group: String, _ variants: [Benchmark]) throws {
        var times = Array(repeating: [Double](), count: variants.count)
        var checksum: Int?
        for round in 0...rounds {
            for (index, variant) in variants.enumerated() {
                try variant.setUp()
                let start = Self.processorMilliseconds()
                var outcome: Benchmark.Outcome? = try variant.body()
                let elapsed = Self.processorMilliseconds() - start
                let found = outcome!.checksum
                guard checksum ?? found == found else { throw Mismatch(group: group, name: variant.name) }
                checksum = found
                outcome = nil
                // The first round warms up.
                if round > 0 { times[index].append(elapsed) }
            }
        }
        print("\n\(group)")
        for (index, variant) in variants.enumerated() {
            let ratio = Self.median(zip(times[index], times[0]).map { $0 / max($1, 0.0001) })
            let target = variant.target.map { String(format: "target %.2f", $0) } ?? ""
            print(
                "  \(variant.name.padding(toLength: 52, withPad: " ", startingAt: 0))",
                String(format: "%9.2f ms  %6.2f", Self.median(times[index]), ratio), " ", target)
        }
    }

    struct Mismatch: Error, CustomStringConvertible {
        let group: String
        let name: String
        var description: String { "“\(name)” of “\(group)” found something else than the other variants." }
    }
}
