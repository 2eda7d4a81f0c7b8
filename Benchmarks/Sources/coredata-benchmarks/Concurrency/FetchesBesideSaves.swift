import CoreData
import Foundation

/// Small indexed fetches on one thread, alone and next to another that repeatedly changes 20,000 objects and saves.
///
/// First the fetches run one after the other for a fixed time: their number is the throughput. Then they are due by a schedule, the same
/// for all sides, for the same time: the latency of a fetch counts from its due time, so that fetches delayed by an earlier one count
/// with their full delay.
struct FetchesBesideSaves {
    let rows: ConcurrencyRows
    let group: String

    /// A fetch of about ten items whose `t0` begins with a prefix.
    struct Question {
        let prefix: String
        /// The first string after all strings with the prefix.
        let end: String
        /// The sum that the fetch must find, without the saver's changes.
        let sum: Int
    }

    /// The closures of one variant: a fetch that returns the sum it has found, and a save that returns the number of saved objects.
    struct Sides {
        let fetch: (Question) throws -> Int
        let save: () throws -> Int
    }

    /// The result of one variant in one round.
    private struct Run {
        var fetchesPerSecond = 0.0
        var savesPerSecond = 0.0
        var p50 = 0.0
        var p99 = 0.0
        var longest = 0.0
    }

    /// The number of fetches due each second.
    static let scheduledPerSecond = 2000
    /// The number of objects that each save changes.
    static let savedCount = 20_000

    func run() throws -> [ClockFinding] {
        let questions = Self.questions(rows.rows.sample.values)
        let sides = [Benchmark.Side.raw, .store].filter(rows.runs)
        var alone: [Benchmark.Side: [Run]] = [:]
        var beside: [Benchmark.Side: [Run]] = [:]
        for _ in 0..<rows.timedRounds {
            for side in sides { alone[side, default: []].append(try measure(side, isBeside: false, questions)) }
            for side in sides { beside[side, default: []].append(try measure(side, isBeside: true, questions)) }
        }
        /// Returns the throughput next to the saver relative to that alone, by round.
        func shares(_ side: Benchmark.Side) -> [Double]? {
            guard let alone = alone[side], let beside = beside[side] else { return nil }
            return zip(beside, alone).map { $0.fetchesPerSecond / max($1.fetchesPerSecond, 1e-9) }
        }
        return sides.flatMap { side in
            let name = side == .raw ? "raw C" : "this store"
            let comparesWithRaw = side == .store && sides.contains(.raw)
            var figures = Self.figures(beside[side] ?? [], p99OfRaw: comparesWithRaw ? (beside[.raw] ?? []).map(\.p99) : nil)
            if let own = shares(side) {
                figures.insert(ClockFinding.Figure("… as a share of those alone", own), at: 1)
                if comparesWithRaw, let raw = shares(.raw) {
                    let relative = zip(own, raw).map { $0 / max($1, 1e-9) }
                    figures.insert(ClockFinding.Figure("… as a share of raw C's share", relative, target: .atLeast(0.8)), at: 2)
                }
            }
            figures.append(ClockFinding.Figure("saves a second", (beside[side] ?? []).map(\.savesPerSecond)))
            return [
                ClockFinding(group: group, name: "\(name), alone", side: side, figures: Self.figures(alone[side] ?? [], p99OfRaw: nil)),
                ClockFinding(group: group, name: "\(name), beside the saver", side: side, figures: figures),
            ]
        }
    }

    private static func figures(_ runs: [Run], p99OfRaw: [Double]?) -> [ClockFinding.Figure] {
        var figures = [
            ClockFinding.Figure("fetches a second, one after another", runs.map(\.fetchesPerSecond)),
            ClockFinding.Figure("p50 from when due, ms", runs.map(\.p50)), ClockFinding.Figure("p99 from when due, ms", runs.map(\.p99)),
        ]
        if let least = runs.map(\.p99).min(), let leastOfRaw = p99OfRaw?.min() {
            // From the quietest round: other load on the machine adds to all, which would reduce the multiple.
            let multiple = least / max(leastOfRaw, 1e-9)
            figures.append(ClockFinding.Figure("… of the quietest round, as a multiple of raw C's", [multiple], target: .atMost(2)))
        }
        return figures + [ClockFinding.Figure("longest from when due, ms", runs.map(\.longest))]
    }

