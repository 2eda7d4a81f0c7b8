import Foundation

/// A benchmark.
struct Benchmark {
    /// The outcome of a body: a checksum that all variants of a group share, and an object to release outside of the clock.
    typealias Outcome = (checksum: Int, keepAlive: Any?)

    /// The column of a variant in the summary.
    enum Side: String, CaseIterable, Codable {
        case raw = "raw C"
        case toolkitCodable = "GRDB Codable"
        case toolkitByHand = "GRDB by hand"
        case store = "this store"
    }

    let group: String
    let name: String
    /// The column of the variant; nil for one that is only listed.
    var side: Side?
    /// The target ratio; nil where there is none.
    let target: Double?
    /// Whether the time by the clock counts, not the CPU time: for what waits for another process.
    var isByClock = false
    let setUp: () throws -> Void
    let body: () throws -> Outcome
    /// Checks what the body has left in a file, outside of the clock; the result is part of the checksum.
    var verify: () throws -> Int = { 0 }
    /// Releases what `setUp` created, outside of the clock.
    var tearDown: () throws -> Void = {}

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

    /// Creates a benchmark whose body works on state that its setup creates for each round.
    init<State>(
        _ group: String, _ name: String, side: Side? = nil, target: Double? = nil, given setUp: @escaping () throws -> State,
        body: @escaping (State) throws -> Outcome, verify: @escaping () throws -> Int = { 0 }
    ) {
        var state: State?
        self.init(group, name, target: target) {
            state = try setUp()
        } body: {
            try body(state!)
        }
        self.side = side
        self.verify = verify
        tearDown = { state = nil }
    }
}

/// Times benchmarks group by group, in rounds that run each variant in turn, so that other load affects all alike.
///
/// The result is the median over the rounds of a variant's CPU time divided by that of the group's first variant in the same round. It is
/// a ratio within one run: times of different runs or machines cannot be compared.
struct Harness {
    var rounds = 7
    var filter: String?
    /// The variants to run, by a part of their names; nil for all. Without the group's first, there is nothing to compare them with.
    var variant: String?
    /// The sides to run; nil for all.
    var sides: Set<Benchmark.Side>?

    /// The result of one variant.
    struct Finding: Codable {
        let group: String
        let name: String
        let side: Benchmark.Side?
        /// The median CPU time of a round.
        let milliseconds: Double
        /// The minimum CPU time of a round.
        let least: Double
        /// The median CPU time of releasing the results of the body.
        let release: Double
        /// The median of the ratios to the group's first variant.
        let ratio: Double
        let target: Double?
    }

    private static func milliseconds(of variant: Benchmark) -> Double {
        var time = timespec()
        clock_gettime(variant.isByClock ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// Runs the benchmarks whose group the filter accepts, prints the results and returns them.
    @discardableResult
    func run(_ benchmarks: [Benchmark]) throws -> [Finding] {
        var groups: [String] = []
        for benchmark in benchmarks where !groups.contains(benchmark.group) { groups.append(benchmark.group) }
        var findings: [Finding] = []
        for group in groups where filter.map(group.contains) ?? true {
            let variants = benchmarks.filter { $0.group == group && runs($0.side) && (variant.map($0.name.contains) ?? true) }
            if !variants.isEmpty { findings += try run(group, variants) }
        }
        return findings
    }

    private func runs(_ side: Benchmark.Side?) -> Bool { sides.map { sides in side.map(sides.contains) ?? false } ?? true }

    private func run(_ group: String, _ variants: [Benchmark]) throws -> [Finding] {
        var times = Array(repeating: [Double](), count: variants.count)
        var releases = times
        var checksum: Int?
        for round in 0...rounds {
            for (index, variant) in variants.enumerated() {
                try variant.setUp()
                let start = Self.milliseconds(of: variant)
                var outcome: Benchmark.Outcome? = try variant.body()
                let elapsed = Self.milliseconds(of: variant) - start
                let found = outcome!.checksum &+ (try variant.verify())
                guard checksum ?? found == found else { throw Mismatch(group: group, name: variant.name) }
                checksum = found
                let releaseStart = Self.milliseconds(of: variant)
                outcome = nil
                let release = Self.milliseconds(of: variant) - releaseStart
                try variant.tearDown()
                // The first round warms up.
                if round > 0 {
                    times[index].append(elapsed)
                    releases[index].append(release)
                }
            }
        }
        print("\n\(group)")
        // The results are printed even if a later group fails.
        defer { fflush(nil) }
        return variants.enumerated().map { index, variant in
            let ratio = Self.median(zip(times[index], times[0]).map { $0 / max($1, 0.0001) })
            let target = variant.target.map { String(format: "target %.2f", $0) } ?? ""
            print(
                "  \(variant.name.padding(toLength: 52, withPad: " ", startingAt: 0))",
                String(format: "%9.2f ms  %6.2f", Self.median(times[index]), ratio), " ", target)
            return Finding(
                group: group, name: variant.name, side: variant.side, milliseconds: Self.median(times[index]), least: times[index].min()!,
                release: Self.median(releases[index]), ratio: ratio, target: variant.target)
        }
    }

    struct Mismatch: Error, CustomStringConvertible {
        let group: String
        let name: String
        var description: String { "“\(name)” of “\(group)” found something else than the other variants." }
    }
}
