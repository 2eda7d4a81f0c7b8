internal import Foundation

/// The IDs of the objects in a context notification. Unlike the objects, they may cross to other queues.
public struct ObjectIDChanges: Sendable, Hashable {
    /// The IDs of the inserted objects.
    public var inserted: Set<NSManagedObjectID> = []
    /// The IDs of the updated objects.
    public var updated: Set<NSManagedObjectID> = []
    /// The IDs of the deleted objects.
    public var deleted: Set<NSManagedObjectID> = []
    /// The IDs of the objects that were refreshed without changes of their own.
    public var refreshed: Set<NSManagedObjectID> = []
    /// The IDs of the invalidated objects.
    public var invalidated: Set<NSManagedObjectID> = []
    /// Whether every object was invalidated, for example by a reset.
    public var invalidatedAll = false

    /// Creates an empty set of changes.
    public init() {}

    /// The IDs of all inserted, updated, deleted, refreshed or invalidated objects.
    public var all: Set<NSManagedObjectID> { inserted.union(updated).union(deleted).union(refreshed).union(invalidated) }

    /// Reads the changes of a notification. Call it in the notification's observer, on the context's queue.
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
/// Observation begins when the iterator is created. Notifications are buffered until they are requested, and iteration ends when the task
/// is cancelled. The sequence neither keeps the context alive nor ends with it.
public struct ContextNotifications: AsyncSequence, Sendable {
    /// The IDs in each notification.
    public typealias Element = ObjectIDChanges
    fileprivate let name: Notification.Name
    fileprivate weak let context: NSManagedObjectContext?

    /// Begins to observe and returns an iterator.
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

    /// An iterator over the notifications.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<ObjectIDChanges>.AsyncIterator

        /// Returns the next notification; nil when the task is cancelled.
        public mutating func next() async -> ObjectIDChanges? { await base.next() }
    }
}

extension NSManagedObjectContext {
    /// The changes of each event in the context, saved or not: `NSManagedObjectContextObjectsDidChange` as a sequence. New objects have
    /// temporary IDs. Not in Apple's API.
    public nonisolated var objectChanges: ContextNotifications {
        ContextNotifications(name: .NSManagedObjectContextObjectsDidChange, context: self)
    }

    /// The saves of the context: `NSManagedObjectContextDidSave` as a sequence. Not in Apple's API.
    public nonisolated var saves: ContextNotifications { ContextNotifications(name: .NSManagedObjectContextDidSave, context: self) }

    /// The beginning of each save: `NSManagedObjectContextWillSave` as a sequence of empty elements. Not in Apple's API.
    public nonisolated var upcomingSaves: ContextNotifications {
        ContextNotifications(name: .NSManagedObjectContextWillSave, context: self)
    }
}
