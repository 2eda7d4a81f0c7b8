internal import Foundation

extension NSManagedObjectContext {
    /// Fetches like ``fetch(_:)`` and suspends until the stores have answered. It may be called anywhere. Not in Apple's API.
    ///
    /// The context runs other blocks meanwhile, and no thread waits for stores that load asynchronously. Changes made in the context during the fetch
    /// are included in its results; see the article *Contexts and threads*. Every setting of the request is respected, including key paths to
    /// prefetch and faulting, with as many queries as the synchronous fetch uses.
    ///
    /// - Returns: The results of ``fetch(_:)``. Use managed objects on this context's queue only: inside `perform`, or directly if the caller is on
    ///   the queue, as the main actor is for a main-queue context.
    /// - Throws: The errors of ``fetch(_:)``, and `CancellationError` when the task is cancelled.
    public func fetchAsynchronously<ResultType>(
        _ request: NSFetchRequest<ResultType>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> [ResultType] {
        let request = QueueBound(request, on: self)
        return try await fetched(request).value
    }

    private func fetched<ResultType>(_ request: QueueBound<NSFetchRequest<ResultType>>) async throws -> Transfer<[ResultType]> {
        try Task.checkCancellation()
        let query = try await perform { try self.query(for: request.value) }
        return try await results(of: query)
    }

    /// Returns the results of a query in the form that the query names.
    func results<ResultType>(of query: StoreQuery) async throws -> Transfer<[ResultType]> {
        switch query.resultType {
        case .managedObjectResultType:
            let objects = try await objects(of: query)
            return Transfer(try cast(objects.givenToCaller(), for: query.entity))
        case .managedObjectIDResultType:
            return Transfer(try cast(try await ids(of: query)))
        case .countResultType:
            return Transfer(try cast([NSNumber(value: try await count(of: query))]))
        default:
            return Transfer(try cast(try await dictionaries(of: query).elements))
        }
    }

    // MARK: The four kinds of result

    /// A running fetch.
    private struct OngoingFetch: @unchecked Sendable {
        /// The query that the stores receive; it is wider than the original if pending changes may remove results from a page.
        let sent: StoreQuery
        /// The number of pending changes that the page allows for; nil if the query was not widened.
        let room: Int?
        let mark: AsynchronousWork.Mark
        /// The queries to the stores; nil for a child context, which queries its parent.
        let queries: AsynchronousQueries?
    }

    /// Begins a fetch. Call it on the context's queue.
    private func begin(_ query: StoreQuery) throws -> OngoingFetch {
        processPendingChanges()
        let pending = try PendingChanges(in: self, for: query)
        let queries = parent == nil ? try AsynchronousQueries(of: self) : nil
        return OngoingFetch(
            sent: pending?.widened(query) ?? query, room: pending?.count, mark: ongoingWork.beginFetch(), queries: queries)
    }

    /// Fetches the objects of a query.
    func objects(of query: StoreQuery) async throws -> QueueBound<[NSManagedObject]> {
        // Changes made meanwhile may leave a page too short: the stores are then queried once more.
        for _ in 0..<3 {
            let fetch = try await perform { try self.begin(query) }
            let answers = try await answers(to: fetch.sent, fetch.queries)
            let objects = try await perform { try self.complete(query, fetch, answers).map { QueueBound($0, on: self) } }
            guard let objects else { continue }
            if let queries = fetch.queries {
                try await applyFaultingOptions(to: objects, of: query, queries)
                try await prefetch(query, for: objects, queries)
            }
            return objects
        }
        return try await perform { QueueBound(try self.fetchObjects(query), on: self) }
    }

    private func answers(to query: StoreQuery, _ queries: AsynchronousQueries?) async throws -> [StoreAnswer] {
        if let queries { return try await queries.answers(to: query) }
        return [try await answerOfParent(to: query)]
    }

    /// Combines the stores' answers with the pending changes; returns nil if too little of a page may be left. Call it on the context's queue.
    private func complete(_ query: StoreQuery, _ fetch: OngoingFetch, _ answers: [StoreAnswer]) throws -> [NSManagedObject]? {
        try Task.checkCancellation()
        processPendingChanges()
        let pending = try PendingChanges(in: self, for: query, since: fetch.mark)
        let isPage = query.fetchLimit > 0 || query.fetchOffset > 0
        if isPage, let pending, pending.count > fetch.room ?? 0 { return nil }
        let answer = try joined(answers, to: fetch.sent)
        let found = try objects(of: answer, for: query)
        if let pending { return try pending.apply(to: found, of: query) }
        return isPage && fetch.room != nil ? query.page(found) : found
    }

    /// Returns the objects of an answer, before the request's faulting options are applied.
    private func objects(of answer: StoreAnswer, for query: StoreQuery) throws -> [NSManagedObject] {
        let objects: [NSManagedObject]
        switch answer {
        case .rows(let rows): objects = materialize(rows, fulfills: !query.returnsObjectsAsFaults)
        case .ids(let ids): objects = self.objects(with: ids)
        case .objects(let found): objects = found.objects
        case .dictionaries, .count: throw unexpectedAnswer(query, wanted: "managed objects")
        }
        makeBatch(of: objects, query)
        return objects
    }

    /// Works like ``applyFaultingOptions(to:of:)``, with asynchronous queries.
    private func applyFaultingOptions(to objects: QueueBound<[NSManagedObject]>, of query: StoreQuery, _ queries: AsynchronousQueries)
        async throws
    {
        let isFulfilled = !query.returnsObjectsAsFaults && query.includesPropertyValues && query.fetchBatchSize <= 0
        guard isFulfilled || query.shouldRefreshRefetchedObjects else { return }
        let (wanted, ids) = await perform {
            let refetched = query.shouldRefreshRefetchedObjects ? objects.value.filter { !$0.isFault && !$0.isInserted } : []
            for object in refetched { self.forgetRow(of: object.objectID) }
            let faults = isFulfilled && self.source.batchesFaults ? objects.value.filter { $0.isFault && !$0.isInserted } : []
            return (QueueBound((refetched: refetched, faults: faults), on: self), (refetched + faults).map(\.objectID))
        }
        let rows = try await queries.rows(for: ids)
        try await perform {
            try self.fulfill(wanted.value.faults, from: rows)
            self.refreshRefetched(wanted.value.refetched, isRemote: false)
        }
    }

    /// Works like ``prefetch(_:for:)``, with asynchronous queries.
    private func prefetch(_ query: StoreQuery, for objects: QueueBound<[NSManagedObject]>, _ queries: AsynchronousQueries) async throws {
        for path in query.relationshipKeyPathsForPrefetching {
            let names = try Self.relationshipNames(in: path, from: query.entity)
            var current = objects
            // The error of a single object is kept until the object is read.
            for name in names { current = try await load(name, of: current, queries).targets }
        }
    }

    private func ids(of query: StoreQuery) async throws -> [NSManagedObjectID] {
        let fetch = try await perform { try self.begin(query) }
        if fetch.room == nil {
            let ids = try await plainAnswer(fetch, query) { (answer: StoreAnswer) -> [NSManagedObjectID]? in
                switch answer {
                case .ids(let ids): ids
                case .rows(let rows): rows.map { $0.knownObjectID }
                case .objects(let objects): objects.objects.map(\.objectID)
                case .dictionaries, .count: nil
                }
            }
            if let ids { return ids }
        }
        let objects = try await objects(of: query.with(resultType: .managedObjectResultType))
        return await perform { objects.value.map(\.objectID) }
    }

    /// Counts the objects that a query finds.
    func count(of query: StoreQuery) async throws -> Int {
        let query = query.with(resultType: .countResultType)
        let fetch = try await perform { try self.begin(query) }
        if fetch.room == nil {
            let count = try await plainAnswer(fetch, query) { (answer: StoreAnswer) -> Int? in
                switch answer {
                case .count(let count): count
                case .ids(let ids): ids.count
                case .rows(let rows): rows.count
                case .objects(let objects): objects.elements.count
                case .dictionaries: nil
                }
            }
            if let count { return count }
        }
        return try await objects(of: query.with(resultType: .managedObjectResultType).sorted(by: [])).givenToCaller().count
    }

    /// Fetches the dictionaries of a query from the saved values.
    func dictionaries(of query: StoreQuery) async throws -> StoreDictionaries {
        let fetch = try await perform { try self.begin(query) }
        let answers = try await answers(to: query, fetch.queries)
        let answer = try await perform { try self.joined(answers, to: query) }
        guard case .dictionaries(let dictionaries) = answer else { throw unexpectedAnswer(query, wanted: "dictionaries") }
        return dictionaries
    }

    /// Returns an answer that no pending change affects; nil if a change made meanwhile affects it.
    private func plainAnswer<Result>(
        _ fetch: OngoingFetch, _ query: StoreQuery, _ read: @escaping (StoreAnswer) -> Result?
    ) async throws -> Result? {
        let read = QueueBound(read, on: self)
        let answers = try await answers(to: fetch.sent, fetch.queries)
        let result: Transfer<Result?> = try await perform {
            self.processPendingChanges()
            if try PendingChanges(in: self, for: query, since: fetch.mark) != nil { return Transfer(nil) }
            guard let result = read.value(try self.joined(answers, to: query)) else {
                throw self.unexpectedAnswer(query, wanted: "what it asks for")
            }
            return Transfer(result)
        }
        return result.value
    }

    private func joined(_ answers: [StoreAnswer], to query: StoreQuery) throws -> StoreAnswer {
        guard answers.count != 1, let coordinator = persistentStoreCoordinator else { return answers[0] }
        return try coordinator.join(answers, to: query, in: self)
    }
}
