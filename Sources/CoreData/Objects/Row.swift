internal import Foundation
internal import Predicates

/// A value of a type that has no slot of its own.
// Immutable; what it holds is shared as its owner shares it.
final class Box: @unchecked Sendable {
    let value: Any
    init(_ value: Any) { self.value = value }
}

/// The identifiers of a to-many relationship, in the store's order.
final class ObjectIDList: Sendable {
    let ids: [NSManagedObjectID]
    init(_ ids: [NSManagedObjectID]) { self.ids = ids }
    static let empty = ObjectIDList([])
}

struct RowHeader {
    unowned(unsafe) var layout: RowLayout
    var objectID: NSManagedObjectID?
    var version: Int64
}

/// The values of one object: typed slots behind a header, in one allocation.
///
/// A row is written while one object owns it. Once it is shared (a store's row, an object's snapshot) it never changes: whoever wants
/// another value copies it first.
final class Row: ManagedBuffer<RowHeader, UInt64> {
    /// A row of nothing but nil.
    static func blank(_ layout: RowLayout, objectID: NSManagedObjectID? = nil, version: Int64 = 0) -> Row {
        let row = allocate(layout, objectID: objectID, version: version)
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
        return row
    }

    /// A row of nothing but nil, made by copying the layout's own: for readers that fill it at once.
    static func empty(_ layout: RowLayout, objectID: NSManagedObjectID, version: Int64) -> Row {
        let row = allocate(layout, objectID: objectID, version: version)
        // What stands for nil is counted nowhere: empty texts, empty data and no objects may be copied bit by bit.
        row.slots.copyMemory(from: layout.nilRow.slots, byteCount: layout.wordCount * 8)
        return row
    }

    private static func allocate(_ layout: RowLayout, objectID: NSManagedObjectID?, version: Int64) -> Row {
        unsafeDowncast(
            Row.create(minimumCapacity: layout.wordCount) { _ in RowHeader(layout: layout, objectID: objectID, version: version) },
            to: Row.self)
    }

    deinit {
        withUnsafeMutablePointers { header, elements in
            let slots = UnsafeMutableRawPointer(elements)
            for slot in header.pointee.layout.managed {
                let place = slots + slot.location.offset
                switch slot.kind {
                case .string: place.assumingMemoryBound(to: String.self).deinitialize(count: 1)
                case .data: place.assumingMemoryBound(to: Data.self).deinitialize(count: 1)
                default: place.assumingMemoryBound(to: AnyObject?.self).deinitialize(count: 1)
                }
            }
        }
    }

