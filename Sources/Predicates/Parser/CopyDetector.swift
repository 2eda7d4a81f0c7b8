/// Detects copies of the lists that a parser works on, each of which costs as many steps as the list has elements.
///
/// A growing list rarely moves in memory. A list with a second reference is copied at each change: that is how a parser becomes quadratic without a
/// visible loop. Release builds do not detect this.
struct CopyDetector {
    private let work = WorkCount.Running()
    #if DEBUG
    private var operands: UnsafeRawPointer?
    private var frames: UnsafeRawPointer?
    #endif

    /// Counts a word.
    @inline(__always) func step() { work.step() }

    /// Counts an operand, and the lists that have moved since the last one.
    @inline(__always) mutating func count(_ operands: [FormatParser.Operand], _ frames: [FormatParser.Frame]) {
        #if DEBUG
        guard work.isCounting else { return }
        work.step()
        let place = operands.withUnsafeBytes { $0.baseAddress }
        if place != self.operands { work.step(operands.count) }
        self.operands = place
        let framePlace = frames.withUnsafeBytes { $0.baseAddress }
        if framePlace != self.frames { work.step(frames.count) }
        self.frames = framePlace
        #endif
    }
}
