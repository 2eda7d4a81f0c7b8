internal import Foundation

/// The coordinator's access to the rows of one store: cached rows take precedence over the store.
///
/// A store with its own cache conforms; ``CachedAccess`` and ``DirectAccess`` are for the others.
package protocol RowAccess: AnyObject {
    /// Returns the row of an object; nil when the store has none.
    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row?
    /// Returns the destination IDs of a relationship that the row does not contain.
    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID]
    /// Loads the rows of many objects by one query, and returns whether the store supports that.
    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool
    /// Loads a relationship of many objects by one query, and returns whether the store supports that.
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool
    /// Returns rows of objects that contain properties missing from their current rows.
    func loadValues(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row]
    /// Returns the destination row numbers of a to-many relationship, if they are known; nil if it must be read or does not have the numbers of one
    /// table.
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers?
    /// Loads the uncached parts of a to-many relationship of many rows, and returns all destination row numbers.
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers?
    /// Returns the destination IDs of a relationship if they are known without a query; nil if a query is needed.
    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]?
    /// Returns the row of an object as far as known without a query.
    func knownRow(for id: NSManagedObjectID) -> Row?
    /// Makes the next read load the object's row from the store.
    func forgetRow(of id: NSManagedObjectID)
    /// Whether the access is notified of registered and released objects.
    var wantsRegistrations: Bool { get }
    /// Whether objects that came together are loaded together.
    var batchesFaults: Bool { get }
    func didRegister(_ ids: [NSManagedObjectID])
    func didUnregister(_ ids: [NSManagedObjectID])
    /// Releases unused cached rows, if they take much memory.
    func releaseUnusedRows()
}

extension RowAccess {
    /// Returns the rows of the objects, because those of most stores are complete.
    package func loadValues(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try ids.compactMap { try row(for: $0, for: caller) }
    }
    package func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers? { nil }
    package func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers? { nil }
    package func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? { nil }
    package func knownRow(for id: NSManagedObjectID) -> Row? { nil }
    package func forgetRow(of id: NSManagedObjectID) {}
    package var wantsRegistrations: Bool { false }
    package var batchesFaults: Bool { wantsRegistrations }
    package func didRegister(_ ids: [NSManagedObjectID]) {}
    package func didUnregister(_ ids: [NSManagedObjectID]) {}
    package func releaseUnusedRows() {}
}

/// A store that reads object by object answers for many so.
extension StoreInterface where Self: RowAccess {
    package func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        let access: any RowAccess = self
        return try ids.compactMap { try access.row(for: $0, for: caller) }
    }

    package func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(
            try ids.map { ($0, try relatedIDs(of: relationship, for: $0, for: caller)) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Reads from a store that has its rows in memory, without a cache.
final class DirectAccess: RowAccess {
    private unowned let store: any StoreInterface

    init(_ store: any StoreInterface) { self.store = store }

    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { try store.row(for: id, for: caller) }

    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID] {
        try store.related(by: relationship, from: [id], for: caller)[id] ?? []
    }

    func loadValues(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try store.values(of: properties, for: ids, for: caller)
    }

    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool { false }

    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool { false }
}
