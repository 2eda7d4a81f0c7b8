public import Foundation
internal import Platform
internal import Predicates
internal import Synchronization

/// The identity of an object: its entity, its store and its key in the store.
///
/// An object that was never saved has a temporary ID; saving assigns a permanent one. IDs are values: compare them, use them as keys, and
/// pass them between threads and contexts.
///
/// Source: [NSManagedObjectID](https://developer.apple.com/documentation/coredata/nsmanagedobjectid).
// Immutable except for `promotion`, an atomic reference that is set once.
open class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
    /// The key of an object in its store.
    package enum Reference: Hashable, Sendable {
        case integer(Int64)
        case string(String)
        case uuid(UUID)
        case temporary(UUID)

        /// Strings are equal by their bytes, as stores compare keys: `String` takes “é” as one scalar and as two for equal.
        package static func == (left: Reference, right: Reference) -> Bool {
            switch (left, right) {
            case (.integer(let left), .integer(let right)): left == right
            case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
            case (.uuid(let left), .uuid(let right)), (.temporary(let left), .temporary(let right)): left == right
            default: false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .integer(let number): hasher.combine(number)
            case .string(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            case .uuid(let id), .temporary(let id): hasher.combine(id)
            }
        }
    }

    /// The entity of the object.
    open var entity: NSEntityDescription { owningEntity }
    /// Whether the ID is temporary: the object has not been saved yet.
    open var isTemporaryID: Bool { isTemporary }

    // The fields that loops over many IDs read come first, so that they mostly lie in one cache line.
    package final let reference: Reference
    final let isTemporary: Bool
    /// The integer key in identity maps; equal IDs have equal keys.
    package final let key: Int64
    package final let owningEntity: NSEntityDescription
    package final let token: StoreToken?
    private let promotion = AtomicLazyReference<NSManagedObjectID>()

    package init(entity: NSEntityDescription, token: StoreToken?, reference: Reference) {
        owningEntity = entity
        self.token = token
        self.reference = reference
        if case .temporary = reference { isTemporary = true } else { isTemporary = false }
        let keyBase = Self.keyBase(of: entity)
        switch reference {
        case .integer(let value): key = value &+ keyBase
        default: key = Int64(truncatingIfNeeded: reference.hashValue) &+ keyBase
        }
        super.init()
    }

    /// Creates an ID for a store with numbered rows.
    ///
    /// - Parameter keyBase: ``keyBase(of:)`` of the entity, which stores compute once for many IDs.
    package init(entity: NSEntityDescription, token: StoreToken, number: Int64, keyBase: Int64) {
        owningEntity = entity
        self.token = token
        reference = .integer(number)
        isTemporary = false
        key = number &+ keyBase
        super.init()
    }

    /// Returns the common part of the keys of an entity's IDs.
    package static func keyBase(of entity: NSEntityDescription) -> Int64 { Int64(entity.rootEntity.frozen?.layout.identifier ?? 0) << 44 }

    /// Creates a temporary ID of no object and no model, for tests of code that handles IDs. Each is equal to itself only.
    public override init() {
        owningEntity = NSEntityDescription()
        token = nil
        reference = .temporary(.ofProcess())
        isTemporary = true
        key = Int64(truncatingIfNeeded: reference.hashValue)
        super.init()
    }

    /// Creates a temporary ID.
    convenience init(temporaryFor entity: NSEntityDescription) {
        self.init(entity: entity, token: nil, reference: .temporary(.ofProcess()))
    }

    /// The approximate place of the key and the reference in the memory of an ID, for prefetching.
    static let offsetOfKey = 32

    /// The placeholder in a to-one slot whose value is not loaded yet.
    static let unresolved = NSManagedObjectID(entity: NSEntityDescription(), token: nil, reference: .integer(-1))

    /// The key of the object in its store, if it is a number.
    @_spi(Stores) public final var number: Int64? { if case .integer(let number) = reference { number } else { nil } }

    /// The permanent ID of the object if a save has assigned one, otherwise this ID.
    package final var current: NSManagedObjectID { isTemporary ? promotion.load()?.current ?? self : self }

    final func promote(to permanent: NSManagedObjectID) { _ = promotion.storeIfNil(permanent) }

    package final func isSame(as other: NSManagedObjectID) -> Bool {
        self === other
            || (key == other.key && token === other.token && reference == other.reference
                && owningEntity.rootEntity === other.owningEntity.rootEntity)
    }

    /// Returns whether two IDs identify one object, possibly by the temporary ID it had before it was saved.
    package final func namesSameObject(as other: NSManagedObjectID) -> Bool {
        isSame(as: other) || (isTemporary || other.isTemporary) && current.isSame(as: other.current)
    }

    /// Returns whether the IDs identify the same object of the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return isSame(as: other)
    }

    /// The hash value, which is the same for equal IDs.
    open override var hash: Int { Int(truncatingIfNeeded: key) }

    /// Returns the ID itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// A description of the URI and the entity.
    open override var description: String { "<\(owningEntity.name ?? "?") \(uriRepresentation().absoluteString)>" }
}

/// Links the IDs of a store to it without retaining it.
package final class StoreToken: Sendable {
    private struct State {
        weak var owner: AnyObject?
        var identifier: String
    }
    private let state: LockedBox<State>

    package init(identifier: String) { state = LockedBox(State(identifier: identifier)) }

    /// The store; ``store`` gives it with its type.
    var owner: AnyObject? {
        get { state.withLock { $0.owner } }
        set { state.withLock { $0.owner = newValue } }
    }

    var identifier: String {
        get { state.withLock { $0.identifier } }
        set { state.withLock { $0.identifier = newValue } }
    }
}
