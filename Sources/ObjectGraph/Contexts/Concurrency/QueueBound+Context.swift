extension QueueBound {
    /// For the queue of a context.
    init(_ value: Value, on context: NSManagedObjectContext) { self.init(value, on: context.contextQueue) }
}
