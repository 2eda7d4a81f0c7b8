internal import Foundation
internal import Predicates
internal import Synchronization

/// A save that was sent to stores or a parent context and is not answered yet.
// `objects` and `isAnswerApplied` are used on the context's queue; `answer` is guarded by its mutex.
final class SaveInFlight: @unchecked Sendable {
    let changes: ChangeSet
    /// The objects that count as saved meanwhile.
    private(set) var objects: [SavedObjectState]
    /// The object sets of the save notification.
    let sets: ObjectChanges
    /// The stores that new objects were assigned to.
    let assignedStores: [ObjectIdentifier: AssignedStore]
    private let work: any SaveWork
    private var places: [ObjectIdentifier: Int] = [:]
    private var deleted: Set<ObjectIdentifier> = []
    /// Whether the context has applied the answer.
    var isAnswerApplied = false
    /// The error that the caller of the save receives.
    var error: NSError?
    /// Whether the merge policy resolved the conflicts, so that the save must be retried.
    var isToBeRepeated = false

    private let answer = Synchronization.Mutex<SaveAnswer?>(nil)
    private let isAnswered = DispatchSemaphore(value: 0)

    init(
        _ changes: ChangeSet, objects: [SavedObjectState], _ sets: ObjectChanges, _ assignedStores: [ObjectIdentifier: AssignedStore],
        _ work: any SaveWork
    ) {
        self.changes = changes
        self.objects = objects
        self.sets = sets
        self.assignedStores = assignedStores
        self.work = work
        places.reserveCapacity(objects.count)
        for (index, state) in objects.enumerated() { places[ObjectIdentifier(state.object)] = index }
        deleted = Set(changes.deleted.map(ObjectIdentifier.init))
    }

    /// Returns whether the save writes or deletes the object.
    func concerns(_ object: NSManagedObject) -> Bool {
        places[ObjectIdentifier(object)] != nil || deleted.contains(ObjectIdentifier(object))
    }

    /// Restores the relationships of an object to their state when the save was sent.
    func restoreRelationships(of object: NSManagedObject) {
        if let index = places[ObjectIdentifier(object)] { objects[index].restoreRelationships() }
    }

    // MARK: Sending

    /// Sends the save to the stores. Cancelling the caller's task does not cancel it, because its outcome would be unknown.
    func send() async {
        guard let answer = await work.send() else { return }
        set(answer)
    }

    private func set(_ new: SaveAnswer) {
        answer.withLock { $0 = new }
        isAnswered.signal()
    }

    /// Waits for the answer. Call it on the context's queue, which runs nothing else meanwhile.
    func wait() -> SaveAnswer {
        if answer.withLock({ $0 }) == nil, let answer = work.sendAtOnce() { set(answer) }
        BlockingCall.warnOnMainQueue("a save of \(changes.count) objects")
        isAnswered.wait()
        isAnswered.signal()
        return received
    }

    /// The answer, which must have arrived.
    var received: SaveAnswer {
        guard let answer = answer.withLock({ $0 }) else { stopProgram("An answer was applied before it had arrived.") }
        return answer
    }
}

/// The outcome of a save.
struct SaveAnswer: Sendable {
    /// The result of each store, up to the first that failed.
    var outcomes: [(store: StoreReference, part: StoreChangeSet, result: Result<SaveOutcome, any Error>)] = []
    /// The number of stores that take part in the save.
    var storeCount = 0
    /// The error of a parent context.
    var error: (any Error)?

    /// A store that an answer retains.
    // Stores guard their mutable state with locks of their own.
    struct StoreReference: @unchecked Sendable { let store: NSPersistentStore }
}

/// Delivers a save to its destination.
protocol SaveWork: Sendable {
    /// Saves; returns nil if ``sendAtOnce()`` has already done it.
    func send() async -> SaveAnswer?
    /// Saves on the current thread if the waiting caller would otherwise block the save; otherwise returns nil.
    func sendAtOnce() -> SaveAnswer?
}

/// Delivers a save to stores.
// Immutable.
struct StoreSave: SaveWork, @unchecked Sendable {
    private let parts: [(store: NSPersistentStore, changes: StoreChangeSet)]
    private let caller: StoreCaller

    init(_ parts: [(store: NSPersistentStore, changes: StoreChangeSet)], for caller: StoreCaller) {
        self.parts = parts
        self.caller = caller
    }

    func send() async -> SaveAnswer? {
        var answer = SaveAnswer(storeCount: parts.count)
        for (store, part) in parts {
            let prepared = (store.rowAccess as? CachedAccess)?.prepare(part.inserted)
            let result: Result<SaveOutcome, any Error>
            do {
                if let store = store.interface as? any AsynchronousStore {
                    result = .success(try await store.saveChanges(part, for: caller))
                } else {
                    result = .success(try store.interface.save(part, for: caller))
                }
            } catch {
                result = .failure(error)
            }
            SaveReport.keep(result, of: part, prepared?.value, in: store)
            answer.outcomes.append((SaveAnswer.StoreReference(store: store), part, result))
            if case .failure = result { break }
        }
        return answer
    }

    func sendAtOnce() -> SaveAnswer? { nil }
}

/// Delivers a save to a parent context.
// The delivery is made by the child and read by the parent; `isBegun` is atomic.
final class ParentSave: SaveWork, @unchecked Sendable {
    private let parent: NSManagedObjectContext
    private let childSave: ParentSource.ChildSave
    private let child: ObjectRegistry
    private let isBegun = Atomic<Bool>(false)

    init(_ childSave: ParentSource.ChildSave, into parent: NSManagedObjectContext, from child: ObjectRegistry) {
        self.parent = parent
        self.childSave = childSave
        self.child = child
    }

    func send() async -> SaveAnswer? {
        do {
            try await parent.load(for: childSave)
        } catch {
            // The parent loads the rest itself and reports errors.
        }
        return await parent.perform { self.deliver() }
    }

    /// Saves on the parent's queue, which may be waiting for the caller.
    func sendAtOnce() -> SaveAnswer? { parent.performForChild { deliver() } }

    private func deliver() -> SaveAnswer? {
        if isBegun.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        do {
            try parent.apply(childSave, from: child)
            return SaveAnswer()
        } catch {
            return SaveAnswer(error: error)
        }
    }
}
