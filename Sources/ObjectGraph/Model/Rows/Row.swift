internal import Foundation
package import Predicates
internal import Synchronization

/// Wraps a value of a type without a slot kind.
// Immutable; the value is shared under the rules of its owner.
package final class Box: @unchecked Sendable {
    package let value: Any
    package init(_ value: Any) { self.value = value }
}

/// The destination IDs of a to-many relationship, in the store's order.
final class ObjectIDList: Sendable {
    let ids: [NSManagedObjectID]
    init(_ ids: [NSManagedObjectID]) { self.ids = ids }
    static let empty = ObjectIDList([])
}

/// The values of one object: typed slots in a block of memory, and a reference to the block.
///
/// A row is written while it is exclusive to one object. Once it is shared (as a store's row, or an object's snapshot) it never changes:
/// another value requires a copy. Strings, data and to-one references of rows from a store are *packed*: see `Row+Packing.swift`.
@_spi(Stores)
// Unchecked: a shared row is never written, and its ID is an atomic.
public struct Row: @unchecked Sendable {
    @usableFromInline package let block: RowBlock
    @usableFromInline package let slots: UnsafeMutableRawPointer

    @inlinable @inline(__always) package init(block: RowBlock, slots: UnsafeMutableRawPointer) {
        self.block = block
        self.slots = slots
    }

    /// Creates a row from its slots, whose block the caller retains.
    @inlinable @inline(__always) package init(_ slots: UnsafeMutableRawPointer) {
        block = SlotPointer(slots).block.takeUnretainedValue()
        self.slots = slots
    }

    /// Returns a row in which every value is nil.
    package static func blank(_ layout: RowLayout, objectID: NSManagedObjectID? = nil, version: Int64 = 0) -> Row {
        let row = RowBlock.makeRow(layout, origin: nil, size: layout.wordCount * 8, version: version)
        row.holdsReferences = true
        row.objectID = objectID
        let slots = row.slots
        slots.initializeMemory(as: UInt64.self, repeating: 0, count: layout.wordCount)
        for slot in layout.slots {
            let place = slots + slot.location.offset
            switch slot.kind {
            case .string: place.initializeMemory(as: String.self, to: "")
            case .data: place.initializeMemory(as: Data.self, to: Data())
            default: break
            }
            row.setNil(true, at: slot)
        }
        row.checkInvariants()
        return row
    }

    package var layout: RowLayout { block.layout }

    /// The entity of the object, for a row with an object.
    var entity: NSEntityDescription { block.origin?.entity ?? knownObjectID.owningEntity }

    /// The version number, which a store increments at each save of the row.
    public package(set) var version: Int64 {
        get { SlotPointer(slots).prefix.pointee.version }
        nonmutating set { SlotPointer(slots).prefix.pointee.version = newValue }
    }

    /// Whether slots may hold references, which the block must release.
    var holdsReferences: Bool {
        get { SlotPointer(slots).prefix.pointee.size & RowPrefix.referenceBit != 0 }
        nonmutating set {
            if !newValue || holdsReferences { return }
            SlotPointer(slots).prefix.pointee.size |= RowPrefix.referenceBit
            block.noteReferences()
        }
    }

    /// The size of the slots and the packed values behind them.
    var size: Int { Int(SlotPointer(slots).prefix.pointee.size & RowPrefix.sizeMask) }

    package var subject: PredicateSubject { PredicateSubject(slots: slots, object: block) }

    // MARK: Identity

    /// The ID of a row that has an object. All rows that stores, contexts and saves pass on have one.
    package var knownObjectID: NSManagedObjectID { objectID.unchecked("the row has an object") }

    /// The last word of the prefix, which everybody reads and writes as an atomic once the row is shared. The block holds the ID that it names.
    private var idPlace: UnsafeMutablePointer<Atomic<UInt>> {
        (slots - MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self)
    }

    /// The object's ID. The ID of a row with a row number is created on demand.
    public package(set) var objectID: NSManagedObjectID? {
        get {
            if let known = knownID { return known }
            guard let origin = block.origin else { return nil }
            let made = origin.id(SlotPointer(slots).prefix.pointee.number)
            let word = UInt(bitPattern: Unmanaged.passRetained(made).toOpaque())
            let (isFirst, other) = idPlace.pointee.compareExchange(expected: 0, desired: word, ordering: .acquiringAndReleasing)
            // From here on the block owns the reference that was made above; a later thread releases its own and takes the first.
            if isFirst {
                block.noteID()
                return made
            }
            Unmanaged.passUnretained(made).release()
            return UnsafeRawPointer(bitPattern: other).map { Unmanaged<NSManagedObjectID>.fromOpaque($0).takeUnretainedValue() }
        }
        // Before the row is shared.
        nonmutating set {
            if let newValue, let origin = block.origin, !origin.isSame(SlotPointer(slots).prefix.pointee.number, as: newValue) {
                leaveOrigin()
            }
            let word = newValue.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
            let old = idPlace.pointee.exchange(word, ordering: .relaxed)
            if word != 0 { block.noteID() }
            if let old = UnsafeRawPointer(bitPattern: old) { Unmanaged<NSManagedObjectID>.fromOpaque(old).release() }
        }
    }

