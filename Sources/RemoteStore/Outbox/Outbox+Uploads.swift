internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// Large values, which are sent before the change of their object.
///
/// A record does not contain their bytes, which are in files of the cache. An identifier stands for them, and different bytes have different identifiers.
extension OutboxTransaction {
    /// Notes that the current large values of a row are pending.
    func noteUploads(_ names: Set<String>?, _ row: CacheRow, _ record: inout PendingRecord) {
        for name in names ?? [] {
            guard case .data(let data) = Self.value(row.row, row.entity.inner.frozenParts.byName[name]).value else {
                record.uploads[name] = nil
                continue
            }
            record.uploads[name] = PendingRecord.Upload(key: UUID(), size: Int64(data.count))
        }
    }
}

extension Outbox {
    /// Returns the attribute whose value must be uploaded next, before the change is sent; nil if all are uploaded.
    func nextUpload(of given: PendingRecord, _ pending: OutboxTransaction) throws -> String? {
        guard given.sent == nil, let kind = given.kind, kind != .delete, let subject = try pending.subject(pending.place(given)) else {
            return nil
        }
        var record = given
        let isWanted = { (name: String) in
            let value = subject.shown.value(name)
            return !value.isNull && (kind == .insert || record.confirmed[name].map { !$0.isSame(as: value) } ?? false)
        }
        let names = subject.saving.uploads.filter(isWanted).sorted()
        // An object that others have deleted is sent as a new one, with values that were not pending before.
        let unnoted = names.filter { record.uploads[$0] == nil }
        if !unnoted.isEmpty {
            pending.noteUploads(Set(unnoted), subject.row, &record)
            try pending.finish(record, subject.row)
        }
        return names.first { record.uploads[$0]?.reference == nil }
    }
}

extension PendingRecord.Upload {
    /// Resets the upload, so that it starts over.
    mutating func forget() { (token, confirmed, reference) = (nil, 0, nil) }
}

/// An error of the file, as opposed to one of the backend.
private struct FileFailure: Error {
    let cause: any Error
}

extension OutboxSender {
    /// The number of bytes after which the progress of an upload is recorded. It shows how far the upload has come before the backend is asked again.
    private static let noted: Int64 = 8 << 20

    /// Uploads a value, and records the backend's reference to it.
    ///
    /// - Throws: The errors of the file.
    func upload(_ name: String, of key: LocalKey) async throws {
        let file = outbox.file
        guard let entity = file.entity(named: key.root), let row = try file.row(CacheKey(entity: entity, number: key.key)),
            let record = try outbox.record(file.key(of: row)), let known = record.uploads[name],
            case .data(let data) = OutboxTransaction.value(
                row, file.entity(inner: row.knownObjectID.owningEntity).inner.frozenParts.byName[name]
            )
            .value, data.count == known.size
        else { return }
        var upload = BackendUpload(
            entity: record.entity, property: name, id: record.resource, size: known.size, key: known.key)
        let principal = outbox.principal()
        guard record.belongs(to: principal) else { return }
        (upload.principal, upload.token, upload.confirmed) = (principal, known.token, known.confirmed)
        let progress = LockedBox((noted: known.confirmed, upload: upload))
        defer { state.withLock { $0.uploading[key]?[name] = nil } }
        do {
            let reference = try await reader.runner.upload(upload, data) { now in
                let isBegun = progress.withLock { $0.upload.token != now.token }
                let isDue = progress.withLock { state in
                    state.upload = now
                    if now.confirmed - state.noted < Self.noted { return false }
                    state.noted = now.confirmed
                    return true
                }
                if state.withLock({ $0.isClosed }) { return false }
                do {
                    if isBegun || isDue {
                        guard try note(now, name, of: key) else { return false }
                    } else if try outbox.record(file.key(of: row))?.uploads[name]?.key != now.key {
                        // The value was replaced, or the change dropped.
                        return false
                    }
                    try tell(now, name, of: file.key(of: row), key)
                } catch { throw FileFailure(cause: error) }
                return true
            }
            guard let reference else { return }
            do { try note(progress.withLock { $0.upload }, name, of: key, reference) } catch { throw FileFailure(cause: error) }
            state.withLock { state in
                state.due[key] = nil
                state.credentials.noteTaken()
            }
        } catch let failure as FileFailure {
            throw failure.cause
        } catch {
            try noteFailed(error, progress.withLock { $0.upload }, name, of: key)
        }
    }

