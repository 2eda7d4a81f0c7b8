@_spi(Stores) internal import ObjectGraph

/// The invariants of a pending change that its type does not express.
extension PendingRecord {
    /// The violated invariants of the record; empty for a valid record.
    var invariantViolations: [String] {
        var violations: [String] = []
        if attempts < 0 { violations.append("\(attempts) attempts were made") }
        if !nextAttempt.isFinite { violations.append("the next attempt is at \(nextAttempt)") }
        if theirs != nil, !isConfirmed { violations.append("others have changed an object that the backend does not have") }
        if let sent {
            if (sent.change.kind == .insert) == isConfirmed {
                violations.append("the backend \(isConfirmed ? "has" : "does not have") an object whose \(sent.change.kind) has no answer")
            }
            if sent.isAccepted, sent.change.kind == .insert, sent.change.id != nil {
                violations.append(
                    "a change of kind \(sent.change.kind) with the identifier \(sent.change.id as Any) is sought by its values")
            }
            if sent.isLater, !sent.isAccepted { violations.append("it is made later, though it was not accepted") }
            if sent.change.principal != nil { violations.append("the user is kept with what was sent, beside that of the record") }
            if !sent.change.base.isEmpty { violations.append("what a change was made on is kept with it") }
        }
        switch stage {
        case .sending(let sent, _, let attempts, _):
            if attempts.count == 0 { violations.append("it is sent by no attempt") }
            if sent.isAccepted { violations.append("it is sent again, though it was accepted") }
        case .sought(let sent, _, _, _, _):
            if sent.change.kind != .insert || sent.change.id == nil {
                violations.append("a change of kind \(sent.change.kind) with the identifier \(sent.change.id as Any) is looked for")
            }
        case .waiting, .lost, .unknown, .failed, .conflicting: break
        }
        return violations
    }

    /// Stops the program if the record violates an invariant and the checks are on.
    @inline(__always) func checkInvariants() { InternalChecks.enforce(invariantViolations) }

    /// The parts of the sent change that a transition without an answer loses: its key, or parts of its first body.
    static func losses(from old: Stage, to new: Stage, _ transition: StaticString) -> [String] {
        guard let sent = old.sent else { return [] }
        guard let kept = new.sent else { return ["\(transition) loses what was sent by a change that is \(old.name)"] }
        if case .sending = new, new.doubt == nil, old.doubt != nil || old.name != .sending {
            return ["\(transition) forgets that a change that is \(old.name) may have arrived"]
        }
        var change = kept.change
        // The number within a call differs for each call.
        change.key = sent.change.key
        if change.idempotencyKey != sent.change.idempotencyKey { return ["\(transition) changes the key of a change that is \(old.name)"] }
        return change == sent.change && kept.values == sent.values && kept.lists == sent.lists && kept.nextKey == sent.nextKey
            && kept.isAccepted == sent.isAccepted && kept.isLater == sent.isLater
            ? [] : ["\(transition) changes what was sent by a change that is \(old.name)"]
    }
}
