internal import Platform
internal import Predicates

/// The contexts of a coordinator, or the children of a context; the list keeps none of them alive.
final class ContextList: Sendable {
    // Each context removes itself when it is deallocated, as it does from the listeners of saves. The list keeps the object by which a context's
    // objects are found, not the context.
    private let registries = LockedBox<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    func add(_ registry: any AnyObject & Sendable) { registries.withLock { $0[ObjectIdentifier(registry)] = registry } }

    func remove(_ registry: any AnyObject & Sendable) { registries.withLock { $0[ObjectIdentifier(registry)] = nil } }

    /// The registries of the contexts.
    var all: [any AnyObject & Sendable] { registries.withLock { Array($0.values) } }
}
