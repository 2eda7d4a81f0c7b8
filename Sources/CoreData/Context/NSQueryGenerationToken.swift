public import Foundation
internal import Synchronization

/// A state of the stores that a context can hold on to while others go on writing.
///
/// SQLite stores in files keep states, in the mode that they are opened in unless a pragma says otherwise (write-ahead logging). A state stays for
/// as long as a context or the program holds its token.
///
/// Source: [NSQueryGenerationToken](https://developer.apple.com/documentation/coredata/nsquerygenerationtoken).
// Immutable; the views are used under the locks of their own.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
    /// Stands for the state in which a context finds its stores when it next reads from them.
    public static let current = NSQueryGenerationToken([])

    /// Stores as they were, each with the one that it is a view of.
    private let views: [(store: StoreToken, view: NSPersistentStore)]

    init(_ views: [(store: StoreToken, view: NSPersistentStore)]) { self.views = views }

    /// The store as it was; nil for one that keeps no states, or came later.
    func view(of store: NSPersistentStore) -> NSPersistentStore? { views.first { $0.store === store.token }?.view }

    /// Whether the state is one of stores of a coordinator.
    func isOf(_ coordinator: NSPersistentStoreCoordinator) -> Bool {
        views.contains { $0.store.store?.persistentStoreCoordinator === coordinator }
    }

    /// The token itself, as it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The state that a context holds on to. Another context that fetches for it in the background asks too.
// The token lies in a box with its lock, under which `pinned`, an atomic, is set.
final class QueryGeneration: Sendable {
    private let pinned = Atomic<Bool>(false)
    /// Whether the context holds on to a state, or will to the next one that it finds.
    var isPinned: Bool { pinned.load(ordering: .relaxed) }
    private let token = LockedBox<NSQueryGenerationToken?>(nil)

    /// Nil is no state; ``NSQueryGenerationToken/current`` the one that is found next.
    func set(_ new: NSQueryGenerationToken?) {
        token.withLock { token in
            pinned.store(new != nil, ordering: .relaxed)
            token = new === NSQueryGenerationToken.current ? nil : new
        }
    }

    /// From here on the state is the one that is found next, if there is one.
    func advance() { token.withLock { $0 = nil } }

    /// The state, ``NSQueryGenerationToken/current`` where none has been found yet; nil for none.
    var current: NSQueryGenerationToken? { !isPinned ? nil : token.withLock { isPinned ? $0 ?? .current : nil } }

    /// The state, found now if need be.
    func settled(_ find: () throws -> NSQueryGenerationToken) rethrows -> NSQueryGenerationToken? {
        guard let known = current else { return nil }
        if known !== NSQueryGenerationToken.current { return known }
        // Without the lock: stores have locks of their own, under which they may ask for the state.
        let found = try find()
        return token.withLock { token in
            guard isPinned else { return nil }
            if token == nil { token = found }
            return token
        }
    }
}

extension NSManagedObjectContext {
    /// The state of the stores that the context holds on to; nil while it holds on to none, as always where no store keeps states.
    ///
    /// Before the first read it is ``NSQueryGenerationToken/current``.
    public var queryGenerationToken: NSQueryGenerationToken? {
        guard parent == nil,
            persistentStoreCoordinator?.persistentStores.contains(where: {
                ($0.interface as? any GenerationStore)?.keepsGenerations ?? false
            }) ?? false
        else { return nil }
        return generation.current
    }

    /// Makes the context hold on to a state of its stores, or to none with nil.
    ///
    /// With ``NSQueryGenerationToken/current`` it is the state that the next fetch or fault finds. Saving, ``reset()`` and merging take the context to
    /// the state of that moment. Objects that are there do not change by themselves: call ``refreshAllObjects()`` or fetch them again.
    ///
    /// Only SQLite stores in files with write-ahead logging take part. Of other stores the context sees what they have at the time it asks, as on
    /// Apple's platforms.
    ///
    /// - Parameter generation: ``NSQueryGenerationToken/current``, the ``queryGenerationToken`` of another context, or nil.
    /// - Throws: code 134060 for a child context, which has its parent's data, and for a token of other stores.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue("setQueryGenerationFrom(_:) is called")
        guard parent == nil else {
            throw CoreDataError.make(
                NSCoreDataError, "The query generation of a child context cannot be set.", reason: "A child has its parent's data.",
                next: "Set that of the context that has no parent.")
        }
        if let generation, generation !== NSQueryGenerationToken.current {
            guard let persistentStoreCoordinator, generation.isOf(persistentStoreCoordinator) else {
                throw CoreDataError.make(
                    NSCoreDataError, "The context cannot hold on to this query generation.", reason: "It is one of other stores.",
                    next: "Give the token of a context of the same coordinator.")
            }
        }
        self.generation.set(generation)
    }
}

extension NSPersistentStoreCoordinator {
    /// The store that a context reads from in a store's place: itself, or what it was when the context was pinned.
    func reader(_ store: NSPersistentStore, for context: NSManagedObjectContext) throws -> NSPersistentStore {
        let generation = context.requestingContext.generation
        let token = try generation.settled {
            NSQueryGenerationToken(
                try persistentStores.compactMap { store in
                    try (store.interface as? any GenerationStore)?.makeView().map { view in
                        try view.settleInterface()
                        return (store.token, view)
                    }
                })
        }
        return token?.view(of: store) ?? store
    }
}
