internal import CoreDataRuntime
internal import Foundation
internal import Synchronization

extension NSManagedObjectContext {
    /// See ``object(with:)``.
    func findObject(with objectID: NSManagedObjectID) -> NSManagedObject {
        checkQueue("object(with: \(objectID)) is called")
        return registeredObject(for: objectID) ?? makeFault(objectID.current)
    }

    /// See ``registeredObject(for:)``.
    func findRegisteredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        checkQueue("registeredObject(for: \(objectID)) is called")
        adoptPermanentIDs()
        if !objectID.isTemporary { return registry.object(with: objectID) }
        return registry.object(with: objectID.current) ?? registry.object(with: objectID)
    }

    /// The objects of identities that live here.
    func findRegisteredObjects(for ids: [NSManagedObjectID]) -> [NSManagedObject] {
        adoptPermanentIDs()
        if ids.contains(where: \.isTemporary) { return ids.compactMap(findRegisteredObject(for:)) }
        return registry.objects(with: ids).compactMap { $0 }
    }

    /// See ``existingObject(with:)``.
    func findExistingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        checkQueue("existingObject(with: \(objectID)) is called")
        try throwPendingFaultError()
        let object = object(with: objectID)
        if object.isFault, object.isInserted { try object.fulfillFault() }
        if object.isFault {
            guard let row = try source.row(for: object.objectID, in: self) else { throw NSManagedObject.missingRow(objectID) }
            object.fulfillFault(with: row)
        }
        if object.flags.contains(.inaccessible) { throw NSManagedObject.missingRow(objectID) }
        return object
    }

    /// The objects of many identities, as ``object(with:)``.
    func objects(with ids: [NSManagedObjectID]) -> [NSManagedObject] {
        materialize(ids) { $0.current }
    }

    /// The objects of many elements that each have an ID: those that live here, and new faults.
    func materialize<Element>(_ elements: [Element], _ id: (Element) -> NSManagedObjectID) -> [NSManagedObject] {
        reportGone()
        adoptPermanentIDs()
        let (known, missing) = registry.objects(of: elements, id)
        return completed(known, missing, count: elements.count) { fault(id(elements[$0])) }
    }

    /// Fills the gaps in a list of objects with new ones.
    @inline(__always) func completed(
        _ known: [NSManagedObject?], _ missing: Int, count: Int, _ make: (Int) -> NSManagedObject
    ) -> [NSManagedObject] {
        // Without gaps the array is one of objects already: an optional reference looks like the reference itself.
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
        // All at once. An ID may stand in the list twice: the first object that was made for it takes the place of the others.
        let repeated = registry.registerNew(new)
        if !repeated.isEmpty {
            for (index, object) in objects.enumerated() { if let first = repeated[ObjectIdentifier(object)] { objects[index] = first } }
            new.removeAll { repeated[ObjectIdentifier($0)] != nil }
        }
        if retainsRegisteredObjects { retain(new) }
        announce(new.map(\.objectID))
        return objects
    }

    /// The objects of rows: those that live here, and new ones.
    ///
    /// - Parameter fulfills: whether faults get the values of their rows.
    func materialize(_ rows: RowList, fulfills: Bool = false) -> [NSManagedObject] {
        reportGone()
        adoptPermanentIDs()
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(rows.count)
        // In an empty context nothing need be looked up. Rows that come twice are found when they are filed.
        let isEmpty = registry.isEmpty
        registry.reserve(rows.count)
        // Part by part: what is done to an object and its row is done while they are in the processor's cache.
        var start = 0
        while start < rows.count {
            let part = start..<min(rows.count, start + 256)
            let (known, missing) = isEmpty ? ([], part.count) : registry.objects(of: rows, part)
            if missing == part.count {
                for index in part { objects.append(fault(of: rows.slots(index))) }
                file(&objects, from: start)
            } else {
                objects += completed(known, missing, count: part.count) { fault(of: rows.slots(part.lowerBound + $0)) }
            }
            if fulfills {
                for index in part {
                    objects.uncounted(index)._withUnsafeGuaranteedRef { object in
                        if object.slots == nil { object.fulfillFault(with: Row(rows.slots(index))) }
                    }
                }
            }
            start = part.upperBound
        }
        return objects
    }

    /// Files the objects at the end of a list, which are new. What is filed already takes the place of those that would be it once more.
    private func file(_ objects: inout [NSManagedObject], from start: Int) {
        let repeated = registry.registerNew(objects, from: start)
        if repeated.isEmpty, !retainsRegisteredObjects, !source.wantsRegistrations { return }
        let new = objects[start...].filter { repeated[ObjectIdentifier($0)] == nil }
        for index in start..<objects.count { if let first = repeated[ObjectIdentifier(objects[index])] { objects[index] = first } }
        if retainsRegisteredObjects { retain(new) }
        announce(new.map(\.objectID))
    }

    private func makeFault(_ id: NSManagedObjectID) -> NSManagedObject {
        reportGone()
        let object = registeredFault(id)
        announce([id])
        return object
    }

    /// An object without values, in the identity map.
    private func registeredFault(_ id: NSManagedObjectID) -> NSManagedObject {
        let object = fault(id)
        registry.register(object)
        if retainsRegisteredObjects { retain([object]) }
        return object
    }

    /// An object without values that is not in the identity map yet.
    private func fault(_ id: NSManagedObjectID) -> NSManagedObject {
        let object = emptyObject(id.owningEntity)
        object.madeID = id
        // The parent has not saved it yet.
        if id.isTemporary, parent != nil { awaitingPermanentIDs.append(AwaitingPermanentID(object: object)) }
        return object
    }

    /// The object of a row, without values, that is not in the identity map yet.
    private func fault(of slots: UnsafeMutableRawPointer) -> NSManagedObject {
        SlotPointer(slots).block._withUnsafeGuaranteedRef { block in
            block.withOrigin { origin in
                guard let origin else { return fault(Row(slots).knownObjectID) }
                return fault(SlotPointer(slots).prefix.pointee.number, of: origin)
            }
        }
    }

    /// The object of a number, without values, that is not in the identity map yet.
    @inline(__always) func fault(_ number: Int64, of origin: RowOrigin) -> NSManagedObject {
        let object = emptyObject(origin.entity)
        object.origin = origin
        object.number = number
        return object
    }

    private func emptyObject(_ entity: NSEntityDescription) -> NSManagedObject {
        // The address is compared on this thread, and never followed.
        coredata_expect_no_values(Unmanaged.passUnretained(entity).toOpaque())
        let object = entity.managedObjectClass.init(entity: entity, insertInto: nil)
        // An initializer of the class may have set something, which is none of the store's values.
        if object.slots != nil { object.row = nil }
        object.flags = []
        if !object.changed.isEmpty { object.changed.removeAll() }
        if !object.relationships.isEmpty { object.relationships = [] }
        object.registry = registry
        return object
    }

    /// Tells the source of objects that have come to live here, if it wants to know.
    func announce(_ ids: @autoclosure () -> [NSManagedObjectID]) {
        guard source.wantsRegistrations else { return }
        registry.rememberReleases()
        source.didRegister(ids().filter { !$0.isTemporary })
    }

    /// Tells the source of the objects that have been released.
    func reportGone() {
        let gone = registry.takeGone()
        if !gone.isEmpty { source.didUnregister(gone) }
    }

    /// Takes a new object in and lets it set itself up. Used by the object's initializer.
    func insertNew(_ object: NSManagedObject) {
        checkQueue("A new object of the entity “\(object.owningEntity)” is inserted")
        object.registry = registry
        noteInsertion(of: object)
        object.awakeFromInsert()
    }

    func noteInsertion(of object: NSManagedObject) {
        object.flags.formUnion([.inserted, .insertedInEvent])
        insertedList.append(object)
        noteInEvent(object)
        if undoer != nil { eventLog.append(.appeared(object.keepRemains())) }
    }

    /// Stops the program where an object that lives in another context is given to this one, as Apple's raises.
    func refuseForeign(_ object: NSManagedObject, _ what: String) {
        precondition(
            object.registry == nil || object.registry === registry,
            "An object cannot be \(what) in another context than its own: use object(with:) to get \(object.objectID) into this one.")
    }

    /// See ``insert(_:)``.
    func performInsert(_ object: NSManagedObject) {
        checkQueue("insert(_:) is called")
        refuseForeign(object, "inserted")
        guard object.registry == nil else { return }
        precondition(!object.owningEntity.isAbstract, "The entity “\(object.owningEntity)” is abstract: insert one of a subentity.")
        insertNew(object)
        if object.identifier != nil { registry.register(object) }
    }

    /// See ``assign(_:to:)``.
    func performAssign(_ object: Any, to store: NSPersistentStore) {
        checkQueue("assign(_:to:) is called")
        guard let object = object as? NSManagedObject else { return }
        assignedStores[ObjectIdentifier(object)] = store
    }

    /// See ``obtainPermanentIDs(for:)``.
    func performObtainPermanentIDs(for objects: [NSManagedObject]) throws {
        checkQueue("obtainPermanentIDs(for:) is called")
        let waiting = objects.filter { $0.flags.contains(.inserted) && $0.objectID.isTemporaryID }
        guard !waiting.isEmpty else { return }
        let ids = try source.permanentIDs(for: waiting, in: self)
        for (object, id) in zip(waiting, ids) { give(id, to: object) }
        announce(ids)
    }

    /// Only a save above this context can have given permanent IDs.
    private var ancestorSaves: Int {
        var sum = 0
        var ancestor = parent
        while let context = ancestor {
            sum += context.saveCount.load(ordering: .acquiring)
            ancestor = context.parent
        }
        return sum
    }

    /// Files the objects that a parent has saved since, under the IDs that they have got there.
    func adoptPermanentIDs() {
        if awaitingPermanentIDs.isEmpty || ancestorSavesSeen == ancestorSaves { return }
        ancestorSavesSeen = ancestorSaves
        awaitingPermanentIDs.removeAll { waiting in
            guard let object = waiting.object, object.registry === registry, let id = object.identifier, id.isTemporary else { return true }
            if id.current === id { return false }
            give(id.current, to: object)
            return true
        }
    }

    /// Gives an object another ID and files it anew. Answers the old one.
    @discardableResult
    func give(_ id: NSManagedObjectID, to object: NSManagedObject) -> NSManagedObjectID? {
        let old = object.identifier
        registry.unregister(object)
        object.identifier = id
        registry.register(object)
        if let old, old.isTemporaryID, !id.isTemporaryID { old.promote(to: id) }
        return old
    }
}

/// An object that a child context has saved or read, and that has a temporary ID until its parent is saved.
struct AwaitingPermanentID {
    weak var object: NSManagedObject?
}
