/// What the coordinator asks and tells a store: values, never objects or contexts.
///
/// A store of your own is a subclass of ``NSPersistentStore`` that conforms to it. Every method may be called on any thread, and several at once:
/// a store guards what it changes by locks of its own. ``StoreCapabilities`` lists what it may do besides.
@_spi(Stores) public protocol StoreInterface: AnyObject, Sendable {
    /// Answers a query, without what is pending in any context.
    ///
    /// - Returns: what the query's `resultType` says: rows or IDs, IDs (or rows), dictionaries, a count. ``RowFetch`` answers from rows in memory.
    /// - Throws: an error that names the clause which the store cannot answer, or why it cannot be reached.
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer

    /// The rows of objects; one that does not exist is left out. A row may have properties that are unknown, see ``Row/isUnknown(_:)``.
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row]

    /// The rows of objects with some properties that were unknown; others may be unknown still. Asks ``rows(for:for:)`` unless the store has a way to
    /// ask for less.
    func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row]

    /// The row of one object; nil where it does not exist. Asks ``rows(for:for:)`` unless the store has a quicker way.
    func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row?

    /// The objects of a relationship of many objects that their rows do not say, in order where it has one. An object that is left out leads nowhere.
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]]

    /// IDs for new objects, made by ``NSPersistentStore/objectID(for:_:)``; one for each, in order. A key that is not used in the end may be lost.
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID]

    /// Saves everything or, where the store ``savesAtomically``, nothing.
    ///
    /// - Throws: ``StoreConflicts`` where others have changed the same objects; ``IncompleteSave`` where only a part could be saved; any error for
    ///   nothing.
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome

    /// Whether a save is done wholly or not at all. True unless the store says otherwise.
    var savesAtomically: Bool { get }
    /// Whether rows hold the IDs of to-many relationships, both those that the store answers with and those that it is given. False unless the
    /// store says otherwise.
    var keepsLists: Bool { get }
    /// Whether the store has its rows at hand, so that to ask for many at once gains nothing and nothing need be kept of its answers. False unless the
    /// store says otherwise: rows are asked for together, and kept for as long as a context has the objects.
    var holdsRows: Bool { get }
}

extension StoreInterface {
    /// Asks for the rows.
    public func values(of properties: [NSPropertyDescription], for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] {
        try rows(for: ids, for: caller)
    }
    /// Asks for the rows of the one object.
    public func row(for id: NSManagedObjectID, for caller: StoreCaller) throws -> Row? { try rows(for: [id], for: caller).first }
    /// Saves are done wholly or not at all.
    public var savesAtomically: Bool { true }
    /// Rows do not hold to-many relationships.
    public var keepsLists: Bool { false }
    /// Rows are not at hand.
    public var holdsRows: Bool { false }
}
