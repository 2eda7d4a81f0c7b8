import CoreData
import Foundation

/// Two threads that each fetch all items and read every property, compared with one thread.
///
/// Each thread has its own context over one coordinator and one file in WAL mode; in raw C, its own connection.
struct TwoReaders {
    let rows: ConcurrencyRows
    let group: String

    /// The readers.
    private enum Reader: CaseIterable {
        case raw, cold, warm

        var name: String {
            switch self {
            case .raw: "raw C, a connection a thread"
            case .cold: "this store, contexts and row cache new"
            case .warm: "this store, contexts new, rows in the row cache"
            }
        }
        var side: Benchmark.Side { self == .raw ? .raw : .store }
    }

    /// The seconds of one variant in each round.
    private struct Times {
        var ofOne: [Double] = []
        var ofTwo: [Double] = []
        /// The throughput of two threads relative to one.
        var gains: [Double] { zip(ofOne, ofTwo).map { 2 * $0 / $1 } }
    }

    func run() throws -> [ClockFinding] {
        let readers = Reader.allCases.filter { rows.runs($0.side) }
        var times = Array(repeating: Times(), count: readers.count)
        for round in 0...rows.harness.rounds {
            for (index, reader) in readers.enumerated() {
                let one = try read(reader, threads: 1)
                let two = try read(reader, threads: 2)
                // The first round warms up.
                if round > 0 {
                    times[index].ofOne.append(one)
                    times[index].ofTwo.append(two)
                }
            }
        }
        let unit = readers.firstIndex(of: .raw).map { times[$0].gains }
        return zip(readers, times).map { reader, times in
            var figures = [
                ClockFinding.Figure("one thread, ms", times.ofOne.map { $0 * 1e3 }),
                ClockFinding.Figure("two threads, ms", times.ofTwo.map { $0 * 1e3 }),
                ClockFinding.Figure("throughput of two against one", times.gains),
            ]
            if reader != .raw, let unit {
                figures.append(
                    ClockFinding.Figure("… as a share of raw C's in the same round", zip(times.gains, unit).map(/), target: .atLeast(0.95)))
            }
            return ClockFinding(group: group, name: reader.name, side: reader.side, figures: figures)
        }
    }

    /// Returns the seconds until the last of a number of threads is done; results are released outside of the clock.
    private func read(_ reader: Reader, threads: Int) throws -> Double {
        let (seconds, sums) = try reader == .raw ? readRaw(threads) : readStore(threads, isWarm: reader == .warm)
        let expected = rows.rows.sample.values.sumOfAll
        guard sums.allSatisfy({ $0 == expected }) else { throw Harness.Mismatch(group: group, name: reader.name) }
        return seconds
    }

    private func readRaw(_ threads: Int) throws -> (seconds: Double, sums: [Int]) {
        let connections = try (0..<threads).map { _ in try RawConnection(rows.rows.rawFile) }
        let (seconds, outcomes) = try ThreadTeam.run(
            connections.map { connection in
                {
                    let items = try RawSide.fetchAll(connection)
                    return (sum: items.sumOfAll, items: items)
                }
            })
        return (seconds, outcomes.map(\.sum))
    }

    private func readStore(_ threads: Int, isWarm: Bool) throws -> (seconds: Double, sums: [Int]) {
        // Its objects keep the rows in the row cache.
        let opener = try StoreSide.open(rows.rows.storeFile)
        let kept = isWarm ? try StoreSide.fetchAll(opener) : []
        defer { withExtendedLifetime(kept) {} }
        let contexts = (0..<threads).map { _ in StoreSide.privateContext(opener.persistentStoreCoordinator) }
        let (seconds, outcomes) = try ThreadTeam.run(
            contexts.map { context in
                {
                    try context.performAndWait {
                        let items = try StoreSide.fetchAll(context)
                        return (sum: items.sumOfAll, items: items)
                    }
                }
            })
        return (seconds, outcomes.map(\.sum))
    }
}
