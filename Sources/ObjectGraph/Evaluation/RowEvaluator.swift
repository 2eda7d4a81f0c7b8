internal import Foundation
internal import Predicates

/// A source of rows in memory.
@_spi(Stores) public protocol RowSource: AnyObject {
    /// Calls `body` with every row of an entity, always in the same order.
    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws
    /// Returns the row of an ID; nil if there is none.
    func row(with id: NSManagedObjectID) throws -> Row?
    /// Returns the destination IDs of a to-many relationship.
    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID]
}

extension RowSource {
    /// Returns the IDs in the row's list.
    public func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        row.relatedIDs(relationship)
    }
}

/// Answers queries from rows in memory: predicate, order, offset, limit, and every result type.
///
/// A store keeps one for its rows. It is used by one thread at a time, under the lock that guards the rows.
@_spi(Stores) public final class RowEvaluator {
    private let table: SourceTable

    /// Creates an evaluator of a source, which it does not retain.
    public init(_ source: any RowSource) { table = SourceTable(source) }

    /// Answers a query.
    ///
    /// - Throws: The error of a predicate that did not parse or names an unknown key, and the errors of the source.
    public func answer(_ query: StoreQuery) throws -> StoreAnswer { try RowFetch(table: table, query: query).answer() }

    /// Returns the schema of an entity, for expressions over the rows of the source.
    package func schema(of entity: NSEntityDescription) -> RowSchema { table.schema(of: entity) }

    private final class SourceTable: RowTable {
        private unowned let source: any RowSource
        private var schemas: [ObjectIdentifier: RowSchema] = [:]

        init(_ source: any RowSource) { self.source = source }

        func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
            try source.forEachRow(of: entity, includingSubentities: includingSubentities, body)
        }
        func row(with id: NSManagedObjectID) throws -> Row? { try source.row(with: id) }
        func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
            try source.relatedIDs(of: relationship, in: row)
        }
        func schema(of entity: NSEntityDescription) -> RowSchema {
            if let known = schemas[ObjectIdentifier(entity)] { return known }
            let schema = RowSchema(entity: entity, table: self)
            schemas[ObjectIdentifier(entity)] = schema
            return schema
        }
    }
}
