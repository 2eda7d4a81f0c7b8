internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// An object of the file: the name of its root entity, and its key.
struct LocalKey: Hashable, Sendable {
    let root: String
    let key: Int64
}

/// The unconfirmed state of an object: one record for each object with pending changes.
///
/// The row in the file has the displayed values. The record has the confirmed values of the properties that differ; the difference is sent. References to
/// objects are *local*: `.one(.integer(key))`, the key of the row in the file, because a new object has no other.
struct PendingRecord: Hashable, Sendable {
    /// A change as it was sent.
    struct Sent: Hashable, Sendable {
        /// The change, which is sent again unchanged.
        var change: BackendChange
        /// Its values, with local references.
        var values: [String: ResourceValue]
        /// Its lists, with local references.
        var lists: [String: BackendChange.ListChange]
        /// The key of the next new row at the time when the change was first sent: rows with lower keys were known by then.
        var nextKey: Int64 = 0
        /// The time when its key was first sent, by this machine's clock; nil if the backend knows keys forever, or did at that time.
        var firstSent: Double?
        /// Whether the backend has accepted it: a new object without an identifier in the answer, or a change that no read has shown yet. It is looked for, and
        /// never sent again.
        var isAccepted = false
        /// Whether the backend will make the accepted change later: until then it cannot be found.
        var isLater = false

        /// Whether the backend still recognizes the key, so that it saves the change once even if it is sent again.
        func canRepeatKey(_ saving: Resource.Saving, at now: Double) -> Bool { saving.repeats(keyOfAge: firstSent.map { now - $0 }) }
    }

    /// The changes that others have made to the object since.
    struct Theirs: Hashable, Sendable {
        /// The values of the contested properties; nil if the object was deleted.
        var values: [String: ResourceValue]?
        var version: ResourceVersion?
    }

    /// A large value that is sent before the change.
    struct Upload: Hashable, Sendable {
        /// A key that identifies the bytes: other bytes have another key. It replaces them in the record, which never contains them.
        let key: UUID
        /// The number of bytes.
        var size: Int64
        /// The backend's token of the upload; nil if it has not begun.
        var token: String?
        /// The number of confirmed bytes when it was last recorded.
        var confirmed: Int64 = 0
        /// The value that replaces the bytes in the change; nil until they are uploaded.
        var reference: ResourceValue?

        /// The value that replaces the bytes in comparisons.
        var standIn: ResourceValue { .value(.uuid(key)) }
        /// The value that replaces a large value that is not pending.
        static let settled = ResourceValue.value(.bool(true))
    }

    /// The reason why a change was not saved.
    struct Failure: Hashable, Sendable {
        var domain: String
        var code: Int
        var message: String
    }

    /// The name of the entity.
    var entity: String
    var key: LocalKey
    /// The position in the queue.
    var sequence: Int64
    /// The number of the last save that changed it: objects that were deleted together are restored together.
    var save: Int64 = 0
    /// The user who made the change: only that user sends it. If nil, the user is not known, and the first one who sends it becomes its user.
    var principal: String?
    /// The backend's identifier of the object; nil for a new one whose identifier the backend assigns.
    var resource: ResourceID?
    /// Whether the backend has the object.
    var isConfirmed: Bool
    /// Whether the object is displayed: false if it was deleted here.
    var isShown = true
    /// The confirmed values of the properties whose displayed values differ.
    var confirmed: [String: ResourceValue] = [:]
    /// The edits of lists since they were confirmed. The members are the *confirmed* ones, in order, for an ordered list.
    var lists: [String: BackendChange.ListChange] = [:]
    /// The version of the confirmed values.
    var version: ResourceVersion?
    /// The large values that are pending, by attribute.
    var uploads: [String: Upload] = [:]
    /// Whether a part of it was merged with changes of others.
    var isMerged = false
    /// The stage, with the sent change and the changes of others.
    private(set) var stage = Stage.fresh

    /// Changes the stage. Only its transitions call this method.
    mutating func change(to stage: Stage, _: Passage) { self.stage = stage }

    /// The kind of the pending change; nil for none.
    var kind: Resource.Saving.Kind? {
        switch (isConfirmed, isShown) {
        case (false, true): .insert
        case (true, true): .update
        case (true, false): .delete
        case (false, false): nil
        }
    }

    /// Whether nothing is left to send: the backend has confirmed the displayed values.
    var isDone: Bool {
        guard sent == nil, theirs == nil else { return false }
        return isShown ? isConfirmed && confirmed.isEmpty && lists.isEmpty : !isConfirmed
    }

    /// Whether a user may send it.
    func belongs(to user: String?) -> Bool { principal == nil || principal == user }

    /// Whether an answer may still tell the identifier of a new object.
    ///
    /// If its outcome is unknown, no answer will come: the application decides, without a time limit.
    var awaitsInsert: Bool {
        guard let change = sent?.change, change.kind == .insert else { return false }
        if case .unknown = stage { return change.id != nil }
        return true
    }
}

// MARK: Bytes

extension PendingRecord {
    /// The additions that the plain format cannot store.
    private var additions: RecordCoder.Additions {
        var found: RecordCoder.Additions = sent?.isAccepted == true ? .acceptance : []
        if sent?.isLater == true { found.insert(.later) }
        if sent?.firstSent != nil { found.insert(.time) }
        if principal != nil { found.insert(.principal) }
        return found
    }

