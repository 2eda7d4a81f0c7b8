internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A store over a ``Backend``.
///
/// The class is internal: coordinators create it, and programs use it as an `NSPersistentStore`.
// Unchecked: `reader`, `writer` and `feed` are set once, before the store is shared, and guard themselves.
final class BackendStore: NSPersistentStore, @unchecked Sendable {
    static let typeName = "RemoteStore"
    static let backendOption = "RemoteStoreBackend"
    static let optionsOption = "RemoteStoreOptions"

    /// A backend as the value of an option.
    // Immutable.
    final class Reference: NSObject, Sendable {
        let backend: any Backend
        let options: RemoteStoreOptions

        init(_ backend: any Backend, _ options: RemoteStoreOptions) {
            self.backend = backend
            self.options = options
        }
    }

    private(set) var reader: RemoteReader!
    private var writer: RemoteWriter!
    private(set) var feed: ChangeFeed!

    /// Checks the backend's description against the model.
    ///
    /// - Throws: Code 134080 for a store without a backend, and for a description that does not fit the model.
    override func loadMetadata() throws {
        guard let reference = options?[Self.backendOption] as? Reference, let model = persistentStoreCoordinator?.managedObjectModel else {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "A remote store cannot be opened.", reason: "It has no backend.",
                next: "Add it by addRemoteStore(_:), or by a description made with NSPersistentStoreDescription(backend:).")
        }
        let catalog = try Catalog(reference.backend, reference.backend.resources, model)
        reader = RemoteReader(
            reference.backend, catalog, AnswerDecoding(model, reference.backend.resources, token: token), reference.options)
        writer = RemoteWriter(reader, try BulkCalls(reference.backend.resources, model))
        feed = ChangeFeed(reader) { [backend = reference.backend] in backend.hasChangeFeed }
    }

    override class func isSingleStoreURL(_ url: URL) -> Bool { true }
    override class var isPersistent: Bool { false }
}

extension BackendStore: AsynchronousStore {
    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer { try await reader.fetch(query, for: caller) }

    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row] {
        try await reader.returned(ids, for: caller)
    }

    func fetchValues(
        of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [Row] { try await reader.values(of: properties, for: ids, for: caller) }

    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try await reader.relatedReturned(by: relationship, from: ids, for: caller)
    }

    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        try await writer.save(changes, for: caller)
    }

    var savesAtomically: Bool { false }
    var asksOthers: Bool { true }
}

extension BackendStore: PartlyReadStore {
    func unreadValues(of id: NSManagedObjectID) -> [String: UnreadObjects.Failure] { reader.unreadable.values(of: id) }
}

extension BackendStore: ScrollingStore {
    func pages(of query: StoreQuery, for caller: StoreCaller) throws -> (any StorePages)? { try reader.pages(of: query, for: caller) }
}

extension BackendStore: BatchStore {
    func executeBatch(_ request: any BatchRequest, for caller: StoreCaller) throws -> BatchOutcome {
        // The handlers of a batch insert run here, on the queue of their context.
        let (writer, work) = (writer!, try writer.work(for: request))
        return try BlockingCall.wait(for: "a batch request") { try await writer.execute(work, for: caller) }
    }
}

extension BackendStore: LateIdentityStore {
    func knownIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID?] { try writer.knownIDs(for: new) }
}

extension BackendStore: RowCacheObserver {
    func didRelease(_ ids: [NSManagedObjectID]) {
        reader.versions.forget(ids)
        reader.earlier.forget(ids)
        reader.decoding.kinds.forget(ids)
        reader.unreadable.forget(ids)
    }

    func willReload(_ ids: [NSManagedObjectID]) {
        reader.parked.forget(ids)
        reader.kept.outdate(ids)
        reader.unreadable.forget(ids)
    }

    func timeOfEarlierQuery(for row: Row) -> UInt64? { reader.earlier.take(row) }

    var mayHaveEarlierQueries: Bool { !reader.earlier.isEmpty }

    func isOlder(_ row: Row, than other: Row) -> Bool { reader.versions.isOlder(row, than: other) }
}
