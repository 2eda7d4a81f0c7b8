extension ContextQueue {
    /// The context whose private queue this is.
    // Only the initializer of a context sets `owner`, to its registry.
    var context: NSManagedObjectContext? { owner.flatMap { unsafeDowncast($0, to: ObjectRegistry.self).livingContext } }
}
