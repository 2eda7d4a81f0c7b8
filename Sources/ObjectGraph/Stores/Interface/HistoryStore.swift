public import Foundation

/// A store that tracks the history of its changes.
///
/// The coordinator applies a request's fetch request and result type, and merges the histories of several stores.
@_spi(Stores) public protocol HistoryStore: StoreInterface {
    /// Whether the store tracks history, which depends on its options.
    var keepsHistory: Bool { get }
    /// Returns the number of the last transaction; nil if the store tracks no history.
    func lastHistoryNumber() throws -> Int64?
    /// Returns the end of the history; nil if the store tracks no history. The default implementation calls ``lastHistoryNumber()``.
    func lastHistoryPosition() throws -> HistoryPosition?
    /// Returns the transactions after a boundary, in the order of their numbers.
    ///
    /// - Throws: Code 134301 for a boundary whose following transactions were deleted, or that the store has not reached.
    func history(_ query: HistoryQuery) throws -> [HistoryRecord]
    /// Deletes the transactions before a boundary, and returns their number.
    func deleteHistory(before boundary: HistoryQuery.Boundary) throws -> Int
}

extension HistoryStore {
    /// Calls ``lastHistoryNumber()``.
    public func lastHistoryPosition() throws -> HistoryPosition? { try lastHistoryNumber().map { HistoryPosition(number: $0) } }
}

/// A position in the history of one store.
@_spi(Stores) public struct HistoryPosition: Hashable, Sendable {
    /// The number of the last transaction before the position.
    public let number: Int64
    /// The set of transactions before the position, in the store's own form; nil if the number suffices. Concurrent transactions may be committed in
    /// another order than that of their numbers.
    public let detail: String?

    /// Creates a position.
    public init(number: Int64, detail: String? = nil) { (self.number, self.detail) = (number, detail) }
}

/// The part of a store's history that an ``NSPersistentHistoryChangeRequest`` selects.
@_spi(Stores) public struct HistoryQuery: Sendable {
    /// A position in the history.
    public enum Boundary: Sendable, Equatable {
        /// The beginning of the history.
        case beginning
        /// A time; transactions of that very time are on neither side of it.
        case date(Date)
        /// A transaction, by its number; it is on neither side of the boundary.
        case transaction(Int64)
        /// The position of a token that has a ``HistoryPosition/detail`` of the store.
        case position(HistoryPosition)
    }
    /// The boundary after which the history is requested.
    public let boundary: Boundary
    /// Whether the records contain their changes.
    public let includesChanges: Bool

    /// Creates a query for the history after a boundary.
    public init(after boundary: Boundary = .beginning, includesChanges: Bool = true) {
        self.boundary = boundary
        self.includesChanges = includesChanges
    }

    /// Creates the query of a request for one store.
    init(_ request: NSPersistentHistoryChangeRequest, of storeID: String?) {
        let isAboutChanges = request.fetchRequest?.entity?.name == HistoryEntities.change.name
        // A token of other stores does not contain this one.
        self.init(
            after: Boundary(request.limit, of: storeID) ?? .beginning,
            includesChanges: isAboutChanges || [.objectIDs, .changesOnly, .transactionsAndChanges].contains(request.resultType))
    }
}

extension HistoryQuery.Boundary {
    /// The boundary of a request in one store; nil for a token that does not contain the store.
    init?(_ limit: NSPersistentHistoryChangeRequest.Limit, of storeID: String?) {
        switch limit {
        case .date(let date): self = .date(date)
        case .token(let token):
            guard let position = storeID.flatMap({ token?.positions[$0] }) else { return nil }
            self = position.detail == nil ? .transaction(position.number) : .position(position)
        }
    }
}
