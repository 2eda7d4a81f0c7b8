extension RowList {
    /// The violated invariants of the list; empty if there are none.
    ///
    /// The blocks are those of the rows, in their order, each once for consecutive rows; there are none if another object holds the rows. Each row
    /// lies in its block.
    @usableFromInline var invariantViolations: [String] {
        var violations: [String] = []
        var runs: [UnsafeMutableRawPointer] = []
        for slots in places {
            let block = SlotPointer(slots).block.toOpaque()
            if block != runs.last { runs.append(block) }
        }
        if holder != nil {
            if !blocks.isEmpty { violations.append("\(blocks.count) blocks are held, although another object holds the rows") }
        } else if runs != blocks.map({ Unmanaged.passUnretained($0).toOpaque() }) {
            violations.append("\(blocks.count) blocks are held for rows in \(runs.count) runs, or others")
        }
        if holder == nil, runs.last != lastBlock { violations.append("the last block is another than that of the last row") }
        if !violations.isEmpty { return violations }
        var last: UnsafeMutableRawPointer?
        for slots in places {
            let block = SlotPointer(slots).block
            if last == block.toOpaque() { continue }
            last = block.toOpaque()
            violations += Row.with(slots) { $0.invariantViolations }
        }
        return violations
    }

    /// Stops the program if the list violates its invariants, and if the checks are on.
    @inlinable @inline(__always) func checkInvariants() {
        InternalChecks.enforce(InternalChecks.isDue(places.count) ? invariantViolations : [])
    }
}
