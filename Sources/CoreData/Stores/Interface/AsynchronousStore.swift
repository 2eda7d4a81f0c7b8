internal import Foundation
internal import Synchronization

/// A store that loads and saves without holding a thread while it waits, such as one over a network.
///
/// `await` on a context leads here. What these methods bring is kept as what those of ``StoreInterface`` bring; these have defaults here, for a
/// property that is read before its value is there, which wait.
@_spi(Stores) public protocol AsynchronousStore: StoreInterface {
    /// As ``StoreInterface/answer(_:for:)``; cancelled with the task.
    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer
    /// As ``StoreInterface/rows(for:for:)``; cancelled with the task.
    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row]
    /// As ``StoreInterface/values(of:for:for:)``; cancelled with the task. Asks for the rows unless the store has a way of its own.
    func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row]
    /// As ``StoreInterface/related(by:from:for:)``; cancelled with the task.
    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]]
    /// As ``StoreInterface/save(_:for:)``. Not cancelled with the task: nobody would know what has become of the save.
    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome
}

extension AsynchronousStore {
    /// Waits for ``fetch(_:for:)``.
    public func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer {
        try Waiting.wait(for: "a fetch of “\(query.entity)”") { try await self.fetch(query, for: caller) }
    }

    /// Waits for ``fetchRows(for:for:)``.
    public func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try Waiting.wait(for: "the values of \(ids.count) objects") { try await self.fetchRows(for: ids, for: caller) }
    }

    /// Asks ``fetchRows(for:for:)``.
    public func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row] { try await fetchRows(for: ids, for: caller) }

    /// Waits for ``fetchValues(of:for:for:)``.
    public func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try Waiting.wait(for: "a value of \(ids.count) objects") { try await self.fetchValues(of: properties, for: ids, for: caller) }
    }

    /// Waits for ``fetchRelated(by:from:for:)``.
    public func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try Waiting.wait(for: "“\(relationship)” of \(ids.count) objects") {
            try await self.fetchRelated(by: relationship, from: ids, for: caller)
        }
    }

    /// Waits for ``saveChanges(_:for:)``.
    public func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome {
        try Waiting.wait(for: "a save of \(changes.count) objects") { try await self.saveChanges(changes, for: caller) }
    }
}
