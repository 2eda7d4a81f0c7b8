/// The coordinator's interface of a store, which consists of values, never objects or contexts.
///
/// A custom store is a subclass of ``NSPersistentStore`` that conforms to it. Every method may be called on any thread and concurrently:
/// a store guards its state by its own locks. `StoreCapabilities.swift` declares the optional protocols.
@_spi(Stores) public protocol StoreInterface: AnyObject, Sendable {
    /// Answers a query, without the pending changes of any context.
    ///
    /// - Returns: An answer according to the query's `resultType`: rows or IDs, IDs (or rows), dictionaries, or a count. ``StoredRows``
    ///   computes it from rows in memory.
    /// - Throws: An error that names the unsupported clause, or why the data cannot be reached.
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer

    /// Returns the rows of existing objects. Properties of a row may be unknown, see ``Row/isUnknown(_:)``.
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row]

    /// Returns the rows of objects with properties that were unknown; others may still be unknown. The default implementation calls
    /// ``rows(for:for:)``.
    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row]

    /// Returns the row of one object; nil if it does not exist. The default implementation calls ``rows(for:for:)``.
    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row?

    /// Returns a relationship of many objects that their rows do not contain, in order for an ordered one. It is empty for an omitted
    /// object.
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]]

    /// Returns IDs for new objects, created with ``NSPersistentStore/objectID(for:_:)``; one for each, in order. An ID may remain unused.
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID]

    /// Saves all changes or, if the store ``savesAtomically``, none. The store's metadata are written, too, if they are new; without changes, only
    /// the metadata are written.
    ///
    /// - Throws: ``StoreConflicts`` if others have changed the same objects; ``IncompleteSave`` if only a part could be saved; any other error if
    ///   nothing was saved.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome

    /// Whether a save succeeds or fails as a whole. The default is true.
    var savesAtomically: Bool { get }
    /// Whether rows contain the IDs of to-many relationships, both in answers and in changes. The default is false.
    var rowsContainLists: Bool { get }
    /// Whether the store has its rows in memory, so that loading many at once and caching them has no benefit. The default is false: rows
    /// are loaded together, and cached for as long as a context has the objects.
    var hasRowsInMemory: Bool { get }
}

extension StoreInterface {
    /// Calls ``rows(for:for:)``.
    public func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try rows(for: ids, for: caller)
    }
    /// Calls ``rows(for:for:)`` with the one ID.
    public func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { try rows(for: [id], for: caller).first }
    /// True: saves succeed or fail as a whole.
    public var savesAtomically: Bool { true }
    /// False: rows do not contain to-many relationships.
    public var rowsContainLists: Bool { false }
    /// False: rows are not in memory.
    public var hasRowsInMemory: Bool { false }
}
