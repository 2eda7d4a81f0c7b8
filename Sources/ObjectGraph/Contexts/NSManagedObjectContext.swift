public import Foundation
internal import Logging
internal import Synchronization

/// The kinds of queue of a context.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// No queue: the context is used by the thread that has created it, and by one thread at a time.
    ///
    /// Its pending changes are processed by fetches, saves and `processPendingChanges()`; a context created on the main thread works on the main
    /// queue. Concurrency debugging does not check such a context.
    @available(*, deprecated, message: "Use privateQueueConcurrencyType or mainQueueConcurrencyType.")
    case confinementConcurrencyType = 0
    /// A private queue of the context.
    case privateQueueConcurrencyType = 1
    /// The queue is the main queue.
    case mainQueueConcurrencyType = 2
}

/// An object graph that fetches objects, registers one instance of each, tracks their changes and saves them.
///
/// A context works on a queue. Use the context and its objects inside ``perform(schedule:_:)``, ``performAndWait(_:)`` or
/// `perform(_:)`; a main-queue context may also be used directly on the main thread. See the article *Contexts and threads*.
///
/// Source: [NSManagedObjectContext](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext).
// All members except `registry` and immutable properties are used on the queue of `contextQueue` only.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    /// The kinds of queue of a context.
    public struct ConcurrencyType: Hashable, Sendable {
        let type: NSManagedObjectContextConcurrencyType
        /// A private queue of the context.
        public static let privateQueue = ConcurrencyType(type: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(type: .mainQueueConcurrencyType)
    }

    /// The kind of the context's queue.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let contextQueue: ContextQueue

    /// The coordinator of the context's stores; for a child context, that of its parent. Set it before the context has objects.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator ?? parent?.persistentStoreCoordinator }
        set {
            coordinator = newValue
            joinList()
            updateListening()
        }
    }
    private var coordinator: NSPersistentStoreCoordinator?

    /// The parent context that this one fetches from and saves to instead of a coordinator. Set it before the context has objects.
    open var parent: NSManagedObjectContext? {
        didSet {
            parentSource = parent.map { ParentSource($0) }
            joinList()
            updateListening()
        }
    }
    private(set) final var parentSource: ParentSource?

    /// The policy that resolves conflicts with changes saved by others. The default is ``NSErrorMergePolicy``.
    open var mergePolicy: Any = NSMergePolicy.error { didSet { knownCaller = nil } }
    /// The name of the context in logs.
    open var name: String? { didSet { knownCaller = nil } }
    /// Custom information about the context.
    open var userInfo: NSMutableDictionary = [:]
    /// Whether an object whose row was deleted reads as deleted, with nil values; false makes the read an error. The default is true.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether the context automatically merges saves by other contexts into the coordinator or the parent context. The default is false.
    ///
    /// Merging happens asynchronously on this context's queue, as by ``mergeChanges(fromContextDidSave:)``. A child merges its parent's saves and
    /// merges, and the saves of other children into the parent.
    open var automaticallyMergesChangesFromParent = false { didSet { updateListening() } }
    /// Returns whether a fault without a row reads as deleted; with false, the read is an error.
    ///
    /// The default implementation returns ``shouldDeleteInaccessibleFaults``. Override it to decide for each fault, or to log such
    /// faults.
    ///
    /// - Parameters:
    ///   - fault: The object. Read only its ID.
    ///   - oid: The ID of the object.
    ///   - property: The property that was read; nil if it is unknown, which is always the case in this implementation.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }
    /// The number of seconds for which a cached row may serve another fault. The default is negative: for as long as the row is cached.
    ///
    /// The interval matters for stores whose data others change; their rows are cached while a context has the objects. With 0, each fault queries
    /// the store, one at a time. Values already loaded into an object do not change; see ``refresh(_:mergeChanges:)``. A child context uses its
    /// parent's rows.
    open var stalenessInterval: TimeInterval = -1 { didSet { knownCaller = nil } }
    /// Whether the context retains its registered objects until it is reset. The default is false: an object lives while the program
    /// refers to it or it has changes.
    open var retainsRegisteredObjects = false { didSet { updateRetained() } }
    final var retained: [ObjectIdentifier: NSManagedObject] = [:]
    final var faultBatches = FaultBatches()
    /// Whether delete rules are applied at the end of the event in which an object was deleted. The default is true; false defers them to
    /// the save.
    open var propagatesDeletesAtEndOfEvent = true
    /// The undo manager that records the context's changes; nil by default. See ``undo()``.
    ///
    /// Set it on the context's queue. Pending changes are not registered with a new manager, and the previous one drops the registrations
    /// of this context.
    open var undoManager: UndoManager? {
        get { undoer }
        set { useUndoManager(newValue) }
    }
    /// The author of the context's transactions, for stores that track history.
    open var transactionAuthor: String? { didSet { knownCaller = nil } }

    /// The attributes of the context that stores read.
    final var caller: StoreCaller {
        if let knownCaller { return knownCaller }
        let made = StoreCaller(self)
        // A subclass may compute these attributes.
        if type(of: self) == NSManagedObjectContext.self { knownCaller = made }
        return made
    }
    private final var knownCaller: StoreCaller?

    /// Whether saves validate objects. A migration saves objects before their relationships are there, and validates them afterwards.
    package final var validatesWhenSaving = true
    /// The query generation of the context.
    final let generation = QueryGeneration()

    final let registry = ObjectRegistry()
    final let children = ContextList()
    /// The list that this context is in: the coordinator's or the parent's.
    final var memberOf: ContextList?
    /// The child contexts that merge automatically.
    final let mergeListeners = MergeListeners()
    /// The source of save notifications for this context, and the listener registered there.
    final var listensTo: (source: MergeListeners, listener: MergeListener)?
    // Like an object's fields: each new object is added to two of the lists, and no list operation calls back into the context.
    @exclusivity(unchecked) final var insertedList = ObjectList()
    @exclusivity(unchecked) final var updatedList = ObjectList()
    @exclusivity(unchecked) final var deletedList = ObjectList()
    /// The objects inserted, changed or deleted since `processPendingChanges`.
    @exclusivity(unchecked) final var eventObjects: [NSManagedObject] = []
    /// Whether a merge is under way: its changes are followed at its end, when all of them are there.
    final var isMerging = false
    final var eventDeletions: [NSManagedObject] = []
    /// Unchanged objects that the next save checks for conflicts.
    final var lockedObjects: [NSManagedObject] = []
    /// Objects inserted again after others deleted them; a notification of the deletion may still arrive.
    final var insertedAgain: Set<NSManagedObjectID> = []
    /// The steps that revert the current event.
    final var eventLog = EventLog()
    /// The changes being posted, during the notification.
    final var postedEvent: (log: EventLog, changes: ObjectChanges)?
    @exclusivity(unchecked) final var undoer: UndoManager?
    final var isEventEnqueued = false
    final var isInEvent = false
    final var isSaving = false
    /// The stores that new objects were assigned to, by the objects' addresses.
    final var assignedStores: [ObjectIdentifier: AssignedStore] = [:]
    /// Objects that this context has saved into its parent and that are unsaved there.
    final var awaitingPermanentIDs: [AwaitingPermanentID] = []
    /// The value of `ancestorSaves` when these objects were last checked.
    final var ancestorSavesSeen = 0
    /// The number of saves by which this context assigned permanent IDs. Child contexts read it on their queues.
    final let saveCount = Atomic<Int>(0)
    final var faultError: (any Error)?
    /// The objects that could not be read, and why.
    final var faultErrors = FaultErrors()
    /// The observation of the objects' properties; see ``isObservationEnabled``.
    final var observation: ContextObservation?
    @exclusivity(unchecked) private var lastEntity: (NSManagedObject.Type, NSEntityDescription)?
    final var discardedRows: [Row] = []
    /// The state of asynchronous calls; nil before the first. Used on the context's queue.
    final var asynchronousWork: AsynchronousWork?

    /// Creates a context with a queue of the given kind.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
        switch ct {
        case .mainQueueConcurrencyType: contextQueue = .main
        case .privateQueueConcurrencyType: contextQueue = .makePrivate()
        // Confinement, whose name is deprecated.
        default: contextQueue = Thread.isMainThread ? .main : .makePrivate()
        }
        super.init()
        if ConcurrencyDebugging.isOn { AccessHooks.activate() }
        registry.setContext(self)
        if contextQueue !== ContextQueue.main { contextQueue.owner = registry }
    }

    /// Whether the context is used without its queue, by a thread that the program chooses.
    final var isConfined: Bool { concurrencyType.rawValue == 0 }

    /// Runs `block` on the context's queue, and waits for it. Subclasses may override it.
    ///
    /// May be called from the queue itself and from a block that the queue waits for, across any number of contexts. A block with a result or an
    /// error is run by ``performAndWait(_:)``, which does not call this function.
    open func performAndWait(_ block: () -> Void) { contextQueue.sync(block) }

    /// Creates a context with a queue of the given kind.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.type) }

    deinit {
        // First: objects of this context may be offered to another one meanwhile.
        registry.contextWillDeallocate()
        faultBatches.removeAll()
        retained = [:]
        undoer?.forgetClient(ObjectIdentifier(self))
        // Objects that refer to each other would keep each other alive.
        for object in registry.all + insertedList.elements {
            object.relationships = []
            object.extras = nil
        }
        registry.contextDidTakeObjectsApart()
        stopListening()
        leaveList()
        guard source.wantsRegistrations else { return }
        source.didUnregister(registry.takeReleasedIDs() + registry.all.compactMap(\.identifier).filter { !$0.isTemporary })
    }

    /// The coordinator's stores or the parent context, as the source of objects and the destination of saves.
    var source: any ObjectSource {
        if let parentSource { return parentSource }
        return coordinator ?? NoSource.shared
    }

    var model: NSManagedObjectModel? { source.sourceModel }

    /// Returns the entity of a class; the last result is cached, because objects are often inserted in series.
    func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        if let (known, entity) = lastEntity, known == objectClass { return entity }
        guard let entity = model?.entity(for: objectClass) else { return nil }
        lastEntity = (objectClass, entity)
        return entity
    }

    /// The context whose request a store answers: the requesting context during an ``NSAsynchronousFetchRequest``, this context
    /// otherwise.
    ///
    /// A store that answers at once and refreshes its rows later delivers later changes to this context, inside its `perform`. Call it on the queue
    /// of either context. Not in Apple's API.
    public var requestingContext: NSManagedObjectContext { requester ?? self }
    final var requester: NSManagedObjectContext?

    // MARK: Pending changes

    /// Whether the context has unsaved changes.
    open var hasChanges: Bool {
        stopOffQueue("hasChanges is read")
        return !insertedList.isEmpty || !updatedList.isEmpty || !deletedList.isEmpty
    }
    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> {
        checkQueue("insertedObjects is read")
        return insertedList.set
    }
    /// The objects that the next save updates.
    open var updatedObjects: Set<NSManagedObject> {
        checkQueue("updatedObjects is read")
        return updatedList.set
    }
    /// The objects that the next save deletes.
    open var deletedObjects: Set<NSManagedObject> {
        checkQueue("deletedObjects is read")
        return deletedList.set
    }
    /// The objects registered with the context.
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue("registeredObjects is read")
        return Set(registry.all).union(insertedList.elements)
    }

    /// Saves the pending changes to the stores or to the parent context. Call it on the context's queue.
    ///
    /// The order is: pending changes, the will-save notification, ``NSManagedObject/willSave()`` (again for objects that it changes),
    /// validation, permanent IDs from the stores, the save request, new snapshots, ``NSManagedObject/didSave()``, the did-save
    /// notifications. When a step fails, the context is in its previous state and still has its changes. A save without changes posts both notifications, with
    /// no objects, and writes metadata that were set in stores.
    ///
    /// - Throws: Validation errors (all of them, see ``NSValidationMultipleErrorsError``); code 1550 for references to objects that this context does not have
    ///   or has deleted; the store's error; code 133020 with the ``NSMergeConflict``s under `"conflictList"` that the merge policy did not resolve.
    open func save() throws {
        checkQueue("save() is called")
        try performSave()
    }

    // MARK: Methods for subclasses to override

    /// Returns the object with an ID, without querying the store: the registered object, or a new fault. Call it on the context's queue.
    ///
    /// A missing object is only detected when its values are read; ``existingObject(with:)->NSManagedObject`` detects it at once.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { findObject(with: objectID) }

    /// Returns the object with an ID if it is registered with the context, nil otherwise. Call it on the context's queue.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { findRegisteredObject(for: objectID) }

    /// Returns the object with an ID, and loads its values if needed. Call it on the context's queue.
    ///
    /// - Throws: Code 133000 when the store has no such object, or the store's error.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject { try findExistingObject(with: objectID) }

    /// Inserts an object that was created without a context, or has left its context. Call it on the context's queue.
    ///
    /// An object whose deletion was saved, or that a rollback or a reset has dropped, is inserted as a new one: with its present values, and with the
    /// relationships that were set since. It gets a new ID if a store or a parent knew it. An object that is to be deleted stays so.
    open func insert(_ object: NSManagedObject) { performInsert(object) }

    /// Marks an object for deletion by the next save. Call it on the context's queue.
    ///
    /// Its delete rules are applied when pending changes are processed: at the end of a `perform` block, before a fetch or a save. An
    /// object that was never saved is removed from the context.
    open func delete(_ object: NSManagedObject) { performDelete(object) }

    /// Assigns a new object to the store that it is saved to, if several stores hold its entity. Call it on the context's queue.
    open func assign(_ object: Any, to store: NSPersistentStore) { performAssign(object, to: store) }

    /// Requests permanent IDs for new objects before they are saved. Call it on the context's queue.
    ///
    /// - Throws: The store's error; no object has a new ID then.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try performObtainPermanentIDs(for: objects) }

    /// Makes the next save detect conflicts for an object even if it is unchanged. Call it on the context's queue.
    ///
    /// Use it if changes to other objects depend on the values of this one. The save compares and increments the object's version, so contexts that
    /// have read the object get a conflict in turn. A save, a rollback or a reset removes the mark. A context without any changes does not save and
    /// detects nothing.
    open func detectConflicts(for object: NSManagedObject) { performDetectConflicts(for: object) }

    /// Processes the changes since the last call: applies delete rules and posts the objects-did-change notification. Call it on the
    /// context's queue; `perform`, `fetch` and `save` do.
    ///
    /// The changes are registered with the ``undoManager``, if there is one whose registration is enabled.
    open func processPendingChanges() { performProcessPendingChanges() }

    /// Refreshes an object from its store. Call it on the context's queue.
    ///
    /// Without merging, the object becomes a fault and loses its unsaved changes. With merging, it reads its values from the store at
    /// once, and unsaved changes are reapplied. An object that was never saved is unchanged with merging; without, it reads its default
    /// values again and is still to be inserted.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { performRefresh(object, mergeChanges: flag) }

    /// Refreshes every registered object and keeps unsaved changes. Call it on the context's queue.
    open func refreshAllObjects() { performRefreshAllObjects() }

    /// Discards all unsaved changes: removes new objects and restores changed and deleted ones. Call it on the context's queue.
    ///
    /// The undo stack is emptied, too.
    open func rollback() { performRollback() }

    /// Removes every object from the context, saved or not. References to these objects become invalid. Call it on the context's queue.
    ///
    /// Registrations of the context with its undo manager are removed.
    open func reset() { performReset() }

    /// Merges the changes of another context's save into this one. Call it on this context's queue.
    ///
    /// Inserted objects become faults, registered objects that were updated take the stored values below their unsaved changes, and
    /// deleted objects are removed. Merging does not make the context dirty, except for relationships to deleted objects. Observers
    /// receive one objects-did-change notification (objects with unsaved changes are under ``NSUpdatedObjectsKey``, others under
    /// ``NSRefreshedObjectsKey``) and one with the IDs, ``didMergeChangesObjectIDsNotification``. A store's error is reported as for
    /// every read, see ``pendingFaultError``.
    ///
    /// - Parameter notification: A did-save notification, with objects or with IDs; its objects may belong to another queue.
    ///
    /// Source:
    /// [mergeChanges(fromContextDidSave:)](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromcontextdidsave:)).
    open func mergeChanges(fromContextDidSave notification: Notification) { performMerge(notification) }

    /// Undoes the last group of changes of the ``undoManager``; does nothing without one. Call it on the context's queue.
    ///
    /// Values, relationships at both ends, insertions and deletions are reverted; a deleted object is restored as the same instance.
    /// After a save, the reverted changes are pending changes for the next save.
    open func undo() { performUndo() }

    /// Redoes the changes of the last ``undo()``. Call it on the context's queue.
    open func redo() { performRedo() }

    /// Enqueues `block` on the context's queue and returns at once. Pending changes are processed after the block.
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    // MARK: Errors of reads

    /// The first error since the last save that a property access could not throw; nil if there was none.
    ///
    /// Properties cannot throw, so the context keeps the error of a failed fault, and that of a change to a replaced object (see
    /// ``NSMergePolicy/resolve(constraintConflicts:)``): the next `save` throws and clears it, before it writes anything. Fetches and counts of
    /// readable objects continue. ``NSManagedObject/faultError`` tells which object could not be read.
    public var pendingFaultError: (any Error)? { faultError }

    /// Throws and clears ``pendingFaultError``, if there is one. Call it after reading several properties, none of which may be missing.
    public func throwPendingFaultError() throws {
        guard let error = faultError else { return }
        faultError = nil
        discardedRows = []
        throw error
    }

    func noteFaultError(_ error: any Error, of object: NSManagedObject) {
        // The parent has queried the store: this context is only informed.
        if parent != nil, object.isFault { faultErrors.note(.init(error), of: object.objectID) }
        if faultErrors.mayLog(object.objectID) { Log.context.error("The values of \(object.objectID) could not be read: \(error)") }
        keep(error)
    }

    /// Keeps the first error that a read or a write of a property could not throw.
    func keep(_ error: any Error) { if faultError == nil { faultError = error } }

    /// Returns scratch slots for writes to an object whose values could not be loaded; the pending fault error reports the failure.
    func discardedSlots(of entity: NSEntityDescription) -> UnsafeMutableRawPointer {
        let row = Row.blank(entity.frozen!.layout)
        discardedRows.append(row)
        return row.slots
    }
}
