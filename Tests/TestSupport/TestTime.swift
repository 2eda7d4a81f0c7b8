/// How long random tests go on, and those that kill processes or cut the power, as the environment says.
package enum TestTime {
    /// Returns for how many seconds a test goes on: what `COREDATA_TEST_SECONDS` says for all of them, otherwise what is usual for this one.
    package static func seconds(_ usual: Double) -> Double { TestSetting.value("COREDATA_TEST_SECONDS") ?? usual }

    /// How many rounds each test has, by `COREDATA_TEST_ROUNDS`; nil where the time decides.
    package static var rounds: Int? { TestSetting.value("COREDATA_TEST_ROUNDS") }

    /// With which round a test begins, by `COREDATA_TEST_FIRST`.
    package static var firstRound: Int { TestSetting.value("COREDATA_TEST_FIRST") ?? 0 }

    /// Whether tests that usually try some of all combinations try each, by `COREDATA_TEST_ALL`.
    package static var triesAll: Bool { TestSetting.value("COREDATA_TEST_ALL", as: String.self) != nil }
}
