@_spi(Stores) internal import ObjectGraph

/// What must hold of a pending change beyond what its type says.
extension PendingRecord {
    /// What does not hold of the record; empty for a record as it should be.
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

    /// Stops the program where the record is not as it should be, if the checks are on.
    @inline(__always) func checkInvariants() { InternalChecks.enforce(invariantViolations) }

    /// What a transition that takes no answer loses of what was sent: its key, or something of its first body.
    static func losses(from old: Stage, to new: Stage, _ transition: StaticString) -> [String] {
        guard let sent = old.sent else { return [] }
        guard let kept = new.sent else { return ["\(transition) loses what was sent by a change that is \(old.name)"] }
        var change = kept.change
        // The number within a call is another one in each.
        change.key = sent.change.key
        if change.idempotencyKey != sent.change.idempotencyKey { return ["\(transition) changes the key of a change that is \(old.name)"] }
        return change == sent.change && kept.values == sent.values && kept.lists == sent.lists && kept.nextKey == sent.nextKey
            && kept.isAccepted == sent.isAccepted && kept.isLater == sent.isLater
            ? [] : ["\(transition) changes what was sent by a change that is \(old.name)"]
    }
}
