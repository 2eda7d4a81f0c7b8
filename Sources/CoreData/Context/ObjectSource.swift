internal import Foundation

/// Where a context gets its objects from and saves them to: a coordinator with its stores, or a parent context.
///
/// Every method is called on the queue of `context`.
protocol ObjectSource: AnyObject {
    /// The model of the objects; nil while there is none.
    var sourceModel: NSManagedObjectModel? { get }
    /// Answers a fetch, without what is pending in `context`.
    func fetch(_ query: StoreQuery, for context: NSManagedObjectContext) throws -> StoreAnswer
    /// The row of an object; nil when there is none.
    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row?
    /// Sees to it that the rows of many objects are at hand, by one question where the store takes such. False where it takes none.
    func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool
    /// Sees to it that a relationship of many objects is at hand, as ``prepareRows(for:in:)``.
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool
    /// What is known of a to-many relationship of a row; nil where the store must be asked, or answers with IDs.
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, in context: NSManagedObjectContext
    ) -> RelatedNumbers?
    /// Sees to it that a to-many relationship of many rows is at hand, by one question.
    ///
    /// - Returns: all that is at the other ends, some perhaps more than once; nil where that has no numbers of one table.
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, in context: NSManagedObjectContext
    ) throws -> RelatedNumbers?
    /// Rows of objects in which properties are known that were not.
    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> [Row]
    /// The objects of a relationship whose IDs the row does not hold.
    func relatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext) throws
        -> [NSManagedObjectID]
    /// Gives permanent IDs to objects that have temporary ones.
    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID]
    /// Saves.
    ///
    /// - Returns: rows that stores have changed while they saved.
    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> [Row]
    /// Whether it is to be told which objects come and go.
    var wantsRegistrations: Bool { get }
    /// Whether objects that come together are to be asked for together.
    var batchesFaults: Bool { get }
    /// The row of an object is to be taken from the store itself the next time.
    func forgetRow(of id: NSManagedObjectID)
    /// Objects came to live in a context.
    func didRegister(_ ids: [NSManagedObjectID])
    /// Objects no longer live in a context.
    func didUnregister(_ ids: [NSManagedObjectID])
}

/// What a save has to do, object by object, on its way to the stores.
struct ChangeSet {
    var inserted: [NSManagedObject]
    var updated: [NSManagedObject]
    var deleted: [NSManagedObject]
    var locked: [NSManagedObject] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }
    var count: Int { inserted.count + updated.count + deleted.count + locked.count }

    /// The part of it that concerns some objects.
    func filter(_ isIncluded: (NSManagedObject) -> Bool) -> ChangeSet {
        ChangeSet(
            inserted: inserted.filter(isIncluded), updated: updated.filter(isIncluded), deleted: deleted.filter(isIncluded),
            locked: locked.filter(isIncluded))
    }
}

extension ObjectSource {
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, in context: NSManagedObjectContext
    ) -> RelatedNumbers? { nil }
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, in context: NSManagedObjectContext
    ) throws -> RelatedNumbers? { nil }
    func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool { false }
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool { false }
}