    // MARK: Fetches

    /// Returns a thousand fetches over all items, with their expected results.
    private static func questions(_ values: [Values]) -> [Question] {
        // Two letters, and as many digits as select about ten items.
        let length = 2 + max(0, String(values.count).count - 4)
        var sums: [String: Int] = [:]
        for value in values {
            sums[String(value.t0.prefix(length)), default: 0] &+= value.sumOfAll &- value.i2
        }
        return (0..<1000).map { number in
            let prefix = String(values[number * 7919 % values.count].t0.prefix(length))
            var bytes = Array(prefix.utf8)
            bytes[bytes.count - 1] += 1
            return Question(prefix: prefix, end: String(decoding: bytes, as: UTF8.self), sum: sums[prefix] ?? 0)
        }
    }

    // MARK: One variant

    private func measure(_ side: Benchmark.Side, isBeside: Bool, _ questions: [Question]) throws -> Run {
        let files = rows.rows
        let path = files.directory + "/work.sqlite"
        try SampleDatabase.copy(side == .raw ? files.rawFile : files.storeFile, to: path)
        let before = try RawSide.contents(of: path)
        let sides = try side == .raw ? Self.rawSides(path) : Self.storeSides(path)

        let stop = Flag()
        let going = DispatchSemaphore(value: 0)
        let started = WallClock.now
        let saver = ThreadTeam.begin(processor: 1) {
            // A reader does not wait for a failed one.
            defer { going.signal() }
            var (saves, objects) = (0, 0)
            while isBeside, !stop.isRaised {
                objects += try sides.save()
                saves += 1
                if saves == 1 { going.signal() }
            }
            return (saves: saves, objects: objects, seconds: WallClock.seconds(started, WallClock.now))
        }
        let reader = ThreadTeam.begin(processor: 0) {
            defer { stop.raise() }
            // One-time setup is done before the clock starts.
            for question in questions.prefix(200) { try check(try sides.fetch(question), question, side) }
            going.wait()
            return (throughput: try fetchAgainAndAgain(questions, sides, side), times: try fetchBySchedule(questions, sides, side))
        }
        let saved = try saver.wait()
        let fetched = try reader.wait()
        // The saver adds one to the same property of each object.
        guard try RawSide.contents(of: path) &- before == saved.objects else {
            throw Harness.Mismatch(group: group, name: "\(side.rawValue), saving")
        }
        return Run(
            fetchesPerSecond: fetched.throughput, savesPerSecond: Double(saved.saves) / saved.seconds,
            p50: fetched.times.milliseconds(at: 0.5),
            p99: fetched.times.milliseconds(at: 0.99), longest: fetched.times.milliseconds(at: 1))
    }

    private func check(_ sum: Int, _ question: Question, _ side: Benchmark.Side) throws {
        guard sum == question.sum else { throw Harness.Mismatch(group: group, name: "\(side.rawValue), fetching “\(question.prefix)”") }
    }

    /// Returns the number of consecutive fetches per second.
    private func fetchAgainAndAgain(_ questions: [Question], _ sides: Sides, _ side: Benchmark.Side) throws -> Double {
        let start = WallClock.now
        let end = start + UInt64(rows.seconds * 1e9)
        var count = 0
        while WallClock.now < end {
            let question = questions[count % questions.count]
            try check(try sides.fetch(question), question, side)
            count += 1
        }
        return Double(count) / WallClock.seconds(start, WallClock.now)
    }

    /// Returns the latency of each scheduled fetch in nanoseconds, sorted.
    private func fetchBySchedule(_ questions: [Question], _ sides: Sides, _ side: Benchmark.Side) throws -> [UInt64] {
        let count = max(1, Int(rows.seconds * Double(Self.scheduledPerSecond)))
        let interval = UInt64(1_000_000_000 / Self.scheduledPerSecond)
        var times: [UInt64] = []
        times.reserveCapacity(count)
        let start = WallClock.now
        for number in 0..<count {
            let due = start + UInt64(number) * interval
            // Waking from a sleep takes as long as a fetch: the thread stays awake.
            while WallClock.now < due { sched_yield() }
            let question = questions[number % questions.count]
            try check(try sides.fetch(question), question, side)
            times.append(WallClock.now - due)
        }
        return times.sorted()
    }
}
