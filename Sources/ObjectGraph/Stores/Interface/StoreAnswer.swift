public import Foundation

/// A store's answer to a ``StoreQuery``.
@_spi(Stores) public enum StoreAnswer: Sendable {
    /// The rows of the objects, in the requested order.
    case rows(RowList)
    /// The IDs of the objects, in the requested order.
    case ids([NSManagedObjectID])
    /// A dictionary for each object or group, by the names of the query's columns.
    case dictionaries(StoreDictionaries)
    /// The number of objects.
    case count(Int)
    /// Objects that a store of Apple's interface got from the requesting context.
    case objects(LiveObjects)
}

/// The dictionaries of an answer.
@_spi(Stores)
// Unchecked: the dictionaries never change once they are created.
public struct StoreDictionaries: @unchecked Sendable {
    /// The dictionaries, in the requested order.
    public let elements: [NSDictionary]

    /// Creates an answer from dictionaries that are not changed any more.
    public init(_ elements: [NSDictionary]) { self.elements = elements }
}

/// Objects of one context from a store that received the context.
@_spi(Stores)
// Unchecked: created and read on the queue of the context.
public struct LiveObjects: @unchecked Sendable {
    /// The objects; ``objects`` gives them with their type.
    let elements: [AnyObject]
}
