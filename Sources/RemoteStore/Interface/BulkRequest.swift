public import Foundation

extension Resource.Saving {
    /// What a backend can do to many resources by one call: what batch requests are sent to.
    ///
    /// The calls are described like those that read: their parameters say which predicates they can apply. A batch request that they cannot
    /// apply exactly is refused, and the error names the clause.
    ///
    /// ```swift
    /// let old = Endpoint("deleteWhere", parameters: [Parameter("year", operators: .order, isRequired: true)])
    /// let saving = Resource.Saving(bulk: .init(delete: old, results: [.count]))
    /// ```
    public struct Bulk: Sendable {
        /// What a call can tell of the resources that it has changed.
        public enum Result: Hashable, Sendable {
            /// Their number.
            case count
            /// Their identifiers, and thereby their number.
            case identifiers
        }

        /// Whether batch inserts are taken: they are sent as new resources to ``Backend/save(_:)``, as many in a call as it takes.
        public var inserts: Bool
        /// The call that sets values of everything that it finds; nil for none.
        public var update: Endpoint?
        /// The call that removes everything that it finds; nil for none.
        public var delete: Endpoint?
        /// What the calls tell of what they have changed.
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

/// A call that changes or removes all resources that it finds.
public struct BulkRequest: Hashable, Sendable {
    /// Which resources are meant: entity, endpoint, filters, and the order, limit and offset where they are declared.
    public let target: BackendRequest
    /// What is done to them: ``Resource/Saving/Kind/update`` or ``Resource/Saving/Kind/delete``.
    public let kind: Resource.Saving.Kind
    /// The new values of attributes, for an update.
    public let values: [String: ResourceValue]
    /// Of no other call.
    public let idempotencyKey: UUID

    /// The name of the entity.
    public var entity: String { target.entity }
}

/// What a bulk call has changed.
public struct BulkAnswer: Sendable {
    /// The number of the changed resources; nil where it is not known.
    public var count: Int?
    /// The changed resources; nil where they are not known.
    public var resources: [ResourceReference]?

    /// Creates an answer.
    public init(count: Int? = nil, resources: [ResourceReference]? = nil) {
        self.count = count ?? resources?.count
        self.resources = resources
    }
}
