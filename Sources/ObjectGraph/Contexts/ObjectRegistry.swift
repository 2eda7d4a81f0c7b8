internal import CoreDataRuntime
internal import Foundation
internal import Platform
internal import Predicates

/// The registered objects of a context, not retained.
///
/// Objects may be released on any thread, so the table is guarded by a lock. A lookup and the removal in an object's deinitializer
/// exclude each other; a lookup does not find an object whose deinitialization has begun.
// `lock` guards `map`, `releasedIDs`, `owner` and `departure`. It is not a `LockedBox`: every object that is registered or released passes here, and
// fields are taken one by one under it.
final class ObjectRegistry: @unchecked Sendable {
    let lock = Mutex()
    @exclusivity(unchecked) private(set) var map = IdentityMap()
    /// The IDs of the objects released since the context last took them.
    @exclusivity(unchecked) private var releasedIDs: [NSManagedObjectID] = []
    @exclusivity(unchecked) private var remembersReleases = false
    /// Not retained. The context clears it, under the lock, when it is deallocated. A weak reference would make every count of the context's
    /// references slow.
    @exclusivity(unchecked) private var owner: Unmanaged<NSManagedObjectContext>?
    /// The progress of the context's deallocation.
    @exclusivity(unchecked) private var departure = Departure.notBegun

    private enum Departure {
        case notBegun
        case begun(on: pthread_t)
        case over
    }

    /// Sets the context, which has just made the registry.
    func setContext(_ context: NSManagedObjectContext) { owner = Unmanaged.passUnretained(context) }

    /// The context; nil after its deallocation. Use it on the context's queue only.
    var context: NSManagedObjectContext? { owner?.takeUnretainedValue() }

    /// The context unless it is deallocated or being deallocated. Use it on any queue.
    var livingContext: NSManagedObjectContext? {
        lock.lock()
        defer { lock.unlock() }
        guard let owner, swift_tryRetain(owner.toOpaque()) != nil else { return nil }
        return owner.takeRetainedValue()
    }

    /// Clears the reference to the context, which begins to tear down its objects.
    func contextWillDeallocate() {
        lock.lock()
        owner = nil
        departure = .begun(on: pthread_self())
        lock.unlock()
    }

    /// Records that the context no longer accesses its objects.
    func contextDidTakeObjectsApart() {
        lock.lock()
        departure = .over
        lock.unlock()
    }

    /// Returns the context, which is not deallocated as long as the result is held; nil if it has torn down its objects. Waits for another thread's
    /// deallocation if needed.
    ///
    /// That deallocation does not wait for the calling thread: no lock is held while objects are related.
    func contextUnlessGone() -> NSManagedObjectContext? {
        while true {
            if let context = livingContext { return context }
            lock.lock()
            let departure = departure
            lock.unlock()
            switch departure {
            case .over: return nil
            case .begun(let thread) where pthread_equal(thread, pthread_self()) != 0: return nil
            // The last reference is released, and the deinitializer begins at once.
            case .begun, .notBegun: sched_yield()
            }
        }
    }

    /// Returns the registered object of an identity.
    func object(with id: NSManagedObjectID) -> NSManagedObject? {
        lock.lock()
        defer { lock.unlock() }
        return find(id)
    }

    // A filed object still has its memory: its deinitialization first removes it under the lock. So its identity, which never changes after the
    // deinitialization has begun, may be read under the lock. Code that needs the object itself must obtain a reference, which fails once the
    // deinitialization has begun.