    /// Sets the ID of an exclusive row that has neither an ID nor an origin. Returns false for another row, which stays unchanged.
    @inline(__always) func setFirstID(_ id: NSManagedObjectID) -> Bool {
        let hasOrigin = block.withUnsafeMutablePointerToHeader { $0.pointee.origin != nil }
        guard !hasOrigin, idPlace.pointee.load(ordering: .relaxed) == 0 else { return false }
        idPlace.pointee.store(UInt(bitPattern: Unmanaged.passRetained(id).toOpaque()), ordering: .relaxed)
        block.noteID()
        return true
    }

    /// Calls `body` with the ID without counting a reference to an existing ID, which the row keeps alive.
    @inline(__always) func withUncountedID<Result>(_ body: (NSManagedObjectID?) throws -> Result) rethrows -> Result {
        guard let known = UnsafeRawPointer(bitPattern: idPlace.pointee.load(ordering: .acquiring)) else { return try body(objectID) }
        return try Unmanaged<NSManagedObjectID>.fromOpaque(known)._withUnsafeGuaranteedRef { try body($0) }
    }

    /// Returns the number in the row's ID if the ID is of a store with row numbers; nil otherwise. It counts no reference.
    package func number(ofStoreWith token: StoreToken) -> Int64? {
        withUncountedID { id in
            guard let id, id.token === token else { return nil }
            return id.number
        }
    }

    /// The address of the ID of the row with these slots, which the row holds; nil before it is created.
    @inline(__always) static func idAddress(of slots: UnsafeMutableRawPointer) -> UnsafeRawPointer? {
        UnsafeRawPointer(
            bitPattern: (slots - MemoryLayout<UInt>.size).assumingMemoryBound(to: Atomic<UInt>.self).pointee.load(ordering: .acquiring))
    }

    /// Detaches the row from its origin: reads the values that only the origin can decode, before the row gets another object or store.
    private func leaveOrigin() {
        for slot in layout.slots where slot.kind == .objectID && slot.location.isPacked(slots) { setObjectID(objectID(at: slot), at: slot) }
        block.dropOrigin()
    }

    private var knownID: NSManagedObjectID? {
        UnsafeRawPointer(bitPattern: idPlace.pointee.load(ordering: .acquiring)).map {
            Unmanaged<NSManagedObjectID>.fromOpaque($0).takeUnretainedValue()
        }
    }

    // MARK: Copying

    /// Returns an exclusive copy of the row.
    package func copy() -> Row {
        let size = size
        let prefix = SlotPointer(slots).prefix
        // The row keeps its layout alive through its entity: no reference is counted here.
        let layout = block.withUnsafeMutablePointerToHeader { Unmanaged.passUnretained($0.pointee.layout) }
        return layout._withUnsafeGuaranteedRef { layout in
            checkInvariants()
            let row = RowBlock.makeRow(
                layout, origin: block.origin, size: size, number: prefix.pointee.number, version: prefix.pointee.version)
            if let id = knownID { row.objectID = id }
            row.holdsReferences = true
            SlotPointer(row.slots).prefix.pointee.size |= prefix.pointee.size & RowPrefix.unknownBit
            let source = slots
            row.slots.copyMemory(from: source, byteCount: size)
            // Packed values have the same offsets in the copy.
            if !holdsReferences || layout.defaultIsPlain && layout.isDefaultRow(self) { return row }
            for slot in layout.managed where !slot.location.isPacked(source) { row.initializeManaged(slot, from: source) }
            row.checkInvariants()
            return row
        }
    }

    private func initializeManaged(_ slot: RowLayout.Slot, from source: UnsafeMutableRawPointer) {
        let offset = slot.location.offset
        let place = slots + offset
        switch slot.kind {
        case .string: place.initializeMemory(as: String.self, to: SlotPointer(source).place(offset, of: String.self).pointee)
        case .data: place.initializeMemory(as: Data.self, to: SlotPointer(source).place(offset, of: Data.self).pointee)
        default: place.initializeMemory(as: AnyObject?.self, to: SlotPointer(source).place(offset, of: AnyObject?.self).pointee)
        }
    }

    /// Copies the first `count` values of a row whose layout this row's layout extends.
    func copyValues(from other: Row, count: Int) {
        for slot in layout.slots.prefix(count) { copyValue(from: other, at: slot) }
    }