    /// Reports the progress of an upload to observers.
    private func tell(_ upload: BackendUpload, _ name: String, of place: CacheKey, _ key: LocalKey) throws {
        let watching = state.withLock { state in
            state.uploading[key, default: [:]][name] = upload.confirmed
            return state.uploadProgress[key]?.progress
        }
        if let watching, let record = try outbox.record(place) {
            watching.completedUnitCount = uploads(of: record).map(\.upload.confirmed).reduce(0, +)
        }
        didChange()
    }

    /// Returns the uploads of a change, with their current progress.
    func uploads(of record: PendingRecord) -> [(name: String, upload: PendingRecord.Upload)] {
        if record.uploads.isEmpty { return [] }
        let now = state.withLock { $0.uploading[record.key] ?? [:] }
        return record.uploads.sorted { $0.key < $1.key }.map { name, upload in
            var upload = upload
            upload.confirmed = upload.reference == nil ? now[name] ?? upload.confirmed : upload.size
            return (name, upload)
        }
    }

    /// Records the progress of an upload.
    ///
    /// - Returns: Whether the value is still to be uploaded.
    @discardableResult private func note(
        _ upload: BackendUpload, _ name: String, of key: LocalKey, _ reference: ResourceValue? = nil
    ) throws -> Bool {
        try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard var record = try pending.record(key), record.uploads[name]?.key == upload.key, record.kind != .delete,
                let subject = try pending.subject(pending.place(record))
            else { return false }
            record.uploads[name]?.token = upload.token
            record.uploads[name]?.confirmed = upload.confirmed
            if let reference { record.uploads[name]?.reference = reference }
            // Some bytes have arrived, so earlier failures are over. A backend that forgets uploads repeatedly is retried with a growing delay.
            if record.failure.map({ $0.domain != Outbox.failure(ForgottenUpload()).domain }) ?? true {
                record.noteProgress()
            }
            try pending.finish(record, subject.row)
            return true
        }
    }

    /// Notes that an upload was interrupted.
    private func noteFailed(_ error: any Error, _ upload: BackendUpload, _ name: String, of key: LocalKey) throws {
        let prospect = Prospect(error)
        noteDeferred([key], prospect)
        if prospect.needsCredentials { noteRefusedCredentials(error, of: upload.principal) }
        let (now, uptime) = (clock.now, clock.uptime)
        let next = try outbox.file.write { transaction -> Double? in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard var record = try pending.record(key), record.uploads[name]?.key == upload.key,
                let subject = try pending.subject(pending.place(record))
            else { return nil }
            let attempts = record.attempts + 1
            record.uploads[name]?.token = upload.token
            record.uploads[name]?.confirmed = upload.confirmed
            if error is ForgottenUpload { record.uploads[name]?.forget() }
            if prospect.mayPass ?? (attempts < Self.maximumAttempts) {
                record.postpone(Outbox.failure(error), until: outbox.time(after: error, delay(attempts, prospect.retryAfter)))
            } else {
                record.postpone(until: 0)
                record.refuse(Outbox.failure(error))
            }
            try pending.finish(record, subject.row)
            return record.nextAttempt
        }
        state.withLock { state in
            state.due[key] = next.flatMap { $0 > now ? uptime + .milliseconds(Int64(($0 - now) * 1000)) : nil }
        }
    }
}
