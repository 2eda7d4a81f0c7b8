internal import Foundation

/// The source of a context's objects and the destination of its saves: a coordinator with its stores, or a parent context.
///
/// Every method is called on the queue of `context`.
protocol ObjectSource: AnyObject {
    /// The model of the objects; nil if there is none.
    var sourceModel: NSManagedObjectModel? { get }
    /// Returns the result of a fetch, without the pending changes of `context`.
    func fetch(_ query: StoreQuery, for context: NSManagedObjectContext) throws -> StoreAnswer
    /// Returns the row of an object; nil when it does not exist.
    func row(for id: NSManagedObjectID, in context: NSManagedObjectContext) throws -> Row?
    /// Loads the rows of many objects by one query, and returns whether the source supports that.
    func prepareRows(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> Bool
    /// Loads a relationship of many objects, like ``prepareRows(for:in:)``.
    func prepareRelated(
        of relationship: NSRelationshipDescription, for ids: [NSManagedObjectID], in context: NSManagedObjectContext
    ) throws -> Bool
    /// Returns the destination row numbers of a to-many relationship, if they are known; nil if a query is needed, or returns IDs.
    func relatedNumbers(
        of relationship: NSRelationshipDescription, for number: Int64, of origin: RowOrigin, in context: NSManagedObjectContext
    ) -> RelatedNumbers?
    /// Loads a to-many relationship of many rows by one query.
    ///
    /// - Returns: All destination row numbers, possibly with repetitions; nil if the destinations are not numbered rows of one table.
    func prepareRelatedNumbers(
        of relationship: NSRelationshipDescription, for numbers: [Int64], of origin: RowOrigin, in context: NSManagedObjectContext
    ) throws -> RelatedNumbers?
    /// Returns rows of objects that contain properties missing from their current rows.
    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws -> [Row]
    /// Returns the destination IDs of a relationship that the row does not contain.
    func relatedIDs(of relationship: NSRelationshipDescription, for id: NSManagedObjectID, in context: NSManagedObjectContext) throws
        -> [NSManagedObjectID]
    /// Returns permanent IDs at once, from the store that the root context saves to.
    func obtainPermanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID]
    /// Returns the IDs that a save gives to objects with temporary ones.
    func permanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID]
    /// Saves changes.
    ///
    /// - Returns: The values that stores changed and assigned during the save.
    func save(_ changes: ChangeSet, in context: NSManagedObjectContext) throws -> SavedValues
    /// Whether the source is notified of registered and released objects.
    var wantsRegistrations: Bool { get }
    /// Whether objects that came together are loaded together.
    var batchesFaults: Bool { get }
    /// Makes the next read load the object's row from the store.
    func forgetRow(of id: NSManagedObjectID)
    /// Notifies the source that objects were registered with a context.
    func didRegister(_ ids: [NSManagedObjectID])
    /// Notifies the source that objects were released.
    func didUnregister(_ ids: [NSManagedObjectID])
    /// Releases unused cached rows, if they take much memory.
    func releaseUnusedRows()
}

/// The values that stores changed and assigned during a save.
struct SavedValues {
    /// The rows that stores changed.
    var rows: [Row] = []
    /// The IDs that stores assigned, by temporary IDs.
    var assignedIDs: [NSManagedObjectID: NSManagedObjectID] = [:]
    /// Whether the inserted objects were registered with the save, see ``ObjectSource/didRegister(_:)``.
    var areInsertedRegistered = false
}

/// The objects of a save and their kinds of change.
struct ChangeSet {
    var inserted: [NSManagedObject]
    var updated: [NSManagedObject]
    var deleted: [NSManagedObject]
    var locked: [NSManagedObject] = []
    /// The set of the inserted objects' IDs, which another thread builds while the stores write; nil for few objects, and if a store only assigns IDs
    /// at that time.
    var insertedIDs: SideWork<Set<NSManagedObjectID>>?
    /// Whether all inserted objects got their IDs for this save, so that the source does not know yet that the context has them.
    var areInsertedNew = false

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }
    var count: Int { inserted.count + updated.count + deleted.count + locked.count }

    /// Returns the part that concerns the included objects.
    func filter(_ isIncluded: (NSManagedObject) -> Bool) -> ChangeSet {
        ChangeSet(
            inserted: inserted.filter(isIncluded), updated: updated.filter(isIncluded), deleted: deleted.filter(isIncluded),
            locked: locked.filter(isIncluded))
    }
}

extension ObjectSource {
    func releaseUnusedRows() {}
    func obtainPermanentIDs(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
        try permanentIDs(for: objects, in: context)
    }
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
