import Testing

@testable import TestSupport

@Suite("Seeds of random tests") struct SeedTests {
    @Test("The same seed gives the same numbers, and another one gives others", arguments: [0, 1, 1 << 63, UInt64.max])
    func numbers(seed: UInt64) {
        func numbers(_ seed: UInt64) -> [UInt64] {
            var random = SeededGenerator(seed: seed)
            return (0..<100).map { _ in random.next() }
        }
        expect(numbers(seed), equals: numbers(seed))
        expect(Set(numbers(seed)).count, equals: 100)
        #expect(Set(numbers(seed)).isDisjoint(with: [numbers(seed &+ 1)[0], numbers(seed &- 1)[0]]) || seed == seed &+ 1)
    }

    @Test("The numbers are the same on every machine") func knownNumbers() {
        var random = SeededGenerator(seed: 0)
        // The first numbers of SplitMix64.
        expect([random.next(), random.next()], equals: [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4])
    }

    @Test("A number below a bound is below it, and a probability is about what is said") func bounds() {
        let seed = TestSeed.current(for: "SeedTests.bounds")
        var random = SeededGenerator(seed: seed)
        let numbers = (0..<1000).map { _ in random.below(7) }
        expect(Set(numbers), equals: Set(0..<7), "COREDATA_TEST_SEED=\(seed)")
        #expect(random.below(0) == 0 && random.below(1) == 0)
        let chances = (0..<1000).filter { _ in random.chance(0.25) }.count
        #expect((150...350).contains(chances), "COREDATA_TEST_SEED=\(seed): \(chances)")
        #expect(!random.chance(0) && random.chance(1))
    }

    @Test("A seed is what the environment gives, any number of 64 bits, and nothing where it gives none") func settings() {
        func seed(_ environment: [String: String]) -> UInt64? { TestSetting.value("COREDATA_TEST_SEED", in: environment) }
        expect(seed(["COREDATA_TEST_SEED": "18446744073709551615"]), equals: .max)
        expect(seed(["COREDATA_TEST_SEED": "0"]), equals: 0)
        #expect(seed(["COREDATA_TEST_SEED": ""]) == nil)
        #expect(seed([:]) == nil)
        expect(TestSeed.line("A test", .max), equals: "A test: COREDATA_TEST_SEED=18446744073709551615")
    }

    @Test("A seed that is none ends the tests, and the message names the variable") func wrongSetting() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let seed: UInt64? = TestSetting.value("COREDATA_TEST_SEED", in: ["COREDATA_TEST_SEED": "-1"])
            print(seed ?? 0)
        }
        let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(message.contains("COREDATA_TEST_SEED is “-1”"), "\(message)")
    }
}
