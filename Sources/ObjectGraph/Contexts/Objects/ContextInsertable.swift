/// A class whose instances are inserted into contexts: ``NSManagedObject`` and its subclasses.
///
/// It gives generic code `init(context:)`: `T(context: context)` and `Self(context: context)`, which Swift allows for required
/// initializers of classes only.
public protocol ContextInsertable: AnyObject {
    /// Creates an object of an entity and inserts it into a context. Call it on the context's queue.
    init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?)
}

extension ContextInsertable where Self: NSManagedObject {
    /// Creates an object of the class's entity and inserts it into a context. Call it on the context's queue.
    ///
    /// A class without an entity in the context's model stops the program with a message.
    public init(context moc: NSManagedObjectContext) { self.init(entity: Self.entity(in: moc), insertInto: moc) }
}
