internal import Foundation

/// A request that changes the rows of stores without loading objects.
@_spi(Stores) public protocol BatchRequest: NSPersistentStoreRequest {
    /// The kind of outcome that stores report.
    var wanted: BatchOutcome.Kind { get }
}

/// The outcome of a batch request in a store.
@_spi(Stores) public enum BatchOutcome: Sendable {
    /// The kinds of outcome.
    public enum Kind: Sendable {
        /// Whether the request succeeded.
        case status
        /// The IDs of the changed rows.
        case ids
        /// The number of changed rows.
        case count
    }

    /// Whether the request succeeded.
    case status(Bool)
    /// The IDs of the changed rows.
    case ids([NSManagedObjectID])
    /// The number of changed rows.
    case count(Int)

    /// Creates the outcome of a kind for a store that knows the IDs of the changed rows.
    public init(_ ids: [NSManagedObjectID], as kind: Kind) {
        switch kind {
        case .status: self = .status(true)
        case .ids: self = .ids(ids)
        case .count: self = .count(ids.count)
        }
    }

    /// Combines the outcomes of several stores into the public result.
    static func combined(_ outcomes: [BatchOutcome], as kind: Kind) -> Any {
        var ids: [NSManagedObjectID] = []
        var count = 0
        var status = true
        for outcome in outcomes {
            switch outcome {
            case .status(let isDone): status = status && isDone
            case .ids(let more): ids += more
            case .count(let more): count += more
            }
        }
        switch kind {
        case .status: return NSNumber(value: status)
        case .ids: return ids
        case .count: return NSNumber(value: count)
        }
    }
}
