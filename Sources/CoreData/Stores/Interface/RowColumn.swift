public import Foundation

/// Where a property lies in the rows of an entity, and of all that inherit from it: looked up once, for stores that read many rows.
///
/// ```swift
/// let title = RowColumn(entity.attributesByName["title"]!)
/// for row in rows { names.append(row.string(title) ?? "") }
/// ```
///
/// Each type of attribute has its own way of being read and set; another one than the attribute's stops the program with a message.
@_spi(Stores) public struct RowColumn: Sendable {
    let location: SlotLocation
    let kind: StorageKind
    /// The place of the property among those of the entity, those that it inherits first.
    public let index: Int
    /// The property.
    public let property: NSPropertyDescription

    /// The column of a property of a model that is in use.
    public init(_ property: NSPropertyDescription) {
        guard let frozen = property.entity?.frozen else {
            preconditionFailure("“\(property)” has no column: its model is not in use. Make the column in loadMetadata() or later.")
        }
        let slot = frozen.layout.slots[property.slotIndex]
        (location, kind, index) = (slot.location, slot.kind, property.slotIndex)
        self.property = property
    }

    @inline(__always) fileprivate func check(_ isRight: Bool) {
        if !isRight { wrong() }
    }

    @inline(never) private func wrong() -> Never {
        preconditionFailure("“\(property)” is not read and set this way: use the one of its type.")
    }
}

extension NSEntityDescription {
    /// The columns that stores keep: attributes and relationships that are not transient, those that the entity inherits first.
    @_spi(Stores) public var storedColumns: [RowColumn] { (frozen?.properties ?? []).filter { !$0.isTransient }.map(RowColumn.init) }

    /// The uniqueness constraints of the entity, those that it inherits too.
    @_spi(Stores) public var constraints: [UniquenessConstraint] { frozen?.uniqueness ?? [] }
}

extension StoreChange {
    /// Whether the property of a column was set.
    public func didChange(_ column: RowColumn) -> Bool { changed.contains(column.index) }
}

extension Row {
    @inline(__always) private func slot(_ column: RowColumn) -> RowLayout.Slot { RowLayout.Slot(location: column.location, kind: column.kind) }

    @inline(__always) private func place(_ column: RowColumn) -> UnsafeMutableRawPointer { slots + column.location.offset }

    /// Whether a value is nil, or unknown.
    public func isNil(_ column: RowColumn) -> Bool { isNil(at: slot(column)) }

    /// A value of a whole-number or Boolean attribute.
    public func int64(_ column: RowColumn) -> Int64? {
        column.check(column.kind == .integer || column.kind == .boolean)
        return isNil(column) ? nil : place(column).load(as: Int64.self)
    }

    /// A value of a floating-point attribute.
    public func double(_ column: RowColumn) -> Double? {
        column.check(column.kind == .double)
        return isNil(column) ? nil : place(column).load(as: Double.self)
    }

    /// A value of a date attribute.
    public func date(_ column: RowColumn) -> Date? {
        column.check(column.kind == .date)
        return isNil(column) ? nil : Date(timeIntervalSinceReferenceDate: place(column).load(as: Double.self))
    }

    /// A value of a text attribute.
    public func string(_ column: RowColumn) -> String? {
        column.check(column.kind == .string)
        return isNil(column) ? nil : text(at: slot(column))
    }

    /// A value of a binary attribute.
    public func data(_ column: RowColumn) -> Data? {
        column.check(column.kind == .data)
        return isNil(column) ? nil : data(at: slot(column))
    }

    /// A value of a UUID attribute.
    public func uuid(_ column: RowColumn) -> UUID? {
        column.check(column.kind == .uuid)
        return isNil(column) ? nil : place(column).load(as: UUID.self)
    }

    /// The object of a to-one relationship; nil also where it is unknown.
    public func objectID(_ column: RowColumn) -> NSManagedObjectID? {
        column.check(column.kind == .objectID)
        guard !isNil(column), let id = objectID(at: slot(column)), id !== NSManagedObjectID.unresolved else { return nil }
        return id
    }

    // MARK: Setting, by the row's maker

    private func put(_ value: StorableValue?, _ column: RowColumn) { store(value ?? .null, in: slot(column)) }

    /// Sets a value of a whole-number or Boolean attribute. By the row's maker, before anybody else has it.
    public func set(_ value: Int64?, _ column: RowColumn) {
        column.check(column.kind == .integer || column.kind == .boolean)
        put(value.map { .integer($0) }, column)
    }

    /// Sets a value of a floating-point attribute. By the row's maker.
    public func set(_ value: Double?, _ column: RowColumn) {
        column.check(column.kind == .double)
        put(value.map { .double($0) }, column)
    }

    /// Sets a value of a date attribute. By the row's maker.
    public func set(_ value: Date?, _ column: RowColumn) {
        column.check(column.kind == .date)
        put(value.map { .double($0.timeIntervalSinceReferenceDate) }, column)
    }

    /// Sets a value of a text attribute. By the row's maker.
    public func set(_ value: String?, _ column: RowColumn) {
        column.check(column.kind == .string)
        put(value.map { .string($0) }, column)
    }

    /// Sets a value of a binary attribute. By the row's maker.
    public func set(_ value: Data?, _ column: RowColumn) {
        column.check(column.kind == .data)
        put(value.map { .data($0) }, column)
    }

    /// Sets a value of a UUID attribute. By the row's maker.
    public func set(_ value: UUID?, _ column: RowColumn) {
        column.check(column.kind == .uuid)
        put(value.map { .uuid($0) }, column)
    }

    /// Sets the object of a to-one relationship. By the row's maker.
    public func set(_ value: NSManagedObjectID?, _ column: RowColumn) {
        column.check(column.kind == .objectID)
        setObjectID(value, at: slot(column))
    }
}
