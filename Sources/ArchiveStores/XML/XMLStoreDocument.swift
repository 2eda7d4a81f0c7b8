internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The bytes of an XML store in UTF-8.
struct XMLStoreDocument {
    let bytes: [UInt8]
    /// Whether the file has another encoding, so that unchanged objects cannot be copied.
    let isConverted: Bool
    let file: ArchiveFile

    /// - Throws: Code 259 for bytes that are no text.
    init(_ bytes: [UInt8], _ file: ArchiveFile) throws {
        self.file = file
        let encoding: String.Encoding?
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            encoding = .utf16
        } else if bytes.starts(with: [0x3C, 0]) {
            encoding = .utf16LittleEndian
        } else if bytes.starts(with: [0, 0x3C]) {
            encoding = .utf16BigEndian
        } else {
            encoding = try Self.declaredEncoding(bytes, file)
        }
        guard let encoding else {
            (self.bytes, isConverted) = (bytes, false)
            if let place = bytes.withUnsafeBytes(Self.firstMistake) {
                throw Self.damaged(file, bytes, .init(offset: place, reason: "The text is not UTF-8."))
            }
            return
        }
        guard let text = String(bytes: bytes, encoding: encoding) else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadInapplicableStringEncoding.rawValue, "The file at \(file.path) cannot be read.",
                reason: "Its text is not in the encoding that it begins with.",
                next: "Restore the file from a copy, or convert it to UTF-8.",
                info: [NSFilePathErrorKey: file.path])
        }
        (self.bytes, isConverted) = (Array(text.utf8), true)
    }

    /// Returns the encoding that the first line names; nil for UTF-8.
    private static func declaredEncoding(_ bytes: [UInt8], _ file: ArchiveFile) throws -> String.Encoding? {
        let beginning = String(decoding: bytes.prefix(200), as: UTF8.self)
        guard beginning.drop(while: { $0 == "\u{FEFF}" }).hasPrefix("<?xml"), let end = beginning.range(of: "?>"),
            let start = beginning[..<end.lowerBound].range(of: "encoding")
        else { return nil }
        let name =
            beginning[start.upperBound..<end.lowerBound].split(omittingEmptySubsequences: true) { "= \"'\t\n\r".contains($0) }.first ?? ""
        switch name.lowercased() {
        case "utf-8", "utf8", "us-ascii", "ascii": return nil
        case "iso-8859-1", "latin1", "iso_8859-1": return .isoLatin1
        case "windows-1252", "cp1252": return .windowsCP1252
        case "macintosh", "x-mac-roman": return .macOSRoman
        default:
            throw CoreDataError.make(
                CocoaError.Code.fileReadUnknownStringEncoding.rawValue, "The file at \(file.path) cannot be read.",
                reason: "It is encoded in “\(name)”.", next: "Convert it to UTF-8.", info: [NSFilePathErrorKey: file.path])
        }
    }

    /// Returns the offset of the first byte that is no part of UTF-8.
    static func firstMistake(_ bytes: UnsafeRawBufferPointer) -> Int? {
        do {
            var index = 0
            while index < bytes.count {
                // Eight bytes of ASCII at once.
                while index + 8 <= bytes.count, bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
                    index += 8
                }
                if index >= bytes.count { return nil }
                let first = bytes[index]
                if first < 0x80 {
                    index += 1
                    continue
                }
                let length = first >= 0xC2 && first < 0xE0 ? 2 : first & 0xF0 == 0xE0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0
                guard length > 0, index + length <= bytes.count else { return index }
                for place in 1..<length where bytes[index + place] & 0xC0 != 0x80 { return index }
                let second = bytes[index + 1]
                // Longer than needed, halves of UTF-16's pairs, beyond Unicode.
                if first == 0xE0 && second < 0xA0 || first == 0xED && second >= 0xA0 || first == 0xF0 && second < 0x90
                    || first == 0xF4 && second >= 0x90
                {
                    return index
                }
                index += length
            }
            return nil
        }
    }

    /// The beginning of the text, after a byte order mark.
    var start: Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    /// Runs `body`, and adds line and column to its mistakes.
    func reading<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        do {
            return try bytes.withUnsafeBytes(body)
        } catch let failure as XMLStoreScanner.Failure {
            throw Self.damaged(file, bytes, failure)
        }
    }

    private static func damaged(_ file: ArchiveFile, _ bytes: [UInt8], _ failure: XMLStoreScanner.Failure) -> NSError {
        let before = bytes.prefix(failure.offset)
        let line = before.reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        // Columns are counted in characters.
        let column = String(decoding: before[lineStart...], as: UTF8.self).count + 1
        return CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The XML store at \(file.path) cannot be read.",
            reason: "Line \(line), column \(column): \(failure.reason)", next: "Correct the file there, or restore it from a copy.",
            info: [NSFilePathErrorKey: file.path, "line": line, "column": column])
    }
}
