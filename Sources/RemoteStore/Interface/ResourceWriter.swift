internal import Foundation
internal import Predicates

/// Writes the values of one resource. Use it only within the closure that receives it.
///
/// A value that the property cannot hold is an error with code 134070, as is a column of another entity. Nothing has changed then.
public struct ResourceWriter {
    private let id: ResourceID
    private let writer: ResourceRowWriter

    init(_ id: ResourceID, _ writer: ResourceRowWriter) {
        self.id = id
        self.writer = writer
    }

    /// Returns the place of a property.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have.
    public func column(_ name: String) throws -> ResourceColumn { try writer.column(name) }

    /// Sets a value of any kind of a property, looked up by its name.
    ///
    /// - Throws: Code 134070 for a name that the entity does not have, and a value that does not fit.
    public mutating func set(_ value: ResourceValue, _ name: String) throws { try set(value, column(name)) }

    /// Sets a value of any kind.
    ///
    /// - Throws: Code 134070 for a value that does not fit.
    public mutating func set(_ value: ResourceValue, _ column: ResourceColumn) throws {
        guard try writer.put(value, column) else { throw writer.unfit(value, column, id) }
    }

    // MARK: By type

    /// Sets a string from its UTF-8 bytes, which are copied.
    ///
    /// - Throws: Code 134070 for an attribute of another type.
    public mutating func set(utf8 bytes: UnsafeRawBufferPointer, _ column: ResourceColumn) throws {
        guard writer.set(utf8: bytes, column) else {
            throw writer.unfit(.value(.string(String(decoding: bytes, as: UTF8.self))), column, id)
        }
    }

    /// Sets an integer.
    ///
    /// - Throws: Code 134070 for an attribute of another type, or a number out of its range.
    public mutating func set(_ value: Int64, _ column: ResourceColumn) throws {
        guard writer.set(value, column) else { throw writer.unfit(.value(.int64(value)), column, id) }
    }

    /// Sets a floating-point number.
    ///
    /// - Throws: Code 134070 for an attribute of another type, and for a NaN.
    public mutating func set(_ value: Double, _ column: ResourceColumn) throws {
        guard writer.set(value, column) else { throw writer.unfit(.value(.double(value)), column, id) }
    }

    /// Sets a Boolean.
    ///
    /// - Throws: Code 134070 for an attribute of another type.
    public mutating func set(_ value: Bool, _ column: ResourceColumn) throws {
        guard writer.set(value, column) else { throw writer.unfit(.value(.bool(value)), column, id) }
    }

    /// Sets a date, as seconds since 2001-01-01 00:00:00 UTC.
    ///
    /// - Throws: Code 134070 for an attribute of another type, and for a number that is not finite.
    public mutating func set(date seconds: Double, _ column: ResourceColumn) throws {
        guard writer.set(date: seconds, column) else { throw writer.unfit(.value(.double(seconds)), column, id) }
    }

    /// Sets the destination of a to-one relationship.
    ///
    /// - Throws: Code 134070 for another property.
    public mutating func setOne(_ number: Int64, _ column: ResourceColumn) throws {
        guard writer.setOne(number, column) else { throw writer.unfit(.one(.init(.integer(number))), column, id) }
    }

    /// Sets an attribute to nil, or a to-one relationship to no destination.
    ///
    /// - Throws: Code 134070 for a to-many relationship.
    public mutating func setNull(_ column: ResourceColumn) throws {
        guard writer.setNull(column) else { throw writer.unfit(.value(.null), column, id) }
    }
}
