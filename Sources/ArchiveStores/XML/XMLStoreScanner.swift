internal import Foundation

/// Reads the tags and texts of an XML store, in place.
///
/// It supports the constructs of XML stores: no internal subsets, and only XML's predefined entities.
struct XMLStoreScanner {
    /// A mistake at a place of the file.
    struct Failure: Error {
        let offset: Int
        let reason: String
    }

    struct Tag {
        let name: Range<Int>
        /// The beginning of the tag.
        let start: Int
        let isEnd: Bool
        let isEmpty: Bool
    }

    enum Text {
        case plain(Range<Int>)
        case converted([UInt8])
    }

    /// The bytes, in UTF-8, which the caller owns.
    let bytes: UnsafeRawBufferPointer
    var position: Int
    /// The attributes of the last tag.
    private(set) var attributes: [(name: Range<Int>, value: Range<Int>)] = []

    init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    @inline(__always) func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }
    func string(_ range: Range<Int>) -> String { String(decoding: slice(range), as: UTF8.self) }
    @inline(__always) func has(_ range: Range<Int>, _ text: StaticString) -> Bool {
        range.count == text.utf8CodeUnitCount && memcmp(bytes.baseAddress! + range.lowerBound, text.utf8Start, range.count) == 0
    }

    func failure(_ reason: String, at offset: Int? = nil) -> Failure { Failure(offset: offset ?? position, reason: reason) }

    @inline(__always) private func starts(_ text: StaticString) -> Bool {
        position + text.utf8CodeUnitCount <= bytes.count
            && memcmp(bytes.baseAddress! + position, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    private mutating func skip(past end: StaticString, _ what: String) throws {
        let start = position
        while position < bytes.count {
            if starts(end) {
                position += end.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw failure("\(what) is not ended.", at: start)
    }

    @inline(__always) private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    @inline(__always) private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    /// Returns the next tag, beyond spaces, comments and instructions; nil at the end.
    mutating func next() throws -> Tag? {
        while true {
            skipSpace()
            guard position < bytes.count else { return nil }
            guard bytes[position] == 0x3C else { throw failure("A tag is expected here, not text.") }
            guard position + 1 < bytes.count else { throw failure("The file ends within a tag.") }
            switch bytes[position + 1] {
            case 0x3F: try skip(past: "?>", "An instruction")
            case 0x21:
                if starts("<!--") {
                    try skip(past: "-->", "A comment")
                } else if starts("<!DOCTYPE") {
                    try skipDocumentType()
                } else {
                    throw failure("A tag is expected here.")
                }
            default: return try tag()
            }
        }
    }

    private mutating func skipDocumentType() throws {
        let start = position
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            } else if byte == 0x5B {
                throw failure("A document type with declarations of its own is not read.")
            } else if byte == 0x3E {
                position += 1
                return
            }
            position += 1
        }
        throw failure("The document type is not ended.", at: start)
    }

    private mutating func tag() throws -> Tag {
        let start = position
        position += 1
        let isEnd = bytes[position] == 0x2F
        if isEnd { position += 1 }
        let name = try name()
        attributes.removeAll(keepingCapacity: true)
        while true {
            skipSpace()
            guard position < bytes.count else { throw failure("The file ends within a tag.", at: start) }
            switch bytes[position] {
            case 0x3E:
                position += 1
                return Tag(name: name, start: start, isEnd: isEnd, isEmpty: false)
            case 0x2F where !isEnd && position + 1 < bytes.count && bytes[position + 1] == 0x3E:
                position += 2
                return Tag(name: name, start: start, isEnd: false, isEmpty: true)
            case _ where isEnd: throw failure("“>” is expected here.")
            default: try attribute()
            }
        }
    }

    private mutating func attribute() throws {
        let name = try name()
        skipSpace()
        guard position < bytes.count, bytes[position] == 0x3D else { throw failure("“=” is expected here.") }
        position += 1
        skipSpace()
        guard position < bytes.count, bytes[position] == 0x22 || bytes[position] == 0x27 else {
            throw failure("A quotation mark is expected here.")
        }
        let quote = bytes[position]
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != quote {
            if bytes[position] == 0x3C { throw failure("“<” cannot be in an attribute of a tag.") }
            position += 1
        }
        guard position < bytes.count else { throw failure("The value of “\(string(name))” is not ended.", at: start - 1) }
        attributes.append((name, start..<position))
        position += 1
    }

    @inline(__always) private mutating func name() throws -> Range<Int> {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, 0x2D, 0x2E, 0x3A, 0x5F, 0x80...: position += 1
            default:
                if position == start { throw failure("A name is expected here.") }
                return start..<position
            }
        }
        throw failure("The file ends within a name.", at: start)
    }

    /// Returns the value of an attribute of the last tag; nil if it has none.
    @inline(__always) func value(_ name: StaticString) -> Range<Int>? {
        for attribute in attributes where has(attribute.name, name) { return attribute.value }
        return nil
    }

    /// Returns the value of an attribute of the last tag, whose references are replaced.
    func bytes(of value: Range<Int>) throws -> Text {
        guard slice(value).contains(0x26) else { return .plain(value) }
        return .converted(try converted(value, isSection: false))
    }

    private func converted(_ range: Range<Int>, isSection: Bool) throws -> [UInt8] {
        do {
            return try XMLStoreText.withoutReferences(slice(range), isSection: isSection)
        } catch let mistake as XMLStoreText.Mistake {
            throw failure(mistake.reason, at: range.lowerBound + mistake.offset)
        }
    }

    /// Returns the text up to the end tag of the element that the last tag has begun, and moves behind it.
    mutating func text(of tag: Tag) throws -> Text {
        if tag.isEmpty { return .plain(position..<position) }
        let start = position
        var isPlain = true
        while position < bytes.count, bytes[position] != 0x3C {
            if bytes[position] == 0x26 || bytes[position] == 0x0D { isPlain = false }
            position += 1
        }
        let range = start..<position
        if isEnd(of: tag) {
            try finish(tag)
            return isPlain ? .plain(range) : .converted(try converted(range, isSection: false))
        }
        return .converted(try mixedText(of: tag, from: start))
    }

    private func isEnd(of tag: Tag) -> Bool {
        let end = position + 2 + tag.name.count
        return end < bytes.count && bytes[position + 1] == 0x2F
            && memcmp(bytes.baseAddress! + position + 2, bytes.baseAddress! + tag.name.lowerBound, tag.name.count) == 0
            && (bytes[end] == 0x3E || Self.isSpace(bytes[end]))
    }

    private mutating func finish(_ tag: Tag) throws {
        position += 2 + tag.name.count
        skipSpace()
        guard position < bytes.count, bytes[position] == 0x3E else { throw failure("“>” is expected here.") }
        position += 1
    }

    /// A text with comments or sections of CDATA.
    private mutating func mixedText(of tag: Tag, from start: Int) throws -> [UInt8] {
        position = start
        var result: [UInt8] = []
        while position < bytes.count {
            let start = position
            while position < bytes.count, bytes[position] != 0x3C { position += 1 }
            result += try converted(start..<position, isSection: false)
            guard position < bytes.count else { break }
            if isEnd(of: tag) {
                try finish(tag)
                return result
            }
            if starts("<!--") {
                try skip(past: "-->", "A comment")
            } else if starts("<![CDATA[") {
                let inner = position + 9
                try skip(past: "]]>", "A section of CDATA")
                result += try converted(inner..<(position - 3), isSection: true)
            } else {
                throw failure("“</\(string(tag.name))>” is expected here.")
            }
        }
        throw failure("“\(string(tag.name))” is not ended.", at: tag.start)
    }
}
