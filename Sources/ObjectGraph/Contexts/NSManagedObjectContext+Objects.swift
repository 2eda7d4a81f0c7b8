internal import CoreDataRuntime
internal import Foundation
internal import Predicates
internal import Synchronization

extension NSManagedObjectContext {
    /// Returns the registered object with an ID, or a new fault; implements the public ``object(with:)``.
    func findObject(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue("object(with: \(objectID)) is called")
        if let known = registeredObject(for: objectID) { return known }
        let id = objectID.current
        return makeFault(persistentStoreCoordinator?.ownID(of: id) ?? id)
    }

    /// Returns the registered object with an ID, including an ID that a parent has since replaced in a save; implements the public
    /// ``registeredObject(for:)``.
    func findRegisteredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue("registeredObject(for: \(objectID)) is called")
        adoptPermanentIDs()
        let id = objectID.current
        if let known = registry.object(with: id) { return known }
        if id !== objectID, let known = registry.object(with: objectID) { return known }
        return persistentStoreCoordinator?.ownID(of: id).flatMap { registry.object(with: $0) }
    }

    /// Returns the registered objects among those with the given IDs.
    func findRegisteredObjects(for ids: [NSManagedObjectID]) -> [NSManagedObject] {
        adoptPermanentIDs()
        if ids.contains(where: \.isTemporary) { return ids.compactMap(findRegisteredObject(for:)) }
        return registry.objects(with: ids).compactMap { $0 }
    }

    /// Returns the object with an ID after loading its row; implements the public ``existingObject(with:)``.
    func findExistingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue("existingObject(with: \(objectID)) is called")
        // An ID of no model, made for a test.
        guard objectID.owningEntity.frozen != nil else { throw NSManagedObject.missingRow(objectID) }
        let object = object(with: objectID)
        if object.isFault, object.isInserted { try object.loadRow() }
        if object.isFault {
            guard let row = try source.row(for: object.objectID, in: self) else { throw NSManagedObject.missingRow(objectID) }
            object.fulfillFault(with: row)
        }
        if object.flags.contains(.inaccessible) { throw NSManagedObject.missingRow(objectID) }
        try object.checkUnreadValues()
        return object
    }

    /// Returns the objects with the given IDs, like ``object(with:)``.
    func objects(with ids: [NSManagedObjectID]) -> [NSManagedObject] {
        materialize(ids) { $0.current }
    }

    /// Returns the objects of elements that each have an ID: registered objects, and new faults for the rest.
    func materialize<Element>(_ elements: [Element], _ id: (Element) -> NSManagedObjectID) -> [NSManagedObject] {
        notifySourceOfRelease()
        adoptPermanentIDs()
        let (known, missing) = registry.objects(of: elements, id)
        return completed(known, missing, count: elements.count) { fault(id(elements[$0])) }
    }

    /// Fills the gaps in a list of registered objects with new objects.
    @inline(__always) func completed(
        _ known: [NSManagedObject?], _ missing: Int, count: Int, _ make: (Int) -> NSManagedObject
    ) -> [NSManagedObject] {
        // Without gaps, the array is an array of objects: an optional reference has the layout of the reference.
        if missing == 0, count > 0 { return uncheckedArray(known, of: NSManagedObject.self) }
        var new: [NSManagedObject] = []
        new.reserveCapacity(missing)
        var objects: [NSManagedObject] = []
        if missing == count {
            for index in 0..<count { new.append(make(index)) }
            objects = new
        } else {
            objects.reserveCapacity(count)
            for index in 0..<count {
                if let object = known[index] {
                    objects.append(object)
                    continue
                }
                let object = make(index)
                objects.append(object)
                new.append(object)
            }
        }
        // Registered together. An ID may be in the list twice: the first object created for it replaces the others.
        let repeated = registry.registerNew(new)
        if !repeated.isEmpty {
            for (index, object) in objects.enumerated() { if let first = repeated[ObjectIdentifier(object)] { objects[index] = first } }
            new.removeAll { repeated[ObjectIdentifier($0)] != nil }
        }
        if retainsRegisteredObjects { retain(new) }
        notifySourceOfRegistration(new.map(\.objectID))
        return objects
    }

    /// Returns the objects of rows: registered objects, and new ones for the rest.
    ///
    /// - Parameter fulfills: Whether faults receive the values of their rows.
    func materialize(_ rows: RowList, fulfills: Bool = false) -> [NSManagedObject] {
        notifySourceOfRelease()
        adoptPermanentIDs()
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(rows.count)
        // In an empty context no lookup is needed. Repeated rows are found at registration.
        let isEmpty = registry.isEmpty
        registry.reserve(rows.count)
        // In parts, so that objects and rows are in the processor's cache while they are handled.
        var start = 0
        while start < rows.count {
            let part = start..<min(rows.count, start + 256)
            let count = isEmpty ? 0 : registry.append(part, of: rows, to: &objects)
            if count < part.count {
                // The objects found are looked up again with the others, among which more are missing.
                objects.removeLast(count)
                let (known, missing) = isEmpty ? ([], part.count) : registry.objects(of: rows, part)
                if missing == part.count {
                    rows.forEachRun(in: part) { block, run in appendFaults(of: rows, run, of: block, to: &objects) }
                    register(&objects, from: start)
                } else {
                    objects += completed(known, missing, count: part.count) { fault(of: rows.slots(part.lowerBound + $0)) }
                }
            }
            if fulfills { rows.forEachRun(in: part) { block, run in fulfill(objects, rows, run, of: block) } }
            start = part.upperBound
        }
        return objects
    }

    /// Adds objects without values, which are not in the identity map yet, for rows of one block.
    ///
    /// The shared references are retained once for all objects: otherwise contexts that fetch the same on several threads would contend for the
    /// reference counts.
    private func appendFaults(of rows: RowList, _ run: Range<Int>, of block: RowBlock, to objects: inout [NSManagedObject]) {
        block.withOrigin { origin in
            guard let origin else {
                for index in run { objects.append(fault(Row(block: block, slots: rows.slots(index)).knownObjectID)) }
                return
            }
            let (sharedOrigin, sharedEntity) = (Unmanaged.passUnretained(origin), Unmanaged.passUnretained(origin.entity))
            sharedOrigin.retain(times: run.count)
            sharedEntity.retain(times: run.count)
            for index in run {
                // Each takes over one of the references that were counted.
                let object = emptyObject(sharedEntity)
                object.origin = sharedOrigin.takeRetainedValue()
                object.number = SlotPointer(rows.slots(index)).prefix.pointee.number
                objects.append(object)
            }
        }
    }

    /// Gives faults the values of their rows, which lie in one block. The block is retained for all of them at once, as in
    /// ``appendFaults(of:_:of:to:)``.
    private func fulfill(_ objects: [NSManagedObject], _ rows: RowList, _ run: Range<Int>, of block: RowBlock) {
        let shared = Unmanaged.passUnretained(block)
        shared.retain(times: 2 * run.count)
        for index in run {
            objects.uncounted(index)._withUnsafeGuaranteedRef { object in
                if object.slots == nil { return object.fulfillFault(counted: rows.slots(index)) }
                shared.release()
                shared.release()
            }
        }
    }

    /// Registers the new objects at the end of a list, and replaces each by the object already registered with the same identity, if any.
    private func register(_ objects: inout [NSManagedObject], from start: Int) {
        let repeated = registry.registerNew(objects, from: start)
        if repeated.isEmpty, !retainsRegisteredObjects, !source.wantsRegistrations { return }
        if repeated.isEmpty {
            if retainsRegisteredObjects { retain(Array(objects[start...])) }
            return notifySourceOfRegistration(objects[start...].map { $0.objectID })
        }
        let new = objects[start...].filter { repeated[ObjectIdentifier($0)] == nil }
        for index in start..<objects.count { if let first = repeated[ObjectIdentifier(objects[index])] { objects[index] = first } }
        if retainsRegisteredObjects { retain(new) }
        notifySourceOfRegistration(new.map(\.objectID))
    }

    private func makeFault(_ id: NSManagedObjectID) -> NSManagedObject {
        notifySourceOfRelease()
        let object = registeredFault(id)
        notifySourceOfRegistration([id])
        return object
    }

    /// Creates a fault and registers it.
    private func registeredFault(_ id: NSManagedObjectID) -> NSManagedObject {
        let object = fault(id)
        registry.register(object)
        if retainsRegisteredObjects { retain([object]) }
        return object
    }

    /// Creates a fault that is not registered yet.
    private func fault(_ id: NSManagedObjectID) -> NSManagedObject {
        let object = emptyObject(.passRetained(id.owningEntity))
        object.madeID = id
        // The parent has not saved it yet.
        if id.isTemporary, parent != nil { awaitingPermanentIDs.append(AwaitingPermanentID(object: object)) }
        return object
    }

    /// Creates the fault of a row, not registered yet.
    private func fault(of slots: UnsafeMutableRawPointer) -> NSManagedObject {
        SlotPointer(slots).block._withUnsafeGuaranteedRef { block in
            block.withOrigin { origin in
                guard let origin else { return fault(Row(slots).knownObjectID) }
                return fault(SlotPointer(slots).prefix.pointee.number, of: origin)
            }
        }
    }

    /// Creates the fault of a row number, not registered yet.
    @inline(__always) func fault(_ number: Int64, of origin: RowOrigin) -> NSManagedObject {
        let object = emptyObject(.passRetained(origin.entity))
        object.origin = origin
        object.number = number
        return object
    }

    /// An object of an entity, without values.
    ///
    /// - Parameter entity: The entity, which is already retained for the object.
    @inline(__always) private func emptyObject(_ entity: Unmanaged<NSEntityDescription>) -> NSManagedObject {
        // The address is compared on this thread, and never followed.
        coredata_expect_no_values(entity.toOpaque())
        let objectClass = entity._withUnsafeGuaranteedRef { $0.managedObjectClass }
        let object = objectClass.init(entity: entity.takeRetainedValue(), insertInto: nil)
        // An initializer of the class may have set a value, which is not the store's.
        if object.slots != nil { object.row = nil }
        object.flags = []
        if !object.changed.isEmpty { object.changed.removeAll() }
        if !object.relationships.isEmpty { object.relationships = [] }
        object.registry = registry
        return object
    }

    /// Notifies the source of newly registered objects, if it wants registrations.
    func notifySourceOfRegistration(_ ids: @autoclosure () -> [NSManagedObjectID]) {
        guard source.wantsRegistrations else { return }
        registry.startCollectingReleases()
        let ids = ids()
        source.didRegister(ids.keeping { !$0.isTemporary })
    }

    /// Notifies the source of the objects released since the last call.
    func notifySourceOfRelease() {
        let releasedIDs = registry.takeReleasedIDs()
        if !releasedIDs.isEmpty { source.didUnregister(releasedIDs) }
    }

    /// Registers a new object and calls `awakeFromInsert`. Called by the object's initializer.
    func insertNew(_ object: NSManagedObject) {
        checkQueue("A new object of the entity “\(object.owningEntity)” is inserted")
        if object.registry == nil { object.registry = registry }
        noteInsertion(of: object)
        object.awakeFromInsert()
    }

    func noteInsertion(of object: NSManagedObject) {
        object.flags.formUnion([.inserted, .insertedInEvent])
        object.flags.remove(.deletedUnsaved)
        insertedList.append(object)
        noteInEvent(object)
        if undoer != nil { eventLog.append(.inserted(object.makeUndoState())) }
    }

    /// Stops the program if an object of another context is passed to this one; Apple's framework raises an exception.
    func requireSameContext(_ object: NSManagedObject, _ what: String) {
        stopProgram(
            unless: object.registry == nil || object.registry === registry,
            "An object cannot be \(what) in another context than its own: use object(with:) to get \(object.objectID) into this one.")
    }

    /// Inserts an object that has no context, or no longer has one; implements the public ``insert(_:)``.
    func performInsert(_ object: NSManagedObject) {
        checkQueue("insert(_:) is called")
        requireSameContext(object, "inserted")
        guard object.registry == nil else { return }
        stopProgram(unless: !object.owningEntity.isAbstract, "The entity “\(object.owningEntity)” is abstract: insert one of a subentity.")
        let wasKnown = object.wasKnownByID
        let former = wasKnown ? object.identifier : nil
        let hasLeft = wasKnown || object.flags.contains(.deletedUnsaved)
        if wasKnown { object.becomeNew() } else { object.forgetStoredLinks() }
        object.flags.remove(.gaveWay)
        object.extras?.successor = nil
        object.setRegistry(registry)
        insertNew(object)
        if object.identifier != nil { registry.register(object) }
        if hasLeft { renewReferences(to: [(object, former)]) }
        completeLinks(of: object)
    }

    /// Records the store that a new object is saved to; implements the public ``assign(_:to:)``.
    func performAssign(_ object: Any, to store: NSPersistentStore) {
        checkQueue("assign(_:to:) is called")
        guard let object = object as? NSManagedObject else { return }
        assignedStores[ObjectIdentifier(object)] = AssignedStore(object: object, store: store)
    }

    /// Requests permanent IDs for the inserted objects that have temporary ones; implements the public ``obtainPermanentIDs(for:)``.
    func performObtainPermanentIDs(for objects: [NSManagedObject]) throws {
        checkQueue("obtainPermanentIDs(for:) is called")
        adoptPermanentIDs()
        // A child's object may have been saved to the parent only, and is not marked as inserted in the child then.
        let waiting = objects.filter {
            $0.objectID.isTemporaryID && ($0.flags.contains(.inserted) || parent != nil && $0.registry === registry)
        }
        guard !waiting.isEmpty else { return }
        let ids = try source.obtainPermanentIDs(for: waiting, in: self)
        for (object, id) in zip(waiting, ids) where !id.isTemporaryID { assign(permanentID: id, to: object) }
        notifySourceOfRegistration(ids.filter { !$0.isTemporaryID })
        guard parent == nil, let late = waiting.first(where: { $0.objectID.isTemporaryID }) else { return }
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(late.objectID) has no permanent ID yet.",
            reason: "Its store assigns the ID when it saves the object.", next: "Save first.", info: [NSAffectedObjectsErrorKey: [late]])
    }

    /// The number of saves in all ancestors; only they can have assigned permanent IDs.
    private var ancestorSaves: Int {
        var sum = 0
        var ancestor = parent
        while let context = ancestor {
            sum += context.saveCount.load(ordering: .acquiring)
            ancestor = context.parent
        }
        return sum
    }

    /// Registers objects that a parent has saved since under their permanent IDs.
    @inline(__always) func adoptPermanentIDs() {
        if !awaitingPermanentIDs.isEmpty { adoptAwaitedIDs() }
    }

    @inline(never) private func adoptAwaitedIDs() {
        if ancestorSavesSeen == ancestorSaves { return }
        ancestorSavesSeen = ancestorSaves
        awaitingPermanentIDs.removeAll { waiting in
            guard let object = waiting.object, object.registry === registry, let id = object.identifier, id.isTemporary else { return true }
            let current = id.current
            if current === id { return false }
            // The parent's object may have been replaced by one that is registered here: changes then reach that object by the old ID, too.
            if registry.object(with: current) == nil { assign(permanentID: current, to: object) }
            return true
        }
    }

    /// Gives an object another ID, registers it again, and returns the old ID.
    @discardableResult
    func assign(permanentID id: NSManagedObjectID, to object: NSManagedObject) -> NSManagedObjectID? {
        let old = object.identifier
        registry.unregister(object)
        object.identifier = id
        registry.register(object)
        if let old, old.isTemporaryID, !id.isTemporaryID { old.promote(to: id) }
        return old
    }
}

/// An object that a child context has saved or read, and that keeps a temporary ID until its parent is saved.
struct AwaitingPermanentID {
    weak var object: NSManagedObject?
}

/// The store that an object was assigned to.
///
/// An object that was never inserted may be deallocated before the assignment is removed. Its memory, and with it its address, is kept as long as
/// this refers to it, so no other object is mistaken for it.
struct AssignedStore {
    unowned let object: NSManagedObject
    let store: NSPersistentStore
}
