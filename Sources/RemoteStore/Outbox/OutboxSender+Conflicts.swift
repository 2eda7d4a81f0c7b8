internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform

/// Determines the cause of a conflict, and lets the application resolve it.
extension OutboxSender {
    /// A conflict that a read has not explained.
    struct UnexplainedConflict {
        /// The change as it was sent.
        let change: BackendChange
        /// The number of consecutive occurrences.
        var count = 0

        /// Whether a change has the same content for the backend.
        func isSame(as other: BackendChange) -> Bool {
            change.kind == other.kind && change.version == other.version && change.values == other.values && change.lists == other.lists
        }

        /// The number of times that the object is read and the change retried: a replica of the backend may lag.
        static let limit = 4
    }

    /// Notes the results of reads after conflicts that were reported without values. If the object still has the values that the change is based on, the
    /// conflict has another cause, such as a value that must be unique, and ends as a refusal.
    ///
    /// - Parameter changes: The changes as they were sent.
    /// - Throws: The errors of the file.
    func noteCompared(_ changes: [LocalKey: BackendChange]) throws {
        try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            for (key, change) in changes {
                guard var record = try pending.record(key), record.sent == nil, !record.isSetAside, record.theirs == nil,
                    record.version == change.version, let subject = try pending.subject(pending.place(record))
                else {
                    state.withLock { $0.unexplained[key] = nil }
                    continue
                }
                let count = state.withLock { state in
                    var known = state.unexplained[key].flatMap { $0.isSame(as: change) ? $0 : nil } ?? UnexplainedConflict(change: change)
                    known.count += 1
                    state.unexplained[key] = known.count < UnexplainedConflict.limit ? known : nil
                    return known.count
                }
                if count < UnexplainedConflict.limit { continue }
                record.refuse(Outbox.failure(RemoteStoreError.isOfNoVersion(record.entity)))
                try pending.finish(record, subject.row)
            }
        }
    }

    // MARK: Decisions

    /// Lets the application's function resolve a conflict.
    ///
    /// - Throws: The errors of the file.
    func resolve(_ key: LocalKey) async throws {
        var rule = outbox.rule
        var merged: [String: ResourceValue] = [:]
        if case .resolver(let decide) = rule {
            guard let conflict = try conflict(key) else { return }
            do {
                switch try await decide(conflict) {
                case .mine: rule = .overwrite
                case .theirs: rule = .rollback
                case .setAside: rule = .setAside
                case .merged(let values): (rule, merged) = (.overwrite, values)
                }
            } catch {
                RequestRunner.log.error("A conflict of \(conflict.objectID) is not settled: \(error)")
                rule = .setAside
            }
        }
        let queryTime = NSPersistentStoreCoordinator.cacheTime
        let changed = try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard var record = try pending.record(key), record.theirs != nil, record.sent == nil,
                let subject = try pending.subject(pending.place(record))
            else { return transaction.changedKeys }
            try pending.write(outbox.local(merged, subject.row, pending), subject.row)
            try outbox.settle(&record, by: rule, subject, pending)
            record.prune(subject.shown)
            try pending.finish(record, subject.row)
            return transaction.changedKeys
        }
        try merge(changed, queryTime)
    }

    /// Returns a conflict in the form for the application; nil if the object has none.
    func conflict(_ key: LocalKey) throws -> SaveConflict? {
        try outbox.file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, outbox.catalog)
            guard let record = try pending.record(key), let theirs = record.theirs, let subject = try pending.subject(pending.place(record))
            else { return nil }
            let parts = subject.row.entity.inner.frozenParts
            let uploads = subject.saving.uploads
            func outside(_ values: [String: ResourceValue]) throws -> [String: ResourceValue] {
                var outside: [String: ResourceValue] = [:]
                for (name, value) in values where !uploads.contains(name) {
                    guard case .one(let local?) = value, let relationship = parts.byName[name] as? NSRelationshipDescription else {
                        outside[name] = value
                        continue
                    }
                    let row = try local.localKey.flatMap { try pending.place($0, relationship) }.flatMap { try transaction.row($0) }
                    let id = row.flatMap { pending.file.entity(inner: $0.knownObjectID.owningEntity).resource(of: $0) }
                    outside[name] = .one(id.map { ResourceReference($0) })
                }
                return outside
            }
            let names = Set(record.confirmed.keys).union(theirs.values?.keys ?? [:].keys)
            // Bounded: the names are a set.
            let mine = Dictionary(uniqueKeysWithValues: names.map { ($0, subject.shown.value($0)) })
            return SaveConflict(
                objectID: subject.row.entity.outerID(key.key, outerToken), base: try outside(record.confirmed),
                mine: record.isShown ? try outside(mine) : nil,
                theirs: try theirs.values.map { try outside(record.confirmed.merging($0) { _, new in new }) },
                contested: Set(theirs.values?.keys ?? [:].keys))
        }
    }
}
