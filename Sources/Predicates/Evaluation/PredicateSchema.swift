/// One thing a compiled predicate looks at: its raw typed slots and the object that owns them.
///
/// The subject retains nothing. Whoever makes it guarantees that the object, and with it the slots, outlives the call it is passed to.
@frozen public struct PredicateSubject {
    /// Where the typed slots begin.
    public var slots: UnsafeRawPointer
    /// The object that owns the slots.
    public unowned(unsafe) var object: AnyObject

    /// Makes a subject.
    ///
    /// - Parameters:
    ///   - slots: Where the typed slots begin. Never read when the schema offers no ``PredicateProperty/slot(_:_:)``.
    ///   - object: The owner, kept alive by the caller.
    @inlinable public init(slots: UnsafeRawPointer, object: AnyObject) {
        self.slots = slots
        self.object = object
    }
}

/// Where a property lies in a subject's slots.
@frozen public struct SlotLocation: Sendable {
    /// The distance of the value from the beginning of the slots, in bytes.
    public var offset: Int
    /// The distance of the null-bitmap word (a `UInt64`) from the beginning of the slots, in bytes.
    public var nullOffset: Int
    /// The bit of the null-bitmap word that is set when the property is nil.
    public var nullMask: UInt64
    /// Whether text and data may be *packed*: the same bit of the word behind the null-bitmap word says so. The slot of a packed value begins
    /// with the distance of its bytes from the beginning of the slots and their number, 32 bits each, the former in the lower half.
    public var isPackable: Bool

    /// Makes a location.
    ///
    /// - Parameters:
    ///   - offset: The distance of the value from the beginning of the slots, in bytes.
    ///   - nullOffset: The distance of the `UInt64` word of the null bitmap from the beginning of the slots, in bytes.
    ///   - nullMask: The bit of that word that is set when the property is nil.
    ///   - isPackable: Whether text and data may be packed, see ``isPackable``.
    @inlinable public init(offset: Int, nullOffset: Int, nullMask: UInt64, isPackable: Bool = false) {
        self.offset = offset
        self.nullOffset = nullOffset
        self.nullMask = nullMask
        self.isPackable = isPackable
    }

    /// Whether the property of this subject is nil.
    @inlinable @inline(__always) func isNull(in subject: PredicateSubject) -> Bool {
        subject.slots.load(fromByteOffset: nullOffset, as: UInt64.self) & nullMask != 0
    }
}

/// How a slot stores its value.
public enum SlotKind: Sendable {
    /// An `Int64` that is 0 or 1.
    case bool
    /// An `Int64`.
    case int64
    /// A `Double`.
    case double
    /// A `Double`: seconds since the reference date, the beginning of 2001.
    case date
    /// A `Swift.String`.
    case string
    /// A `Foundation.Data`.
    case data
    /// A `Foundation.UUID`.
    case uuid
}

/// How a schema answers for one key.
public enum PredicateProperty {
    /// An attribute in a typed slot.
    case slot(SlotLocation, SlotKind)
    /// An attribute that must be computed, decoded or fetched.
    case computed((PredicateSubject) throws -> PropertyValue)
    /// A relationship to one object.
    ///
    /// `identity` answers what stands for the destination in comparisons (`null` when there is none) without loading it; `follow` loads it.
    case toOne(
        destination: any PredicateSchema, identity: (PredicateSubject) throws -> PropertyValue,
        follow: (PredicateSubject) throws -> PredicateSubject?)
    /// A relationship to many objects.
    ///
    /// `forEach` visits the destinations until its callback answers false; a subject is only valid during its own callback.
    case toMany(
        destination: any PredicateSchema, count: (PredicateSubject) throws -> Int,
        forEach: (PredicateSubject, (PredicateSubject) throws -> Bool) throws -> Void)
}

/// What the compiler must know about the things a predicate is compiled for; an entity is one.
///
/// `Predicates` knows no managed object: the host describes its own through this protocol. Schemas may refer to each other in cycles.
public protocol PredicateSchema: AnyObject {
    /// The name used in error messages, such as the entity's name.
    var schemaName: String { get }

    /// Finds a property.
    ///
    /// - Parameter named: One key of a key path.
    /// - Returns: How to read it, or nil when there is no such key, which makes compiling fail with
    ///   ``InvalidPredicateError/Kind/unknownKeyPath``.
    func predicateProperty(named: String) -> PredicateProperty?

    /// What stands for a subject in comparisons: the value of `SELF`.
    func identity(of subject: PredicateSubject) -> PropertyValue

    /// What stands for an object that a predicate holds as a constant, such as a managed object given as `%@`.
    ///
    /// - Returns: A value that equals ``identity(of:)`` of the same object, or nil to leave the constant as it is.
    func constant(for object: AnyObject) -> PropertyValue?

    /// What a block predicate or a comparator is shown for a subject.
    func publicObject(of subject: PredicateSubject) -> Any

    /// Runs the fetch of a `FETCH` expression.
    ///
    /// A host that can fetch implements it; without an implementation, a predicate with such an expression throws when it is evaluated.
    ///
    /// - Parameters:
    ///   - request: What the first part stands for, such as a fetch request as a ``PropertyValue/object(_:)``.
    ///   - context: What the second part stands for, such as the context to fetch in.
    ///   - countOnly: Whether the number of results is wanted instead of the results.
    /// - Returns: The results as an array, or their number.
    /// - Throws: The error of the fetch.
    func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue
}

extension PredicateSchema {
    /// Throws ``InvalidPredicateError/Kind/unsupported``: there is nothing to fetch from.
    public func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue {
        throw InvalidPredicateError(kind: .unsupported, message: "\(schemaName) has nothing that a FETCH expression could fetch from")
    }
}
