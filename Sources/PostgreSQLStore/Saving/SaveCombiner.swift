#if PostgreSQL
internal import Dispatch
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The combiners of a store, one for each entity: a table that others hold keeps no save of another one waiting.
// The combiners are in a `LockedBox`.
final class SaveCombiners: Sendable {
    private let combiners = LockedBox<[ObjectIdentifier: SaveCombiner]>([:])

    /// Does a save, together with those of the same entity that have waited; see ``SaveCombiner/run(_:_:)``.
    func run(_ save: SmallSave, _ content: StoreContent) async throws -> Bool {
        let combiner = combiners.withLock { combiners in
            if let known = combiners[ObjectIdentifier(save.entity)] { return known }
            let combiner = SaveCombiner()
            combiners[ObjectIdentifier(save.entity)] = combiner
            return combiner
        }
        return try await combiner.run(save, content)
    }
}

/// Combines small saves of one entity, if they arrive faster than the server answers.
///
/// A transaction costs the server more than the row that it writes. So a save that finds two transactions under way waits until one of them is
/// answered. Then the first waiting save sends all of them in one transaction. Each remains a save of its own in every other respect: its row is
/// compared with the version that was read, and a row of its own tells whether it was committed. A save whose row another transaction holds or has
/// changed writes nothing and delays no other save; it is then done alone. If a transaction fails, all of its saves are done alone.
// `state` is guarded by its lock.
final class SaveCombiner: Sendable {
    /// The next step of a save that has waited.
    private enum Turn: Sendable {
        /// It sends itself and others.
        case leads([Waiter])
        case answered(Answer)
    }
    /// The outcome of a save that was sent with others.
    private enum Answer: Sendable {
        case done
        /// The save has written nothing.
        case refused
        /// It was not sent.
        case failed(any Error)
        /// The connection was lost after it had been sent: it may be committed or not.
        case lost(ServerError)
    }
    private struct Waiter: Sendable {
        let save: SmallSave
        let continuation: CheckedContinuation<Turn, Never>
        /// In nanoseconds of the system's uptime.
        let arrival: UInt64
    }
    /// Saves that are sent together.
    private struct Batch {
        let first: Waiter
        let others: [Waiter]

        /// Lets the first save send all of them.
        func begin() { first.continuation.resume(returning: .leads(others)) }
    }
    private struct State {
        /// The number of transactions under way.
        var running = 0
        var waiting: [Waiter] = []
        /// Whether a timer checks if saves wait for too long.
        var isWatched = false

        /// Returns whether one more transaction may begin, which is counted then.
        mutating func beginsOneMore() -> Bool {
            guard running < SaveCombiner.runningLimit else { return false }
            running += 1
            return true
        }

        /// Takes the saves that are sent next. There is one at least.
        mutating func takeBatch() -> Batch {
            let batch = waiting.prefix(SaveCombiner.batchLimit)
            waiting.removeFirst(batch.count)
            return Batch(first: batch[0], others: Array(batch.dropFirst()))
        }
    }
    private let state = LockedBox(State())
    /// The number of transactions under way, from which on saves wait.
    private static let runningLimit = 2
    /// The maximum number of saves in a transaction.
    private static let batchLimit = 50
    /// The time, in nanoseconds, after which waiting saves are sent in any case.
    private static let patience: UInt64 = 20_000_000
    private static let timers = DispatchQueue(label: "PostgreSQLStore.saves")

    /// Does a save, together with saves that have waited for the same transaction.
    ///
    /// - Returns: Whether it is done. If not, it has written nothing: do it alone, which reports the reason.
    /// - Throws: Code 134070 if that cannot be determined, and the errors of connecting.
    func run(_ save: SmallSave, _ content: StoreContent) async throws -> Bool {
        let answer: Answer
        switch state.withLock({ $0.beginsOneMore() }) ? .leads([]) : await turn(of: save) {
        case .answered(let known): answer = known
        case .leads(let others):
            let answers = await Self.send([save] + others.map(\.save), content)
            // The server must not wait for the program's next steps.
            end()
            for (waiter, answer) in zip(others, answers.dropFirst()) { waiter.continuation.resume(returning: .answered(answer)) }
            answer = answers[0]
        }
        switch answer {
        case .done: return true
        case .refused: return false
        case .failed(let error): throw error
        case .lost(let error): return try await StoreTransaction(content: content).isFound(save.commit, error)
        }
    }

    // MARK: Turns

    /// Waits until a save is answered, or must send others with it; then call ``end()`` after those are sent.
    private func turn(of save: SmallSave) async -> Turn {
        await withCheckedContinuation { continuation in
            let (begins, isToBeWatched) = state.withLock { state in
                if state.beginsOneMore() { return (true, false) }
                state.waiting.append(Waiter(save: save, continuation: continuation, arrival: DispatchTime.now().uptimeNanoseconds))
                defer { state.isWatched = true }
                return (false, !state.isWatched)
            }
            if begins { continuation.resume(returning: .leads([])) }
            if isToBeWatched { watch() }
        }
    }

    /// Ends a transaction, and begins that of the saves that have arrived meanwhile.
    private func end() {
        let batch = state.withLock { state -> Batch? in
            if !state.waiting.isEmpty { return state.takeBatch() }
            state.running -= 1
            return nil
        }
        batch?.begin()
    }

    /// Sends saves that wait for too long: the transactions under way may themselves be waiting, for a table that others have locked.
    private func watch() {
        Self.timers.asyncAfter(deadline: .now() + .nanoseconds(Int(Self.patience / 2))) { [self] in
            let now = DispatchTime.now().uptimeNanoseconds
            let (batch, goesOn) = state.withLock { state -> (Batch?, Bool) in
                guard let first = state.waiting.first else {
                    state.isWatched = false
                    return (nil, false)
                }
                if now < first.arrival + Self.patience { return (nil, true) }
                state.running += 1
                return (state.takeBatch(), true)
            }
            batch?.begin()
            if goesOn { watch() }
        }
    }

    // MARK: Sending

    /// Sends saves in one transaction.
    ///
    /// - Returns: The outcome of each.
    private static func send(_ saves: [SmallSave], _ content: StoreContent) async -> [Answer] {
        do {
            return try await content.withConnection { connection in
                let results: [QueryResult]
                do { results = try await connection.run(saves.map(\.statement), isCancellable: false) } catch let error as ServerError
                    where error.isConnectionLost
                {
                    content.pool.replicas?.forget()
                    return saves.map { _ in .lost(error) }
                }
                await content.pool.replicas?.require(over: connection)
                content.didCommit()
                return results.map { $0.changedCount == 1 ? .done : .refused }
            }
        } catch let error as ServerError where !error.wasAwaited {
            // Each save reports its own error, if it has one.
            Log.store.debug("\(saves.count) saves to \(content.place) are done one by one. \(error)")
            return saves.map { _ in .refused }
        } catch { return saves.map { _ in .failed(error) } }
    }
}
#endif
