internal import Foundation
internal import ObjectGraph

/// The key of a record, as text and as the reference in object IDs.
///
/// The canonical text of a whole number is a number in the reference; other text is itself. Each key therefore has exactly one reference, and each
/// reference one key, even if it comes from a URI.
enum RecordKey {
    static func reference(_ text: UnsafeRawBufferPointer) -> NSManagedObjectID.Reference {
        if let first = text.first, text.count <= 18 {
            var isNumber = first != 0x30 || text.count == 1
            var number: Int64 = 0
            if isNumber {
                for byte in text {
                    let digit = byte &- 0x30
                    guard digit < 10 else {
                        isNumber = false
                        break
                    }
                    number = number * 10 + Int64(digit)
                }
            }
            if isNumber { return .integer(number) }
        }
        let string = String(decoding: text, as: UTF8.self)
        if let number = Int64(string), String(number) == string { return .integer(number) }
        if text.count == 36, let uuid = UUID(uuidString: string), uuid.uuidString == string { return .uuid(uuid) }
        return .string(string)
    }

    static func reference(_ text: String) -> NSManagedObjectID.Reference {
        text.withUTF8ForReading { reference(UnsafeRawBufferPointer($0)) }
    }

    static func text(_ reference: NSManagedObjectID.Reference) -> String {
        switch reference {
        case .integer(let number): String(number)
        case .string(let text): text
        case .uuid(let uuid), .temporary(let uuid): uuid.uuidString
        }
    }

    /// Returns a hash that is the same for equal bytes.
    @inline(__always) static func hash(_ text: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: text.count) &* 0x9E37_79B9_7F4A_7C15
        var index = 0
        while index + 8 <= text.count {
            hash = mix(hash ^ text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            index += 8
        }
        var rest: UInt64 = 0
        while index < text.count {
            rest = rest << 8 | UInt64(text[index])
            index += 1
        }
        return mix(hash ^ rest)
    }

    @inline(__always) private static func mix(_ value: UInt64) -> UInt64 {
        let (high, low) = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return high ^ low
    }
}

/// Finds records by their keys: an open-addressed table of record numbers, about eight bytes a record.
struct KeyIndex {
    /// Record numbers from 1; 0 for a free place.
    private var places: [UInt32]
    /// A part of each hash, which avoids most unnecessary comparisons of keys.
    private var tags: [UInt8]

    /// - Parameter capacity: At least the number of records. One place stays free, so that every search terminates.
    init(capacity: Int) {
        places = Array(repeating: 0, count: max(8, capacity + capacity / 2 + 1))
        tags = Array(repeating: 0, count: places.count)
    }

    @inline(__always) private func home(_ hash: UInt64) -> Int { Int(hash.multipliedFullWidth(by: UInt64(places.count)).high) }

    /// Returns the first record with a hash that `matches`.
    @inline(__always) func find(_ hash: UInt64, _ matches: (Int) throws -> Bool) rethrows -> Int? {
        let tag = UInt8(truncatingIfNeeded: hash)
        var place = home(hash)
        while true {
            let number = places[place]
            if number == 0 { return nil }
            if tags[place] == tag, try matches(Int(number) - 1) { return Int(number) - 1 }
            place += 1
            if place == places.count { place = 0 }
        }
    }

    /// Adds a record, unless there is one that `matches`, which is then returned.
    @inline(__always) mutating func insert(_ record: Int, _ hash: UInt64, _ matches: (Int) throws -> Bool) rethrows -> Int? {
        let tag = UInt8(truncatingIfNeeded: hash)
        var place = home(hash)
        while true {
            let number = places[place]
            if number == 0 {
                places[place] = UInt32(truncatingIfNeeded: record + 1)
                tags[place] = tag
                return nil
            }
            if tags[place] == tag, try matches(Int(number) - 1) { return Int(number) - 1 }
            place += 1
            if place == places.count { place = 0 }
        }
    }
}
