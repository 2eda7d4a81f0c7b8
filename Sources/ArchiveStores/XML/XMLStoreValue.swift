internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Reads and writes the values of attributes in an XML store.
enum XMLStoreValue {
    /// Reads a value into a row.
    ///
    /// - Parameter offset: The beginning of the value.
    /// - Returns: Whether it is an archive that could not be decoded.
    @inline(__always) static func read(
        _ text: XMLStoreScanner.Text, of column: ArchiveColumn, into writer: PackedRowWriter, _ scanner: XMLStoreScanner, at offset: Int
    ) throws -> Bool {
        switch text {
        case .plain(let range): return try read(scanner.slice(range), of: column, into: writer, at: offset)
        case .converted(let bytes): return try bytes.withUnsafeBytes { try read($0, of: column, into: writer, at: offset) }
        }
    }

    private static func read(
        _ text: UnsafeRawBufferPointer, of column: ArchiveColumn, into writer: PackedRowWriter, at offset: Int
    ) throws -> Bool {
        func wrong(_ expected: String) -> XMLStoreScanner.Failure {
            let found = String(decoding: text.prefix(40), as: UTF8.self)
            return .init(offset: offset, reason: "“\(column.property)” is \(expected), not “\(found)”.")
        }
        do {
            switch column.kind {
            case .text:
                if text.contains(0x5C) {
                    try XMLStoreText.withoutEscapes(text).withUnsafeBytes { writer.set(utf8: $0, at: column.place) }
                } else {
                    writer.set(utf8: text, at: column.place)
                }
            case .integer(let range):
                guard let number = XMLStoreNumbers.integer(trimmed(text)), range.contains(number) else {
                    throw wrong("a whole number from \(range.lowerBound) to \(range.upperBound)")
                }
                writer.set(number, at: column.place)
            case .boolean:
                guard let flag = boolean(trimmed(text)) else { throw wrong("0 or 1") }
                writer.set(flag ? 1 as Int64 : 0, at: column.place)
            case .double, .float, .date:
                guard var number = XMLStoreNumbers.double(trimmed(text)) else { throw wrong("a number") }
                if column.kind.isFloat { number = Double(Float(number)) }
                if number.isNaN {
                    // A property cannot be NaN; SQLite keeps it as nil, too.
                    writer.setNil(column.place)
                } else if column.kind.isDate, !number.isFinite {
                    throw wrong("a number of seconds since 2001")
                } else {
                    writer.set(number, at: column.place)
                }
            case .decimal:
                guard let number = decimal(trimmed(text)) else { throw wrong("a decimal number") }
                writer.set(number.isNaN ? .null : .box(Box(number)), at: column.place)
            case .data: try XMLStoreBase64.decoded(text).withUnsafeBytes { writer.set(data: $0, at: column.place) }
            case .uuid:
                guard let uuid = UUID(uuidString: String(decoding: trimmed(text), as: UTF8.self)) else { throw wrong("a UUID") }
                writer.set(.uuid(uuid), at: column.place)
            case .url:
                guard let url = URL(string: String(decoding: try XMLStoreText.withoutEscapes(text), as: UTF8.self)) else {
                    throw wrong("a URL")
                }
                writer.set(.box(Box(url)), at: column.place)
            case .archive:
                let (value, isRaw) = try column.value(ofArchive: Data(XMLStoreBase64.decoded(text)))
                writer.set(.box(Box(value)), at: column.place)
                return isRaw
            case .toOne, .toMany: break
            }
        } catch let mistake as XMLStoreText.Mistake {
            throw XMLStoreScanner.Failure(offset: offset + mistake.offset, reason: "“\(column.property)”: \(mistake.reason)")
        } catch let damage as AttributeArchive.Damage {
            throw XMLStoreScanner.Failure(offset: offset, reason: "The archive in “\(column.property)” is damaged. \(damage.reason)")
        }
        return false
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard let first = text.first, first <= 0x20 || text[text.count - 1] <= 0x20 else { return text }
        let start = text.firstIndex { $0 > 0x20 } ?? text.count
        let end = text.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? start
        return UnsafeRawBufferPointer(rebasing: text[start..<end])
    }

    private static func boolean(_ text: UnsafeRawBufferPointer) -> Bool? {
        if text.count == 1 { return text[0] == 0x31 ? true : text[0] == 0x30 ? false : nil }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "true", "yes": return true
        case "false", "no": return false
        default: return nil
        }
    }

    /// Reads a decimal number: Foundation would read the beginning of any text.
    private static func decimal(_ text: UnsafeRawBufferPointer) -> Decimal? {
        let isNumber = !text.isEmpty && text.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) }
        let string = String(decoding: text, as: UTF8.self)
        if string.lowercased() == "nan" { return .nan }
        guard isNumber, Double(string) != nil else { return nil }
        return Decimal(string: string, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// Writes the value of an attribute that is not nil.
    static func write(_ column: ArchiveColumn, of row: Row, isRaw: Bool, to output: ArchiveOutput) throws {
        switch column.kind {
        case .text: try column.withText(in: row) { try XMLStoreText.write($0, to: output) }
        case .integer: try XMLStoreNumbers.write(column.integer(in: row), to: output)
        case .boolean: try output.append([column.integer(in: row) == 0 ? 0x30 : 0x31])
        case .double, .float, .date: try XMLStoreNumbers.write(column.double(in: row), to: output)
        case .decimal:
            let number = row.box(at: column.slot)?.value as? Decimal ?? 0
            try output.append(Array(number.description.utf8))
        case .data: try column.withData(in: row) { try XMLStoreBase64.write($0, to: output) }
        case .uuid: try output.append(Array(column.uuid(in: row).uuidString.utf8))
        case .url:
            var text = (row.box(at: column.slot)?.value as? URL)?.absoluteString ?? ""
            try text.withUTF8 { try XMLStoreText.write($0, to: output) }
        case .archive: try column.archive(in: row, isRaw: isRaw).withUnsafeBytes { try XMLStoreBase64.write($0, to: output) }
        case .toOne, .toMany: break
        }
    }
}

extension ArchiveColumn.Kind {
    var isFloat: Bool { if case .float = self { true } else { false } }
    var isDate: Bool { if case .date = self { true } else { false } }
}
