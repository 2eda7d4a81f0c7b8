extension PaletteCatalog {
    /// Sixty invented palettes with the ranks 1 to 60, the same in every process.
    static let invented = PaletteCatalog((1...60).map(SamplePalette.invented))
}

extension SamplePalette {
    private static let adjectives = [
        "Quiet", "Burnt", "Crème", "Electric", "Faded", "Wild", "Midnight", "Paper", "Salted", "Überbright",
    ]
    private static let nouns = ["Orchard", "Harbour", "Señorita", "Tundra", "Lantern", "森"]
    private static let makers = ["ada", "bruno", "chloë", "dmitri", "esi", "fumiko", "goran"]

    /// Returns the invented palette with a rank from 1 to 60.
    fileprivate static func invented(rank: Int) -> SamplePalette {
        let index = rank - 1
        var random = RepeatableNumbers(seed: UInt64(rank))
        // Within ten ranks every adjective occurs once, and the noun changes with each ten: all titles are different.
        let adjective = adjectives[index % adjectives.count]
        let noun = nouns[(index / adjectives.count + index) % nouns.count]
        // As in real data, most have five colours.
        let colorCount = [5, 5, 5, 4, 5, 3, 5][index % 7]
        return SamplePalette(
            // 7,919 and 99,991 are primes, so the identifiers are unique and in another order than the ranks.
            id: 700_000 + rank * 7_919 % 99_991,
            title: "\(adjective) \(noun)",
            userName: makers[random.number(below: makers.count)],
            colors: (0..<colorCount).map { _ in random.color() },
            colorWidths: widths(count: colorCount, isUneven: rank.isMultiple(of: 3)),
            rank: rank,
            viewCount: 200_000 / rank + random.number(below: 5_000),
            // Decreases with the rank, so that an order by votes is the order by rank.
            voteCount: 6_100 - rank * 100 + random.number(below: 100),
            commentCount: random.number(below: 400),
            heartCount: Double(random.number(below: 11)) / 2,
            dateCreated: random.date(),
            text: rank.isMultiple(of: 5) ? "Made on a \(adjective.lowercased()) afternoon." : "")
    }

    /// Returns the fractions of the width, whose sum is 1: equal ones, or a half for the last colour and the rest for the others.
    private static func widths(count: Int, isUneven: Bool) -> [Double] {
        switch (count, isUneven) {
        case (5, false): [0.2, 0.2, 0.2, 0.2, 0.2]
        case (5, true): [0.19, 0.15, 0.08, 0.08, 0.5]
        case (4, false): [0.25, 0.25, 0.25, 0.25]
        case (4, true): [0.25, 0.15, 0.1, 0.5]
        case (_, false): [0.33, 0.33, 0.34]
        case (_, true): [0.3, 0.2, 0.5]
        }
    }
}

/// A pseudorandom generator with the same numbers for the same seed.
private struct RepeatableNumbers {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number below a bound. (SplitMix64, by Guy Steele, Doug Lea and Christine Flood.)
    mutating func number(below bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }

    mutating func color() -> String {
        let digits = Array("0123456789ABCDEF")
        return String((0..<6).map { _ in digits[number(below: digits.count)] })
    }

    mutating func date() -> String {
        let year = 2007 + number(below: 8)
        // Every month has these days.
        let parts = [1 + number(below: 12), 1 + number(below: 28), number(below: 24), number(below: 60), number(below: 60)].map { part in
            part < 10 ? "0\(part)" : "\(part)"
        }
        return "\(year)-\(parts[0])-\(parts[1]) \(parts[2]):\(parts[3]):\(parts[4])"
    }
}
