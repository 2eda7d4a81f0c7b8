internal import Foundation

/// Who asks a store: what of a context a store may look at. It never changes, and may be used on any thread.
@_spi(Stores)
// Unchecked: `context` is used on its own queue, during the call, by stores of Apple's interface alone.
public final class StoreCaller: @unchecked Sendable {
    /// What settles conflicts that a save meets.
    public enum MergePolicyKind: String, Sendable {
        /// The save fails and says which there are.
        case error
        /// What the store has wins, property by property.
        case storeTrump
        /// What the caller has wins, property by property.
        case objectTrump
        /// What the caller has overwrites everything.
        case overwrite
        /// What the store has replaces everything.
        case rollback
        /// Something that is no ``NSMergePolicy``.
        case custom
    }

    /// Who writes, for stores that keep a history.
    public let author: String?
    /// The name of the asking context.
    public let name: String?
    /// For how many seconds a row that was read before may serve; negative for any age.
    public let stalenessInterval: Double
    /// What settles conflicts of a save.
    public let mergePolicy: MergePolicyKind
    private let registry: ObjectRegistry?
    /// The context, for Apple's interfaces, which are given it; nil where there is none, or it has gone.
    var context: NSManagedObjectContext? { registry?.livingContext }

    /// A caller without a context, such as one that sends later what was saved before.
    public init(
        author: String? = nil, name: String? = nil, stalenessInterval: Double = -1, mergePolicy: MergePolicyKind = .error
    ) {
        self.author = author
        self.name = name
        self.stalenessInterval = stalenessInterval
        self.mergePolicy = mergePolicy
        registry = nil
    }

    init(_ context: NSManagedObjectContext) {
        author = context.transactionAuthor
        name = context.name
        stalenessInterval = context.stalenessInterval
        mergePolicy = MergePolicyKind(context.mergePolicy)
        registry = context.registry
    }
}

extension StoreCaller.MergePolicyKind {
    fileprivate init(_ policy: Any) {
        guard let policy = policy as? NSMergePolicy else {
            self = .custom
            return
        }
        self =
            switch policy.mergeType {
            case .errorMergePolicyType: .error
            case .mergeByPropertyStoreTrumpMergePolicyType: .storeTrump
            case .mergeByPropertyObjectTrumpMergePolicyType: .objectTrump
            case .overwriteMergePolicyType: .overwrite
            case .rollbackMergePolicyType: .rollback
            }
    }
}
