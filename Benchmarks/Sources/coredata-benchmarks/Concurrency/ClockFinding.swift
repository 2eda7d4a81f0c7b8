import Foundation

/// The result of one variant of a row that is timed by the clock.
struct ClockFinding: Codable {
    /// The project's target.
    struct Target: Codable {
        let limit: Double
        /// Whether values below the limit miss the target, rather than those above.
        let isLeast: Bool

        static func atLeast(_ limit: Double) -> Target { Target(limit: limit, isLeast: true) }
        static func atMost(_ limit: Double) -> Target { Target(limit: limit, isLeast: false) }

        /// Returns how a value compares to the limit, in words.
        func verdict(_ figure: Double) -> String {
            let isMet = isLeast ? figure >= limit : figure <= limit
            let distance = abs(figure / limit - 1) * 100
            let aim = "target \(isLeast ? "at least" : "at most") " + ClockFinding.text(limit)
            return aim + (isMet ? ", met" : String(format: ", missed by %.0f %%", distance))
        }
    }

    /// A value measured in each round.
    struct Figure: Codable {
        let name: String
        let median: Double
        /// The value of each round.
        let rounds: [Double]
        let target: Target?

        init(_ name: String, _ rounds: [Double], target: Target? = nil) {
            self.name = name
            self.rounds = rounds
            self.target = target
            median = rounds.sorted()[rounds.count / 2]
        }
    }

    let group: String
    let name: String
    let side: Benchmark.Side?
    let figures: [Figure]

    /// Returns a number with a useful number of digits.
    static func text(_ number: Double) -> String {
        let size = abs(number)
        return String(format: size >= 1000 ? "%.0f" : size >= 100 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.4f", number)
    }

    /// Prints the variants of a row, a line for each value.
    static func print(_ group: String, _ findings: [ClockFinding]) {
        Swift.print("\n\(group)")
        for finding in findings {
            Swift.print("  \(finding.name)")
            for figure in finding.figures {
                Swift.print(
                    "    \(figure.name.padding(toLength: 50, withPad: " ", startingAt: 0))",
                    String(repeating: " ", count: max(0, 9 - text(figure.median).count)) + text(figure.median), " ",
                    figure.target?.verdict(figure.median) ?? "")
            }
        }
        fflush(nil)
    }
}
