internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The place of a property in the resources of an entity, looked up once for many.
public struct ResourceColumn: Hashable, Sendable {
    let index: Int
    let name: String
}

/// Writes the values of one resource. Use it within the closure that it is given to.
public struct ResourceWriter {
    private let id: ResourceID
    private let entity: AnswerDecoding.Entity
    private let decoding: AnswerDecoding
    private let row: PackedRowWriter

    init(id: ResourceID, entity: AnswerDecoding.Entity, decoding: AnswerDecoding, row: PackedRowWriter) {
        self.id = id
        self.entity = entity
        self.decoding = decoding
        self.row = row
    }

    /// Returns the place of a property.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have.
    public func column(_ name: String) throws -> ResourceColumn {
        guard let index = entity.indexes[name] else {
            throw RemoteStoreError.unknownProperty(name, of: entity.description.name ?? "?")
        }
        return ResourceColumn(index: index, name: name)
    }

    /// Sets a value of a property, or of one of any kind.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have, and a value that does not fit.
    public mutating func set(_ value: ResourceValue, _ name: String) throws { try set(value, column(name)) }

    /// Sets a value of any kind.
    ///
    /// - Throws: Code 134070 for a value that does not fit.
    public mutating func set(_ value: ResourceValue, _ column: ResourceColumn) throws {
        switch (entity.properties[column.index], value) {
        case (let attribute as NSAttributeDescription, .value(let value)): try set(value, attribute, column)
        case (let relationship as NSRelationshipDescription, .one(let reference)) where !relationship.isToMany:
            row.set(try reference.map { try decoding.id($0, for: relationship) }, column.index)
        case (let relationship as NSRelationshipDescription, .value(.null)) where !relationship.isToMany:
            row.set(NSManagedObjectID?.none, column.index)
        case (let relationship as NSRelationshipDescription, .many(let references)) where relationship.isToMany:
            row.set(try references.map { try decoding.id($0, for: relationship) }, column.index)
        default: throw unfit(value, column)
        }
    }

    private func set(_ value: PropertyValue, _ attribute: NSAttributeDescription, _ column: ResourceColumn) throws {
        switch (value, attribute.attributeType) {
        case (.null, _): row.setNil(column.index)
        case (.string(let text), .stringAttributeType): write(text, column)
        case (.int64(let number), .integer64AttributeType): row.set(number, column.index)
        case (.bool(let flag), .booleanAttributeType): row.set(Int64(flag ? 1 : 0), column.index)
        case (.double(let number), .doubleAttributeType) where !number.isNaN: row.set(number, column.index)
        case (.date(let date), .dateAttributeType) where date.timeIntervalSinceReferenceDate.isFinite:
            row.set(date.timeIntervalSinceReferenceDate, column.index)
        default:
            guard let stored = AttributeCheck.conform(value.any, to: attribute) else { throw unfit(.value(value), column) }
            switch stored {
            case .integer(let number): row.set(number, column.index)
            case .double(let number): row.set(number, column.index)
            case .string(let text): write(text, column)
            default: row.set(stored, column.index)
            }
        }
    }

    private func write(_ text: String, _ column: ResourceColumn) {
        var text = text
        text.withUTF8 { row.set(utf8: UnsafeRawBufferPointer($0), column.index) }
    }

    private func unfit(_ value: ResourceValue, _ column: ResourceColumn) -> NSError {
        RemoteStoreError.unfit(value, column.name, of: entity.description.name ?? "?", id)
    }

    // MARK: By type

    /// Sets a string from its UTF-8 bytes, which are copied.
    ///
    /// - Throws: Code 134070 for an attribute of another type.
    public mutating func set(utf8 bytes: UnsafeRawBufferPointer, _ column: ResourceColumn) throws {
        guard entity.types[column.index] == .stringAttributeType else { throw unfit(.value(.null), column) }
        row.set(utf8: bytes, column.index)
    }

    /// Sets an integer.
    ///
    /// - Throws: Code 134070 for an attribute of another type, or a number out of its range.
    public mutating func set(_ value: Int64, _ column: ResourceColumn) throws {
        if entity.types[column.index] == .integer64AttributeType { return row.set(value, column.index) }
        try set(.value(.int64(value)), column)
    }

    /// Sets a floating-point number.
    ///
    /// - Throws: Code 134070 for an attribute of another type, and for a NaN.
    public mutating func set(_ value: Double, _ column: ResourceColumn) throws {
        if entity.types[column.index] == .doubleAttributeType, !value.isNaN { return row.set(value, column.index) }
        try set(.value(.double(value)), column)
    }

    /// Sets a value to nil.
    public mutating func setNull(_ column: ResourceColumn) throws {
        let relationship = entity.properties[column.index] as? NSRelationshipDescription
        try set(relationship == nil ? .value(.null) : .one(nil), column)
    }
}

extension BackendRequest {
    /// Returns the place of a property in resources of the request's entity, for ``ResourceWriter``.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have.
    public func column(_ name: String) throws -> ResourceColumn {
        let entity = try decoding.entity(entity)
        guard let index = entity.indexes[name] else { throw RemoteStoreError.unknownProperty(name, of: self.entity) }
        return ResourceColumn(index: index, name: name)
    }
}
