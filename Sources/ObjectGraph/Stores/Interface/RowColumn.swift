public import Foundation
internal import Predicates

/// The location of a property in rows of an entity and its subentities, looked up once for stores that read many rows.
///
/// ```swift
/// let title = RowColumn(entity.attributesByName["title"]!)
/// for row in rows { names.append(row.string(title) ?? "") }
/// ```
///
/// Each attribute type has its own accessors; those of another type stop the program with a message.
@_spi(Stores) public struct RowColumn: Sendable {
    let location: SlotLocation
    let kind: StorageKind
    /// The index of the property among those of the entity, inherited ones first.
    public let index: Int
    /// The property.
    public let property: NSPropertyDescription

    /// Creates the column of a property whose model is in use.
    public init(_ property: NSPropertyDescription) {
        guard let frozen = property.entity?.frozen else {
            stopProgram("“\(property)” has no column: its model is not in use. Make the column in loadMetadata() or later.")
        }
        let slot = frozen.layout.slots[property.slotIndex]
        (location, kind, index) = (slot.location, slot.kind, property.slotIndex)
        self.property = property
    }

    @inline(__always) fileprivate func check(_ isRight: Bool) {
        if !isRight { wrong() }
    }

    @inline(never) private func wrong() -> Never {
        stopProgram("“\(property)” is not read and set this way: use the one of its type.")
    }
}

extension NSEntityDescription {
    /// The columns of persistent attributes and relationships, inherited ones first.
    @_spi(Stores) public var storedColumns: [RowColumn] { (frozen?.properties ?? []).filter { !$0.isTransient }.map(RowColumn.init) }

    /// The uniqueness constraints of the entity, including inherited ones.
    @_spi(Stores) public var constraints: [UniquenessConstraint] { frozen?.uniqueness ?? [] }
}

extension StoreChange {
    /// Returns whether the property of a column was set.
    public func didChange(_ column: RowColumn) -> Bool { changed.contains(column.index) }
}

extension Row {
    @inline(__always) private func slot(_ column: RowColumn) -> RowLayout.Slot {
        RowLayout.Slot(location: column.location, kind: column.kind)
    }

    @inline(__always) private func place(_ column: RowColumn) -> UnsafeMutableRawPointer { slots + column.location.offset }

    /// Returns whether a value is nil or unknown.
    public func isNil(_ column: RowColumn) -> Bool { isNil(at: slot(column)) }

    /// Returns the value of an integer or Boolean attribute.
    public func int64(_ column: RowColumn) -> Int64? {
        column.check(column.kind == .integer || column.kind == .boolean)
        return isNil(column) ? nil : place(column).load(as: Int64.self)
    }

    /// Returns the value of a floating-point attribute.
    public func double(_ column: RowColumn) -> Double? {
        column.check(column.kind == .double)
        return isNil(column) ? nil : place(column).load(as: Double.self)
    }

    /// Returns the value of a date attribute.
    public func date(_ column: RowColumn) -> Date? {
        column.check(column.kind == .date)
        return isNil(column) ? nil : Date(timeIntervalSinceReferenceDate: place(column).load(as: Double.self))
    }

    /// Returns the value of a string attribute.
    public func string(_ column: RowColumn) -> String? {
        column.check(column.kind == .string)
        return isNil(column) ? nil : text(at: slot(column))
    }

    /// Returns the value of a binary data attribute.
    public func data(_ column: RowColumn) -> Data? {
        column.check(column.kind == .data)
        return isNil(column) ? nil : data(at: slot(column))
    }

    /// Returns the value of a UUID attribute.
    public func uuid(_ column: RowColumn) -> UUID? {
        column.check(column.kind == .uuid)
        return isNil(column) ? nil : place(column).load(as: UUID.self)
    }

    /// Returns the destination of a to-one relationship, or nil if it is unknown.
    public func objectID(_ column: RowColumn) -> NSManagedObjectID? {
        column.check(column.kind == .objectID)
        guard !isNil(column), let id = objectID(at: slot(column)), id !== NSManagedObjectID.unresolved else { return nil }
        return id
    }

    // MARK: Setting values of a row that is not shared yet

    private func put(_ value: StorableValue?, _ column: RowColumn) { store(value ?? .null, in: slot(column)) }

    /// Sets the value of an integer or Boolean attribute. Call it before the row is shared.
    public func set(_ value: Int64?, _ column: RowColumn) {
        column.check(column.kind == .integer || column.kind == .boolean)
        put(value.map { .integer($0) }, column)
    }

    /// Sets the value of a floating-point attribute. Call it before the row is shared.
    public func set(_ value: Double?, _ column: RowColumn) {
        column.check(column.kind == .double)
        put(value.map { .double($0) }, column)
    }

    /// Sets the value of a date attribute. Call it before the row is shared.
    public func set(_ value: Date?, _ column: RowColumn) {
        column.check(column.kind == .date)
        put(value.map { .double($0.timeIntervalSinceReferenceDate) }, column)
    }

    /// Sets the value of a string attribute. Call it before the row is shared.
    public func set(_ value: String?, _ column: RowColumn) {
        column.check(column.kind == .string)
        put(value.map { .string($0) }, column)
    }

    /// Sets the value of a binary data attribute. Call it before the row is shared.
    public func set(_ value: Data?, _ column: RowColumn) {
        column.check(column.kind == .data)
        put(value.map { .data($0) }, column)
    }

    /// Sets the value of a UUID attribute. Call it before the row is shared.
    public func set(_ value: UUID?, _ column: RowColumn) {
        column.check(column.kind == .uuid)
        put(value.map { .uuid($0) }, column)
    }

    /// Sets the destination of a to-one relationship. Call it before the row is shared.
    public func set(_ value: NSManagedObjectID?, _ column: RowColumn) {
        column.check(column.kind == .objectID)
        setObjectID(value, at: slot(column))
    }
}
