internal import Foundation
internal import PropertyLists

/// The coder of one object of a program class that ``ArchiveDecoder`` makes.
///
/// It works like Foundation's coder with secure coding: classes named by `decodeObject(of:forKey:)` are allowed there; otherwise the allowed classes
/// are those of the object that contains this one. Values of property lists are always allowed. A field of the wrong type is an error of the whole
/// archive, which ends when the initializer returns; until then, everything that is decoded is nil or zero.
// Used by the thread of its decoder.
final class ArchiveCoder: NSCoder {
    private let decoder: ArchiveDecoder
    private let object: KeyedArchive.Object
    private let classes: ArchiveClasses
    /// The number of fields decoded without a key.
    private var unnamed = 0

    init(_ decoder: ArchiveDecoder, _ object: KeyedArchive.Object, _ allowed: ArchiveClasses) {
        self.decoder = decoder
        self.object = object
        classes = allowed.within
        super.init()
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }
    override var allowedClasses: [AnyClass]? { classes.allowed }
    override var error: (any Error)? { decoder.failure }
    override var systemVersion: UInt32 { 2000 }
    override func failWithError(_ error: any Error) { decoder.fail(error) }
    override func version(forClassName className: String) -> Int { NSNotFound }

    /// Archivers mark keys that begin with the character of their own keys.
    private func field(_ key: String) -> String { key.hasPrefix("$") ? "$" + key : key }

    private func nextField() -> String {
        defer { unnamed += 1 }
        return "$\(unnamed)"
    }

    // MARK: Objects

    override func containsValue(forKey key: String) -> Bool { object.has(field(key)) }

    private func decode(_ field: String, _ allowed: ArchiveClasses) -> Any? {
        guard decoder.failure == nil, object.has(field), !object.refersToNothing(field) else { return nil }
        do {
            guard let index = object.reference(field) else { throw wrong(field) }
            return try decoder.object(index, allowed)
        } catch {
            decoder.fail(error)
            return nil
        }
    }

    private func wrong(_ field: String) -> ArchiveDecoder.Mistake {
        ArchiveDecoder.Mistake(reason: "The field \(field) of object \(object.index), of class \(object.className), has another type.")
    }

    override func decodeObject(forKey key: String) -> Any? { decode(field(key), classes) }

    override func decodeObject<Decoded: NSCoding>(of type: Decoded.Type, forKey key: String) -> Decoded? where Decoded: NSObject {
        decode(field(key), ArchiveClasses(allowed: [type])) as? Decoded
    }

    override func decodeObject(of types: [AnyClass]?, forKey key: String) -> Any? {
        decode(field(key), types.map { ArchiveClasses(allowed: $0) } ?? classes)
    }

    override func decodeObject() -> Any? { decode(nextField(), classes) }
    override func decodeData() -> Data? { decodeObject() as? Data }
    override func decodePropertyList() -> Any? { decode(nextField(), ArchiveClasses(allowed: ArchiveClasses.values)) }
    override func decodePropertyList(forKey key: String) -> Any? { decode(field(key), ArchiveClasses(allowed: ArchiveClasses.values)) }

    // MARK: Numbers

    /// Returns a number, zero for a missing field.
    private func number<Number>(_ field: String, _ zero: Number, _ convert: (Any) -> Number?) -> Number {
        guard decoder.failure == nil, object.has(field) else { return zero }
        if let value = object.raw(field) ?? object.integer(field), let number = convert(value) { return number }
        decoder.fail(wrong(field))
        return zero
    }

    private func integer<Number: FixedWidthInteger>(_ field: String) -> Number {
        number(field, 0) { value in
            switch value {
            case let flag as Bool: flag ? 1 : 0
            case let number as Int: Number(exactly: number)
            case let number as UInt64: Number(exactly: number)
            case let number as Double: Number(exactly: number.rounded(.towardZero))
            default: nil
            }
        }
    }

    private func real(_ field: String) -> Double {
        number(field, 0) { value in
            switch value {
            case let flag as Bool: flag ? 1 : 0
            case let number as Int: Double(number)
            case let number as UInt64: Double(number)
            case let number as Double: number
            default: nil
            }
        }
    }

    override func decodeBool(forKey key: String) -> Bool { integer(field(key)) as Int != 0 }
    override func decodeCInt(forKey key: String) -> Int32 { integer(field(key)) }
    override func decodeInt32(forKey key: String) -> Int32 { integer(field(key)) }
    override func decodeInt64(forKey key: String) -> Int64 { integer(field(key)) }
    override func decodeInteger(forKey key: String) -> Int { integer(field(key)) }
    override func decodeFloat(forKey key: String) -> Float { Float(real(field(key))) }
    override func decodeDouble(forKey key: String) -> Double { real(field(key)) }

    // MARK: Bytes

    private func bytes(_ field: String) -> Data? {
        guard decoder.failure == nil, object.has(field) else { return nil }
        if let data = object.raw(field) as? Data { return data }
        decoder.fail(wrong(field))
        return nil
    }

    override func withDecodedUnsafeBytes<Result>(forKey key: String, body: (UnsafeRawBufferPointer?) throws -> Result) rethrows -> Result {
        guard let data = bytes(field(key)) else { return try body(nil) }
        return try data.withUnsafeBytes { try body($0) }
    }

    override func withDecodedUnsafeBufferPointer<Result>(
        forKey key: String, body: (UnsafeBufferPointer<UInt8>?) throws -> Result
    ) rethrows -> Result {
        guard let data = bytes(field(key)) else { return try body(nil) }
        return try [UInt8](data).withUnsafeBufferPointer { try body($0) }
    }

    // MARK: Values without a key

    override func decodeValue(ofObjCType type: UnsafePointer<Int8>, at place: UnsafeMutableRawPointer) {
        let field = nextField()
        switch UInt8(bitPattern: type.pointee) {
        case UInt8(ascii: "c"): place.storeBytes(of: integer(field), as: Int8.self)
        case UInt8(ascii: "C"): place.storeBytes(of: integer(field), as: UInt8.self)
        case UInt8(ascii: "s"): place.storeBytes(of: integer(field), as: Int16.self)
        case UInt8(ascii: "S"): place.storeBytes(of: integer(field), as: UInt16.self)
        case UInt8(ascii: "i"), UInt8(ascii: "l"): place.storeBytes(of: integer(field), as: Int32.self)
        case UInt8(ascii: "I"), UInt8(ascii: "L"): place.storeBytes(of: integer(field), as: UInt32.self)
        case UInt8(ascii: "q"): place.storeBytes(of: integer(field), as: Int64.self)
        case UInt8(ascii: "Q"): place.storeBytes(of: integer(field), as: UInt64.self)
        case UInt8(ascii: "f"): place.storeBytes(of: Float(real(field)), as: Float.self)
        case UInt8(ascii: "d"): place.storeBytes(of: real(field), as: Double.self)
        case UInt8(ascii: "B"): place.storeBytes(of: integer(field) as Int != 0, as: Bool.self)
        // The size of the place is not known: it stays unchanged.
        default: decoder.fail(wrong(field))
        }
    }
}
