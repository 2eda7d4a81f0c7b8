#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Rows found by SQL that are filtered and sorted further in memory. What a predicate reads beside them is loaded when it is found missing, for
/// all rows at once.
// Used by one task.
final class FoundRows: RowSource {
    private let found: RowList
    private let content: StoreContent
    private var rows: [NSManagedObjectID: Row?] = [:]
    private var related: [ObjectIdentifier: [NSManagedObjectID: [NSManagedObjectID]]] = [:]
    private var missingRows: Set<NSManagedObjectID> = []
    private var missingRelated: [ObjectIdentifier: (relationship: NSRelationshipDescription, ids: Set<NSManagedObjectID>)] = [:]

    init(_ found: RowList, _ content: StoreContent) {
        (self.found, self.content) = (found, content)
        for row in found { rows[row.knownObjectID] = row }
    }

    /// Answers a query from the rows.
    ///
    /// - Throws: The error of a predicate that no store can answer.
    func answer(_ query: StoreQuery) async throws -> StoreAnswer {
        while true {
            let answer = Result { try RowEvaluator(self).answer(query) }
            // An answer from what is not loaded yet says nothing, and neither does its error.
            if missingRows.isEmpty, missingRelated.isEmpty { return try answer.get() }
            try await load()
        }
    }

    private func load() async throws {
        let ids = Array(missingRows)
        if !ids.isEmpty {
            let content = content
            let loaded: [Row] = try await content.reading { connection in
                try await content.rows(ids, over: connection, isCancellable: true)
            }
            for id in ids { rows[id] = Row?.none }
            for row in loaded { rows[row.knownObjectID] = row }
        }
        for (key, missing) in missingRelated {
            let found = try await content.related(by: missing.relationship, from: Array(missing.ids))
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