    var slots: UnsafeMutableRawPointer { withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } }
    var layout: RowLayout { withUnsafeMutablePointerToHeader { $0.pointee.layout } }
    var objectID: NSManagedObjectID? {
        get { withUnsafeMutablePointerToHeader { $0.pointee.objectID } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.objectID = newValue } }
    }
    /// The number a store counts up at each save of the row.
    var version: Int64 {
        get { withUnsafeMutablePointerToHeader { $0.pointee.version } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.version = newValue } }
    }
    var subject: PredicateSubject { PredicateSubject(slots: slots, object: self) }

    /// A row with the same values that may be written.
    func copy() -> Row {
        // The row keeps its layout alive no more than its entity does: it is not counted here either.
        let layout = withUnsafeMutablePointerToHeader { Unmanaged.passUnretained($0.pointee.layout) }
        return layout._withUnsafeGuaranteedRef { layout in
            let row = Row.allocate(layout, objectID: objectID, version: version)
            let source = slots
            let target = row.slots
            target.copyMemory(from: source, byteCount: layout.wordCount * 8)
            if layout.defaultIsPlain, layout.isDefaultRow(self) { return row }
            for slot in layout.managed { row.initializeManaged(slot, from: source) }
            return row
        }
    }

    private func initializeManaged(_ slot: RowLayout.Slot, from source: UnsafeMutableRawPointer) {
        let offset = slot.location.offset
        let place = slots + offset
        switch slot.kind {
        case .string: place.initializeMemory(as: String.self, to: (source + offset).assumingMemoryBound(to: String.self).pointee)
        case .data: place.initializeMemory(as: Data.self, to: (source + offset).assumingMemoryBound(to: Data.self).pointee)
        default: place.initializeMemory(as: AnyObject?.self, to: (source + offset).assumingMemoryBound(to: AnyObject?.self).pointee)
        }
    }

    /// Copies the first `count` values of a row whose layout this row's extends.
    func copyValues(from other: Row, count: Int) {
        for slot in layout.slots.prefix(count) { copyValue(from: other, at: slot) }
    }

    /// Copies one value of a row of the same layout, or of one that this row's extends.
    func copyValue(from other: Row, at slot: RowLayout.Slot) {
        let offset = slot.location.offset
        let place = slots + offset
        let source = other.slots + offset
        switch slot.kind {
        case .integer, .boolean: place.storeBytes(of: source.load(as: Int64.self), as: Int64.self)
        case .double, .date: place.storeBytes(of: source.load(as: Double.self), as: Double.self)
        case .uuid: place.copyMemory(from: source, byteCount: 16)
        case .string: place.assumingMemoryBound(to: String.self).pointee = source.assumingMemoryBound(to: String.self).pointee
        case .data: place.assumingMemoryBound(to: Data.self).pointee = source.assumingMemoryBound(to: Data.self).pointee
        case .box, .objectID, .objectIDs:
            place.assumingMemoryBound(to: AnyObject?.self).pointee = source.assumingMemoryBound(to: AnyObject?.self).pointee
        }
        setNil(other.isNil(at: slot), at: slot)
    }

    func isNil(at slot: RowLayout.Slot) -> Bool {
        slots.load(fromByteOffset: slot.location.nullOffset, as: UInt64.self) & slot.location.nullMask != 0
    }

    func setNil(_ isNil: Bool, at slot: RowLayout.Slot) {
        let word = (slots + slot.location.nullOffset).assumingMemoryBound(to: UInt64.self)
        if isNil { word.pointee |= slot.location.nullMask } else { word.pointee &= ~slot.location.nullMask }
    }

    func text(at slot: RowLayout.Slot) -> String { (slots + slot.location.offset).assumingMemoryBound(to: String.self).pointee }

    private func reference(at slot: RowLayout.Slot) -> AnyObject? {
        (slots + slot.location.offset).assumingMemoryBound(to: AnyObject?.self).pointee
    }

    private func setReference(_ object: AnyObject?, at slot: RowLayout.Slot) {
        (slots + slot.location.offset).assumingMemoryBound(to: AnyObject?.self).pointee = object
        setNil(object == nil, at: slot)
    }

    func box(at slot: RowLayout.Slot) -> Box? { reference(at: slot).map { unsafeDowncast($0, to: Box.self) } }

    /// The object of a to-one relationship; ``NSManagedObjectID/unresolved`` when the store has not been asked.
    func objectID(at slot: RowLayout.Slot) -> NSManagedObjectID? {
        reference(at: slot).map { unsafeDowncast($0, to: NSManagedObjectID.self) }
    }

    func setObjectID(_ id: NSManagedObjectID?, at slot: RowLayout.Slot) { setReference(id, at: slot) }

    /// The objects of a to-many relationship; nil when the store has not been asked.
    func objectIDs(at slot: RowLayout.Slot) -> ObjectIDList? {
        reference(at: slot).map { unsafeDowncast($0, to: ObjectIDList.self) }
    }

    func setObjectIDs(_ list: ObjectIDList?, at slot: RowLayout.Slot) { setReference(list, at: slot) }

    /// Stores a value that ``AttributeCheck`` has brought into the form of the slot.
    func store(_ value: StorableValue, in slot: RowLayout.Slot) {
        let place = slots + slot.location.offset
        switch value {
        case .null:
            switch slot.kind {
            case .string: place.assumingMemoryBound(to: String.self).pointee = ""
            case .data: place.assumingMemoryBound(to: Data.self).pointee = Data()
            case .uuid: place.initializeMemory(as: UInt64.self, repeating: 0, count: 2)
            case .box, .objectID, .objectIDs: setReference(nil, at: slot)
            case .integer, .boolean, .double, .date: place.storeBytes(of: 0, as: UInt64.self)
            }
        case .integer(let number): place.storeBytes(of: number, as: Int64.self)
        case .double(let number): place.storeBytes(of: number, as: Double.self)
        case .string(let text): place.assumingMemoryBound(to: String.self).pointee = text
        case .data(let bytes): place.assumingMemoryBound(to: Data.self).pointee = bytes
        case .uuid(let uuid): place.storeBytes(of: uuid, as: UUID.self)
        case .box(let box): setReference(box, at: slot)
        }
        if case .null = value { setNil(true, at: slot) } else { setNil(false, at: slot) }
    }
}

/// A value in the form in which a slot keeps it.
enum StorableValue {
    case null
    case integer(Int64)
    case double(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    case box(Box)
}
