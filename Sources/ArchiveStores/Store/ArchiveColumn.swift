internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A persistent property of an entity, and its place in the entity's rows.
// Immutable; the property is frozen with its model.
struct ArchiveColumn: @unchecked Sendable {
    /// How the value is stored in a row.
    enum Kind {
        case integer(ClosedRange<Int64>)
        case boolean
        case double
        case float
        case date
        case text
        case data
        case uuid
        case decimal
        case url
        /// A transformable or composite value, which is stored as an archive.
        case archive
        case toOne
        case toMany
    }

    let property: NSPropertyDescription
    let kind: Kind
    let slot: RowLayout.Slot
    let place: RowPlace

    var name: String { property.name }
    var attribute: NSAttributeDescription? { property as? NSAttributeDescription }
    var relationship: NSRelationshipDescription? { property as? NSRelationshipDescription }

    /// Returns the columns of an entity whose model is in use, in the order of its properties.
    ///
    /// - Throws: Code 134060 for an attribute that cannot be stored.
    static func columns(of entity: NSEntityDescription) throws -> [ArchiveColumn] {
        let frozen = entity.frozenParts
        let places = entity.rowPlaces
        return try frozen.properties.compactMap { property in
            guard !property.isTransient else { return nil }
            let kind: Kind
            if let relationship = property as? NSRelationshipDescription {
                kind = relationship.isToMany ? .toMany : .toOne
            } else if let attribute = property as? NSAttributeDescription {
                kind = try Self.kind(of: attribute)
            } else {
                return nil
            }
            return ArchiveColumn(
                property: property, kind: kind, slot: frozen.layout.slots[property.slotIndex], place: places[property.slotIndex])
        }
    }

    private static func kind(of attribute: NSAttributeDescription) throws -> Kind {
        switch attribute.attributeType {
        case .integer16AttributeType: .integer(Int64(Int16.min)...Int64(Int16.max))
        case .integer32AttributeType: .integer(Int64(Int32.min)...Int64(Int32.max))
        case .integer64AttributeType: .integer(Int64.min...Int64.max)
        case .booleanAttributeType: .boolean
        case .doubleAttributeType: .double
        case .floatAttributeType: .float
        case .dateAttributeType: .date
        case .stringAttributeType: .text
        case .binaryDataAttributeType: .data
        case .UUIDAttributeType: .uuid
        case .decimalAttributeType: .decimal
        case .URIAttributeType: .url
        case .transformableAttributeType, .compositeAttributeType: .archive
        case .undefinedAttributeType, .objectIDAttributeType:
            throw CoreDataError.make(
                NSCoreDataError, "“\(attribute)” cannot be stored in a file.", reason: "Its type has no form there.",
                next: "Make it transient, or give it another type.")
        }
    }

    // MARK: Reading rows

    @inline(__always) func isNil(in row: Row) -> Bool { row.isNil(at: slot) }
    @inline(__always) func integer(in row: Row) -> Int64 { row.slots.load(fromByteOffset: slot.location.offset, as: Int64.self) }
    @inline(__always) func double(in row: Row) -> Double { row.slots.load(fromByteOffset: slot.location.offset, as: Double.self) }
    @inline(__always) func uuid(in row: Row) -> UUID { row.slots.load(fromByteOffset: slot.location.offset, as: UUID.self) }

    /// Calls `body` with the UTF-8 bytes of a text.
    @inline(__always) func withText<Result>(in row: Row, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if slot.location.isPacked(row.slots) { return try body(PackedBytes.bytes(row.slots, slot.location.offset)) }
        // The row holds its text.
        return try SlotPointer(row.slots).place(slot.location.offset, of: String.self).pointee.withUTF8(body)
    }

    /// Calls `body` with the bytes of binary data.
    @inline(__always) func withData<Result>(in row: Row, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        if slot.location.isPacked(row.slots) {
            return try body(UnsafeRawBufferPointer(PackedBytes.bytes(row.slots, slot.location.offset)))
        }
        return try row.data(at: slot).withUnsafeBytes(body)
    }

    /// Returns the archive of a transformable or composite value.
    ///
    /// - Parameter isRaw: Whether the value is the archive itself, which could not be decoded.
    /// - Throws: Code 134030 for a value that cannot be archived.
    func archive(in row: Row, isRaw: Bool) throws -> Data {
        let value = row.box(at: slot).known("a value that is not nil has a box").value
        if isRaw, let data = value as? Data { return data }
        return try AttributeArchive.data(of: value, attribute.known("an archive is an attribute's"))
    }

    /// Returns the value of an archive, or the archive itself if it contains an object of a class that is not there or not allowed.
    ///
    /// - Throws: ``AttributeArchive/Damage`` for a damaged archive.
    func value(ofArchive data: Data) throws -> (value: Any, isRaw: Bool) {
        let attribute = attribute.known("an archive is an attribute's")
        do {
            if let value = try AttributeArchive.value(of: data, attribute) { return (value, false) }
        } catch let damage as AttributeArchive.Damage {
            throw damage
        } catch {
            Log.warnOnce(Log.store, "Values of “\(attribute)” stay bytes, because their archives cannot be opened: \(error)")
        }
        return (data, true)
    }

    /// Returns whether two rows of one entity have the same value.
    func isSame(_ one: Row, _ other: Row) -> Bool {
        let isNil = isNil(in: one)
        if isNil != self.isNil(in: other) { return false }
        if isNil { return true }
        switch kind {
        case .integer, .boolean: return integer(in: one) == integer(in: other)
        case .double, .float, .date: return double(in: one) == double(in: other)
        case .uuid: return uuid(in: one) == uuid(in: other)
        case .text: return withText(in: one) { text in withText(in: other) { text.elementsEqual($0) } }
        case .data: return one.data(at: slot) == other.data(at: slot)
        case .decimal, .url, .archive:
            guard let first = one.box(at: slot)?.value as? AnyHashable, let second = other.box(at: slot)?.value as? AnyHashable else {
                return false
            }
            return first == second
        case .toOne, .toMany:
            let relationship = relationship.known("it is a relationship's")
            let (first, second) = (one.relatedIDs(relationship), other.relatedIDs(relationship))
            return first == second || !relationship.isOrdered && first.count == second.count && Set(first) == Set(second)
        }
    }
}

extension ArchiveColumn.Kind {
    var isToOne: Bool { if case .toOne = self { true } else { false } }
}
