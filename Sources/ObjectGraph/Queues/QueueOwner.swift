/// An object with a queue of its own. Every context and coordinator conforms; no other type should.
///
/// Functions in an extension of this protocol yield to those that a library adds to the class, as libraries did before Core Data had a
/// `performAndWait(_:)` with a result.
public protocol QueueOwner: AnyObject {}
