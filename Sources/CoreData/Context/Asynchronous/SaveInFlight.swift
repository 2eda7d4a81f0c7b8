internal import Foundation
internal import Synchronization

/// A save that stores, or a parent context, have been given and have not answered yet.
// `taken` and `isSettled` are used on the context's queue; `answer` is guarded by its mutex.
final class SaveInFlight: @unchecked Sendable {
    let changes: ChangeSet
    /// The objects that count as saved meanwhile.
    private(set) var taken: [TakenObject]
    /// What the notification of the save names.
    let sets: ObjectChanges
    /// Which stores new objects were assigned to.
    let assignedStores: [ObjectIdentifier: NSPersistentStore]
    private let work: any SaveWork
    private var places: [ObjectIdentifier: Int] = [:]
    private var deleted: Set<ObjectIdentifier> = []
    /// Whether the context knows the answer.
    var isSettled = false
    /// What the context has made of the answer, for the one who asked for the save.
    var error: NSError?
    /// Whether the error is a conflict that the merge policy has settled: the save is to be repeated.
    var isToBeRepeated = false

    private let answer = Synchronization.Mutex<SaveAnswer?>(nil)
    private let isAnswered = DispatchSemaphore(value: 0)

    init(
        _ changes: ChangeSet, taken: [TakenObject], _ sets: ObjectChanges, _ assignedStores: [ObjectIdentifier: NSPersistentStore],
        _ work: any SaveWork
    ) {
        self.changes = changes
        self.taken = taken
        self.sets = sets
        self.assignedStores = assignedStores
        self.work = work
        places.reserveCapacity(taken.count)
        for (index, taken) in taken.enumerated() { places[ObjectIdentifier(taken.object)] = index }
        deleted = Set(changes.deleted.map(ObjectIdentifier.init))
    }

    /// Whether the save writes or deletes the object.
    func concerns(_ object: NSManagedObject) -> Bool {
        places[ObjectIdentifier(object)] != nil || deleted.contains(ObjectIdentifier(object))
    }

    /// The object has given up what was changed since.
    func restoreRelationships(of object: NSManagedObject) {
        if let index = places[ObjectIdentifier(object)] { taken[index].restoreRelationships() }
    }

    // MARK: Sending

    /// Gives the save to the stores. Not cancelled with the task that asked for it: nobody would know what has become of it.
    func send() async {
        guard let answer = await work.send() else { return }
        set(answer)
    }

    private func set(_ new: SaveAnswer) {
        answer.withLock { $0 = new }
        isAnswered.signal()
    }

    /// Waits for the answer. On the context's queue, which runs nothing else meanwhile.
    func wait() -> SaveAnswer {
        if answer.withLock({ $0 }) == nil, let answer = work.sendAtOnce() { set(answer) }
        Waiting.warnOnMainQueue("a save of \(changes.count) objects")
        isAnswered.wait()
        isAnswered.signal()
        return received
    }

    /// The answer, which is there.
    var received: SaveAnswer {
        guard let answer = answer.withLock({ $0 }) else { preconditionFailure("A save was settled before it was answered.") }
        return answer
    }
}

/// What has become of a save.
struct SaveAnswer: Sendable {
    /// What each store has said, up to the first that has failed.
    var outcomes: [(store: StoreReference, part: StoreChangeSet, result: Result<SaveOutcome, any Error>)] = []
    /// How many stores were to be told.
    var storeCount = 0
    /// The error of a parent.
    var error: (any Error)?

    /// A store, which the answer keeps.
    // Stores guard what they change by locks of their own.
    struct StoreReference: @unchecked Sendable { let store: NSPersistentStore }
}

/// Brings a save to where it goes.
protocol SaveWork: Sendable {
    /// Saves; nil where it has been done by ``sendAtOnce()``.
    func send() async -> SaveAnswer?
    /// Saves here and now, where the one who waits would otherwise be waited for; nil where that is not so.
    func sendAtOnce() -> SaveAnswer?
}

/// Brings a save to stores.
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
            SaveReport.keep(result, of: part, in: store)
            answer.outcomes.append((SaveAnswer.StoreReference(store: store), part, result))
            if case .failure = result { break }
        }
        return answer
    }

    func sendAtOnce() -> SaveAnswer? { nil }
}

/// Brings a save to a parent context.
// The delivery is made by the child and read by the parent; `isBegun` is atomic.
final class ParentSave: SaveWork, @unchecked Sendable {
    private let parent: NSManagedObjectContext
    private let delivery: ParentSource.Delivery
    private let child: ObjectRegistry
    private let isBegun = Atomic<Bool>(false)

    init(_ delivery: ParentSource.Delivery, into parent: NSManagedObjectContext, from child: ObjectRegistry) {
        self.parent = parent
        self.delivery = delivery
        self.child = child
    }

    func send() async -> SaveAnswer? {
        do {
            try await parent.load(for: delivery)
        } catch {
            // The parent asks for itself, and says what fails.
        }
        return await parent.perform { self.deliver() }
    }

    /// The parent's queue may be waiting for the one who waits here.
    func sendAtOnce() -> SaveAnswer? { parent.performForChild { deliver() } }

    private func deliver() -> SaveAnswer? {
        if isBegun.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        do {
            try parent.receive(delivery, from: child)
            return SaveAnswer()
        } catch {
            return SaveAnswer(error: error)
        }
    }
}
