@_spi(Stores) internal import ObjectGraph

/// The transitions between the stages of a pending change: nothing else changes a stage.
///
/// Each says from which stages it leads to which. In another one it does nothing, and stops a build with internal checks: it is a mistake of this
/// module. What may have arrived keeps its key and its first body until an answer is known; transitions that take an answer are marked so.
extension PendingRecord {
    /// Lets nobody but the transitions change the stage.
    struct Passage {
        fileprivate init() {}
    }

    /// Enters the next stage; does nothing where the transition does not lead on from this one.
    ///
    /// - Parameters:
    ///   - transition: The name of the transition.
    ///   - isAnswer: Whether it tells what has become of what was sent.
    ///   - next: Returns the next stage; nil where the transition is not allowed.
    private mutating func enter(_ transition: StaticString, isAnswer: Bool = false, _ next: (Stage) -> Stage?) {
        guard let next = next(stage) else {
            return InternalChecks.require(false, "\(transition) of a pending change that is \(stage.name)")
        }
        InternalChecks.enforce(isAnswer ? [] : Self.losses(from: stage, to: next, transition))
        change(to: next, Passage())
        checkInvariants()
    }

    // MARK: Sending

    /// Begins to send a change: waiting → sending.
    mutating func begin(sending sent: Sent) {
        enter("begin") { stage in
            guard case .waiting(let doubt, var attempts, let theirs) = stage else { return nil }
            attempts.count += 1
            return .sending(sent, after: doubt, attempts, theirs: theirs)
        }
    }

