/// Detects copies of the lists that a parser works on, each of which costs as many steps as the list has elements.
///
/// A growing list is moved rarely. A list with a second reference is copied at each change, which makes a parser quadratic without a
/// visible loop.
struct OperandMoves {
    private let counter: WorkCount
    private var operands: UnsafeRawPointer?
    private var frames: UnsafeRawPointer?

    /// Nil when nothing is counted.
    init?() {
        #if DEBUG
        guard let counter = WorkCount.current else { return nil }
        self.counter = counter
        #else
        return nil
        #endif
    }

    /// Counts a token.
    func step() {
        counter.step(1)
    }

    /// Counts an operand, and the copies since the last one.
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
