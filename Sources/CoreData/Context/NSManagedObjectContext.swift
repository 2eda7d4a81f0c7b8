public import Foundation
internal import Logging
internal import Synchronization

/// The kinds of queue that a context can work on.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// The queue is the context's own.
    case privateQueueConcurrencyType = 1
    /// The queue is the main queue.
    case mainQueueConcurrencyType = 2
}

/// A working copy of the object graph: it fetches objects, keeps one instance of each, tracks what changes, and saves.
///
/// A context works on a queue. Use it and its objects inside ``perform(schedule:_:)``, ``performAndWait(_:)-(()->T)`` or
/// `perform(_:)`; a main-queue context may also be used on the main thread directly. See the article *Contexts and threads*.
///
/// Source: [NSManagedObjectContext](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext).
// Everything but `registry` and the immutable properties is used on the queue of `contextQueue` only.
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    /// The kinds of queue, in the spelling of current SDKs.
    public struct ConcurrencyType: Hashable, Sendable {
        let type: NSManagedObjectContextConcurrencyType
        /// A queue of the context's own.
        public static let privateQueue = ConcurrencyType(type: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(type: .mainQueueConcurrencyType)
    }

    /// The kind of queue.
    public let concurrencyType: NSManagedObjectContextConcurrencyType
    let contextQueue: ContextQueue

    /// The coordinator whose stores the context works on; that of its parent for a child. Set it before the first object comes.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator ?? parent?.persistentStoreCoordinator }
        set {
            coordinator = newValue
            updateListening()
        }
    }
    private var coordinator: NSPersistentStoreCoordinator?

    /// The context that this one fetches from and saves to instead of a coordinator. Set it before the first object comes.
    open var parent: NSManagedObjectContext? {
        didSet {
            parentSource = parent.map { ParentSource($0) }
            updateListening()
        }
    }
    private(set) final var parentSource: ParentSource?

    /// Settles what others saved since this context read the same objects. ``NSErrorMergePolicy`` unless set.
    open var mergePolicy: Any = NSMergePolicy.error { didSet { knownCaller = nil } }
    /// A name for logs.
    open var name: String? { didSet { knownCaller = nil } }
    /// Free information about the context.
    open var userInfo: NSMutableDictionary = [:]
    /// Whether an object whose row is gone reads as deleted, with nil values. True unless set; false makes it an error.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether what is saved to the coordinator by other contexts, or comes to the parent context, is merged into this one by itself. False
    /// unless set.
    ///
    /// It happens later, on this context's queue, as ``mergeChanges(fromContextDidSave:)``. A child merges what its parent saves, what its
    /// parent merges, and what other children save into the parent.
    open var automaticallyMergesChangesFromParent = false { didSet { updateListening() } }
    /// Whether a fault without a row reads as deleted; false makes the read an error. ``shouldDeleteInaccessibleFaults`` unless overridden, which is
    /// also the place to write such faults down.
    ///
    /// - Parameters:
    ///   - fault: the object. Read nothing of it but its ID.
    ///   - oid: its ID.
    ///   - property: the property that was read; nil where that is not known, as always here.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool { shouldDeleteInaccessibleFaults }
    /// For how many seconds a row that another fault has read may serve the next one; negative, as it is unless set, for as long as there is one.
    ///
    /// It bears on stores over something that others change, whose rows are kept while a context has the objects. With 0 each fault asks the
    /// store, one at a time. Values that an object has already are not touched; see ``refresh(_:mergeChanges:)``. A child has its parent's rows.
    open var stalenessInterval: TimeInterval = -1 { didSet { knownCaller = nil } }
    /// Whether the context keeps its objects alive until it is reset. False unless set: then objects live for as long as someone refers to
    /// them, or they have changes.
    open var retainsRegisteredObjects = false { didSet { updateRetained() } }
    final var retained: [ObjectIdentifier: NSManagedObject] = [:]
    final var faultBatches = FaultBatches()
    /// Whether delete rules are carried out at the end of the event in which an object was deleted. True unless set; false defers them to the
    /// save.
    open var propagatesDeletesAtEndOfEvent = true
    /// Takes back what was changed; nil unless set. See ``undo()``.
    ///
    /// Set it on the context's queue. What is pending then is not registered with the new one, and the one that was set before forgets
    /// what this context has registered.
    open var undoManager: UndoManager? {
        get { undoer }
        set { useUndoManager(newValue) }
    }
    /// Names who writes, for stores that keep a history.
    open var transactionAuthor: String? { didSet { knownCaller = nil } }

    /// The context as stores see it.
    final var caller: StoreCaller {
        if let knownCaller { return knownCaller }
        let made = StoreCaller(self)
        // A subclass may compute what stores look at.
        if type(of: self) == NSManagedObjectContext.self { knownCaller = made }
        return made
    }
    private final var knownCaller: StoreCaller?

    /// The state of the stores that the context holds on to.
    final let generation = QueryGeneration()

    final var registry: ObjectRegistry!
    /// The contexts below this one that merge by themselves.
    final let mergeListeners = MergeListeners()
    /// Who tells this context of saves, and as whom.
    final var listensTo: (source: MergeListeners, listener: MergeListener)?
    // As with an object's fields: each new object comes into two of the lists, and nothing that is done to a list leads back to it.
    @exclusivity(unchecked) final var insertedList = ObjectList()
    @exclusivity(unchecked) final var updatedList = ObjectList()
    @exclusivity(unchecked) final var deletedList = ObjectList()
    /// What was inserted, changed or deleted since `processPendingChanges`.
    @exclusivity(unchecked) final var eventObjects: [NSManagedObject] = []
    final var eventDeletions: [NSManagedObject] = []
    /// What the next save is to look at although it has not changed.
    final var lockedObjects: [NSManagedObject] = []
    /// What was inserted again after others had deleted it: news of that deletion may still come.
    final var insertedAgain: Set<NSManagedObjectID> = []
    /// How to go back over the current event.
    final var eventLog = EventLog()
    /// What is being announced, while it is.
    final var announced: (log: EventLog, changes: ObjectChanges)?
    @exclusivity(unchecked) final var undoer: UndoManager?
    final var isEventEnqueued = false
    final var isInEvent = false
    final var isSaving = false
    final var assignedStores: [ObjectIdentifier: NSPersistentStore] = [:]
    /// What this context has saved into its parent while it was new there.
    final var awaitingPermanentIDs: [AwaitingPermanentID] = []
    /// The `ancestorSaves` when these were last looked at.
    final var ancestorSavesSeen = 0
    /// How often this context has given objects permanent IDs by a save. Its children read it on their queues.
    final let saveCount = Atomic<Int>(0)
    final var faultError: (any Error)?
    /// What observes the objects' properties; see ``isObservationEnabled``.
    final var observation: ContextObservation?
    @exclusivity(unchecked) private var lastEntity: (NSManagedObject.Type, NSEntityDescription)?
    final var discardedRows: [Row] = []
    /// What goes on while asynchronous calls are suspended; nil before the first. Used on the context's queue.
    final var asynchronousWork: AsynchronousWork?

    /// Makes a context that works on a queue of the given kind.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
        switch ct {
        case .mainQueueConcurrencyType: contextQueue = .main
        case .privateQueueConcurrencyType: contextQueue = .makePrivate()
        }
        super.init()
        if ConcurrencyDebugging.isOn { AccessHooks.activate() }
        registry = ObjectRegistry(self)
        if ct == .privateQueueConcurrencyType { contextQueue.registry = registry }
    }

    /// Makes a context that works on a queue of the given kind.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.type) }

    deinit {
        faultBatches.removeAll()
        retained = [:]
        undoer?.forgetClient(ObjectIdentifier(self))
        // Objects that lead to each other would keep each other alive.
        for object in registry.all + insertedList.elements {
            object.relationships = []
            object.rarities = nil
        }
        stopListening()
        registry.contextWillDeallocate()
        guard source.wantsRegistrations else { return }
        source.didUnregister(registry.takeGone() + registry.all.compactMap(\.identifier).filter { !$0.isTemporary })
    }

    /// Where objects come from and go to.
    var source: any ObjectSource {
        if let parentSource { return parentSource }
        return coordinator ?? NoSource.shared
    }

    var model: NSManagedObjectModel? { source.sourceModel }

    /// The entity of a class; the last answer is kept, for objects are mostly made in rows.
    func entity(for objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        if let (known, entity) = lastEntity, known == objectClass { return entity }
        guard let entity = model?.entity(for: objectClass) else { return nil }
        lastEntity = (objectClass, entity)
        return entity
    }

    /// The context for which this one asks the stores: another one while it serves an ``NSAsynchronousFetchRequest``, itself otherwise.
    ///
    /// For a store that answers at once and refreshes later: what comes later belongs into this context, by its `perform`. Call it on
    /// either's queue. Not in Apple's API.
    public var requestingContext: NSManagedObjectContext { requester ?? self }
    final var requester: NSManagedObjectContext?

    // MARK: What is pending

    /// Whether the next save has anything to do.
    open var hasChanges: Bool {
        checkQueue("hasChanges is read")
        return !insertedList.isEmpty || !updatedList.isEmpty || !deletedList.isEmpty
    }
    /// The objects that the next save will insert.
    open var insertedObjects: Set<NSManagedObject> {
        checkQueue("insertedObjects is read")
        return insertedList.set
    }
    /// The objects that the next save will update.
    open var updatedObjects: Set<NSManagedObject> {
        checkQueue("updatedObjects is read")
        return updatedList.set
    }
    /// The objects that the next save will delete.
    open var deletedObjects: Set<NSManagedObject> {
        checkQueue("deletedObjects is read")
        return deletedList.set
    }
    /// The objects that live in the context.
    open var registeredObjects: Set<NSManagedObject> {
        checkQueue("registeredObjects is read")
        return Set(registry.all).union(insertedList.elements)
    }

    /// Saves what is pending to the stores, or to the parent context. Call it on the context's queue.
    ///
    /// The order is: pending changes, the will-save notification, ``NSManagedObject/willSave()`` (again for what it changes), validation,
    /// permanent IDs from the stores, the save request, new snapshots, ``NSManagedObject/didSave()``, the did-save notifications. When
    /// anything fails the context is as it was before, still dirty.
    ///
    /// - Throws: validation errors (all of them, see ``NSValidationMultipleErrorsError``), the store's error, or code 133020 with the
    ///   ``NSMergeConflict``s under `"conflictList"` that the merge policy did not settle.
    open func save() throws {
        checkQueue("save() is called")
        try performSave()
    }

    // MARK: What subclasses may override

    /// The object of an identity, without asking the store: a fault if it is not here yet. Call it on the context's queue.
    ///
    /// Whether the object exists shows when its values are read; ``existingObject(with:)`` finds out at once.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { findObject(with: objectID) }

    /// The object of an identity if it lives in the context already, nil otherwise. Call it on the context's queue.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { findRegisteredObject(for: objectID) }

    /// The object of an identity, its values fetched if need be. Call it on the context's queue.
    ///
    /// - Throws: code 133000 when the store has no such object, or the store's error.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject { try findExistingObject(with: objectID) }

    /// Inserts an object that was made outside a context. Call it on the context's queue.
    open func insert(_ object: NSManagedObject) { performInsert(object) }

    /// Marks an object for deletion by the next save. Call it on the context's queue.
    ///
    /// Its delete rules are carried out when pending changes are processed: at the end of a `perform` block, before a fetch or a save.
    /// An object that was never saved is forgotten.
    open func delete(_ object: NSManagedObject) { performDelete(object) }

    /// Says which store a new object is to be saved to, where several hold its entity. Call it on the context's queue.
    open func assign(_ object: Any, to store: NSPersistentStore) { performAssign(object, to: store) }

    /// Gives permanent IDs to new objects before they are saved. Call it on the context's queue.
    ///
    /// - Throws: the store's error; no object has a new ID then.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try performObtainPermanentIDs(for: objects) }

    /// Makes the next save look whether others have changed an object, even if it is not changed here. Call it on the context's queue.
    ///
    /// Use it where changes of other objects rest on what this one says. The object's version is compared as that of a changed object is, and
    /// counted up; others who have read it meet a conflict in turn. The mark goes with the save, a rollback or a reset. A context without any
    /// changes has nothing to save and finds nothing.
    open func detectConflicts(for object: NSManagedObject) { performDetectConflicts(for: object) }

    /// Carries out what has been changed since the last call: delete rules, then the notification of what changed. Call it on the
    /// context's queue; `perform`, `fetch` and `save` do.
    ///
    /// What was changed is registered with the ``undoManager``, if there is one that takes registrations.
    open func processPendingChanges() { performProcessPendingChanges() }

    /// Brings an object up to date with its store. Call it on the context's queue.
    ///
    /// Without merging the object becomes a fault and its unsaved changes are lost. With merging its values are taken from the store at
    /// once, and unsaved changes stay on top of them. An object that was never saved stays as it is with merging; without, it has the values of
    /// its entity's defaults when it is asked for one, and is still to be inserted.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { performRefresh(object, mergeChanges: flag) }

    /// Refreshes every object of the context, keeping unsaved changes. Call it on the context's queue.
    open func refreshAllObjects() { performRefreshAllObjects() }

    /// Forgets everything that is unsaved: new objects go, changed and deleted ones are as the store had them. Call it on the context's
    /// queue.
    ///
    /// The undo stack is emptied, too.
    open func rollback() { performRollback() }

    /// Forgets every object of the context, saved or not. References to them become useless. Call it on the context's queue.
    ///
    /// What the context has registered with its undo manager is forgotten.
    open func reset() { performReset() }

    /// Brings into this context what another has saved. Call it on this context's queue.
    ///
    /// Inserted objects become faults here, updated ones that live here take the stored values under what is unsaved here, deleted ones go. It
    /// does not make the context dirty, but for relationships whose other end has gone. Observers get one objects-did-change notification
    /// (objects that have unsaved changes stand under ``NSUpdatedObjectsKey``, the others under ``NSRefreshedObjectsKey``) and one with the IDs,
    /// ``didMergeChangesObjectIDsNotification``. A store that fails in this is reported as for every read, see ``pendingFaultError``.
    ///
    /// - Parameter notification: a did-save notification, with objects or with IDs; its objects may belong to another queue.
    ///
    /// Source: [mergeChanges(fromContextDidSave:)](https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/mergechanges(fromcontextdidsave:)).
    open func mergeChanges(fromContextDidSave notification: Notification) { performMerge(notification) }

    /// Takes back the last group of changes that the ``undoManager`` has; does nothing without one. Call it on the context's queue.
    ///
    /// Values, relationships at both ends, insertions and deletions are as they were before; a deleted object is back as the same instance.
    /// After a save an undo is a change like any other, for the next save to write.
    open func undo() { performUndo() }

    /// Makes again what the last ``undo()`` has taken back. Call it on the context's queue.
    open func redo() { performRedo() }

    /// Runs `block` on the context's queue and returns at once. Afterwards pending changes are processed.
    open func perform(_ block: @escaping () -> Void) { enqueue(block) }

    // MARK: Errors of reads

    /// The first error of a store that a property read could not throw; nil when there was none.
    ///
    /// Reading a property cannot throw, so the error of a failed fault waits here: the next `fetch`, `count`, `existingObject` or `save`
    /// throws it and clears it. Nothing is saved before it has been seen.
    public var pendingFaultError: (any Error)? { faultError }

    /// Throws and clears ``pendingFaultError``, if there is one.
    public func throwPendingFaultError() throws {
        guard let error = faultError else { return }
        faultError = nil
        discardedRows = []
        throw error
    }

    func noteFaultError(_ error: any Error, of object: NSManagedObject) {
        Log.context.error("The values of \(object.objectID) could not be read: \(error)")
        if faultError == nil { faultError = error }
    }

    /// Slots for a write to an object whose values could not be had. The pending fault error tells of it.
    func discardedSlots(of entity: NSEntityDescription) -> UnsafeMutableRawPointer {
        let row = Row.blank(entity.frozen!.layout)
        discardedRows.append(row)
        return row.slots
    }
}
