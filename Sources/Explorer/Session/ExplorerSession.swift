internal import Foundation
internal import ObjectGraph
internal import Platform
internal import Predicates
internal import SQLQueries
package import StoreCommands

/// An explored store, which is opened again when its files change, and which many pages use at the same time.
package final class ExplorerSession: Sendable {
    /// Whether objects may be edited.
    package var isWritable: Bool { reference.isWritable }

    private let reference: StoreReference
    /// The time limit of an answer.
    private let answerTime: Duration

    private struct Opened {
        let store: OpenStore
        let stamp: StoreStamp
    }

    /// The maximum number of a web service's requests in an answer.
    private static let mostRequests = 200

    /// The open store; nil when the session has ended.
    private let opened: LockedBox<Opened?>

    /// Opens a store.
    ///
    /// - Parameter answerTime: The time limit of an answer, for the store's objects and predicates. Exceeding it is an error. Services and databases
    ///   have limits of their own.
    /// - Throws: The mistake in the place, the model or the file, and the correction.
    package init(_ reference: StoreReference, answerTime: Duration = .seconds(30)) throws {
        SQLRecording.enable()
        TimeLimit.enable()
        self.reference = reference
        self.answerTime = answerTime
        opened = LockedBox(try Self.open(reference))
    }

    private static func open(_ reference: StoreReference) throws -> Opened {
        // The stamp is taken before the store is read, so that no write between them is missed. Web services and databases have no files.
        let found = reference.hasFiles ? try StoreKind.find(reference.place) : nil
        let stamp = found.map { StoreStamp($0.url, $0.kind) } ?? StoreStamp()
        let store = try reference.open()
        if reference.isWritable { store.read { store.context.undoManager = UndoManager() } }
        return Opened(store: store, stamp: stamp)
    }

    /// Closes the store, which removes the files that SQLite keeps beside an open one. Later requests are refused.
    ///
    /// - Throws: The error of closing it.
    package func close() throws {
        let last = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        if let last { try last.store.coordinator.remove(last.store.store) }
    }

    private func current() throws -> Opened {
        guard let opened = opened.withLock({ $0 }) else { throw CancellationError() }
        return opened
    }

    /// Returns a number for the current content of the store's files, which changes with each write by any program.
    ///
    /// Call it on any thread.
    package func stamp() -> Int {
        guard let known = opened.withLock({ $0 }), known.store.service == nil else { return 0 }
        // A database that cannot be reached is treated as unchanged; the pages that use it report the error.
        if !known.store.kind.hasFiles { return Int((try? known.store.databaseStamp()) ?? 0) }
        return StoreStamp(known.store.url, known.store.kind).hash
    }

    /// Returns the store. It is opened again if its files have changed and the open store does not follow them: files that are read completely, copies,
    /// and replaced files.
    private func store() throws -> OpenStore {
        let known = try current()
        if isWritable || !known.store.kind.hasFiles { return known.store }
        let stamp = StoreStamp(known.store.url, known.store.kind)
        if stamp == known.stamp { return known.store }
        let follows = known.store.kind == .sqlite && !known.store.isCopy && stamp.number == known.stamp.number
        let new = follows ? Opened(store: known.store, stamp: stamp) : try Self.open(reference)
        opened.set(new)
        return new.store
    }

    /// Calls `body` on the queue of a context, and returns its answer with the statements and requests that it sent.
    ///
    /// In a read-only session, each page has a context of its own. In a writable one, all pages share the context with the unsaved changes.
    ///
    /// - Parameter isLimited: Whether the time limit applies; false for changes, which must not be interrupted.
    /// - Throws: The errors of opening the store again, those of `body`, and an error if the time limit is exceeded.
    func ask(isLimited: Bool = true, _ body: @escaping @Sendable (Reading) throws -> JSONValue) async throws -> JSONValue {
        let store = try store()
        let context = isWritable ? store.context : NSManagedObjectContext(.privateQueue)
        let recording = SQLRecording()
        return try await context.perform {
            if context.persistentStoreCoordinator == nil { context.persistentStoreCoordinator = store.coordinator }
            // One answer does not request a resource of a service twice.
            if store.service != nil { context.retainsRegisteredObjects = true }
            let start = ContinuousClock.now
            let reading = Reading(store: store, context: context, isWritable: self.isWritable)
            let (answer, requests) = try store.notingRequests {
                try SQLRecording.$current.withValue(recording) {
                    let answer = try isLimited ? self.limited { try body(reading) } : body(reading)
                    // Errors of faults, which properties cannot throw.
                    try context.throwPendingFaultError()
                    return answer
                }
            }
            return Self.answer(answer, reading, recording, requests, ContinuousClock.now - start)
        }
    }

    private func limited<Answer>(_ body: () throws -> Answer) throws -> Answer {
        if let answer = try TimeLimit.limited(to: answerTime, body) { return answer }
        throw ExplorerError(
            .wrong, "The answer takes longer than \(answerTime.components.seconds) seconds.",
            reason: "Compare fewer objects, or ask for less.", field: "where")
    }

    private static func answer(
        _ answer: JSONValue, _ reading: Reading, _ recording: SQLRecording, _ requests: [OpenStore.ServiceRequest], _ time: Duration
    ) -> JSONValue {
        guard case .object(let members) = answer else { return answer }
        let asked = recording.statements.map { statement in
            JSONValue.members([
                "sql": .string(statement.sql), "values": .array(statement.values.map(JSONValue.string)),
                "rows": statement.rows.map(JSONValue.count), "ms": .milliseconds(statement.seconds),
            ])
        }
        let sent = requests.prefix(mostRequests).map { request in
            JSONValue.members([
                "request": .string(request.text), "outcome": .string(request.outcome), "rows": .count(request.rows),
                "ms": .milliseconds(request.seconds),
            ])
        }
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let note: String? =
            switch reading.store.kind {
            case .sqlite, .service, .postgreSQL: nil
            case .xml, .binary, .csv, .json: "The store is in memory as a whole: predicate, order and limit are applied there."
            }
        let about = JSONValue.members([
            "statements": .array(asked), "requests": reading.store.service == nil ? nil : .array(sent),
            "count": .count(recording.count + requests.count), "ms": .milliseconds(seconds), "note": note.map(JSONValue.string),
        ])
        var all = members + [.init(name: "asked", value: about)]
        if reading.isWritable { all.append(.init(name: "state", value: reading.state())) }
        return .object(all)
    }
}

extension JSONValue {
    /// Milliseconds with three digits.
    static func milliseconds(_ seconds: Double) -> JSONValue { .real((seconds * 1e6).rounded() / 1e3) }
}
