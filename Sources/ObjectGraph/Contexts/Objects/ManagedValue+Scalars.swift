public import Foundation

// The types whose values are stored in a slot directly or as one word.

/// Supports integer attributes.
extension Int: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Int64 { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int { Int(truncatingIfNeeded: stored) }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Int) -> Int64 { Int64(value) }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] }
}

/// Supports integer attributes.
extension Int16: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Int64 { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int16 { Int16(truncatingIfNeeded: stored) }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Int16) -> Int64 { Int64(value) }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] }
}

/// Supports integer attributes.
extension Int32: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Int64 { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int32 { Int32(truncatingIfNeeded: stored) }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Int32) -> Int64 { Int64(value) }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] }
}

/// Supports integer attributes.
extension Int64: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Int64 { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Int64 { Int64(truncatingIfNeeded: stored) }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Int64) -> Int64 { Int64(value) }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] }
}

/// Supports Boolean attributes.
extension Bool: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Int64 { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Int64) -> Bool { stored != 0 }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Bool) -> Int64 { value ? 1 : 0 }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.booleanAttributeType] }
}

/// Supports floating-point attributes.
extension Double: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Double { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Double) -> Double { stored }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Double) -> Double { value }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.doubleAttributeType, .floatAttributeType, .dateAttributeType] }
}

/// Supports 32-bit floating-point attributes.
extension Float: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Double { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Double) -> Float { Float(stored) }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Float) -> Double { Double(value) }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.floatAttributeType, .doubleAttributeType] }
}

/// Supports date attributes.
extension Date: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Double { 0 }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Double) -> Date { Date(timeIntervalSinceReferenceDate: stored) }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Date) -> Double { value.timeIntervalSinceReferenceDate }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.dateAttributeType] }
}

/// Supports string attributes.
extension String: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: String { "" }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: String) -> String { stored }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: String) -> String { value }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.stringAttributeType] }
}

/// Supports binary data attributes.
extension Data: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: Data { Data() }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: Data) -> Data { stored }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: Data) -> Data { value }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.binaryDataAttributeType] }
}

/// Supports UUID attributes.
extension UUID: ManagedScalar {
    /// The stored form of nil.
    @inlinable public static var storedNil: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// Returns the value of a stored form.
    @inlinable @inline(__always) public static func fromStored(_ stored: UUID) -> UUID { stored }
    /// Returns the stored form of a value.
    @inlinable @inline(__always) public static func toStored(_ value: UUID) -> UUID { value }
    /// The attribute types that can be read as this type.
    public static var attributeTypes: [NSAttributeType] { [.UUIDAttributeType] }
}
