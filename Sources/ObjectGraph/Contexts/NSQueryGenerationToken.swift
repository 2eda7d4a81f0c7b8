public import Foundation
internal import Platform
internal import Predicates
internal import Synchronization

/// A state of the stores that a context can read from while others write.
///
/// SQLite stores in files support query generations in write-ahead logging mode, which is the default unless a pragma changes it. A state is kept for
/// as long as a context or the program holds its token.
///
/// Source: [NSQueryGenerationToken](https://developer.apple.com/documentation/coredata/nsquerygenerationtoken).
// Immutable; the views guard their state by their own locks.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
    /// The state of the stores at a context's next read.
    public static let current = NSQueryGenerationToken([])

    /// The stores' past states, each with the store that it is a view of.
    private let views: [(store: StoreToken, view: NSPersistentStore)]

    init(_ views: [(store: StoreToken, view: NSPersistentStore)]) { self.views = views }

    /// Returns the view of a store; nil for a store that keeps no states or was added later.
    func view(of store: NSPersistentStore) -> NSPersistentStore? { views.first { $0.store === store.token }?.view }

    /// Returns whether the state belongs to stores of a coordinator.
    func isOf(_ coordinator: NSPersistentStoreCoordinator) -> Bool {
        views.contains { $0.store.store?.persistentStoreCoordinator === coordinator }
    }

    /// Returns the token itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The state that a context is pinned to. Another context that fetches for it in the background reads it, too.
// The token is in a `LockedBox`, under which `pinned`, an atomic, is set.
final class QueryGeneration: Sendable {
    private let pinned = Atomic<Bool>(false)
    /// Whether the context is pinned to a state, or will be at its next read.
    var isPinned: Bool { pinned.load(ordering: .relaxed) }
    private let token = LockedBox<NSQueryGenerationToken?>(nil)

    /// Pins the context to a state: nil unpins it, and ``NSQueryGenerationToken/current`` pins it at the next read.
    func set(_ new: NSQueryGenerationToken?) {
        token.withLock { token in
            pinned.store(new != nil, ordering: .relaxed)
            token = new === NSQueryGenerationToken.current ? nil : new
        }
    }

    /// Moves a pinned context to the state of its next read.
    func advance() { token.withLock { $0 = nil } }

    /// The state; ``NSQueryGenerationToken/current`` before the first read, nil for an unpinned context.
    var current: NSQueryGenerationToken? { !isPinned ? nil : token.withLock { isPinned ? $0 ?? .current : nil } }

    /// Returns the state, and determines it by `find` if needed.
    func resolved(_ find: () throws -> NSQueryGenerationToken) rethrows -> NSQueryGenerationToken? {
        guard let known = current else { return nil }
        if known !== NSQueryGenerationToken.current { return known }
        // Outside the lock: stores have their own locks, under which they may request the state.
        let found = try find()
        return token.withLock { token in
            guard isPinned else { return nil }
            if token == nil { token = found }
            return token
        }
    }
}

extension NSManagedObjectContext {
    /// The query generation that the context is pinned to; nil for an unpinned context, and if no store supports query generations.
    ///
    /// The value is ``NSQueryGenerationToken/current`` before the first read.
    public var queryGenerationToken: NSQueryGenerationToken? {
        guard parent == nil,
            persistentStoreCoordinator?.persistentStores.contains(where: {
                ($0.interface as? any GenerationStore)?.keepsGenerations ?? false
            }) ?? false
        else { return nil }
        return generation.current
    }

    /// Pins the context to a query generation, or unpins it with nil.
    ///
    /// ``NSQueryGenerationToken/current`` pins the context to the state of its next fetch or fault. Saving, ``reset()`` and merging
    /// advance the context to the state of that moment. Registered objects do not change automatically: call ``refreshAllObjects()`` or
    /// fetch them again.
    ///
    /// Only SQLite stores in files with write-ahead logging support this. The context sees the current data of other stores, as on Apple's platforms.
    ///
    /// - Parameter generation: ``NSQueryGenerationToken/current``, the ``queryGenerationToken`` of another context, or nil.
    /// - Throws: Code 134060 for a child context, which has its parent's data, and for a token of other stores.
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
    /// Returns the store that a context reads: the store itself, or the view that the context is pinned to.
    func reader(_ store: NSPersistentStore, for context: NSManagedObjectContext) throws -> NSPersistentStore {
        let generation = context.requestingContext.generation
        if !generation.isPinned { return store }
        let token = try generation.resolved {
            NSQueryGenerationToken(
                try persistentStores.compactMap { store in
                    try (store.interface as? any GenerationStore)?.makeView().map { view in
                        try view.connectInterface()
                        return (store.token, view)
                    }
                })
        }
        return token?.view(of: store) ?? store
    }
}
