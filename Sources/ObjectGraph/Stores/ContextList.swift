internal import Platform
internal import Predicates

/// The contexts of a coordinator, or the children of a context, none of which it keeps alive.
final class ContextList: Sendable {
    // Each removes itself when it is deallocated, as from the listeners of saves. What makes a context's objects found is kept, and not the context.
    private let registries = LockedBox<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    func add(_ registry: any AnyObject & Sendable) { registries.withLock { $0[ObjectIdentifier(registry)] = registry } }

    func remove(_ registry: any AnyObject & Sendable) { registries.withLock { $0[ObjectIdentifier(registry)] = nil } }

    /// The registries of the contexts.
    var all: [any AnyObject & Sendable] { registries.withLock { Array($0.values) } }
}
