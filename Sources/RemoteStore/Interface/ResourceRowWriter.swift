package import Foundation
@_spi(Stores) package import ObjectGraph
internal import Predicates

/// Writes resources of one entity straight into rows, for decoders in this package. Setting a value needs no lookup, cast or allocation.
///
/// Begin a resource, set its values in the order in which they arrive, and then add it with its identifier, which may have arrived among them. Use a writer on
/// one thread at a time, and a separate writer for each resource that is nested in another.
///
/// ```swift
/// var answer = request.answer()
/// let writer = try answer.writer()
/// let (title, band) = try (writer.column("title"), writer.column("band"))
/// while let album = scanner.next() {
///     writer.begin()
///     guard writer.set(utf8: album.title, title), writer.setOne(album.band, band) else { … }
///     answer.add(writer, id: .integer(album.id))
/// }
/// ```
///
/// Each method that sets a value returns whether the property can hold it; if not, nothing has changed. Then ``unfit(_:_:_:)`` creates the error, and
/// `BackendAnswer.addUnreadable(_:id:reason:raw:)` applies the resource's policy.
package final class ResourceRowWriter {
    let entity: AnswerDecoding.Entity
    let decoding: AnswerDecoding
    package let row: PackedRowWriter
    /// The last destination of each to-one relationship: consecutive resources often have the same.
    private var destinations: [Destination?]

    private struct Destination {
        let number: Int64
        let id: NSManagedObjectID
    }

    init(_ entity: AnswerDecoding.Entity, _ decoding: AnswerDecoding) {
        self.entity = entity
        self.decoding = decoding
        row = PackedRowWriter(entity.description)
        destinations = Array(repeating: nil, count: entity.properties.count)
    }

    /// Returns the place of a property, with its kind.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have.
    package func column(_ name: String) throws -> ResourceColumn { try entity.column(name) }

    /// Begins a resource. A resource that was begun and not added is discarded.
    package func begin() { row.begin() }

    /// Discards the resource that was begun.
    package func cancel() { row.cancel() }

    /// Returns the finished row, which the writer holds until the next one begins.
    func end(_ id: ResourceID, version: Int64) -> UnsafeMutableRawPointer { end(decoding.id(id, of: entity), version: version) }

    func end(_ id: NSManagedObjectID, version: Int64) -> UnsafeMutableRawPointer {
        if !row.isWriting { row.begin() }
        return row.end(id, version: version)
    }

    /// Returns the object ID of a resource of the entity, for its row and for references to it.
    package func objectID(of id: ResourceID) -> ResourceObjectID { ResourceObjectID(id: decoding.id(id, of: entity)) }

    // MARK: Values

    /// Sets a string from its UTF-8 bytes, which are copied.
    @inlinable package func set(utf8 bytes: UnsafeRawBufferPointer, _ column: ResourceColumn) -> Bool {
        guard column.kind == .string, row.has(column.place) else { return false }
        row.set(utf8: bytes, at: column.place)
        return true
    }

    /// Sets an integer. The attribute may have another numeric type that can hold it.
    @inlinable package func set(_ value: Int64, _ column: ResourceColumn) -> Bool {
        guard column.kind == .int64, row.has(column.place) else { return setConverted(value, column) }
        row.set(value, at: column.place)
        return true
    }

    /// Sets a floating-point number that is not a NaN. The attribute may have another numeric type that can hold it.
    @inlinable package func set(_ value: Double, _ column: ResourceColumn) -> Bool {
        guard column.kind == .double, row.has(column.place), !value.isNaN else { return setConverted(value, column) }
        row.set(value, at: column.place)
        return true
    }

    /// Sets a Boolean. The attribute may have a numeric type.
    @inlinable package func set(_ value: Bool, _ column: ResourceColumn) -> Bool {
        guard column.kind == .boolean, row.has(column.place) else { return set(.value(.bool(value)), column) }
        row.set(Int64(value ? 1 : 0), at: column.place)
        return true
    }

    /// Sets a date, as seconds since 2001.
    @inlinable package func set(date seconds: Double, _ column: ResourceColumn) -> Bool {
        guard column.kind == .date, seconds.isFinite, row.has(column.place) else { return false }
        row.set(seconds, at: column.place)
        return true
    }

    /// Sets data from its bytes, which are copied.
    package func set(data bytes: UnsafeRawBufferPointer, _ column: ResourceColumn) -> Bool {
        guard column.kind == .data, row.has(column.place) else { return false }
        row.set(data: bytes, at: column.place)
        return true
    }

    /// Sets a UUID.
    package func set(_ value: UUID, _ column: ResourceColumn) -> Bool {
        guard column.kind == .uuid, row.has(column.place) else { return false }
        row.set(.uuid(value), at: column.place)
        return true
    }

    /// Sets an attribute to nil, or a to-one relationship to no destination.
    package func setNull(_ column: ResourceColumn) -> Bool {
        guard column.kind != .many, row.has(column.place) else { return false }
        row.setNil(column.place)
        return true
    }

    @inline(never) package func setConverted(_ value: Int64, _ column: ResourceColumn) -> Bool {
        guard row.has(column.place) else { return false }
        switch column.kind {
        case .int32 where Int32(exactly: value) != nil, .int16 where Int16(exactly: value) != nil:
            row.set(value, at: column.place)
            return true
        default: return set(.value(.int64(value)), column)
        }
    }

    @inline(never) package func setConverted(_ value: Double, _ column: ResourceColumn) -> Bool {
        set(.value(.double(value)), column)
    }

    // MARK: Relationships

    /// Sets the destination of a to-one relationship, by a number.
    package func setOne(_ number: Int64, _ column: ResourceColumn) -> Bool {
        guard column.kind == .one, row.has(column.place) else { return false }
        if let known = destinations[column.index], known.number == number {
            row.set(known.id, at: column.place)
            return true
        }
        guard let id = try? destination(ResourceReference(.integer(number)), column) else { return false }
        // If the entity has subentities, the actual one may become known later.
        if id.owningEntity.subentities.isEmpty { destinations[column.index] = Destination(number: number, id: id) }
        row.set(id, at: column.place)
        return true
    }

    /// Sets the destination of a to-one relationship, by the UTF-8 bytes of a string.
    package func setOne(utf8 bytes: UnsafeRawBufferPointer, _ column: ResourceColumn) -> Bool {
        setOne(ResourceReference(.string(String(decoding: bytes, as: UTF8.self))), column)
    }

    /// Sets the destination of a to-one relationship to a resource of exactly its destination entity.
    package func setOne(_ embedded: ResourceObjectID, _ column: ResourceColumn) -> Bool {
        guard column.kind == .one, row.has(column.place) else { return false }
        row.set(embedded.id, at: column.place)
        return true
    }

    /// Sets the destination of a to-one relationship.
    package func setOne(_ reference: ResourceReference, _ column: ResourceColumn) -> Bool {
        guard column.kind == .one, row.has(column.place), let id = try? destination(reference, column) else { return false }
        row.set(id, at: column.place)
        return true
    }

    private func destination(_ reference: ResourceReference, _ column: ResourceColumn) throws -> NSManagedObjectID? {
        guard let relationship = entity.properties[column.index] as? NSRelationshipDescription else { return nil }
        return try decoding.id(reference, for: relationship)
    }

    // MARK: Any value

    /// Sets a value of any kind, which is slower.
    package func set(_ value: ResourceValue, _ column: ResourceColumn) -> Bool { (try? put(value, column)) ?? false }

    /// - Throws: Code 134070 for a reference to an entity that the model does not have.
    func put(_ value: ResourceValue, _ column: ResourceColumn) throws -> Bool {
        guard row.has(column.place) else { return false }
        switch (column.kind, value) {
        case (.many, .many(let references)):
            guard let relationship = entity.properties[column.index] as? NSRelationshipDescription else { return false }
            row.set(try references.map { try decoding.id($0, for: relationship) }, at: column.place)
        case (.many, _), (_, .many): return false
        case (_, .value(.null)), (.one, .one(nil)): row.setNil(column.place)
        case (.one, .one(let reference?)): row.set(try destination(reference, column), at: column.place)
        case (.one, _), (_, .one): return false
        case (_, .value(let value)): return put(value, column)
        }
        return true
    }

    private func put(_ value: PropertyValue, _ column: ResourceColumn) -> Bool {
        switch (value, column.kind) {
        case (.string(var text), .string): text.withUTF8 { row.set(utf8: UnsafeRawBufferPointer($0), at: column.place) }
        case (.int64(let number), .int64): row.set(number, at: column.place)
        case (.bool(let flag), .boolean): row.set(Int64(flag ? 1 : 0), at: column.place)
        case (.double(let number), .double) where !number.isNaN: row.set(number, at: column.place)
        case (.date(let date), .date) where date.timeIntervalSinceReferenceDate.isFinite:
            row.set(date.timeIntervalSinceReferenceDate, at: column.place)
        default:
            guard let attribute = entity.properties[column.index] as? NSAttributeDescription,
                let stored = AttributeCheck.conform(value.any, to: attribute)
            else { return false }
            switch stored {
            case .integer(let number): row.set(number, at: column.place)
            case .double(let number): row.set(number, at: column.place)
            case .string(var text): text.withUTF8 { row.set(utf8: UnsafeRawBufferPointer($0), at: column.place) }
            default: row.set(stored, at: column.place)
            }
        }
        return true
    }

    /// Returns the error of a value that a property cannot hold.
    package func unfit(_ value: ResourceValue, _ column: ResourceColumn, _ id: ResourceID?) -> any Error {
        let name = entity.description.name ?? "?"
        guard row.has(column.place) else { return RemoteStoreError.foreignColumn(of: name) }
        return RemoteStoreError.unfit(value, entity.properties[column.index].name, of: name, id)
    }
}

/// The object ID of a resource, for decoders: see `ResourceRowWriter.objectID(of:)`.
package struct ResourceObjectID {
    let id: NSManagedObjectID
}
