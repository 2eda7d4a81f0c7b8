import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Three clients, a server, and whatever can go wrong") struct SimulationTests {
    /// Runs until the time or the number of runs is over.
    ///
    /// `COREDATA_TEST_ROUNDS` says how many runs there are by each rule, which then go on after a mistake; where there is one, its events are printed.
    private func run(rule: Int) throws -> Int {
        let start = ContinuousClock.now
        var count = 0
        var counts: [String: Int] = [:]
        var (arrived, needed) = (0, 0)
        let first = TestSeed.current(for: "SimulationTests, rule \(SimulationOptions.rules[rule].0)")
        for round in TestRounds(seconds: 1.7, atLeast: 8) {
            let seed = first &+ UInt64(round)
            var options = SimulationOptions()
            (options.ruleName, options.rule) = SimulationOptions.rules[rule]
            let world = try SimulatedWorld(seed: seed, options)
            defer { counts.merge(world.counts) { $0 + $1 } }
            do { try world.run() } catch {
                Issue.record("COREDATA_TEST_SEED=\(seed), \(options.ruleName): \(error)")
                print("SIMULATION \(world.setting) seed \(seed) \(options.ruleName): \(error)")
                if TestTime.rounds == 1 { print(world.events.joined(separator: "\n")) }
                if TestTime.rounds == nil { return count }
            }
            count += 1
            (arrived, needed) = (arrived + world.arrived, needed + world.needed)
        }
        print("SimulationTests: \(arrived) requests by \(SimulationOptions.rules[rule].0), of which \(needed) are needed")
        let text = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        print("SimulationTests: \(count) runs by \(SimulationOptions.rules[rule].0) in \(ContinuousClock.now - start): \(text)")
        return count
    }

    @Test(
        "All clients come to what the server has, nothing acknowledged is lost, nothing is done twice, and what is shown is always explained",
        arguments: 0..<SimulationOptions.rules.count)
    func converging(rule: Int) throws { #expect(try run(rule: rule) > 0) }

    @Test(
        "Runs that have found mistakes find none any more",
        arguments: [
            // A new object was refused because it was there already, the look for it failed, and the next attempt was put off: it was made anew, and the
            // outcome of the first was taken for that of the edits.
            UInt64(3_194_121_228_863_785_869)
        ])
    func found(seed: UInt64) throws {
        for rule in SimulationOptions.rules {
            var options = SimulationOptions()
            (options.ruleName, options.rule) = rule
            try SimulatedWorld(seed: seed, options).run()
        }
    }

    /// Returns the seed of a run that finds a bug, and what it says; nil where none of many does.
    private func finds(_ bug: PlantedBug.Kind? = nil, without rule: CacheRule? = nil, forgetsAtCrash: Bool = false) throws -> String? {
        let first = TestSeed.current(for: "SimulationTests.finds")
        for run in 0..<UInt64(1000) {
            let seed = first &+ run
            var options = SimulationOptions.looking(for: bug, without: rule, forgetsAtCrash: forgetsAtCrash)
            (options.ruleName, options.rule) = SimulationOptions.rules[Int(seed % 2)]
            do { try SimulatedWorld(seed: seed, options).run() } catch let error as Wrong {
                return "run \(run + 1), seed \(seed): \(error)"
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
        let seed = TestSeed.current(for: "SimulationTests.repeating")
        func events() throws -> [String] {
            let world = try SimulatedWorld(seed: seed)
            try? world.run()
            return world.events
        }
        let (first, second) = (try events(), try events())
        // A step may do nothing, such as delivering where nothing is under way.
        #expect(first.count > 5)
        let difference = zip(first, second).first { $0 != $1 }
        expect(first, equals: second, "seed \(seed): \(String(describing: difference))")
    }
}
