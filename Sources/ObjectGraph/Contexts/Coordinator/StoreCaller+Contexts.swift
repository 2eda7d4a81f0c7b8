extension StoreCaller {
    /// The context, for stores of Apple's interface; nil if there is none, or it was deallocated.
    // Only the initializer below sets `registry`.
    var context: NSManagedObjectContext? { registry.flatMap { unsafeDowncast($0, to: ObjectRegistry.self).livingContext } }

    convenience init(_ context: NSManagedObjectContext) {
        self.init(
            author: context.transactionAuthor, name: context.name, stalenessInterval: context.stalenessInterval,
            mergePolicy: MergePolicyKind(context.mergePolicy), registry: context.registry)
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
