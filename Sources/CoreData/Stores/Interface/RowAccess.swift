internal import Foundation

/// How the coordinator gets at the rows of one store: what is kept of the store's answers comes before the store.
///
/// A store that keeps its rows in a way of its own conforms; for the others there are ``CachedAccess`` and ``DirectAccess``.
protocol RowAccess: AnyObject {
    /// The row of an object; nil when the store has none.
    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row?
    /// The objects of a relationship whose IDs the row does not hold.
    func relatedIDs(
        of relationship: NSRelationshipDescription, for id: NSManagedObjectID, for caller: StoreCaller
    ) throws -> [NSManagedObjectID]
    /// Sees to it that the rows of many objects are at hand, by one question. False where the store takes none such.
    func prepareRows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> Bool
    /// Sees to it that a relationship of many objects is at hand, by one question. False where the store takes none such.
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> Bool
    /// Rows of objects in which properties are known that were not.
    func loadValues(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row]
    /// What is known of a to-many relationship of a row; nil where it must be read, or has no numbers of one table.
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers?
    /// Reads a to-many relationship of many rows, as far as it is not known, and answers with all that is at the other ends.
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers?
    /// The objects of a relationship that are known without the store; nil where it must be asked.
    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]?
    /// The row that is known of an object without the store.
    func knownRow(for id: NSManagedObjectID) -> Row?
    /// The row of an object is to be taken from the store itself the next time.
    func forgetRow(of id: NSManagedObjectID)
    /// Whether it is to be told which objects come to live in contexts, and go.
    var wantsRegistrations: Bool { get }
    /// Whether objects that come together are to be asked for together.
    var batchesFaults: Bool { get }
    func didRegister(_ ids: [NSManagedObjectID])
    func didUnregister(_ ids: [NSManagedObjectID])
}

extension RowAccess {
    /// The rows of most stores are whole.
    func loadValues(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try ids.compactMap { try row(for: $0, for: caller) }
    }
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, for caller: StoreCaller
    ) -> RelatedNumbers? { nil }
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, for caller: StoreCaller
    ) throws -> RelatedNumbers? { nil }
    func knownRelatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID) -> [NSManagedObjectID]? { nil }
    func knownRow(for id: NSManagedObjectID) -> Row? { nil }
    func forgetRow(of id: NSManagedObjectID) {}
    var wantsRegistrations: Bool { false }
    var batchesFaults: Bool { wantsRegistrations }
    func didRegister(_ ids: [NSManagedObjectID]) {}
    func didUnregister(_ ids: [NSManagedObjectID]) {}
}

/// A store that answers for one object at a time answers for many by asking itself for each.
extension StoreInterface where Self: RowAccess {
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try ids.compactMap { try row(for: $0, for: caller) }
    }

    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] {
        Dictionary(
            try ids.map { ($0, try relatedIDs(of: relationship, for: $0, for: caller)) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Asks a store that has its rows at hand each time anew.
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
