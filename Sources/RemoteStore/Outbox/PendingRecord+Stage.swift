internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The stages of a change until the backend has confirmed it, with the data of each stage.
extension PendingRecord {
    /// The stage of a change, with the values that exist only in that stage.
    ///
    /// For the transitions between stages, see `PendingRecord+Transitions.swift`.
    enum Stage: Hashable, Sendable {
        /// No part of it is in flight. The difference is sent as soon as it is due and its dependencies exist, after conflicts with others are resolved.
        /// `after` is set if an attempt may have arrived whose change cannot be sent again, because its key is not kept.
        case waiting(after: Doubt?, Attempts, theirs: Theirs?)
        /// It was sent, and there is no answer yet. After a restart, it is unknown whether it was saved. `after` is set if earlier attempts may have arrived.
        case sending(Sent, after: Doubt?, Attempts, theirs: Theirs?)
        /// The sent change may have arrived: it is sent again unchanged, or looked for.
        case lost(Sent, Doubt, Attempts, theirs: Theirs?)
        /// A new object that was refused, although an earlier attempt may have saved it: it is looked for by its identifier.
        case sought(Sent, refusal: Failure, attempts: Int, next: Double, theirs: Theirs?)
        /// It is unknown whether it was saved, and only the application can decide whether it is sent again.
        case unknown(Sent, Failure, attempts: Int, theirs: Theirs?)
        /// The backend has refused it.
        case failed(Failure, attempts: Int, theirs: Theirs?)
        /// Others have changed the same properties, and the application decides.
        case conflicting(Theirs, attempts: Int)
    }

    /// The attempts to send a change since the last edit or answer.
    struct Attempts: Hashable, Sendable {
        /// The number of attempts.
        var count = 0
        /// The time before which it is not retried, by this machine's clock.
        var next = 0.0
        /// The reason why the last attempt failed.
        var failure: Failure?
    }

    /// The knowledge about a change that may have arrived.
    enum Doubt: Hashable, Sendable {
        /// Nothing is known. If a duplicate would do harm, the change is looked for first.
        case open
        /// It was looked for in vain, or the application has decided: it is sent again.
        case repeatable
    }

    /// The value of the file's column, which distinguishes stages for code other than this record.
    enum State: Int16, Sendable {
        /// To be sent, for the first time or again.
        case waiting = 0
        /// In flight.
        case sending = 1
        /// Of unknown outcome.
        case unknown = 2
        /// Refused.
        case failed = 3
        /// In a conflict.
        case conflicting = 4
    }
}

// MARK: Data of a stage

extension PendingRecord.Stage {
    /// Nothing was sent, and nothing has gone wrong.
    static let fresh = PendingRecord.Stage.waiting(after: nil, .init(), theirs: nil)

    /// The names of the stages, for messages.
    enum Name: String, CaseIterable, Sendable { case waiting, sending, lost, sought, unknown, failed, conflicting }

    var name: Name {
        switch self {
        case .waiting: .waiting
        case .sending: .sending
        case .lost: .lost
        case .sought: .sought
        case .unknown: .unknown
        case .failed: .failed
        case .conflicting: .conflicting
        }
    }

    /// Returns the same stage with the changes of others; without them, a conflict is over.
    func with(_ theirs: PendingRecord.Theirs?) -> Self {
        switch self {
        case .waiting(let doubt, let attempts, _): .waiting(after: doubt, attempts, theirs: theirs)
        case .sending(let sent, let doubt, let attempts, _): .sending(sent, after: doubt, attempts, theirs: theirs)
        case .lost(let sent, let doubt, let attempts, _): .lost(sent, doubt, attempts, theirs: theirs)
        case .sought(let sent, let refusal, let count, let next, _):
            .sought(sent, refusal: refusal, attempts: count, next: next, theirs: theirs)
        case .unknown(let sent, let failure, let count, _): .unknown(sent, failure, attempts: count, theirs: theirs)
        case .failed(let failure, let count, _): .failed(failure, attempts: count, theirs: theirs)
        case .conflicting(_, let count): theirs.map { .conflicting($0, attempts: count) } ?? .fresh
        }
    }

    /// Returns the same stage with another form of the sent change; unchanged if nothing was sent.
    func with(sent: PendingRecord.Sent) -> Self {
        switch self {
        case .sending(_, let doubt, let attempts, let theirs): .sending(sent, after: doubt, attempts, theirs: theirs)
        case .lost(_, let doubt, let attempts, let theirs): .lost(sent, doubt, attempts, theirs: theirs)
        case .sought(_, let refusal, let count, let next, let theirs):
            .sought(sent, refusal: refusal, attempts: count, next: next, theirs: theirs)
        case .unknown(_, let failure, let count, let theirs): .unknown(sent, failure, attempts: count, theirs: theirs)
        case .waiting, .failed, .conflicting: self
        }
    }
}

extension PendingRecord.Stage {
    /// The sent change, while there is no answer to it.
    var sent: PendingRecord.Sent? {
        switch self {
        case .sending(let sent, _, _, _), .lost(let sent, _, _, _), .sought(let sent, _, _, _, _), .unknown(let sent, _, _, _): sent
        case .waiting, .failed, .conflicting: nil
        }
    }

    /// The changes of others, until the conflict is resolved.
    var theirs: PendingRecord.Theirs? {
        switch self {
        case .waiting(_, _, let theirs), .sending(_, _, _, let theirs), .lost(_, _, _, let theirs), .sought(_, _, _, _, let theirs),
            .unknown(_, _, _, let theirs), .failed(_, _, let theirs):
            theirs
        case .conflicting(let theirs, _): theirs
        }
    }

