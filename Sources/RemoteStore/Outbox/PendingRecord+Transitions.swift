@_spi(Stores) internal import ObjectGraph

/// The transitions between the stages of a pending change: only they change a stage.
///
/// Each lists its source and target stages. In any other stage it does nothing, and stops a build with internal checks, because that is a bug of this module. A
/// change that may have arrived keeps its key and its first body until an answer is known; transitions that receive an answer are marked as such.
extension PendingRecord {
    /// A token that allows only the transitions to change the stage.
    struct Passage {
        fileprivate init() {}
    }

    /// Enters the next stage; does nothing if the transition is not allowed from the current one.
    ///
    /// - Parameters:
    ///   - transition: The name of the transition.
    ///   - isAnswer: Whether it receives the outcome of the sent change.
    ///   - next: A closure that returns the next stage; nil if the transition is not allowed.
    private mutating func enter(_ transition: StaticString, isAnswer: Bool = false, _ next: (Stage) -> Stage?) {
        guard let next = next(stage) else {
            return InternalChecks.require(false, "\(transition) of a pending change that is \(stage.name)")
        }
        InternalChecks.enforce(isAnswer ? [] : Self.losses(from: stage, to: next, transition))
        change(to: next, Passage())
        checkInvariants()
    }

    // MARK: Sending

    /// Starts sending a change: waiting → sending.
    mutating func begin(sending sent: Sent) {
        enter("begin") { stage in
            guard case .waiting(let doubt, var attempts, let theirs) = stage else { return nil }
            attempts.count += 1
            return .sending(sent, after: doubt, attempts, theirs: theirs)
        }
    }

    /// Starts sending the earlier change again, unchanged: lost, sought → sending. An accepted change is looked for instead.
    ///
    /// - Parameter key: Its key among the changes of the call.
    mutating func beginAgain(as key: BackendChange.Key) {
        enter("beginAgain") { stage in
            switch stage {
            case .lost(var sent, let doubt, var attempts, let theirs) where !sent.isAccepted:
                sent.change.key = key
                attempts.count += 1
                return .sending(sent, after: doubt, attempts, theirs: theirs)
            case .sought(var sent, let refusal, let count, let next, let theirs):
                sent.change.key = key
                // The attempt before the refusal may have saved it.
                return .sending(sent, after: .open, .init(count: count + 1, next: next, failure: refusal), theirs: theirs)
            default: return nil
            }
        }
    }

    /// Postpones the change: waiting, lost, sought → same stage, with one more attempt. A change that waits for the application's decision stays unchanged.
    ///
    /// - Parameters:
    ///   - failure: The reason; nil if it is not a failure. If a refused object is looked for, the refusal stays the reason.
    ///   - time: The time before which it is not retried.
    mutating func postpone(_ failure: Failure? = nil, until time: Double) {
        enter("postpone") { stage in
            var attempts = stage.attempts.failed(failure, until: time)
            attempts.count += 1
            switch stage {
            case .waiting(let doubt, _, let theirs): return .waiting(after: doubt, attempts, theirs: theirs)
            case .lost(let sent, let doubt, _, let theirs): return .lost(sent, doubt, attempts, theirs: theirs)
            case .sought(let sent, let refusal, let count, _, let theirs):
                return .sought(sent, refusal: refusal, attempts: count + 1, next: time, theirs: theirs)
            case .unknown, .failed, .conflicting: return stage
            case .sending: return nil
            }
        }
    }

    /// Notes that a part that is sent first has arrived: earlier failures are over.
    mutating func noteProgress() {
        enter("noteProgress") { stage in
            if case .waiting(let doubt, _, let theirs) = stage { .waiting(after: doubt, .init(), theirs: theirs) } else { stage }
        }
    }

    // MARK: Without an answer

    /// Notes that there is no answer to the sent change: sending → lost; unknown if it can neither be sent twice nor be looked for.
    ///
    /// - Parameter time: The time before which it is not retried; nil if only the application can decide.
    mutating func noteLost(_ failure: Failure, until time: Double?) {
        enter("noteLost") { stage in
            guard case .sending(let sent, _, let attempts, let theirs) = stage else { return nil }
            guard let time else { return .unknown(sent, failure, attempts: attempts.count, theirs: theirs) }
            return .lost(sent, .open, .init(count: attempts.count, next: time, failure: failure), theirs: theirs)
        }
    }

