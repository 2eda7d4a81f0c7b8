internal import CoreDataRuntime
internal import Foundation

/// Makes placeholder values of types that are only known by their conformances, for objects that record reads: a getter has to return a value.
enum Placeholder {
    /// Returns some valid value of a type; nil if none can be made.
    static func value<Value>(of type: Value.Type) -> Value? {
        if let value = (type as? any KeyedManagedValue.Type)?.valueForNil { return value as? Value }
        if let type = type as? any CompositeValue.Type { return type.init(compositeValues: [:]) as? Value }
        if let type = type as? any CaseIterable.Type { return firstCase(of: type) as? Value }
        if isPlainEnumeration(type) { return firstCase(ofPlain: type) }
        if type is UUID.Type { return UUID.storedNil as? Value }
        if let type = type as? any Decodable.Type, let value = try? type.init(from: PlaceholderDecoder()) { return value as? Value }
        if let type = type as? any RawRepresentable.Type { return value(ofRaw: type) as? Value }
        return nil
    }

    /// Returns whether a forced read of a property of a type finds a value in an object that records reads.
    static func exists(forForced type: Any.Type) -> Bool {
        // Those types have values in the object's row.
        if type is any ManagedValue.Type { return true }
        guard let type = type as? any Decodable.Type else { return true }
        func exists<Value: Decodable>(_ type: Value.Type) -> Bool { value(of: type) != nil }
        return exists(type)
    }

    private static func firstCase<Value: CaseIterable>(of type: Value.Type) -> Value? { type.allCases.first }

    private static func value<Value: RawRepresentable>(ofRaw type: Value.Type) -> Value? {
        value(of: Value.RawValue.self).flatMap(Value.init(rawValue:))
    }

    private static func isPlainEnumeration(_ type: Any.Type) -> Bool {
        // A metatype is the address of the type's metadata.
        coredata_is_plain_enumeration(unsafeBitCast(type, to: UnsafeRawPointer.self)) != 0
    }

    /// Returns the first case of an enumeration without associated values: a number of at most a few bytes, which is zero.
    private static func firstCase<Value>(ofPlain type: Value.Type) -> Value {
        // The memory is this function's own; an enumeration of a single case takes none of it.
        withUnsafeTemporaryAllocation(byteCount: max(MemoryLayout<Value>.size, 1), alignment: MemoryLayout<Value>.alignment) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            return bytes.load(as: Value.self)
        }
    }
}

/// Decodes anything as zeros, empty texts and empty collections. A type that needs more than that throws its own error.
private struct PlaceholderDecoder: Decoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> { KeyedDecodingContainer(Keyed<Key>()) }
    func unkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed() }
    func singleValueContainer() -> any SingleValueDecodingContainer { Single() }

    private static func placeholder<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = Placeholder.value(of: type) { return value }
        throw DecodingError.valueNotFound(type, DecodingError.Context(codingPath: [], debugDescription: "There is no placeholder."))
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }
        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) -> Bool { true }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try Single().decode(type) }
        func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedDecodingContainer<Inner> {
            KeyedDecodingContainer(Keyed<Inner>())
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { Unkeyed() }
        func superDecoder() -> any Decoder { PlaceholderDecoder() }
        func superDecoder(forKey key: Key) -> any Decoder { PlaceholderDecoder() }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        var codingPath: [any CodingKey] { [] }
        var count: Int? { 0 }
        var isAtEnd: Bool { true }
        var currentIndex: Int { 0 }
        mutating func decodeNil() -> Bool { true }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Single().decode(type) }
        mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedDecodingContainer<Inner> {
            KeyedDecodingContainer(Keyed<Inner>())
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { Unkeyed() }
        mutating func superDecoder() -> any Decoder { PlaceholderDecoder() }
    }

    private struct Single: SingleValueDecodingContainer {
        var codingPath: [any CodingKey] { [] }
        func decodeNil() -> Bool { true }
        func decode(_ type: Bool.Type) -> Bool { false }
        func decode(_ type: String.Type) -> String { "" }
        func decode(_ type: Double.Type) -> Double { 0 }
        func decode(_ type: Float.Type) -> Float { 0 }
        func decode(_ type: Int.Type) -> Int { 0 }
        func decode(_ type: Int8.Type) -> Int8 { 0 }
        func decode(_ type: Int16.Type) -> Int16 { 0 }
        func decode(_ type: Int32.Type) -> Int32 { 0 }
        func decode(_ type: Int64.Type) -> Int64 { 0 }
        func decode(_ type: UInt.Type) -> UInt { 0 }
        func decode(_ type: UInt8.Type) -> UInt8 { 0 }
        func decode(_ type: UInt16.Type) -> UInt16 { 0 }
        func decode(_ type: UInt32.Type) -> UInt32 { 0 }
        func decode(_ type: UInt64.Type) -> UInt64 { 0 }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try placeholder(type) }
    }
}
