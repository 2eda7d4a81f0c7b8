/// A generator of random numbers that a seed determines: the same seed gives the same numbers on every machine.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    public init(seed: UInt64) { state = seed }

    /// Returns the next number (SplitMix64).
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number below a bound, and 0 for a bound of 0.
    public mutating func below(_ bound: Int) -> Int { bound > 1 ? Int(next() % UInt64(bound)) : 0 }

    /// Returns true with a probability.
    public mutating func chance(_ probability: Double) -> Bool { Double(next() >> 11) / 9_007_199_254_740_992 < probability }
}
