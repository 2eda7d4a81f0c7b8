/// A subject of a compiled predicate: its raw typed slots and the object that owns them.
///
/// A subject retains nothing. Its creator guarantees that the object, and thereby the slots, outlive the call that the subject is passed
/// to.
@frozen public struct PredicateSubject {
    /// The start of the typed slots.
    public var slots: UnsafeRawPointer
    /// The address of the object that owns the slots, for loops that count no references. Its user knows the object's class.
    @usableFromInline package var address: UnsafeRawPointer

    /// The object that owns the slots.
    @inlinable public var object: AnyObject {
        get { Unmanaged<AnyObject>.fromOpaque(address).takeUnretainedValue() }
        set { address = UnsafeRawPointer(Unmanaged.passUnretained(newValue).toOpaque()) }
    }

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - slots: The start of the typed slots. Never read when the schema has no ``PredicateProperty/slot(_:_:)``.
    ///   - object: The owner, which the caller keeps alive.
    @inlinable public init(slots: UnsafeRawPointer, object: AnyObject) {
        self.slots = slots
        address = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    /// Creates a subject from the address of its owner, which the caller keeps alive.
    @inlinable @inline(__always) package init(slots: UnsafeRawPointer, address: UnsafeRawPointer) {
        self.slots = slots
        self.address = address
    }
}

/// The location of a property in a subject's slots.
@frozen public struct SlotLocation: Sendable {
    /// The offset of the value from the start of the slots, in bytes.
    public var offset: Int
    /// The offset of the null bitmap's word (a `UInt64`) from the start of the slots, in bytes.
    public var nullOffset: Int
    /// The bit of the word that is set when the property is nil.
    public var nullMask: UInt64
    /// Whether strings and data may be *packed*, which the same bit of the word after the null bitmap's word marks. The slot of a packed
    /// value begins with the offset of its bytes from the start of the slots, in the lower 32 bits, and their count, in the upper 32
    /// bits.
    public var isPackable: Bool

    /// Creates a location.
    ///
    /// - Parameters:
    ///   - offset: The offset of the value from the start of the slots, in bytes.
    ///   - nullOffset: The offset of the null bitmap's `UInt64` word from the start of the slots, in bytes.
    ///   - nullMask: The bit of that word that is set when the property is nil.
    ///   - isPackable: Whether strings and data may be packed, see ``isPackable``.
    @inlinable public init(offset: Int, nullOffset: Int, nullMask: UInt64, isPackable: Bool = false) {
        self.offset = offset
        self.nullOffset = nullOffset
        self.nullMask = nullMask
        self.isPackable = isPackable
    }

    /// Returns whether the property of a subject is nil.
    @inlinable @inline(__always) func isNull(in subject: PredicateSubject) -> Bool {
        subject.slots.load(fromByteOffset: nullOffset, as: UInt64.self) & nullMask != 0
    }
}

/// The kinds of storage of a slot.
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

/// The ways in which a schema provides a property.
public enum PredicateProperty {
    /// An attribute in a typed slot.
    case slot(SlotLocation, SlotKind)
    /// An attribute that is computed, decoded or fetched.
    case computed((PredicateSubject) throws -> PropertyValue)
    /// A to-one relationship.
    ///
    /// `identity` returns the identity of the destination for comparisons (`null` if there is none) without loading it; `follow` loads it.
    case toOne(
        destination: any PredicateSchema, identity: (PredicateSubject) throws -> PropertyValue,
        follow: (PredicateSubject) throws -> PredicateSubject?)
    /// A to-many relationship.
    ///
    /// `forEach` visits the destinations until its callback returns false; a subject is valid during its own callback only.
    case toMany(
        destination: any PredicateSchema, count: (PredicateSubject) throws -> Int,
        forEach: (PredicateSubject, (PredicateSubject) throws -> Bool) throws -> Void)
}

/// Describes the subjects of a predicate to the compiler, for example the objects of an entity.
///
/// `Predicates` does not know managed objects: the host describes them with this protocol. Schemas may refer to each other in cycles.
public protocol PredicateSchema: AnyObject {
    /// The name in error messages, such as the entity's name.
    var schemaName: String { get }

    /// Returns a property.
    ///
    /// - Parameter named: One key of a key path.
    /// - Returns: The way to read the property; nil when there is no such key, which makes compilation fail with
    ///   ``InvalidPredicateError/Kind/unknownKeyPath``.
    func predicateProperty(named: String) -> PredicateProperty?

    /// Returns the identity of a subject for comparisons: the value of `SELF`.
    func identity(of subject: PredicateSubject) -> PropertyValue

    /// Returns the identity of an object that is a constant in a predicate, such as a managed object passed as `%@`.
    ///
    /// - Returns: A value equal to ``identity(of:)`` of the same object, or nil to leave the constant unchanged.
    func constant(for object: AnyObject) -> PropertyValue?

    /// Returns the object that a block predicate or comparator receives for a subject.
    func publicObject(of subject: PredicateSubject) -> Any

    /// Executes the fetch of a `FETCH` expression.
    ///
    /// Implement it in a host that supports fetching; the default implementation throws when such an expression is evaluated.
    ///
    /// - Parameters:
    ///   - request: The value of the first part, such as a fetch request as a ``PropertyValue/object(_:)``.
    ///   - context: The value of the second part, such as the context to fetch from.
    ///   - countOnly: Whether to return the number of results.
    /// - Returns: The results as an array, or their number.
    /// - Throws: The error of the fetch.
    func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue
}

extension PredicateSchema {
    /// Throws ``InvalidPredicateError/Kind/unsupported``, because the host does not support fetching.
    public func fetch(_ request: PropertyValue, context: PropertyValue, countOnly: Bool) throws -> PropertyValue {
        throw InvalidPredicateError(kind: .unsupported, message: "\(schemaName) has nothing that a FETCH expression could fetch from")
    }
}
