public import Foundation

/// A state of the stores that a context can hold on to while others go on writing.
///
/// Source: [NSQueryGenerationToken](https://developer.apple.com/documentation/coredata/nsquerygenerationtoken).
// Immutable.
open class NSQueryGenerationToken: NSObject, NSCopying, @unchecked Sendable {
    /// Stands for the state in which a context finds its stores when it next reads from them.
    public static let current = NSQueryGenerationToken()

    /// The token itself, as it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }
}

extension NSManagedObjectContext {
    /// The state of the stores that the context holds on to; nil while it holds on to none, as always where no store keeps states.
    public var queryGenerationToken: NSQueryGenerationToken? { nil }

    /// Makes the context hold on to a state of its stores, or to none with nil.
    ///
    /// Only stores that keep former states take part; the in-memory store, atomic and incremental stores do not, and the context sees what they
    /// have at the time it asks, as on Apple's platforms.
    ///
    /// - Parameter generation: ``NSQueryGenerationToken/current``, the ``queryGenerationToken`` of another context, or nil.
    /// - Throws: code 134060 for a child context, which has its parent's data.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        checkQueue("setQueryGenerationFrom(_:) is called")
        guard parent != nil else { return }
        throw CoreDataError.make(
            NSCoreDataError, "The query generation of a child context cannot be set.", reason: "A child has its parent's data.",
            next: "Set that of the context that has no parent.")
    }
}
