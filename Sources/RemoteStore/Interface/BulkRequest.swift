public import Foundation

extension Resource.Saving {
    /// The operations that a backend can apply to many resources in one call. Batch requests are sent to them.
    ///
    /// The calls are described like those that read: their parameters determine which predicates they can apply. A batch request that they cannot apply exactly
    /// is refused, and the error names the clause.
    ///
    /// ```swift
    /// let old = Endpoint("deleteWhere", parameters: [Parameter("year", operators: .order, isRequired: true)])
    /// let saving = Resource.Saving(bulk: .init(delete: old, results: [.count]))
    /// ```
    public struct Bulk: Sendable {
        /// The information that a call can return about the resources that it has changed.
        public enum Result: Hashable, Sendable {
            /// Their number.
            case count
            /// Their identifiers, and thereby their number.
            case identifiers
        }

        /// Whether batch inserts are supported. They are sent as new resources to ``Backend/save(_:)``, as many per call as the backend takes.
        public var inserts: Bool
        /// The call that sets values of all matching resources; nil for none.
        public var update: Endpoint?
        /// The call that removes all matching resources; nil for none.
        public var delete: Endpoint?
        /// The information that the calls return about the changed resources.
        public var results: Set<Result>

        /// Creates the description of bulk calls.
        public init(inserts: Bool = false, update: Endpoint? = nil, delete: Endpoint? = nil, results: Set<Result> = []) {
            self.inserts = inserts
            self.update = update
            self.delete = delete
            self.results = results
        }
    }
}

/// A call that changes or removes all matching resources.
public struct BulkRequest: Hashable, Sendable {
    /// The affected resources: entity, endpoint and filters, and the order, limit and offset if they are declared.
    public let target: BackendRequest
    /// The operation: ``Resource/Saving/Kind/update`` or ``Resource/Saving/Kind/delete``.
    public let kind: Resource.Saving.Kind
    /// The new values of attributes, for an update.
    public let values: [String: ResourceValue]
    /// A key that no other call has.
    public let idempotencyKey: UUID

    /// The name of the entity.
    public var entity: String { target.entity }
}

/// The result of a bulk call.
public struct BulkAnswer: Sendable {
    /// The number of the changed resources; nil if it is not known.
    public var count: Int?
    /// The changed resources; nil if they are not known.
    public var resources: [ResourceReference]?

    /// Creates an answer.
    public init(count: Int? = nil, resources: [ResourceReference]? = nil) {
        self.count = count ?? resources?.count
        self.resources = resources
    }
}
