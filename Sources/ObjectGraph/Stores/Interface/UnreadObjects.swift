public import Foundation

/// The error of a store that could not read some of several requested objects.
///
/// The objects that it has read are valid: only the objects with a failure cannot be read. A store throws it from ``StoreInterface/rows(for:for:)``,
/// ``StoreInterface/values(of:for:for:)`` and ``StoreInterface/related(by:from:for:)``.
@_spi(Stores) public struct UnreadObjects: LocalizedError {
    /// Why an object could not be read.
    public struct Failure: Sendable {
        /// The store's error.
        public let error: any Error
        /// The duration for which the server does not want to be queried again; nil if it has not named one.
        public let retryAfter: Duration?
        /// Whether the store has logged the cause, which many objects may share.
        public let isLogged: Bool

        /// Creates a failure.
        ///
        /// - Parameters:
        ///   - error: The store's error.
        ///   - retryAfter: The duration for which not to retry; nil if it is unknown.
        ///   - isLogged: Whether the store has logged the cause.
        public init(_ error: any Error, retryAfter: Duration? = nil, isLogged: Bool = false) {
            (self.error, self.retryAfter, self.isLogged) = (error, retryAfter, isLogged)
        }
    }

    /// The objects that could not be read.
    public var failures: [NSManagedObjectID: Failure]
    /// The rows of the others, as far as they exist.
    public var rows: [Row]
    /// The destinations of a relationship of the others.
    public var related: [NSManagedObjectID: [NSManagedObjectID]]

    /// Creates the error.
    ///
    /// - Parameters:
    ///   - failures: The objects that could not be read.
    ///   - rows: The rows of the others.
    ///   - related: The destinations of a relationship of the others.
    public init(_ failures: [NSManagedObjectID: Failure], rows: [Row] = [], related: [NSManagedObjectID: [NSManagedObjectID]] = [:]) {
        (self.failures, self.rows, self.related) = (failures, rows, related)
    }

    /// The number of objects that cannot be read, and the reason for one of them.
    public var errorDescription: String? {
        "\(failures.count) objects cannot be read" + (failures.values.first.map { ": \($0.error.localizedDescription)" } ?? ".")
    }

    /// Returns the error of an object, or that of any other object if it has none.
    func error(of id: NSManagedObjectID? = nil) -> any Error {
        id.flatMap { failures[$0]?.error } ?? failures.values.first?.error ?? self
    }
}

/// A store that may have got values which it could not read: they are unknown in its rows, and each is an error of its object.
@_spi(Stores) public protocol PartlyReadStore: StoreInterface {
    /// Returns the reasons why values of an object could not be read, by the names of the properties; empty for values that were not requested yet.
    ///
    /// Called on any thread.
    func unreadValues(of id: NSManagedObjectID) -> [String: UnreadObjects.Failure]
}
