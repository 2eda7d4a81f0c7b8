internal import Foundation
internal import Predicates

/// The results of a fetch that a store finds page by page, as they are scrolled.
// Used on the context's queue only; the pages are the store's, and one task at a time reads them.
final class FetchedPages: @unchecked Sendable {
    private let context: NSManagedObjectContext
    private let query: StoreQuery
    private let store: NSPersistentStore
    private let pages: any StorePages
    /// The number of results that are read at a time.
    let size: Int
    private(set) var isAtEnd = false
    /// The running read of a page.
    private(set) var task: Task<Void, any Error>?

    /// Creates the pages of a request; nil if all results must be read at once: without a batch size, and if the results depend on more than one
    /// store.
    init?(_ request: NSFetchRequest<any NSFetchRequestResult>, in context: NSManagedObjectContext) throws {
        guard request.fetchBatchSize > 0, request.fetchLimit == 0, request.fetchOffset == 0, context.parent == nil, !context.hasChanges,
            let coordinator = context.persistentStoreCoordinator
        else { return nil }
        let query = try context.query(for: request)
        let readers = try coordinator.readers(for: query, in: context)
        guard readers.count == 1, let store = readers[0].interface as? any ScrollingStore, context.stalenessInterval != 0,
            let pages = try store.pages(of: query, for: context.caller)
        else { return nil }
        self.context = context
        self.query = query
        self.store = readers[0]
        self.pages = pages
        size = request.fetchBatchSize
    }

    /// Reads the first results.
    func first() throws -> [NSManagedObject] {
        let (pages, size, time) = (pages, size, RowCache.now)
        let page = try BlockingCall.wait(for: "the first page of “\(query.entity)”") { try await pages.next(size) }
        return try objects(page, time)
    }

    /// Reads the next results, and passes them on.
    ///
    /// - Parameter receive: Called on the context's queue, unless the reading is cancelled.
    func readOn(_ receive: @escaping @Sendable (Result<(objects: [NSManagedObject], gone: [NSManagedObjectID]), any Error>) -> Void) {
        guard task == nil, !isAtEnd else { return }
        let (pages, size, context) = (pages, size, context)
        task = Task(executorPreference: BlockingCall.executor) { [weak self] in
            let time = RowCache.now
            let page: Result<StorePage, any Error>
            do { page = .success(try await pages.next(size)) } catch { page = .failure(error) }
            try await context.perform {
                guard let self, !Task.isCancelled else { throw CancellationError() }
                self.task = nil
                let found = Result { (objects: try self.objects(try page.get(), time), gone: try page.get().gone) }
                receive(found)
                _ = try found.get()
            }
        }
    }

    /// Makes the objects of a page.
    private func objects(_ page: StorePage, _ time: UInt64) throws -> [NSManagedObject] {
        isAtEnd = page.isLast
        let rows = RowList(page.rows)
        (store.rowAccess as? CachedAccess)?.file(rows, queryTime: time)
        return try context.managedObjects(in: .rows(rows), for: query)
    }

    /// Stops reading.
    func cancel() { task?.cancel() }
}
