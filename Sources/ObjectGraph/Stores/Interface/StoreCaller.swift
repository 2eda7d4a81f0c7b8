internal import Foundation

/// The attributes of a context that a store may read. Immutable and usable on any thread.
@_spi(Stores)
// Unchecked: `context` is used on its own queue, during the call, by stores of Apple's interface alone.
public final class StoreCaller: @unchecked Sendable {
    /// The merge policies of a context.
    public enum MergePolicyKind: String, Sendable {
        /// The save fails with the conflicts.
        case error
        /// The store's values win, property by property.
        case storeTrump
        /// The caller's values win, property by property.
        case objectTrump
        /// The caller's object replaces the store's.
        case overwrite
        /// The store's object is kept.
        case rollback
        /// A value that is not an ``NSMergePolicy``.
        case custom
    }

    /// The author of changes, for stores that track history.
    public let author: String?
    /// The name of the context.
    public let name: String?
    /// The maximum age in seconds of a cached row; negative for any age.
    public let stalenessInterval: Double
    /// The merge policy of the context.
    public let mergePolicy: MergePolicyKind
    /// The registry of the context, whose type the object graph knows; nil if there is no context.
    let registry: AnyObject?

    /// Creates a caller without a context, for example to send an earlier save later.
    public init(
        author: String? = nil, name: String? = nil, stalenessInterval: Double = -1, mergePolicy: MergePolicyKind = .error
    ) {
        self.author = author
        self.name = name
        self.stalenessInterval = stalenessInterval
        self.mergePolicy = mergePolicy
        registry = nil
    }

    /// Creates a caller with the registry of its context.
    init(author: String?, name: String?, stalenessInterval: Double, mergePolicy: MergePolicyKind, registry: AnyObject) {
        self.author = author
        self.name = name
        self.stalenessInterval = stalenessInterval
        self.mergePolicy = mergePolicy
        self.registry = registry
    }

}
