public import Foundation
@_spi(Stores) public import ObjectGraph
internal import Platform
internal import Predicates

/// The outcome of an object's change, for a save that has waited for the backend.
public enum SyncOutcome: Sendable {
    /// The backend has the object as it was saved.
    case accepted
    /// The backend has the object, merged with changes of others.
    case merged
    /// The change was set aside, with the reason.
    case rejected(NSError)
    /// It is unknown whether the backend has the change, with the reason.
    case unknown(NSError)
    /// The change is sent once the change of another object has been: that one was set aside, with the reason.
    case waiting(NSError)
}

/// The point at which a save returns.
public enum SaveGoal: Sendable {
    /// The changes are on disk.
    case stored
    /// The backend has accepted or refused each change, or the change waits for a decision of the application.
    case acknowledged
}

extension NSManagedObjectContext {
    /// Saves, and waits until the backend has accepted or refused each change, for as long as the backend cannot be reached. Pending changes are sent
    /// meanwhile, even if ``CachedStoreOptions/sendsAutomatically`` is off. Cancelling the task ends the wait, not the changes.
    ///
    /// ```swift
    /// let outcomes = try await context.save(until: .acknowledged)
    /// ```
    ///
    /// - Returns: The outcome for each object of a ``CachedStore``, by its ID; nothing for ``SaveGoal/stored``.
    /// - Throws: The errors of `save()`; `CancellationError`.
    public func save(until goal: SaveGoal) async throws -> [NSManagedObjectID: SyncOutcome] {
        let changed = await perform {
            self.processPendingChanges()
            return QueueObjects(Array(self.insertedObjects) + Array(self.updatedObjects) + Array(self.deletedObjects))
        }
        try await saveAsynchronously()
        guard goal == .acknowledged else { return [:] }
        let ids = await perform { changed.objects.map(\.objectID) }
        let stores = await perform {
            (self.persistentStoreCoordinator?.persistentStores ?? []).compactMap { $0 as? CachedStore }
        }
        var outcomes: [NSManagedObjectID: SyncOutcome] = [:]
        for store in stores {
            let own = ids.filter { $0.current.token === store.token }
            if !own.isEmpty { outcomes.merge(try await store.outcomes(of: own)) { first, _ in first } }
        }
        return outcomes
    }
}

/// Objects that are passed to their own queue.
// Unchecked: used on the queue of their context.
private struct QueueObjects: @unchecked Sendable {
    let objects: [NSManagedObject]
    init(_ objects: [NSManagedObject]) { self.objects = objects }
}

extension CachedStore {
    /// Waits until some objects have no pending changes, or their changes wait for the application.
    func outcomes(of ids: [NSManagedObjectID]) async throws -> [NSManagedObjectID: SyncOutcome] {
        let keys = ids.compactMap { file.key(ofOuter: $0.current) }
        let number = waiting.reserve()
        sender.beginAwaited()
        defer { sender.endAwaited() }
        let found = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting.add(keys, number, continuation)
                waiting.check { try self.outcome(of: $0) }
            }
        } onCancel: {
            waiting.cancel(number)
        }
        return Dictionary(found.map { ($0.entity.outerID($0.number, token), $1) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the outcome of an object's pending change; nil if it is still in progress.
    func outcome(of key: CacheKey) throws -> SyncOutcome? {
        guard let record = try outbox.record(key) else {
            let local = LocalKey(root: key.entity.inner.top.name ?? "?", key: key.number)
            return sender.state.withLock { state in
                if state.dropped.remove(local) != nil { return .rejected(CocoaError(.userCancelled) as NSError) }
                return state.merged.remove(local) != nil ? .merged : .accepted
            }
        }
        guard record.isSetAside else {
            let holding = sender.state.withLock { $0.held[record.key] }
            guard let holding, let entity = file.entity(named: holding.root),
                let other = try outbox.record(CacheKey(entity: entity, number: holding.key)), other.isSetAside
            else { return nil }
            return .waiting(other.error ?? PendingRecord.Failure.lostReason.error)
        }
        let error = record.error ?? PendingRecord.Failure.lostReason.error
        return record.state == .unknown ? .unknown(error) : .rejected(error)
    }
}

/// The saves that wait for the backend.
// Everything is in a `LockedBox`.
final class AwaitedOutcomes: Sendable {
    private struct Save {
        var open: [CacheKey]
        var outcomes: [CacheKey: SyncOutcome] = [:]
        let continuation: CheckedContinuation<[CacheKey: SyncOutcome], any Error>
    }
    private struct State {
        var next = 0
        var saves: [Int: Save] = [:]
        var cancelled: Set<Int> = []
    }
    private let state = LockedBox(State())

    func reserve() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    func add(_ keys: [CacheKey], _ number: Int, _ continuation: CheckedContinuation<[CacheKey: SyncOutcome], any Error>) {
        let isCancelled = state.withLock { state in
            if state.cancelled.remove(number) != nil { return true }
            state.saves[number] = Save(open: keys, continuation: continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
    }

    func cancel(_ number: Int) {
        let save = state.withLock { state in
            let save = state.saves.removeValue(forKey: number)
            if save == nil { state.cancelled.insert(number) }
            return save
        }
        save?.continuation.resume(throwing: CancellationError())
    }

    /// Checks the outcomes that saves wait for.
    func check(_ outcome: (CacheKey) throws -> SyncOutcome?) {
        let open = state.withLock { state in Set(state.saves.values.flatMap(\.open)) }
        if open.isEmpty { return }
        var known: [CacheKey: SyncOutcome] = [:]
        do { for key in open { known[key] = try outcome(key) } } catch {
            let saves = state.withLock { state in
                defer { state.saves = [:] }
                return state.saves
            }
            for save in saves.values { save.continuation.resume(throwing: error) }
            return
        }
        if known.isEmpty { return }
        let done = state.withLock { state -> [Save] in
            var done: [Save] = []
            for (number, var save) in state.saves {
                for key in save.open { if let outcome = known[key] { save.outcomes[key] = outcome } }
                save.open.removeAll { known[$0] != nil }
                if save.open.isEmpty {
                    done.append(save)
                    state.saves[number] = nil
                } else {
                    state.saves[number] = save
                }
            }
            return done
        }
        for save in done { save.continuation.resume(returning: save.outcomes) }
    }
}