    /// The doubt about attempts that may have arrived: the earlier ones, if one is in flight, otherwise all. Nil if none can have arrived.
    var doubt: PendingRecord.Doubt? {
        switch self {
        case .waiting(let doubt, _, _), .sending(_, let doubt, _, _): doubt
        case .lost(_, let doubt, _, _): doubt
        case .unknown: .open
        case .sought, .failed, .conflicting: nil
        }
    }

    /// The attempts. If the application has to decide, there is no next attempt. A conflict is not a failure.
    var attempts: PendingRecord.Attempts {
        switch self {
        case .waiting(_, let attempts, _), .sending(_, _, let attempts, _), .lost(_, _, let attempts, _): attempts
        case .sought(_, let refusal, let count, let next, _): .init(count: count, next: next, failure: refusal)
        case .unknown(_, let failure, let count, _), .failed(let failure, let count, _): .init(count: count, failure: failure)
        case .conflicting(_, let count): .init(count: count)
        }
    }
}

extension PendingRecord {
    /// The sent change, while there is no answer to it.
    var sent: Sent? { stage.sent }
    /// The changes of others, until the conflict is resolved.
    var theirs: Theirs? { stage.theirs }
    /// Whether an attempt may have arrived: an earlier one, if one is in flight, otherwise any.
    var mayHaveArrived: Bool { stage.doubt != nil }
    /// The number of attempts since the last edit or answer.
    var attempts: Int { stage.attempts.count }
    /// The time before which it is not retried, by this machine's clock; 0 if the application has to decide.
    var nextAttempt: Double { stage.attempts.next }
    /// The reason why it is not saved; nil if nothing has failed, or only others have changed the same properties.
    var failure: Failure? { stage.attempts.failure }

    /// The value of the file's column.
    var state: State {
        switch stage {
        case .waiting, .lost, .sought: .waiting
        case .sending: .sending
        case .unknown: .unknown
        case .failed: .failed
        case .conflicting: .conflicting
        }
    }

    /// Whether it waits for a decision of the application.
    var isSetAside: Bool {
        switch stage {
        case .unknown, .failed, .conflicting: true
        case .waiting, .sending, .lost, .sought: false
        }
    }
}

// MARK: Storage

extension PendingRecord {
    /// The fields of a stage in the file. This format is older than the stages, and not every combination of its fields is a valid stage.
    struct StageFields {
        var state: State
        var mayRepeat = false
        var isRepeated = false
        var sent: Sent?
        var theirs: Theirs?
        var attempts = Attempts()
    }

    /// The stage as fields of the file.
    var stageFields: StageFields {
        StageFields(
            state: state, mayRepeat: stage.doubt == .repeatable, isRepeated: stage.doubt != nil, sent: sent, theirs: theirs,
            attempts: stage.attempts)
    }
}

extension PendingRecord.Stage {
    /// Creates a stage from the fields of the file. An invalid combination becomes the closest stage that loses nothing: a change that may have arrived remains
    /// one, and if the outcome cannot be determined, the application decides.
    init(_ fields: PendingRecord.StageFields) {
        var attempts = fields.attempts
        attempts.count = min(max(attempts.count, 0), Int(Int32.max))
        if !attempts.next.isFinite { attempts.next = 0 }
        let (count, theirs) = (attempts.count, fields.theirs)
        let doubt: PendingRecord.Doubt? = fields.mayRepeat ? .repeatable : fields.isRepeated ? .open : nil
        guard let sent = fields.sent else {
            switch (fields.state, theirs) {
            case (.waiting, _), (.sending, _), (.conflicting, nil):
                // The application's decision ends with the sent change.
                self = .waiting(after: fields.isRepeated ? doubt : nil, attempts, theirs: theirs)
            case (.unknown, _), (.failed, _): self = .failed(attempts.failure ?? .lostReason, attempts: count, theirs: theirs)
            case (.conflicting, let theirs?): self = .conflicting(theirs, attempts: count)
            }
            return
        }
        let isFindable = sent.change.kind != .insert || sent.change.id != nil
        switch (fields.state, doubt) {
        case (.waiting, let doubt?): self = .lost(sent, doubt, attempts, theirs: theirs)
        case (.waiting, nil):
            if sent.change.kind == .insert, isFindable, let refusal = attempts.failure {
                self = .sought(sent, refusal: refusal, attempts: count, next: attempts.next, theirs: theirs)
            } else if isFindable {
                self = .lost(sent, .open, attempts, theirs: theirs)
            } else {
                self = .unknown(sent, attempts.failure ?? .lostReason, attempts: count, theirs: theirs)
            }
        case (.sending, _):
            attempts.count = max(1, count)
            self = .sending(sent, after: doubt, attempts, theirs: theirs)
        // If the application had decided on a retry that also had no answer, the outcome is unknown again.
        case (.unknown, _), (.failed, _), (.conflicting, _):
            self = .unknown(sent, attempts.failure ?? .lostReason, attempts: count, theirs: theirs)
        }
    }
}

extension PendingRecord.Failure {
    /// A placeholder for a reason that a file does not contain.
    static var lostReason: Self {
        .init(domain: NSCocoaErrorDomain, code: NSPersistentStoreSaveError, message: "The outcome of a change is not known.")
    }
}
