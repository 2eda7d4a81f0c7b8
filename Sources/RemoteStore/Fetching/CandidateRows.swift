internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Rows that a fetch has read, with those that are related to them, for the evaluation in memory.
// Used by one task at a time.
final class CandidateRows: RowSource {
    /// The rows of the fetched entity, in the order in which they came.
    private(set) var rows: [Row] = []
    private var byID: [NSManagedObjectID: Row] = [:]
    /// What was read, where it is known which of it was asked for before.
    var found: RemoteReader.Found?
    /// The lists of relationships that rows do not contain, by name.
    private var lists: [String: [NSManagedObjectID: [NSManagedObjectID]]] = [:]
    /// Rows that `byID` does not have yet: most fetches never look for one.
    private var unfiled: [[Row]] = []

    /// Adds rows of the fetched entity.
    func add(_ more: [Row]) {
        rows += more
        addRelated(more)
    }

    /// Replaces the rows of the fetched entity; related ones stay.
    func set(_ new: [Row]) {
        rows = new
        addRelated(new)
    }

    /// Returns how many of the rows are among others.
    func count(among others: [Row]) -> Int {
        let ids = Set(others.map(\.knownObjectID))
        return rows.count { ids.contains($0.knownObjectID) }
    }

    /// Puts the rows in the order of others, and drops those that are not among them.
    func order(as others: [Row]) {
        let places = Dictionary(others.enumerated().map { ($1.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        rows = rows.compactMap { row in places[row.knownObjectID].map { (row, $0) } }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Adds rows that others refer to.
    ///
    /// An object may be both fetched and referred to: what one row of it knows, the other may not.
    func addRelated(_ more: [Row]) { if !more.isEmpty { unfiled.append(more) } }

    private func file() {
        if unfiled.isEmpty { return }
        byID.reserveCapacity(byID.count + unfiled.reduce(0) { $0 + $1.count })
        for row in unfiled.joined() {
            let id = row.knownObjectID
            byID[id] = byID[id].map { row.filled(from: $0) } ?? row
        }
        unfiled = []
    }

    func setLists(_ found: [NSManagedObjectID: [NSManagedObjectID]], _ relationship: String) {
        lists[relationship, default: [:]].merge(found) { _, new in new }
    }

    // MARK: The source

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        file()
        for row in rows {
            let own = row.knownObjectID.owningEntity
            if own === entity || includingSubentities && own.isKindOf(entity: entity) { try body(byID[row.knownObjectID] ?? row) }
        }
    }

    func row(with id: NSManagedObjectID) throws -> Row? {
        file()
        return byID[id]
    }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        lists[relationship.name]?[row.knownObjectID] ?? row.relatedIDs(relationship)
    }
}
