internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The rows that a fetch has read, with related rows, for the evaluation in memory.
// Used by one task at a time.
final class CandidateRows: RowSource {
    /// The rows of the fetched entity, in the order of their arrival.
    private(set) var rows: [Row] = []
    private var byID: [NSManagedObjectID: Row] = [:]
    /// The result of the read, if it is known which rows come from earlier requests.
    var found: RemoteReader.Found?
    /// The lists of relationships that rows do not contain, by name.
    private var lists: [String: [NSManagedObjectID: [NSManagedObjectID]]] = [:]
    /// Rows that are not in `byID` yet: most fetches never look one up.
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

    /// Returns the number of rows that are among others.
    func count(among others: [Row]) -> Int {
        let ids = Set(others.map(\.knownObjectID))
        return rows.count { ids.contains($0.knownObjectID) }
    }

    /// Sorts the rows in the order of others, and drops those that are not among them.
    func order(as others: [Row]) {
        let places = Dictionary(others.enumerated().map { ($1.knownObjectID, $0) }, uniquingKeysWith: { first, _ in first })
        rows = rows.compactMap { row in places[row.knownObjectID].map { (row, $0) } }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    /// Adds rows that others refer to.
    ///
    /// An object may be both fetched and referred to: its rows may know different properties.
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