    /// Copies one value of another row. The rows have the same layout, or this row's layout extends that of the other.
    package func copyValue(from other: Row, at slot: RowLayout.Slot) {
        if other.mayHaveUnknown, other.isUnknown(at: slot) { return setUnknown(at: slot) }
        if mayHaveUnknown { setKnown(at: slot) }
        let offset = slot.location.offset
        let place = slots + offset
        let source = other.slots + offset
        switch slot.kind {
        case .integer, .boolean: place.storeBytes(of: source.load(as: Int64.self), as: Int64.self)
        case .double, .date: place.storeBytes(of: source.load(as: Double.self), as: Double.self)
        case .uuid: place.copyMemory(from: source, byteCount: 16)
        case .string: slot.location.set(other.text(at: slot), slots)
        case .data: slot.location.set(other.data(at: slot), slots)
        case .box, .objectIDs: setReference(other.reference(at: slot), at: slot)
        case .objectID: setReference(other.objectID(at: slot), at: slot)
        }
        setNil(other.isNil(at: slot), at: slot)
    }

    // MARK: Values

    @inlinable @inline(__always) package func isNil(at slot: RowLayout.Slot) -> Bool {
        slots.load(fromByteOffset: slot.location.nullOffset, as: UInt64.self) & slot.location.nullMask != 0
    }

    func setNil(_ isNil: Bool, at slot: RowLayout.Slot) {
        let word = SlotPointer(slots).bits(slot.location.nullOffset)
        if isNil { word.pointee |= slot.location.nullMask } else { word.pointee &= ~slot.location.nullMask }
    }

    package func text(at slot: RowLayout.Slot) -> String { slot.location.value(slots) }
    package func data(at slot: RowLayout.Slot) -> Data { slot.location.value(slots) }

    /// Returns the reference in a slot. The slot's kind determines its class: code that stores a reference follows the kind, too.
    private func reference(at slot: RowLayout.Slot) -> AnyObject? {
        SlotPointer(slots).place(slot.location.offset, of: AnyObject?.self).pointee
    }

    private func setReference(_ object: AnyObject?, at slot: RowLayout.Slot) {
        let place = slots + slot.location.offset
        if slot.location.isPacked(slots) {
            place.initializeMemory(as: AnyObject?.self, to: object)
            slot.location.clearPacked(slots)
        } else {
            SlotPointer(slots).place(slot.location.offset, of: AnyObject?.self).pointee = object
        }
        setNil(object == nil, at: slot)
    }

    package func box(at slot: RowLayout.Slot) -> Box? { reference(at: slot).map { unchecked($0, as: Box.self) } }

    /// Returns the destination of a to-one relationship; ``NSManagedObjectID/unresolved`` if it is not loaded.
    package func objectID(at slot: RowLayout.Slot) -> NSManagedObjectID? {
        if slot.location.isPacked(slots) {
            return block.origin.unchecked("only a reader with an origin packs references").store.id(
                packed: slots.load(fromByteOffset: slot.location.offset, as: UInt64.self))
        }
        return reference(at: slot).map { unchecked($0, as: NSManagedObjectID.self) }
    }

    func setObjectID(_ id: NSManagedObjectID?, at slot: RowLayout.Slot) { setReference(id, at: slot) }

    /// Returns the destinations of a to-many relationship; nil if they are not loaded.
    func objectIDs(at slot: RowLayout.Slot) -> ObjectIDList? {
        reference(at: slot).map { unchecked($0, as: ObjectIDList.self) }
    }

    func setObjectIDs(_ list: ObjectIDList?, at slot: RowLayout.Slot) { setReference(list, at: slot) }

    /// Stores a value that ``AttributeCheck`` has converted to the form of the slot.
    package func store(_ value: StorableValue, in slot: RowLayout.Slot) {
        if mayHaveUnknown { setKnown(at: slot) }
        let place = slots + slot.location.offset
        switch value {
        case .null:
            switch slot.kind {
            case .string: slot.location.set("", slots)
            case .data: slot.location.set(Data(), slots)
            case .uuid: place.initializeMemory(as: UInt64.self, repeating: 0, count: 2)
            case .box, .objectID, .objectIDs: setReference(nil, at: slot)
            case .integer, .boolean, .double, .date: place.storeBytes(of: 0, as: UInt64.self)
            }
        case .integer(let number): place.storeBytes(of: number, as: Int64.self)
        case .double(let number): place.storeBytes(of: number, as: Double.self)
        case .string(let text): slot.location.set(text, slots)
        case .data(let bytes): slot.location.set(bytes, slots)
        case .uuid(let uuid): place.storeBytes(of: uuid, as: UUID.self)
        case .box(let box): setReference(box, at: slot)
        }
        if case .null = value { setNil(true, at: slot) } else { setNil(false, at: slot) }
    }
}

/// Returns whether two rows are identical, not only equal.
func === (first: Row?, second: Row?) -> Bool { first?.slots == second?.slots }
func !== (first: Row?, second: Row?) -> Bool { first?.slots != second?.slots }

/// A value in the form that a slot stores.
package enum StorableValue {
    case null
    case integer(Int64)
    case double(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    case box(Box)
}
