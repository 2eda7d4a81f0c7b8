@_spi(Stores) import CoreData
import Foundation
import Synchronization

/// A store that answers after a while, as a server does: a thousand batches, each with an item.
///
/// The first question of each store is answered when all stores have been asked one, and every context has run a block since: whoever holds the
/// thread of the tasks, or its context's queue, while it waits would stop the program.
// Immutable, but for what is guarded by mutexes.
final class AwaitedStore: NSPersistentStore, AsynchronousStore, @unchecked Sendable {
    static let typeName = "AwaitedStore"
    static let milliseconds = Synchronization.Mutex(50)
    static let meeting = Meeting()
    private let isFirst = Atomic<Bool>(true)

    override func loadMetadata() throws { metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.typeName] }

    private func answerLater() async throws {
        if isFirst.exchange(false, ordering: .relaxed) { await Self.meeting.arrive() } else { Self.meeting.count() }
        try await Task.sleep(for: .milliseconds(Self.milliseconds.withLock { $0 }))
    }

    private func row(_ id: NSManagedObjectID) throws -> Row {
        let row = Row(id, version: 1)
        let name = id.entity.name == "Batch" ? "number" : "value"
        try row.setValue(any: Int64(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0, of: id.entity.attributesByName[name]!)
        return row
    }

    func fetch(_ query: StoreQuery, for caller: StoreCaller) async throws -> StoreAnswer {
        try await answerLater()
        return .rows(RowList(try (0..<1000).map { try row(objectID(for: query.entity, $0)) }))
    }

    func fetchRows(for ids: [NSManagedObjectID], for caller: StoreCaller) async throws -> [Row] {
        try await answerLater()
        return try ids.map(row)
    }

    func fetchRelated(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) async throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        try await answerLater()
        let item = relationship.destinationEntity!
        return Dictionary(
            uniqueKeysWithValues: ids.map { id in
                let number = Int(id.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
                return (id, [objectID(for: item, number)])
            })
    }

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] { [] }
    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome { SaveOutcome() }

    /// Where the first questions of all stores meet.
    // `state` is guarded by its mutex.
    final class Meeting: Sendable {
        private struct State {
            var contexts: [NSManagedObjectContext] = []
            var expected = 1
            var waiting: [CheckedContinuation<Void, Never>] = []
            var questions = 0
            /// How many contexts have run a block while all fetches were suspended.
            var free = 0
            /// How many threads the program had then.
            var threads = 0
        }
        private let state = Synchronization.Mutex(State())

        func expect(_ count: Int) {
            state.withLock { $0 = State() }
            state.withLock { $0.expected = count }
        }

        func add(_ context: NSManagedObjectContext) { state.withLock { $0.contexts.append(context) } }

        func count() { state.withLock { $0.questions += 1 } }

        func arrive() async {
            let isLast = state.withLock { state in
                state.questions += 1
                return state.questions == state.expected
            }
            guard isLast else {
                return await withCheckedContinuation { continuation in
                    let isLate = state.withLock { state in
                        if state.free == state.expected { return true }
                        state.waiting.append(continuation)
                        return false
                    }
                    if isLate { continuation.resume() }
                }
            }
            let threads = Self.threadCount()
            state.withLock { $0.threads = threads }
            for context in state.withLock(\.contexts) {
                await context.perform {}
                let met = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                    state.free += 1
                    return state.free == state.expected ? state.waiting : []
                }
                for continuation in met { continuation.resume() }
            }
        }

        private static func threadCount() -> Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
            return line.flatMap { Int($0.dropFirst(8).trimmingCharacters(in: .whitespaces)) } ?? 0
        }

        /// How many questions there were, how many contexts were free while all fetches were suspended, and how many threads there were then.
        var report: (questions: Int, free: Int, threads: Int) { state.withLock { ($0.questions, $0.free, $0.threads) } }
    }
}

/// The one thread that all tasks of the program share.
// Immutable.
final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "tasks")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Fetches from so many stores at once, every value and a to-many relationship read, with one thread for all tasks.
func fetchAtOnce(_ count: Int) async throws {
    NSPersistentStoreCoordinator.registerStoreClass(AwaitedStore.self, forStoreType: AwaitedStore.typeName)
    AwaitedStore.meeting.expect(count)
    let start = ContinuousClock.now
    let sums = try await withThrowingTaskGroup(of: Int64.self) { group in
        for _ in 0..<count {
            group.addTask {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: WriterModel.make())
                try coordinator.addPersistentStore(ofType: AwaitedStore.typeName, configurationName: nil, at: nil)
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                AwaitedStore.meeting.add(context)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Batch")
                request.relationshipKeyPathsForPrefetching = ["items"]
                let batches = try await context.fetchAsynchronously(request)
                return await context.perform {
                    batches.reduce(0) { sum, batch in
                        let items = batch.value(forKey: "items") as? Set<NSManagedObject> ?? []
                        return sum + (batch.value(forKey: "number") as? Int64 ?? 0)
                            + items.reduce(0) { $0 + ($1.value(forKey: "value") as? Int64 ?? 0) }
                    }
                }
            }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
    let elapsed = ContinuousClock.now - start
    let (questions, free, threads) = AwaitedStore.meeting.report
    report("fetches \(count), questions \(questions), free contexts \(free), sum \(Set(sums)), threads \(threads), took \(elapsed)")
}
