extension ContextQueue {
    /// The context whose private queue this is.
    // The initializer of a context sets `owner`, to its registry, and nothing else does.
    var context: NSManagedObjectContext? { owner.flatMap { unsafeDowncast($0, to: ObjectRegistry.self).livingContext } }
}
