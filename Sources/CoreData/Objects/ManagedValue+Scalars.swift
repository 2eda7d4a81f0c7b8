public import Foundation

// The types whose values lie in a slot as they are, or as the word they become.

/// For whole-number attributes.
extension Int: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Int64 { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int { Int(truncatingIfNeeded: stored) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Int) -> Int64 { Int64(value) }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] }
}

/// For whole-number attributes.
extension Int16: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Int64 { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int16 { Int16(truncatingIfNeeded: stored) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Int16) -> Int64 { Int64(value) }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType] }
}

/// For whole-number attributes.
extension Int32: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Int64 { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int32 { Int32(truncatingIfNeeded: stored) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Int32) -> Int64 { Int64(value) }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType] }
}

/// For whole-number attributes.
extension Int64: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Int64 { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int64 { Int64(truncatingIfNeeded: stored) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Int64) -> Int64 { Int64(value) }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] }
}

/// For boolean attributes.
extension Bool: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Int64 { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Bool { stored != 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Bool) -> Int64 { value ? 1 : 0 }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.booleanAttributeType] }
}

/// For floating-point attributes.
extension Double: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Double { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Double) -> Double { stored }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Double) -> Double { value }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.doubleAttributeType, .floatAttributeType, .dateAttributeType] }
}

/// For floating-point attributes of 32 bits.
extension Float: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Double { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Double) -> Float { Float(stored) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Float) -> Double { Double(value) }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.floatAttributeType] }
}

/// For date attributes.
extension Date: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Double { 0 }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Double) -> Date { Date(timeIntervalSinceReferenceDate: stored) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Date) -> Double { value.timeIntervalSinceReferenceDate }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.dateAttributeType] }
}

/// For text attributes.
extension String: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: String { "" }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: String) -> String { stored }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: String) -> String { value }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.stringAttributeType] }
}

/// For binary attributes.
extension Data: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: Data { Data() }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: Data) -> Data { stored }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: Data) -> Data { value }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.binaryDataAttributeType] }
}

/// For UUID attributes.
extension UUID: ManagedScalar {
    /// See ``ManagedScalar``.
    @inlinable public static var storedNil: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func fromStored(_ stored: UUID) -> UUID { stored }
    /// See ``ManagedScalar``.
    @inlinable @inline(__always) public static func toStored(_ value: UUID) -> UUID { value }
    /// See ``ManagedScalar``.
    public static var attributeTypes: [NSAttributeType] { [.UUIDAttributeType] }
}
