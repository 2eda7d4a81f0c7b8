internal import Foundation

/// Which objects a notification of a context tells of, by their IDs. It may cross to other queues.
public struct ObjectIDChanges: Sendable, Hashable {
    /// The objects that were inserted.
    public var inserted: Set<NSManagedObjectID> = []
    /// The objects that were updated.
    public var updated: Set<NSManagedObjectID> = []
    /// The objects that were deleted.
    public var deleted: Set<NSManagedObjectID> = []
    /// The objects that were refreshed without being changed here.
    public var refreshed: Set<NSManagedObjectID> = []
    /// The objects that have become invalid.
    public var invalidated: Set<NSManagedObjectID> = []
    /// Whether every object has become invalid, as by a reset.
    public var invalidatedAll = false

    /// Makes changes of nothing.
    public init() {}

    /// All objects that were inserted, updated, deleted, refreshed or made invalid.
    public var all: Set<NSManagedObjectID> { inserted.union(updated).union(deleted).union(refreshed).union(invalidated) }

    /// The changes that a notification tells of. Call it where the notification is posted, on the context's queue.
    init(_ notification: Notification) {
        func ids(_ key: String) -> Set<NSManagedObjectID> {
            switch notification.userInfo?[key] {
            case let objects as Set<NSManagedObject>: Set(objects.map(\.objectID))
            case let ids as Set<NSManagedObjectID>: ids
            default: []
            }
        }
        inserted = ids(NSInsertedObjectsKey)
        updated = ids(NSUpdatedObjectsKey)
        deleted = ids(NSDeletedObjectsKey)
        refreshed = ids(NSRefreshedObjectsKey)
        invalidated = ids("invalidated")
        invalidatedAll = notification.userInfo?[NSInvalidatedAllObjectsKey] != nil
    }
}

/// The notifications of one kind that a context posts, as an asynchronous sequence.
///
/// Iteration begins to listen when its iterator is made, misses nothing from then on, keeps what has not been asked for yet, and ends when the
/// task is cancelled. It does not keep the context alive, and does not end with it.
public struct ContextNotifications: AsyncSequence, Sendable {
    /// What each notification tells.
    public typealias Element = ObjectIDChanges
    fileprivate let name: Notification.Name
    fileprivate weak let context: NSManagedObjectContext?

    /// Begins to listen.
    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncStream.makeStream(of: ObjectIDChanges.self)
        guard let context else {
            continuation.finish()
            return AsyncIterator(base: stream.makeAsyncIterator())
        }
        let token = Transfer(
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                continuation.yield(ObjectIDChanges($0))
            })
        continuation.onTermination = { _ in NotificationCenter.default.removeObserver(token.value) }
        return AsyncIterator(base: stream.makeAsyncIterator())
    }

    /// Gives one notification after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<ObjectIDChanges>.AsyncIterator

        /// The next notification; nil when the task is cancelled.
        public mutating func next() async -> ObjectIDChanges? { await base.next() }
    }
}

extension NSManagedObjectContext {
    /// What changes in the context, event by event, saved or not: `NSManagedObjectContextObjectsDidChange` as a sequence. New objects have temporary
    /// IDs in it. Not in Apple's API.
    public nonisolated var objectChanges: ContextNotifications {
        ContextNotifications(name: .NSManagedObjectContextObjectsDidChange, context: self)
    }

    /// What the context saves: `NSManagedObjectContextDidSave` as a sequence. Not in Apple's API.
    public nonisolated var saves: ContextNotifications { ContextNotifications(name: .NSManagedObjectContextDidSave, context: self) }

    /// That the context is about to save: `NSManagedObjectContextWillSave` as a sequence; its elements are empty. Not in Apple's API.
    public nonisolated var upcomingSaves: ContextNotifications {
        ContextNotifications(name: .NSManagedObjectContextWillSave, context: self)
    }
}
