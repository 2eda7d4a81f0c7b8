/// The seed of a random test.
package enum TestSeed {
    /// Returns the seed that `COREDATA_TEST_SEED` gives, otherwise a fresh one, and prints it, so that the run can be repeated.
    ///
    /// Any number of 64 bits may be a seed: a test that makes several of one counts on with `&+`.
    ///
    /// - Parameter name: What is printed before the seed: the name of the test or suite, with its argument where it has one.
    package static func current(for name: String) -> UInt64 {
        let seed = TestSetting.value("COREDATA_TEST_SEED", as: UInt64.self) ?? .random(in: .min ... .max)
        print(line(name, seed))
        return seed
    }

    /// What is printed.
    static func line(_ name: String, _ seed: UInt64) -> String { "\(name): COREDATA_TEST_SEED=\(seed)" }
}
