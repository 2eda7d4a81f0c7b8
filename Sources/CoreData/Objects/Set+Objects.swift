internal import CoreDataRuntime
internal import Foundation

/// An object as a member of a set that is being built: it is compared without asking the object.
///
/// It is the object's reference and nothing else, with the object's own hash. That is why a set of such members is, bit by bit, the set of the
/// objects; see ``Swift/Set/init(members:)``.
protocol SetMember: Hashable {
    associatedtype Object: NSObject
    var object: Object { get }
    init(_ object: Object)
}

extension SetMember {
    func hash(into hasher: inout Hasher) { hasher.combine(object.hash) }
    // As for `Int` itself, the same in one go.
    func _rawHashValue(seed: Int) -> Int { object.hash._rawHashValue(seed: seed) }
}

/// A managed object, which is equal to itself alone.
struct ObjectMember: SetMember {
    let object: NSManagedObject
    init(_ object: NSManagedObject) { self.object = object }
    @inline(__always) static func == (left: ObjectMember, right: ObjectMember) -> Bool { left.object === right.object }
}

/// An ID, which is equal to those that name the same object.
struct IDMember: SetMember {
    let object: NSManagedObjectID
    init(_ object: NSManagedObjectID) { self.object = object }
    @inline(__always) static func == (left: IDMember, right: IDMember) -> Bool { left.object.isSame(as: right.object) }
}

extension Set where Element: NSObject {
    /// Makes a set of objects out of one of members.
    ///
    /// An insertion into a set of objects asks all that it meets whether they are equal, by a method that takes `Any`: for a save of many
    /// objects that would cost more than to write them. The storage of a set is a class that holds places and elements; members and
    /// objects are the same in both. ``SetOfMembers`` looks once whether the standard library in use still works so.
    fileprivate init<Member: SetMember>(members: Set<Member>) where Member.Object == Element {
        self =
            SetOfMembers.isSetOfObjects
            ? unsafeBitCast(members, to: Set<Element>.self) : Set(members.map(\.object))
    }
}

private enum SetOfMembers {
    private struct Member: SetMember {
        let object: NSObject
        init(_ object: NSObject) { self.object = object }
        static func == (left: Member, right: Member) -> Bool { left.object === right.object }
    }

    /// Whether a set of members can be used as one of objects.
    static let isSetOfObjects: Bool = {
        guard MemoryLayout<Set<Member>>.size == MemoryLayout<Set<NSObject>>.size else { return false }
        let objects = (0..<20).map { _ in NSObject() }
        var set = unsafeBitCast(Set(objects.map(Member.init)), to: Set<NSObject>.self)
        let kept = set
        let new = NSObject()
        set.insert(new)
        set.remove(objects[0])
        return kept == Set(objects) && objects.allSatisfy(kept.contains) && set == Set(objects.dropFirst() + [new])
    }()
}

extension Array where Element: AnyObject {
    /// The objects that `reference` makes of the elements, which keep them alive, as a set. For long lists, as ``forEachUncounted(_:)``.
    @inline(__always) func setUncounted<Member: SetMember>(
        of members: Member.Type, _ reference: (Element) -> Unmanaged<Member.Object>
    ) -> Set<Member.Object> {
        if isEmpty { return [] }
        var references: [Unmanaged<Member.Object>] = []
        references.reserveCapacity(count)
        forEachUncounted { references.append(reference($0)) }
        var set = Set<Member>(minimumCapacity: count)
        // In pieces: each count waits for the write before it, which for a set goes to any place at all.
        let size = 64
        for start in stride(from: 0, to: references.count, by: size) {
            let end = Swift.min(start + size, references.count)
            for next in end..<Swift.min(end + size, references.count) { coredata_prefetch(references[next].toOpaque()) }
            for index in start..<end { _ = references[index].retain() }
            for index in start..<end { set.update(with: Member(references[index].takeRetainedValue())) }
        }
        return Set<Member.Object>(members: set)
    }
}

extension Array where Element: NSManagedObject {
    /// The objects as a set.
    var objectSet: Set<NSManagedObject> { setUncounted(of: ObjectMember.self) { Unmanaged.passUnretained($0) } }

    /// The IDs of objects that have been saved as a set.
    var idSet: Set<NSManagedObjectID> { setUncounted(of: IDMember.self) { Unmanaged.passUnretained($0.identifier.unsafelyUnwrapped) } }
}

extension Array where Element == NSManagedObjectID {
    /// The IDs as a set.
    var idSet: Set<NSManagedObjectID> { setUncounted(of: IDMember.self) { Unmanaged.passUnretained($0) } }
}
