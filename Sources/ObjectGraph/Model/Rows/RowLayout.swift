internal import Foundation
package import Predicates
internal import Synchronization

/// The kinds of storage of a value in a row's slot.
enum StorageKind: UInt8, Sendable {
    /// `Int64`, for the integer types.
    case integer
    /// `Int64`, 0 or 1.
    case boolean
    /// `Double`, for both floating-point types.
    case double
    /// `Double`, seconds since 2001.
    case date
    /// `String`.
    case string
    /// `Data`.
    case data
    /// `UUID`.
    case uuid
    /// A `Box` around a value of another type.
    case box
    /// An optional `NSManagedObjectID`: the object of a to-one relationship.
    case objectID
    /// An optional `ObjectIDList`: the objects of a to-many relationship.
    case objectIDs

    var size: Int {
        switch self {
        case .string, .data, .uuid: 16
        default: 8
        }
    }

    init(_ property: NSPropertyDescription) {
        if let relationship = property as? NSRelationshipDescription {
            self = relationship.isToMany ? .objectIDs : .objectID
            return
        }
        switch (property as? NSAttributeDescription)?.attributeType ?? .undefinedAttributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: self = .integer
        case .booleanAttributeType: self = .boolean
        case .doubleAttributeType, .floatAttributeType: self = .double
        case .dateAttributeType: self = .date
        case .stringAttributeType: self = .string
        case .binaryDataAttributeType: self = .data
        case .UUIDAttributeType: self = .uuid
        case .undefinedAttributeType, .decimalAttributeType, .URIAttributeType, .transformableAttributeType, .objectIDAttributeType,
            .compositeAttributeType:
            self = .box
        }
    }

    /// The slot kind that a compiled predicate reads directly; nil if it must call the schema.
    var slotKind: SlotKind? {
        switch self {
        case .integer: .int64
        case .boolean: .bool
        case .double: .double
        case .date: .date
        case .string: .string
        case .data: .data
        case .uuid: .uuid
        case .box, .objectID, .objectIDs: nil
        }
    }
}

/// The layout of an entity's rows.
///
/// The layout of a subentity begins with that of its superentity, so a place is valid for both. Each level adds its words of nil bits
/// (bit set = nil) before its slots, each followed by a word that marks packed values.
// Immutable once it is shared.
@usableFromInline package final class RowLayout: @unchecked Sendable {
    @usableFromInline package struct Slot: Sendable {
        @usableFromInline package let location: SlotLocation
        let kind: StorageKind
    }

    /// A number that is unique among the layouts of the process; never 0.
    let identifier: UInt32
    /// Whether objects record reads of their properties; see ``KeyPathRecorder``. Set once, before there are objects.
    var recordsReads = false
    /// The places of typed accessors.
    let places: PlaceTable
    /// An empty table, for objects whose accesses are observed; see ``AccessHooks``.
    let watchedPlaces = PlaceTable(propertyCount: 0)
    package let slots: [Slot]
    /// The size of a row, in 8-byte words.
    package let wordCount: Int
    /// The slots that hold references or strings, which a row must release.
    let managed: [Slot]
    /// The row of a new object: every attribute has its default value.
    package private(set) var defaultRow: Row!
    /// A row in which every value is nil, for reads that found no row.
    package private(set) var nilRow: Row!
    /// Whether `defaultRow` may be copied bitwise.
    private(set) var defaultIsPlain = true

    private static let counter = Atomic<UInt32>(1)

    init(extending base: RowLayout?, by properties: [NSPropertyDescription]) {
        identifier = Self.counter.add(1, ordering: .relaxed).oldValue
        var slots = base?.slots ?? []
        var offset = (base?.wordCount ?? 0) * 8
        let nullBase = offset
        // Each word of nil bits is followed by one that marks packed values.
        offset += (properties.count + 63) / 64 * 16
        for (index, property) in properties.enumerated() {
            let kind = StorageKind(property)
            slots.append(
                Slot(
                    location: SlotLocation(
                        offset: offset, nullOffset: nullBase + index / 64 * 16, nullMask: 1 << UInt64(index % 64), isPackable: true),
                    kind: kind))
            offset += kind.size
        }
        self.slots = slots
        places = PlaceTable(propertyCount: slots.count)
        wordCount = offset / 8
        managed = slots.filter { [.string, .data, .box, .objectID, .objectIDs].contains($0.kind) }
        nilRow = Row.blank(self)
        let row = Row.blank(self)
        if let base { row.copyValues(from: base.defaultRow, count: base.slots.count) }
        for (property, slot) in zip(properties, slots.suffix(properties.count)) {
            guard let attribute = property as? NSAttributeDescription, let value = attribute.defaultValue else { continue }
            if let value = AttributeCheck.conform(value, to: attribute) { row.store(value, in: slot) }
        }
        defaultRow = row
        defaultIsPlain = managed.allSatisfy { $0.kind == .string ? row.text(at: $0).utf8.count < 16 : row.isNil(at: $0) }
    }

    /// The default row of a layout whose initializer is done.
    @inline(__always) var usedDefaultRow: Row { defaultRow.unchecked("a layout that is in use has one") }

    func isDefaultRow(_ row: Row) -> Bool { usedDefaultRow.slots == row.slots }

    deinit {
        // A row reads its layout while it is deallocated: these two must be released before `managed`.
        defaultRow = nil
        nilRow = nil
    }
}