    private func find(_ id: NSManagedObjectID) -> NSManagedObject? {
        let found = map.find(id.key) { pointer in
            Unmanaged<NSManagedObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.isIdentified(by: id) }
        }
        return living(found)
    }

    @inline(__always) private func find(_ number: Int64, of origin: RowOrigin) -> NSManagedObject? {
        let found = map.find(origin.key(number)) { pointer in
            Unmanaged<NSManagedObject>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.isIdentified(by: number, of: origin) }
        }
        return living(found)
    }

    /// Returns an object of the table unless its deinitialization has begun.
    @inline(__always) private func living(_ found: UnsafeMutableRawPointer?) -> NSManagedObject? {
        guard let found, swift_tryRetain(found) != nil else { return nil }
        return Unmanaged<NSManagedObject>.fromOpaque(found).takeRetainedValue()
    }

    /// Returns the registered objects of many identities, nil for the others.
    func objects(with ids: [NSManagedObjectID]) -> [NSManagedObject?] {
        lock.lock()
        defer { lock.unlock() }
        return ids.map(find)
    }

    /// Returns the registered objects of elements that each have an ID, nil for the others, and the number of nils. The array is empty if no object
    /// is registered.
    @inline(__always) func objects<Element>(
        of elements: [Element], _ id: (Element) -> NSManagedObjectID
    ) -> (objects: [NSManagedObject?], missing: Int) {
        lock.lock()
        defer { lock.unlock() }
        if map.count == 0 { return ([], elements.count) }
        var objects: [NSManagedObject?] = []
        objects.reserveCapacity(elements.count)
        var missing = 0
        for element in elements {
            let object = find(id(element))
            if object == nil { missing += 1 }
            objects.append(object)
        }
        return (objects, missing)
    }

    /// Returns the registered objects of some of many rows, nil for the others, and the number of nils. The array is empty if no object is
    /// registered.
    func objects(of rows: RowList, _ part: Range<Int>) -> (objects: [NSManagedObject?], missing: Int) {
        lock.lock()
        defer { lock.unlock() }
        if map.count == 0 { return ([], part.count) }
        var objects: [NSManagedObject?] = []
        objects.reserveCapacity(part.count)
        var missing = 0
        for index in part {
            let object = find(rows.slots(index))
            if object == nil { missing += 1 }
            objects.append(object)
        }
        return (objects, missing)
    }

    /// Appends the registered objects of some of many rows to a list, up to the first row whose object is not registered.
    ///
    /// - Returns: The number of objects appended.
    func append(_ part: Range<Int>, of rows: RowList, to objects: inout [NSManagedObject]) -> Int {
        lock.lock()
        defer { lock.unlock() }
        if map.count == 0 { return 0 }
        for index in part {
            // Rows, IDs and objects are scattered in memory: those of later rows are prefetched, each as soon as its address is known.
            if index &+ 24 < part.upperBound { coredata_prefetch(rows.slots(index &+ 24) - RowPrefix.size) }
            if index &+ 16 < part.upperBound {
                coredata_prefetch(Row.idAddress(of: rows.slots(index &+ 16)).map { $0 + NSManagedObjectID.offsetOfKey })
            }
            if index &+ 8 < part.upperBound { prefetchObject(of: rows.slots(index &+ 8)) }
            guard let object = find(rows.slots(index)) else { return index - part.lowerBound }
            objects.append(object)
        }
        return part.count
    }

    /// Returns the registered object of a row. The caller holds the row.
    @inline(__always) private func find(_ slots: UnsafeMutableRawPointer) -> NSManagedObject? {
        SlotPointer(slots).block._withUnsafeGuaranteedRef { block in
            block.withOrigin { origin in
                if let origin { return find(SlotPointer(slots).prefix.pointee.number, of: origin) }
                return Row.with(slots) { row in row.withUncountedID { id in id.flatMap { find($0) } } }
            }
        }
    }

    /// Prefetches the object that is probably the one of a row, unless the row has an ID that was not made yet.
    @inline(__always) private func prefetchObject(of slots: UnsafeMutableRawPointer) {
        let key = SlotPointer(slots).block._withUnsafeGuaranteedRef { block in
            block.withOrigin { origin -> Int64? in
                if let origin { return origin.key(SlotPointer(slots).prefix.pointee.number) }
                return Row.idAddress(of: slots).map { Unmanaged<NSManagedObjectID>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.key } }
            }
        }
        guard let key else { return }
        let object = map.firstObject(near: key)
        coredata_prefetch(object)
        coredata_prefetch(object.map { $0 + 64 })
    }

    /// Returns the registered objects of row numbers, nil for the others.
    func objects(with numbers: ArraySlice<Int64>, of origin: RowOrigin) -> [NSManagedObject?] {
        lock.lock()
        defer { lock.unlock() }
        return numbers.map { find($0, of: origin) }
    }

    /// Registers an object under its identity.
    func register(_ object: NSManagedObject) {
        lock.lock()
        insert(object)
        lock.unlock()
        checkInvariants()
    }

    func register(_ objects: [NSManagedObject]) {
        lock.lock()
        map.reserve(objects.count)
        for object in objects { insert(object) }
        lock.unlock()
        checkInvariants()
    }

    /// Whether no object is registered.
    var isEmpty: Bool {
        lock.lock()
        defer { lock.unlock() }
        return map.count == 0
    }

    /// Reserves space for `count` objects; of those already registered, the same number may be added again.
    func reserve(_ count: Int) {
        lock.lock()
        if map.count < count { map.reserve(count - map.count) }
        lock.unlock()
    }

    /// Registers new objects, some of which may share an identity.
    ///
    /// - Parameter start: The index of the first object to register.
    /// - Returns: The objects that were not registered, with the object that has their identity.
    func registerNew(_ objects: [NSManagedObject], from start: Int = 0) -> [ObjectIdentifier: NSManagedObject] {
        defer { checkInvariants() }
        lock.lock()
        defer { lock.unlock() }
        map.reserve(objects.count - start)
        let expected = map.count + objects.count - start
        for index in start..<objects.count {
            objects.uncounted(index)._withUnsafeGuaranteedRef { object in
                guard let key = object.identityKey else { return }
                object.flags.insert(.registered)
                map.insert(Unmanaged.passUnretained(object).toOpaque(), for: key) { other in
                    Unmanaged<NSManagedObject>.fromOpaque(other)._withUnsafeGuaranteedRef { other in
                        if let origin = object.origin { return other.isIdentified(by: object.number, of: origin) }
                        return other.isIdentified(by: object.madeID.known("an object with a key has an ID or an origin"))
                    }
                }
            }
        }
        if map.count == expected { return [:] }
        var repeated: [ObjectIdentifier: NSManagedObject] = [:]
        for object in objects[start...] {
            guard let id = object.identifier, let filed = find(id), filed !== object else { continue }
            object.flags.remove(.registered)
            repeated[ObjectIdentifier(object)] = filed
        }
        return repeated
    }

    private func insert(_ object: NSManagedObject) {
        guard let key = object.identityKey else { return }
        object.flags.insert(.registered)
        map.insert(Unmanaged.passUnretained(object).toOpaque(), for: key)
    }

    /// Removes an object.
    func unregister(_ object: NSManagedObject) {
        guard object.flags.contains(.registered), let key = object.identityKey else { return }
        object.flags.remove(.registered)
        lock.lock()
        map.remove(Unmanaged.passUnretained(object).toOpaque(), for: key)
        if remembersReleases, object.hasPermanentID, let id = object.identifier { releasedIDs.append(id) }
        lock.unlock()
    }

    /// Removes objects.
    func unregister(_ objects: [NSManagedObject]) {
        lock.lock()
        objects.forEachUncounted { object in
            guard object.flags.contains(.registered), let key = object.identityKey else { return }
            object.flags.remove(.registered)
            map.remove(Unmanaged.passUnretained(object).toOpaque(), for: key)
            if remembersReleases, object.hasPermanentID, let id = object.identifier { releasedIDs.append(id) }
        }
        lock.unlock()
    }

    /// Gives objects other IDs, registers them again and returns the old IDs, nil for objects whose ID was never created.
    func exchangeIDs(of objects: [NSManagedObject], for ids: [NSManagedObjectID?]) -> [NSManagedObjectID?] {
        defer { checkInvariants() }
        lock.lock()
        defer { lock.unlock() }
        map.reserve(objects.count)
        var former: [NSManagedObjectID?] = []
        former.reserveCapacity(objects.count)
        var index = 0
        objects.forEachUncounted { object in
            if object.flags.contains(.registered), let key = object.identityKey {
                map.remove(Unmanaged.passUnretained(object).toOpaque(), for: key)
                object.flags.remove(.registered)
            }
            former.append(object.identifier)
            object.identifier = ids[index]
            index += 1
        }
        // Separate from the loop above: each reference count operation waits for the preceding write, which is to a different cache line
        // here.
        objects.forEachUncounted { insert($0) }
        return former
    }

    /// Starts collecting released objects for ``takeReleasedIDs()``.
    func startCollectingReleases() {
        lock.lock()
        remembersReleases = true
        lock.unlock()
    }

    /// Removes an object; called by its `deinit`, on any thread.
    func objectWillDeallocate(_ object: NSManagedObject) {
        guard object.flags.contains(.registered), let key = object.identityKey else { return }
        lock.lock()
        map.remove(Unmanaged.passUnretained(object).toOpaque(), for: key)
        // Once the object is out of the map, no other thread reads its identity: the ID is moved without being retained.
        if remembersReleases, object.hasPermanentID {
            if let id = object.madeID.take() { releasedIDs.append(id) } else if let id = object.identifier { releasedIDs.append(id) }
        }
        lock.unlock()
    }

    /// Returns the IDs of the objects released since the last call.
    func takeReleasedIDs() -> [NSManagedObjectID] {
        lock.lock()
        defer { lock.unlock() }
        let ids = releasedIDs
        releasedIDs = []
        return ids
    }

    /// The registered objects.
    var all: [NSManagedObject] {
        lock.lock()
        defer { lock.unlock() }
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(map.count)
        map.forEach { pointer in
            if swift_tryRetain(pointer) != nil { objects.append(Unmanaged<NSManagedObject>.fromOpaque(pointer).takeRetainedValue()) }
        }
        return objects
    }
}
