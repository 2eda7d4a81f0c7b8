public import Foundation

/// What a store answers to a ``StoreQuery``.
@_spi(Stores) public enum StoreAnswer: Sendable {
    /// The rows of the objects, in the order asked for.
    case rows(RowList)
    /// The IDs of the objects, in the order asked for.
    case ids([NSManagedObjectID])
    /// One dictionary for each object or group, by the names of the query's columns.
    case dictionaries(StoreDictionaries)
    /// How many there are.
    case count(Int)
    /// Objects that a store of Apple's interface got from the context that asks.
    case objects(LiveObjects)
}

/// Dictionaries that a store has made.
@_spi(Stores)
// Unchecked: they never change once they are made.
public struct StoreDictionaries: @unchecked Sendable {
    /// The dictionaries, in the order asked for.
    public let elements: [NSDictionary]

    /// Hands dictionaries over; nobody changes them any more.
    public init(_ elements: [NSDictionary]) { self.elements = elements }
}

/// Objects of one context on the way from a store that was given the context.
@_spi(Stores)
// Unchecked: made and read on the queue of the context.
public struct LiveObjects: @unchecked Sendable {
    let elements: [NSManagedObject]
}
