#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Rows found by SQL that are filtered and sorted further in memory. Other rows that a predicate reads are loaded as they are found to be missing,
/// for all rows at once.
// Used by one task.
final class FoundRows: RowSource {
    private let found: RowList
    private let content: StoreContent
    /// The connection of a transaction whose rows are required; nil for any.
    private let connection: Connection?
    /// Whether the newest state is required.
    private let isCurrent: Bool
    private var rows: [NSManagedObjectID: Row?] = [:]
    private var related: [ObjectIdentifier: [NSManagedObjectID: [NSManagedObjectID]]] = [:]
    private var missingRows: Set<NSManagedObjectID> = []
    private var missingRelated: [ObjectIdentifier: (relationship: NSRelationshipDescription, ids: Set<NSManagedObjectID>)] = [:]

    init(_ found: RowList, _ content: StoreContent, over connection: Connection? = nil, isCurrent: Bool = false) {
        (self.found, self.content, self.connection, self.isCurrent) = (found, content, connection, isCurrent)
        for row in found { rows[row.knownObjectID] = row }
    }

    /// Answers a query from the rows.
    ///
    /// - Throws: The error of a predicate that no store can answer.
    func answer(_ query: StoreQuery) async throws -> StoreAnswer { try await evaluate { try $0.answer(query) } }

    /// Returns the result that `body` computes from the rows. Calls `body` again after loading rows that it needed and did not find.
    func evaluate<Result>(_ body: (RowEvaluator) throws -> Result) async throws -> Result {
        while true {
            let answer = Swift.Result { try body(RowEvaluator(self)) }
            // A result that was computed without the missing rows is meaningless, and so is an error.
            if missingRows.isEmpty, missingRelated.isEmpty { return try answer.get() }
            try await load()
        }
    }

    private func load() async throws {
        let ids = Array(missingRows)
        if !ids.isEmpty {
            let content = content
            let isCancellable = connection == nil
            let loaded = try await content.readingRows(over: connection, isCurrent: isCurrent) {
                try await content.readRows(ids, over: $0, isCancellable: isCancellable).all()
            }
            for id in ids { rows[id] = Row?.none }
            for row in loaded { rows[row.knownObjectID] = row }
        }
        for (key, missing) in missingRelated {
            let found = try await content.related(
                by: missing.relationship, from: Array(missing.ids), over: connection, isCurrent: isCurrent)
            for id in missing.ids { related[key, default: [:]][id] = found[id] ?? [] }
        }
        (missingRows, missingRelated) = ([], [:])
    }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        for row in found { try body(row) }
    }

    func row(with id: NSManagedObjectID) -> Row? {
        if let known = rows[id] { return known }
        missingRows.insert(id)
        return nil
    }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) -> [NSManagedObjectID] {
        guard let id = row.objectID else { return [] }
        let key = ObjectIdentifier(relationship)
        if let known = related[key]?[id] { return known }
        missingRelated[key, default: (relationship, [])].ids.insert(id)
        return []
    }
}
#endif