    /// Notes that the backend has accepted a new object without reporting its identifier: sending → lost. It is looked for, and never sent again.
    ///
    /// - Parameter isLater: Whether the backend creates it later.
    mutating func noteAccepted(_ failure: Failure, isLater: Bool = false) {
        enter("noteAccepted", isAnswer: true) { stage in
            guard case .sending(var sent, _, let attempts, let theirs) = stage, sent.change.kind == .insert, sent.change.id == nil else {
                return nil
            }
            (sent.isAccepted, sent.isLater) = (true, isLater)
            return .lost(sent, .open, .init(count: attempts.count, failure: failure), theirs: theirs)
        }
    }

    /// Notes that the backend has accepted a change of an existing object, and that a read does not show it yet: sending → lost. It is looked for, and never
    /// sent again.
    ///
    /// - Parameter time: The time before which it is not looked for.
    mutating func noteUnseen(_ failure: Failure, until time: Double) {
        enter("noteUnseen", isAnswer: true) { stage in
            guard case .sending(var sent, _, let attempts, let theirs) = stage, sent.change.kind != .insert else { return nil }
            sent.isAccepted = true
            return .lost(sent, .open, .init(count: attempts.count, next: time, failure: failure), theirs: theirs)
        }
    }

    /// Notes that it was saved, but that more information is needed before this can be recorded: sending → lost.
    mutating func noteUnclear() {
        enter("noteUnclear") { stage in
            switch stage {
            case .sending(let sent, let doubt, let attempts, let theirs): .lost(sent, doubt ?? .open, attempts, theirs: theirs)
            case .lost: stage
            default: nil
            }
        }
    }

    /// Notes that this attempt has saved nothing: sending → waiting; lost if an earlier attempt may have arrived. It is then sent again unchanged, with its
    /// key: with another key it would be saved twice.
    ///
    /// - Parameters:
    ///   - failure: The reason; nil if this change is not the cause.
    ///   - time: The time before which it is not retried.
    mutating func noteUnsaved(_ failure: Failure? = nil, until time: Double? = nil) {
        enter("noteUnsaved", isAnswer: stage.doubt == nil) { stage in
            let attempts = stage.attempts.failed(failure, until: time)
            switch stage {
            case .sending(let sent, let doubt?, _, let theirs): return .lost(sent, doubt, attempts, theirs: theirs)
            // The stage is waiting if a part was saved.
            case .sending(_, nil, _, let theirs), .waiting(_, _, let theirs): return .waiting(after: stage.doubt, attempts, theirs: theirs)
            default: return nil
            }
        }
    }

    /// Leaves the decision about the sent change to the application: sending, lost, sought → unknown.
    mutating func leaveToApplication(_ failure: Failure) {
        enter("leaveToApplication") { stage in
            stage.sent.map { .unknown($0, failure, attempts: stage.attempts.count, theirs: stage.theirs) }
        }
    }

    /// Notes that a new object was refused, although an earlier attempt may have saved it: sending → sought.
    mutating func seek(after refusal: Failure) {
        enter("seek") { stage in
            guard case .sending(let sent, _, let attempts, let theirs) = stage else { return nil }
            return .sought(sent, refusal: refusal, attempts: attempts.count, next: attempts.next, theirs: theirs)
        }
    }

    // MARK: Answers

    /// Removes and returns the sent change, because it was saved: sending, lost, sought, unknown → waiting, for the rest.
    mutating func takeSaved() -> Sent? {
        let saved = sent
        enter("takeSaved", isAnswer: true) { stage in stage.sent == nil ? nil : .waiting(after: nil, .init(), theirs: stage.theirs) }
        return saved
    }

    /// Restricts the sent change to some of the properties: the others were refused.
    mutating func keepSent(only names: Set<String>) {
        enter("keepSent", isAnswer: true) { stage in
            guard var part = stage.sent else { return nil }
            part.change = part.change.only(names)
            part.values = part.values.filter { names.contains($0.key) }
            part.lists = part.lists.filter { names.contains($0.key) }
            return stage.with(sent: part)
        }
    }

    /// Discards the sent change, because it was not saved as it is: sending, lost, sought, unknown → waiting. The difference is sent as a new change.
    ///
    /// - Parameters:
    ///   - failure: The reason; nil if it is not a failure.
    ///   - time: The time before which it is not sent; nil to keep the current one.
    ///   - keepsDoubt: Whether an earlier attempt may still have arrived, although the change cannot be sent again.
    mutating func remake(_ failure: Failure? = nil, until time: Double? = nil, keepsDoubt: Bool = false) {
        enter("remake", isAnswer: true) { stage in
            guard stage.sent != nil else { return stage }
            return .waiting(after: keepsDoubt ? stage.doubt : nil, stage.attempts.failed(failure, until: time), theirs: stage.theirs)
        }
    }