    /// Begins to send what was sent before once more, as it was: lost, sought → sending. What was accepted is sought instead.
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
                return .sending(sent, after: nil, .init(count: count + 1, next: next, failure: refusal), theirs: theirs)
            default: return nil
            }
        }
    }

    /// Puts it off: waiting, lost, sought → the same, with one attempt more. What the application decides about stays as it is.
    ///
    /// - Parameters:
    ///   - failure: Why; nil where it is no failure. A refusal whose object is looked for stays the reason.
    ///   - time: The time before which it is not tried again.
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

    /// Notes that something of it has arrived which is sent before: what has failed until then is over.
    mutating func noteProgress() {
        enter("noteProgress") { stage in
            if case .waiting(let doubt, _, let theirs) = stage { .waiting(after: doubt, .init(), theirs: theirs) } else { stage }
        }
    }

    // MARK: Without an answer

    /// Notes that there is no answer to what was sent: sending → lost; unknown where it can be neither sent twice nor looked for.
    ///
    /// - Parameter time: The time before which it is not sent again; nil where only the application can decide.
    mutating func noteLost(_ failure: Failure, until time: Double?) {
        enter("noteLost") { stage in
            guard case .sending(let sent, _, let attempts, let theirs) = stage else { return nil }
            guard let time else { return .unknown(sent, failure, attempts: attempts.count, theirs: theirs) }
            return .lost(sent, .open, .init(count: attempts.count, next: time, failure: failure), theirs: theirs)
        }
    }

    /// Notes that the backend has accepted a new object without telling its identifier: sending → lost, to be sought and never sent again.
    ///
    /// - Parameter isLater: Whether the backend makes it later.
    mutating func noteAccepted(_ failure: Failure, isLater: Bool = false) {
        enter("noteAccepted", isAnswer: true) { stage in
            guard case .sending(var sent, _, let attempts, let theirs) = stage, sent.change.kind == .insert, sent.change.id == nil else {
                return nil
            }
            (sent.isAccepted, sent.isLater) = (true, isLater)
            return .lost(sent, .open, .init(count: attempts.count, failure: failure), theirs: theirs)
        }
    }

    /// Notes that the backend has accepted a change of an object that it has, and that a read does not show it yet: sending → lost, to be looked for and never
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

    /// Notes that it was saved, and that something else is to be known before that can be noted: sending → lost.
    mutating func noteUnclear() {
        enter("noteUnclear") { stage in
            switch stage {
            case .sending(let sent, let doubt, let attempts, let theirs): .lost(sent, doubt ?? .open, attempts, theirs: theirs)
            case .lost: stage
            default: nil
            }
        }
    }

    /// Notes that nothing was saved by this attempt: sending → waiting; lost where an earlier one may have arrived. It is then sent again as it was,
    /// with its key: with another one it would be saved twice.
    ///
    /// - Parameters:
    ///   - failure: Why; nil where it is not the fault of this change.
    ///   - time: The time before which it is not sent again.
    mutating func noteUnsaved(_ failure: Failure? = nil, until time: Double? = nil) {
        enter("noteUnsaved", isAnswer: stage.doubt == nil) { stage in
            let attempts = stage.attempts.failed(failure, until: time)
            switch stage {
            case .sending(let sent, let doubt?, _, let theirs): return .lost(sent, doubt, attempts, theirs: theirs)
            // Waiting is what is left when a part was saved.
            case .sending(_, nil, _, let theirs), .waiting(_, _, let theirs): return .waiting(after: stage.doubt, attempts, theirs: theirs)
            default: return nil
            }
        }
    }

    /// Lets the application decide what becomes of what was sent: sending, lost, sought → unknown.
    mutating func leaveToApplication(_ failure: Failure) {
        enter("leaveToApplication") { stage in
            stage.sent.map { .unknown($0, failure, attempts: stage.attempts.count, theirs: stage.theirs) }
        }
    }

    /// Notes that a new object was refused, though an earlier attempt may have saved it: sending → sought.
    mutating func seek(after refusal: Failure) {
        enter("seek") { stage in
            guard case .sending(let sent, _, let attempts, let theirs) = stage else { return nil }
            return .sought(sent, refusal: refusal, attempts: attempts.count, next: attempts.next, theirs: theirs)
        }
    }

    // MARK: Answers

    /// Takes what was sent, since it was saved: sending, lost, sought, unknown → waiting, for the rest.
    mutating func takeSaved() -> Sent? {
        let saved = sent
        enter("takeSaved", isAnswer: true) { stage in stage.sent == nil ? nil : .waiting(after: nil, .init(), theirs: stage.theirs) }
        return saved
    }

    /// Takes only some of the properties for sent: the others were refused.
    mutating func keepSent(only names: Set<String>) {
        enter("keepSent", isAnswer: true) { stage in
            guard var part = stage.sent else { return nil }
            part.change = part.change.only(names)
            part.values = part.values.filter { names.contains($0.key) }
            part.lists = part.lists.filter { names.contains($0.key) }
            return stage.with(sent: part)
        }
    }

    /// Forgets what was sent, since it was not saved as it is: sending, lost, sought, unknown → waiting. What differs is sent as a change of its own.
    ///
    /// - Parameters:
    ///   - failure: Why; nil where it is no failure.
    ///   - time: The time before which it is not sent; nil for that which is noted.
    ///   - keepsDoubt: Whether an earlier attempt may still have arrived, though what was sent cannot be sent again.
    mutating func remake(_ failure: Failure? = nil, until time: Double? = nil, keepsDoubt: Bool = false) {
        enter("remake", isAnswer: true) { stage in
            guard stage.sent != nil else { return stage }
            return .waiting(after: keepsDoubt ? stage.doubt : nil, stage.attempts.failed(failure, until: time), theirs: stage.theirs)
        }
    }

    /// Notes that a read has not found a new object: lost → the same, to be sent again; sought → failed.
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

    /// Notes what others have made of the object: any → the same.
    mutating func note(_ theirs: Theirs) { enter("note") { $0.with(theirs) } }

    /// Notes that nothing is contested any more: any → the same; conflicting → waiting.
    mutating func forgetTheirs() { enter("forgetTheirs") { $0.with(nil) } }

    /// Lets the application settle what is contested: waiting, failed → conflicting.
    mutating func setAside() {
        enter("setAside") { stage in
            guard stage.sent == nil else { return nil }
            return stage.theirs.map { .conflicting($0, attempts: stage.attempts.count) }
        }
    }

    // MARK: Decisions

    /// Lets it be sent again, at once, as the application has decided: what may have arrived as it was. Waiting, failed, conflicting → waiting;
    /// lost, sought, unknown → lost.
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

    /// Lets it be sent again, since it was edited: failed → waiting; any other → the same.
    mutating func reopen() {
        enter("reopen") { stage in
            if case .failed(_, _, let theirs) = stage { .waiting(after: nil, .init(), theirs: theirs) } else { stage }
        }
    }

    /// Forgets what was sent and what others have done, since it is settled or given up: any but sending → waiting.
    ///
    /// - Parameters:
    ///   - isGone: Whether nobody has the object any more, so that no answer matters: sending → waiting, too.
    ///   - attempts: The number of attempts to be kept.
    mutating func clear(isGone: Bool = false, attempts: Int = 0) {
        enter("clear", isAnswer: true) { stage in
            if case .sending = stage, !isGone { return nil }
            return .waiting(after: nil, .init(count: attempts), theirs: nil)
        }
    }

    // MARK: Forms

    /// Gives what was sent and what others have done another form of the same: that of another file, or of another version of the model.
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
    /// The same with another failure, or another time, as far as they are given.
    fileprivate func failed(_ failure: PendingRecord.Failure?, until time: Double?) -> Self {
        .init(count: count, next: time ?? next, failure: failure ?? self.failure)
    }
}