    /// Returns the encoded content, except the parts that have their own columns.
    ///
    /// - Throws: Code 134030 for a value of a type that cannot be stored.
    func encoded() throws -> Data {
        let additions = additions
        return try RecordCoder.seal(as: additions.isEmpty ? RecordCoder.plainForm : RecordCoder.form) { bytes in
            bytes.append(entity)
            bytes.append(signed: save)
            bytes.append(resource == nil ? 0 : 1)
            if let resource { RecordCoder.write(resource, &bytes) }
            let (fields, attempts) = (stageFields, stage.attempts)
            for flag in [isConfirmed, isShown, fields.mayRepeat, fields.isRepeated, isMerged] { bytes.append(flag ? 1 : 0) }
            try RecordCoder.write(confirmed, &bytes)
            RecordCoder.write(lists, &bytes)
            RecordCoder.write(version, &bytes)
            bytes.append(sent == nil ? 0 : 1)
            if let sent {
                try RecordCoder.write(sent.change, &bytes)
                try RecordCoder.write(sent.values, &bytes)
                RecordCoder.write(sent.lists, &bytes)
            }
            bytes.append(theirs == nil ? 0 : 1)
            if let theirs {
                bytes.append(theirs.values == nil ? 0 : 1)
                if let values = theirs.values { try RecordCoder.write(values, &bytes) }
                RecordCoder.write(theirs.version, &bytes)
            }
            bytes.append(signed: Int64(attempts.count))
            bytes.append(fixed: attempts.next.bitPattern)
            bytes.append(attempts.failure == nil ? 0 : 1)
            if let failure = attempts.failure {
                bytes.append(failure.domain)
                bytes.append(signed: Int64(failure.code))
                bytes.append(failure.message)
            }
            try RecordCoder.write(uploads, &bytes)
            bytes.append(signed: sent?.nextKey ?? 0)
            if additions.isEmpty { return }
            bytes.append(additions.rawValue)
            if let firstSent = sent?.firstSent { bytes.append(fixed: firstSent.bitPattern) }
            if principal != nil { RecordCoder.write(principal, &bytes) }
        }
    }

    /// Reads a record.
    ///
    /// - Throws: Code 259 for bytes that are not a valid record.
    init(_ key: LocalKey, sequence: Int64, state: State, _ data: Data) throws {
        self = try RecordCoder.open(data) { bytes, form in
            var record = PendingRecord(entity: try bytes.text(), key: key, sequence: sequence, isConfirmed: false)
            var fields = StageFields(state: state)
            record.save = try bytes.signed()
            if try RecordCoder.readFlag(&bytes) { record.resource = try RecordCoder.readID(&bytes) }
            record.isConfirmed = try RecordCoder.readFlag(&bytes)
            record.isShown = try RecordCoder.readFlag(&bytes)
            fields.mayRepeat = try RecordCoder.readFlag(&bytes)
            fields.isRepeated = try RecordCoder.readFlag(&bytes)
            record.isMerged = try RecordCoder.readFlag(&bytes)
            record.confirmed = try RecordCoder.readValues(&bytes)
            record.lists = try RecordCoder.readLists(&bytes)
            record.version = try RecordCoder.readVersion(&bytes)
            if try RecordCoder.readFlag(&bytes) {
                fields.sent = Sent(
                    change: try RecordCoder.readChange(&bytes), values: try RecordCoder.readValues(&bytes),
                    lists: try RecordCoder.readLists(&bytes))
            }
            if try RecordCoder.readFlag(&bytes) {
                let values = try RecordCoder.readFlag(&bytes) ? try RecordCoder.readValues(&bytes) : nil
                fields.theirs = Theirs(values: values, version: try RecordCoder.readVersion(&bytes))
            }
            fields.attempts.count = Int(clamping: try bytes.signed())
            fields.attempts.next = Double(bitPattern: try bytes.fixed())
            if try RecordCoder.readFlag(&bytes) {
                let domain = try bytes.text()
                let code = Int(truncatingIfNeeded: try bytes.signed())
                fields.attempts.failure = Failure(domain: domain, code: code, message: try bytes.text())
            }
            if form > 1 { record.uploads = try RecordCoder.readUploads(&bytes) }
            if form > 2 {
                let nextKey = try bytes.signed()
                fields.sent?.nextKey = nextKey
            }
            if form == RecordCoder.formOfTimes { fields.sent?.firstSent = Double(bitPattern: try bytes.fixed()) }
            if form > RecordCoder.formOfTimes {
                let additions = RecordCoder.Additions(rawValue: try bytes.byte())
                fields.sent?.isAccepted = additions.contains(.acceptance)
                fields.sent?.isLater = additions.contains(.later)
                if additions.contains(.time) { fields.sent?.firstSent = Double(bitPattern: try bytes.fixed()) }
                if additions.contains(.principal) { record.principal = try RecordCoder.readText(&bytes) }
            }
            record.stage = Stage(fields)
            return record
        }
    }
}

extension ResourceValue {
    /// The key of the object of a local reference.
    var localKey: Int64? { if case .one(let reference?) = self, case .integer(let key) = reference.id { key } else { nil } }
}

extension ResourceReference {
    /// A reference to an object of the file.
    static func local(_ key: Int64) -> ResourceReference { ResourceReference(.integer(key)) }
    /// The key of the object of a local reference.
    ///
    /// Not inlined: the optimizer of Swift 6.3 fails with an error if it is inlined into a closure.
    @inline(never) var localKey: Int64? { if case .integer(let key) = id { key } else { nil } }
}