    /// Notes that a read has not found a new object: lost → lost, to be sent again; sought → failed.
    mutating func noteMissing() {
        enter("noteMissing", isAnswer: true) { stage in
            switch stage {
            case .lost(let sent, _, let attempts, let theirs): .lost(sent, .repeatable, attempts, theirs: theirs)
            case .sought(_, let refusal, let count, _, let theirs): .failed(refusal, attempts: count, theirs: theirs)
            default: stage
            }
        }
    }

    /// Notes that the backend has refused it, and that no attempt has saved it: any → failed.
    mutating func refuse(_ failure: Failure) {
        enter("refuse", isAnswer: true) { .failed(failure, attempts: $0.attempts.count, theirs: $0.theirs) }
    }

    // MARK: Others

    /// Notes the changes of others: any → same stage.
    mutating func note(_ theirs: Theirs) { enter("note") { $0.with(theirs) } }

    /// Notes that there is no conflict any more: any → same stage; conflicting → waiting.
    mutating func forgetTheirs() { enter("forgetTheirs") { $0.with(nil) } }

    /// Leaves the conflict to the application: waiting, failed → conflicting.
    mutating func setAside() {
        enter("setAside") { stage in
            guard stage.sent == nil else { return nil }
            return stage.theirs.map { .conflicting($0, attempts: stage.attempts.count) }
        }
    }

    // MARK: Decisions

    /// Lets the change be retried at once, by decision of the application. A change that may have arrived is sent unchanged. Waiting, failed, conflicting →
    /// waiting; lost, sought, unknown → lost.
    mutating func retry() {
        enter("retry") { stage in
            switch stage {
            case .waiting(let doubt, _, let theirs): .waiting(after: doubt, .init(), theirs: theirs)
            case .failed(_, _, let theirs): .waiting(after: nil, .init(), theirs: theirs)
            case .conflicting(let theirs, _): .waiting(after: nil, .init(), theirs: theirs)
            case .lost(let sent, let doubt, _, let theirs): .lost(sent, doubt, .init(), theirs: theirs)
            case .sought(let sent, _, _, _, let theirs): .lost(sent, .open, .init(), theirs: theirs)
            case .unknown(let sent, _, _, let theirs): .lost(sent, .repeatable, .init(), theirs: theirs)
            case .sending: stage
            }
        }
    }

    /// Lets the change be retried, because the object was edited: failed → waiting; any other → same stage.
    mutating func reopen() {
        enter("reopen") { stage in
            if case .failed(_, _, let theirs) = stage { .waiting(after: nil, .init(), theirs: theirs) } else { stage }
        }
    }

    /// Discards the sent change and the changes of others, because they are settled or dropped: any but sending → waiting.
    ///
    /// - Parameters:
    ///   - isGone: Whether the object no longer exists anywhere, so that no answer matters: then also sending → waiting.
    ///   - attempts: The number of attempts to keep.
    mutating func clear(isGone: Bool = false, attempts: Int = 0) {
        enter("clear", isAnswer: true) { stage in
            if case .sending = stage, !isGone { return nil }
            return .waiting(after: nil, .init(count: attempts), theirs: nil)
        }
    }

    // MARK: Conversion

    /// Converts the sent change and the changes of others to another form: that of another file, or of another model version.
    mutating func rewrite(
        sent new: (inout Sent) throws -> Void, theirs values: ([String: ResourceValue]) throws -> [String: ResourceValue]
    ) rethrows {
        var next = stage
        if var sent = stage.sent {
            try new(&sent)
            InternalChecks.require(
                sent.change.idempotencyKey == stage.sent?.change.idempotencyKey, "a change that was sent gets another key")
            next = next.with(sent: sent)
        }
        if let theirs = stage.theirs, let known = theirs.values {
            next = next.with(Theirs(values: try values(known), version: theirs.version))
        }
        enter("rewrite", isAnswer: true) { _ in next }
    }
}

extension PendingRecord.Attempts {
    /// Returns a copy with another failure or another time, if they are given.
    fileprivate func failed(_ failure: PendingRecord.Failure?, until time: Double?) -> Self {
        .init(count: count, next: time ?? next, failure: failure ?? self.failure)
    }
}
