#if PostgreSQL
/// What one context of a soak was told about its writes, against what it reads.
///
/// The context numbers its saves. Each inserts an entry and sets the context's own register to its number, which nobody else writes.
struct ClusterLedger: Sendable {
    /// What was said about a save.
    enum Outcome: Sendable { case acknowledged, unknown, refused }

    let client: Int
    /// The number of saves that were begun, which is that of the last one.
    private(set) var begun = 0
    private(set) var outcomes: [Int: Outcome] = [:]
    private(set) var acknowledgedCount = 0
    private(set) var unknownCount = 0
    /// The number of the last save that was acknowledged; 0 for none.
    private(set) var last = 0
    /// The increments of shared counters that were acknowledged, and those of which nothing is known.
    var increments: [Int: (acknowledged: Int, unknown: Int)] = [:]
    var conflicts = 0
    var reads = 0
    /// The value of the register that was read last.
    private var lastRead = 0
    /// The number of times that a save of unknown outcome was seen, and was not there later.
    private(set) var reversals = 0

    init(client: Int) { self.client = client }

    /// Returns the number of a new save.
    mutating func begin() -> Int {
        begun += 1
        return begun
    }

    mutating func end(_ number: Int, _ outcome: Outcome) {
        outcomes[number] = outcome
        switch outcome {
        case .acknowledged: (acknowledgedCount, last) = (acknowledgedCount + 1, number)
        case .unknown: unknownCount += 1
        case .refused: break
        }
    }

    mutating func endIncrement(of counter: Int, _ outcome: Outcome) {
        switch outcome {
        case .acknowledged: increments[counter, default: (0, 0)].acknowledged += 1
        case .unknown: increments[counter, default: (0, 0)].unknown += 1
        case .refused: break
        }
    }

    /// Compares what the register says with what was acknowledged.
    ///
    /// - Returns: What is wrong; nil for nothing.
    mutating func check(register value: Int) -> String? {
        reads += 1
        if value < last { return "Too old: context \(client) reads its register as \(value), after \(last) was acknowledged." }
        if value > last, outcomes[value] != .unknown {
            return "Doubled: context \(client) reads its register as \(value), which was refused; \(last) was acknowledged."
        }
        if value < lastRead { reversals += 1 }
        lastRead = value
        return nil
    }

    /// Compares the number of its entries with what was acknowledged.
    ///
    /// - Returns: What is wrong; nil for nothing.
    mutating func check(entries count: Int) -> String? {
        reads += 1
        let text = "context \(client) reads \(count) entries; \(acknowledgedCount) were acknowledged, and \(unknownCount) are not known."
        if count < acknowledgedCount { return "Too old: " + text }
        if count > acknowledgedCount + unknownCount { return "Doubled: " + text }
        return nil
    }

    /// Compares all entries that there are at the end, by their numbers, with what was said.
    ///
    /// - Returns: What is wrong.
    func faults(_ entries: [Int]) -> [String] {
        var counts: [Int: Int] = [:]
        for number in entries { counts[number, default: 0] += 1 }
        var faults: [String] = []
        for (number, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
            let count = counts.removeValue(forKey: number) ?? 0
            switch outcome {
            case .acknowledged where count == 0: faults.append("Lost: save \(number) of context \(client), which was acknowledged.")
            case .refused where count > 0: faults.append("Doubled: save \(number) of context \(client) is there, and was refused.")
            default: if count > 1 { faults.append("Doubled: save \(number) of context \(client) is there \(count) times.") }
            }
        }
        return faults + counts.keys.sorted().map { "Doubled: context \(client) has never begun save \($0)." }
    }
}
#endif
