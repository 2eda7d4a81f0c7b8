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
    open var mergePolicy: Any = NSMergePolicy.error
    /// A name for logs.
    open var name: String?
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
    /// For how many seconds a row that another fault has read may serve the next one; negative, as it is unless set, for as long as there is one.
    ///
    /// It bears on stores over something that others change, whose rows are kept while a context has the objects. With 0 each fault asks the
    /// store, one at a time. Values that an object has already are not touched; see ``refresh(_:mergeChanges:)``. A child has its parent's rows.
    open var stalenessInterval: TimeInterval = -1
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
    open var transactionAuthor: String?

    final var registry: ObjectRegistry!
    /// The contexts below this one that merge by themselves.
    final let mergeListeners = MergeListeners()
    final var listensTo: MergeListeners?
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
    /// How often this context has saved. Its children read it on their queues.
    final let saveCount = Atomic<Int>(0)
    final var faultError: (any Error)?
    /// What observes the objects' properties; see ``isObservationEnabled``.
    final var observation: ContextObservation?
    @exclusivity(unchecked) private var lastEntity: (NSManagedObject.Type, NSEntityDescription)?
    final var discardedRows: [Row] = []

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
        listensTo?.remove(registry)
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
    open var hasChanges: Bool { !insertedList.isEmpty || !updatedList.isEmpty || !deletedList.isEmpty }
    /// The objects that the next save will insert.
    open var insertedObjects: Set<NSManagedObject> { insertedList.set }
    /// The objects that the next save will update.
    open var updatedObjects: Set<NSManagedObject> { updatedList.set }
    /// The objects that the next save will delete.
    open var deletedObjects: Set<NSManagedObject> { deletedList.set }
    /// The objects that live in the context.
    open var registeredObjects: Set<NSManagedObject> {
        Set(registry.all).union(insertedList.elements)
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
