/// Notices when the lists that a parser works on move in memory, which costs as many steps as they have elements.
///
/// A list that grows moves seldom. One that somebody else holds as well moves at each change: that is how a parser becomes quadratic
/// without a loop to show it.
struct OperandMoves {
    private let counter: WorkCount
    private var operands: UnsafeRawPointer?
    private var frames: UnsafeRawPointer?

    /// Nil when nobody counts.
    init?() {
        #if DEBUG
        guard let counter = WorkCount.current else { return nil }
        self.counter = counter
        #else
        return nil
        #endif
    }

    /// Counts a word.
    func step() {
        counter.step(1)
    }

    /// Counts an operand, and what has moved since the last.
    mutating func count(_ operands: [FormatParser.Operand], _ frames: [FormatParser.Frame]) {
        counter.step(1)
        let place = operands.withUnsafeBytes { $0.baseAddress }
        if place != self.operands { counter.step(operands.count) }
        self.operands = place
        let framePlace = frames.withUnsafeBytes { $0.baseAddress }
        if framePlace != self.frames { counter.step(frames.count) }
        self.frames = framePlace
    }
}
