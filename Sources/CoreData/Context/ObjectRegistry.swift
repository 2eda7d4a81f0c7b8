internal import CoreDataRuntime
internal import Foundation

/// The objects that live in a context, without keeping them alive.
///
/// Objects may be released on any thread, so the table is guarded. A lookup and the removal in an object's deinitialization exclude
/// each other; a lookup that meets an object whose deinitialization has begun does not see it.
// `lock` guards `map`, `gone` and `owner`. It is no box: every object that comes or goes passes here, and fields are taken one by one under it.
final class ObjectRegistry: @unchecked Sendable {
    let lock = Mutex()
    @exclusivity(unchecked) private(set) var map = IdentityMap()
    /// The IDs of objects that were released since the context last looked.
    @exclusivity(unchecked) private var gone: [NSManagedObjectID] = []
    @exclusivity(unchecked) private var remembersReleases = false
    /// Not held. The context clears it, under the lock, when it goes. Weak would make every count of the context's references slow.
    @exclusivity(unchecked) private var owner: Unmanaged<NSManagedObjectContext>?

    init(_ context: NSManagedObjectContext) { owner = Unmanaged.passUnretained(context) }

    /// The context; nil once it is gone. On the context's queue only.
    var context: NSManagedObjectContext? { owner?.takeUnretainedValue() }

    /// The context unless it is gone or going. On any queue.
    var livingContext: NSManagedObjectContext? {
        lock.lock()
        defer { lock.unlock() }
        guard let owner, swift_tryRetain(owner.toOpaque()) != nil else { return nil }
        return owner.takeRetainedValue()
    }

    /// The context goes: its objects are on their own.
    func contextWillDeallocate() {
        lock.lock()
        owner = nil
        lock.unlock()
    }

    /// The registered object of an identity.
    func object(with id: NSManagedObjectID) -> NSManagedObject? {
        lock.lock()
        defer { lock.unlock() }
        return find(id)
    }

    // An object that is filed has its memory: its deinitialization takes it out under the lock first. So what never changes after the deinitialization has
    // begun, the identity, may be read of each under the lock; whoever wants the object itself must get a reference, which fails from then on.

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

    /// An object of the table, unless its deinitialization has begun.
    @inline(__always) private func living(_ found: UnsafeMutableRawPointer?) -> NSManagedObject? {
        guard let found, swift_tryRetain(found) != nil else { return nil }
        return Unmanaged<NSManagedObject>.fromOpaque(found).takeRetainedValue()
    }

    /// The registered objects of many identities, nil where there is none.
    func objects(with ids: [NSManagedObjectID]) -> [NSManagedObject?] {
        lock.lock()
        defer { lock.unlock() }
        return ids.map(find)
    }

    /// The registered objects of many elements that each have an ID, nil where there is none, and for how many that is. Where there are no
    /// objects at all, the array is empty.
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

    /// The registered objects of some of many rows, nil where there is none, and for how many that is. Where there are no objects at all, the
    /// array is empty.
    func objects(of rows: RowList, _ part: Range<Int>) -> (objects: [NSManagedObject?], missing: Int) {
        lock.lock()
        defer { lock.unlock() }
        if map.count == 0 { return ([], part.count) }
        var objects: [NSManagedObject?] = []
        objects.reserveCapacity(part.count)
        var missing = 0
        for index in part {
            let slots = rows.slots(index)
            let object = SlotPointer(slots).block._withUnsafeGuaranteedRef { block in
                block.withOrigin { origin in
                    if let origin { return find(SlotPointer(slots).prefix.pointee.number, of: origin) }
                    return find(Row(slots).knownObjectID)
                }
            }
            if object == nil { missing += 1 }
            objects.append(object)
        }
        return (objects, missing)
    }

    /// The registered objects of numbers, nil where there is none.
    func objects(with numbers: ArraySlice<Int64>, of origin: RowOrigin) -> [NSManagedObject?] {
        lock.lock()
        defer { lock.unlock() }
        return numbers.map { find($0, of: origin) }
    }

    /// Files an object under its identity.
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

    /// Whether no object lives in the context.
    var isEmpty: Bool {
        lock.lock()
        defer { lock.unlock() }
        return map.count == 0
    }

    /// Makes room for so many objects. Of those that are there already as many may come again.
    func reserve(_ count: Int) {
        lock.lock()
        if map.count < count { map.reserve(count - map.count) }
        lock.unlock()
    }

    /// Files objects of which none is in the table, though some may have the same identity.
    ///
    /// - Parameter start: where in the list they begin.
    /// - Returns: those that were not filed, and the object that has their identity.
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

    /// Takes an object out.
    func unregister(_ object: NSManagedObject) {
        guard object.flags.contains(.registered), let key = object.identityKey else { return }
        object.flags.remove(.registered)
        lock.lock()
        map.remove(Unmanaged.passUnretained(object).toOpaque(), for: key)
        if remembersReleases, object.hasPermanentID, let id = object.identifier { gone.append(id) }
        lock.unlock()
    }

    /// Takes objects out.
    func unregister(_ objects: [NSManagedObject]) {
        lock.lock()
        objects.forEachUncounted { object in
            guard object.flags.contains(.registered), let key = object.identityKey else { return }
            object.flags.remove(.registered)
            map.remove(Unmanaged.passUnretained(object).toOpaque(), for: key)
            if remembersReleases, object.hasPermanentID, let id = object.identifier { gone.append(id) }
        }
        lock.unlock()
    }

    /// Gives objects other IDs and files them anew. Answers those they had, nil for objects whose ID no one has asked for.
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
        // Apart from the references counted above: each count waits for the write before it, which here goes to a place of its own.
        objects.forEachUncounted { insert($0) }
        return former
    }

    /// From now on ``takeGone()`` answers.
    func rememberReleases() {
        lock.lock()
        remembersReleases = true
        lock.unlock()
    }

    /// Called by an object's `deinit`, on any thread.
    func objectWillDeallocate(_ object: NSManagedObject) { unregister(object) }

    /// The IDs of the objects that have gone since the last call.
    func takeGone() -> [NSManagedObjectID] {
        lock.lock()
        defer { lock.unlock() }
        let ids = gone
        gone = []
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
