import Foundation
import RemoteStore
import RemoteStoreTesting
import Testing

@Suite("Three clients, a server, and whatever can go wrong") struct SimulationTests {
    private static var runs: Int? { ProcessInfo.processInfo.environment["COREDATA_SIMULATIONS"].flatMap { Int($0) } }
    private static var seed: UInt64? { ProcessInfo.processInfo.environment["COREDATA_TEST_SEED"].flatMap { UInt64($0) } }

    /// Runs until the time or the number of runs is over.
    private func run(rule: Int) throws -> Int {
        let start = ContinuousClock.now
        var count = 0
        var counts: [String: Int] = [:]
        while Self.runs.map({ count * SimulationOptions.rules.count < $0 }) ?? (ContinuousClock.now - start < .seconds(5)) {
            let seed = Self.seed ?? .random(in: 0..<1_000_000_000)
            var options = SimulationOptions()
            (options.ruleName, options.rule) = SimulationOptions.rules[rule]
            let world = try SimulatedWorld(seed: seed, options)
            defer { counts.merge(world.counts) { $0 + $1 } }
            do { try world.run() } catch {
                Issue.record("seed \(seed), \(options.ruleName): \(error)")
                print("SIMULATION \(world.setting) seed \(seed) \(options.ruleName): \(error)")
                if Self.seed != nil { print(world.events.joined(separator: "\n")) }
                if Self.runs == nil { return count }
            }
            count += 1
            if Self.seed != nil { break }
        }
        let text = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("SimulationTests: \(count) runs by \(SimulationOptions.rules[rule].0) in \(ContinuousClock.now - start): \(text)")
        return count
    }

    @Test(
        "All clients come to what the server has, nothing acknowledged is lost, nothing is done twice, and what is shown is always explained",
        arguments: 0..<SimulationOptions.rules.count)
    func converging(rule: Int) throws { #expect(try run(rule: rule) > 0) }

    /// Returns the seed of a run that finds a bug, and what it says; nil where none of many does.
    private func finds(_ bug: PlantedBug.Kind? = nil, without rule: CacheRule? = nil, forgetsAtCrash: Bool = false) throws -> String? {
        let first = UInt64.random(in: 0..<1_000_000_000)
        for seed in first..<first + 1000 {
            var options = SimulationOptions.looking(for: bug, without: rule, forgetsAtCrash: forgetsAtCrash)
            (options.ruleName, options.rule) = SimulationOptions.rules[Int(seed % 2)]
            do { try SimulatedWorld(seed: seed, options).run() } catch let error as Wrong {
                return "run \(seed - first + 1), seed \(seed): \(error)"
            }
        }
        return nil
    }

    @Test("The simulation finds each of the bugs that are planted", arguments: PlantedBug.Kind.allCases)
    func planted(bug: PlantedBug.Kind) throws {
        let found = try #require(try finds(bug), "\(bug) is not found.")
        print("SimulationTests: \(bug): \(found)")
    }

    @Test("The simulation finds when a rule of the cache is switched off", arguments: CacheRule.allCases)
    func switchedOff(rule: CacheRule) throws {
        let found = try #require(try finds(without: rule), "\(rule) is not missed.")
        print("SimulationTests: without \(rule): \(found)")
    }

    @Test("The simulation finds that the last save is forgotten when a client dies")
    func forgetting() throws {
        let found = try #require(try finds(forgetsAtCrash: true))
        print("SimulationTests: forgetting: \(found)")
    }

    @Test("The same seed makes the same run")
    func repeating() throws {
        let seed = UInt64.random(in: 0..<1_000_000_000)
        func events() throws -> [String] {
            let world = try SimulatedWorld(seed: seed)
            try? world.run()
            return world.events
        }
        let (first, second) = (try events(), try events())
        // A step may do nothing, such as delivering where nothing is under way.
        #expect(first.count > 5)
        let difference = zip(first, second).first { $0 != $1 }
        #expect(first == second, "seed \(seed): \(String(describing: difference))")
    }
}
