internal import Foundation
@_spi(Stores) public import ObjectGraph
internal import Predicates

/// Bulk reads, page by page.
extension CachedStore {
    /// Reads all results of a request from the backend, and stores them page by page. An interrupted pull, even by the end of the program, continues with the
    /// page that it had reached.
    ///
    /// ```swift
    /// let messages = NSFetchRequest<Message>(entityName: "Message")
    /// try await store.pull(messages, in: context)
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request; its limit is ignored.
    ///   - context: A context of the store's coordinator.
    /// - Returns: The number of received objects.
    /// - Throws: The backend's error; objects that were received before are stored.
    @discardableResult
    public func pull<Result>(_ request: NSFetchRequest<Result>, in context: NSManagedObjectContext) async throws -> Int {
        let query = try await context.perform { try context.storeQuery(for: request) }
            .with(fetchOffset: 0, fetchLimit: 0).with(resultType: .managedObjectResultType)
        return try await pull(query, for: StoreCaller())
    }

    func pull(_ query: StoreQuery, for caller: StoreCaller) async throws -> Int {
        guard let remote = try remoteQuery(query) else { return 0 }
        let plan = try reader.plan(remote, for: caller)
        guard plan.requests.count == 1, plan.predicateInMemory == nil, plan.joins.isEmpty, !plan.filtersKinds else {
            return try await fetchFromBackend(query, for: caller)?.keys.count ?? 0
        }
        let form = try form(query)
        let name = "pull " + form.text
        let known = try setting(name)
        do { return try await pull(plan, form, name, from: known, for: caller) } catch {
            // The backend may no longer know the position.
            guard known != nil, !(error is CancellationError), isRefusal(error) else { throw error }
            try file.write { try setSetting(name, nil, in: $0) }
            return try await pull(plan, form, name, from: nil, for: caller)
        }
    }

    /// Whether a backend has refused a request, as opposed to being unreachable.
    private func isRefusal(_ error: any Error) -> Bool { (error as NSError).domain != NSURLErrorDomain }

    private func pull(
        _ plan: FetchPlan, _ form: QueryForm, _ name: String, from known: PullPlace?, for caller: StoreCaller
    ) async throws -> Int {
        var request = plan.requests[0]
        let begun = known?.begun ?? file.clock.now
        if let known {
            request.page = known.page.map { PageToken($0) }
            request.offset = known.offset
        }
        var reading = RemoteReader.PageReading(request, plan.endpoints[0], mayEndEarly: known != nil)
        let budget = FetchBudget(reader.options, form.entity, blaming: nil)
        var count = 0
        while true {
            let askedAt = file.order.begin()
            defer { file.order.end(askedAt) }
            let mark = try PendingMark(self, keepsRows: true)
            guard let step = try await reader.step(&reading, budget) else { continue }
            let next = reading.next
            let isLast = step.end != nil
            let rows = reader.hasReferencesToKinds ? try await reader.knowingKinds(Array(step.new), for: caller) : Array(step.new)
            // A page is not requested twice: it is imported except for pending objects.
            _ = try mark.isOutdated(self)
            count += try take(rows, askedAt: askedAt) { transaction, _ in
                if !isLast {
                    return try self.setSetting(
                        name, PullPlace(page: next.page?.text, offset: next.offset, begun: begun), in: transaction)
                }
                try self.setSetting(name, nil, in: transaction)
                guard let clauses = form.clauses else { return }
                try self.coverages.note(
                    Coverage(
                        entity: form.entity.name ?? "", includesSubentities: form.includesSubentities, clauses: clauses, sorts: "",
                        offset: 0, members: nil, reachesEnd: true, fetchedAt: begun), in: transaction)
            }.keys.count
            if isLast { return count }
        }
    }

    // MARK: Progress

    /// The next page of a pull.
    struct PullPlace: Codable {
        var page: String?
        var offset: Int
        /// The start time of the pull, by the wall clock.
        var begun: Double
    }

    private func setting(_ name: String) throws -> PullPlace? {
        try file.write { transaction in
            guard case .data(let data)? = try transaction.setting(name)?.value("data") else { return nil }
            return try? JSONDecoder().decode(PullPlace.self, from: data)
        }
    }

    private func setSetting(_ name: String, _ place: PullPlace?, in transaction: CacheTransaction) throws {
        guard let entity = file.entity(named: file.names.setting) else { return }
        let known = try transaction.setting(name)
        guard let place else {
            if let known { try transaction.delete(known.key) }
            return
        }
        let row = try known ?? transaction.insert(entity)
        try row.set(.string(name), "key")
        try row.set(.data(JSONEncoder().encode(place)), "data")
    }
}
