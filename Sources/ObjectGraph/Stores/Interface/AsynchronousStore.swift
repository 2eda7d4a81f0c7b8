internal import Foundation
internal import Synchronization

/// A store that loads and saves without blocking a thread, such as one over a network.
///
/// The asynchronous calls of a context use these methods. Their results are cached like those of the ``StoreInterface`` methods, whose
/// default implementations here wait for them, for a property that is read before its value is loaded.
@_spi(Stores) public protocol AsynchronousStore: StoreInterface {
    /// Whether the methods of ``StoreInterface`` do their work on the thread that waits for it, because it has no concurrent parts. The default is
    /// false.
    var answersOnCallingThread: Bool { get }
    /// Whether each fetch queries others, such as a service. A list over such a store queries once for all changes until then, and never while a
    /// change is being announced. The default is false.
    var asksOthers: Bool { get }
    /// Works like ``StoreInterface/answer(_:for:)``; cancelled with the task.
    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer
    /// Works like ``StoreInterface/rows(for:for:)``; cancelled with the task.
    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row]
    /// Works like ``StoreInterface/values(of:for:for:)``; cancelled with the task. The default implementation fetches complete rows.
    func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row]
    /// Works like ``StoreInterface/related(by:from:for:)``; cancelled with the task.
    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]]
    /// Works like ``StoreInterface/save(_:for:)``. Not cancelled with the task, because the outcome of the save would be unknown.
    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome
}

extension AsynchronousStore {
    /// False: the work is done on separate threads.
    public var answersOnCallingThread: Bool { false }
    /// False: a fetch that follows a change queries no one else.
    public var asksOthers: Bool { false }

    private func wait<Result: Sendable>(
        for what: @autoclosure () -> String, _ work: @escaping @Sendable () async throws -> Result
    ) throws -> Result { try BlockingCall.wait(for: what(), onCallingThread: answersOnCallingThread, work) }

    /// Waits for ``fetch(_:for:)``.
    public func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try wait(for: "a fetch of “\(query.entity)”") { try await self.fetch(query, for: caller) }
    }

    /// Waits for ``fetchRows(for:for:)``.
    public func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try wait(for: "the values of \(ids.count) objects") { try await self.fetchRows(for: ids, for: caller) }
    }

    /// Calls ``fetchRows(for:for:)``.
    public func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row] { try await fetchRows(for: ids, for: caller) }

    /// Waits for ``fetchValues(of:for:for:)``.
    public func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try wait(for: "a value of \(ids.count) objects") { try await self.fetchValues(of: properties, for: ids, for: caller) }
    }

    /// Waits for ``fetchRelated(by:from:for:)``.
    public func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try wait(for: "“\(relationship)” of \(ids.count) objects") {
            try await self.fetchRelated(by: relationship, from: ids, for: caller)
        }
    }

    /// Waits for ``saveChanges(_:for:)``.
    public func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try wait(for: "a save of \(changes.count) objects") { try await self.saveChanges(changes, for: caller) }
    }
}
