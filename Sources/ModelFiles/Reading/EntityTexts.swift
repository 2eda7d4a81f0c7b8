internal import Foundation

/// The texts of the entities in the XML of an `.xcdatamodel`, as they are in the file.
///
/// It only looks for tags, which takes a hundredth of the time of reading the model. A comment or character data, which Xcode's files never contain,
/// could hide a tag, and makes the result nil.
struct EntityTexts {
    /// The texts of the entities, from `<entity` to the end of the element.
    private(set) var entities: [String] = []
    /// The texts of the composites, which entities refer to.
    private(set) var composites = ""

    init?(_ contents: Data) {
        let isRegular = contents.withUnsafeBytes { bytes in split(bytes) }
        guard isRegular, !entities.isEmpty else { return nil }
    }

    private mutating func split(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        func has(_ text: StaticString, at place: Int) -> Bool {
            bytes.count - place >= text.utf8CodeUnitCount && memcmp(start + place, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
        func isSpace(_ place: Int) -> Bool { place < bytes.count && [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) }
        func text(from begin: Int, to end: Int) -> String { String(decoding: bytes[begin..<end], as: UTF8.self) }

        var place = 0
        var open: (begin: Int, isEntity: Bool)?
        while place < bytes.count, let found = memchr(start + place, 0x3C, bytes.count - place) {
            let tag = UnsafeRawPointer(found) - start
            place = tag + 1
            if has("<!", at: tag) { return false }
            let isEntity = has("<entity", at: tag) && isSpace(tag + 7)
            let isComposite = !isEntity && has("<composite", at: tag) && isSpace(tag + 10)
            if isEntity || isComposite {
                guard open == nil, let end = Self.end(ofTagAt: tag, in: bytes) else { return false }
                if bytes[end - 2] == UInt8(ascii: "/") {
                    if isEntity { entities.append(text(from: tag, to: end)) } else { composites += text(from: tag, to: end) }
                } else {
                    open = (tag, isEntity)
                }
                place = end
            } else if let element = open, has(element.isEntity ? "</entity>" : "</composite>", at: tag) {
                let end = tag + (element.isEntity ? 9 : 12)
                if element.isEntity {
                    entities.append(text(from: element.begin, to: end))
                } else {
                    composites += text(from: element.begin, to: end)
                }
                open = nil
                place = end
            }
        }
        return open == nil
    }

    /// Returns the place after the end of a tag; nil if there is none. A quoted value may contain the closing character.
    private static func end(ofTagAt begin: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        var quote: UInt8?
        var place = begin
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: ">") {
                return place
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
        }
        return nil
    }
}
