internal import Foundation
internal import JSONReading
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import PropertyLists

/// Converts the values of one attribute to and from the text of a file.
// Immutable.
final class ValueCodec: @unchecked Sendable {
    private enum Kind {
        case integer(ClosedRange<Int64>)
        case boolean, double, float, decimal, string, date(DateFormat), data, uuid, uri, archive
    }

    let attribute: NSAttributeDescription
    private let kind: Kind
    private let separator: UInt8
    private let trueSpellings: [[UInt8]]
    private let falseSpellings: [[UInt8]]
    private let isJSON: Bool

    /// Creates the codec of an attribute.
    ///
    /// - Parameter format: The format of dates; nil for that of the spelling.
    /// - Throws: Code 134020 for an invalid format, and for a type that files cannot hold.
    init(_ attribute: NSAttributeDescription, _ spelling: ValueSpelling, format: String?, isJSON: Bool) throws {
        self.attribute = attribute
        self.isJSON = isJSON
        separator = isJSON ? 0x2E : spelling.decimalSeparator.asciiValue ?? 0x2E
        trueSpellings = spelling.trueSpellings.map { Array($0.lowercased().utf8) }
        falseSpellings = spelling.falseSpellings.map { Array($0.lowercased().utf8) }
        switch attribute.attributeType {
        case .integer16AttributeType: kind = .integer(Int64(Int16.min)...Int64(Int16.max))
        case .integer32AttributeType: kind = .integer(Int64(Int32.min)...Int64(Int32.max))
        case .integer64AttributeType: kind = .integer(.min ... .max)
        case .booleanAttributeType: kind = .boolean
        case .doubleAttributeType: kind = .double
        case .floatAttributeType: kind = .float
        case .decimalAttributeType: kind = .decimal
        case .stringAttributeType: kind = .string
        case .dateAttributeType:
            let name = format ?? spelling.dateFormat
            do throws(DatePattern.Mistake) {
                kind = .date(try DateFormat(name))
            } catch {
                throw CoreDataError.make(
                    NSPersistentStoreIncompatibleSchemaError, "“\(name)” is not a format of dates.",
                    reason: "It is that of “\(attribute)”. \(error.message)",
                    next: "Use iso8601, seconds1970, or a pattern such as dd.MM.yyyy HH:mm.")
            }
        case .binaryDataAttributeType: kind = .data
        case .UUIDAttributeType: kind = .uuid
        case .URIAttributeType: kind = .uri
        case .compositeAttributeType, .transformableAttributeType: kind = .archive
        case .undefinedAttributeType, .objectIDAttributeType:
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "“\(attribute)” cannot be kept in a file that people edit.",
                reason: "Its type has no text.", next: "Give it another type, or make it transient.")
        }
    }

    /// The expected form of values, for errors.
    var expectation: String {
        switch kind {
        case .integer(let range):
            range.upperBound == .max ? "a whole number" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "true or false"
        case .double, .float, .decimal: separator == 0x2E ? "a number" : "a number with “\(Unicode.Scalar(separator))” before its fraction"
        case .string: "text"
        case .date(let date): "a date (\(date.name)\(date.examples.map { ", such as \($0)" } ?? ""))"
        case .data, .archive: "data in base 64"
        case .uuid: "a UUID"
        case .uri: "a URL"
        }
    }

    // MARK: Reading

    /// Reads a value into the row that a writer has begun. Returns false for invalid text.
    @inline(__always) func read(_ cell: Cell, _ writer: PackedRowWriter, _ place: RowPlace) -> Bool {
        if cell.isNil {
            writer.setNil(place)
            return true
        }
        let text = cell.text
        switch kind {
        case .string:
            guard cell.kind == .plain || cell.kind == .quoted else { return false }
            writer.set(utf8: text, at: place)
        case .integer(let range):
            if text.isEmpty, cell.kind == .plain { return setNil(writer, place) }
            guard let number = NumberText.integer(text) ?? wholeNumber(cell), range.contains(number) else { return false }
            writer.set(number, at: place)
        case .double, .float:
            if text.isEmpty, cell.kind == .plain { return setNil(writer, place) }
            guard let number = NumberText.double(text, separator: separator) else { return false }
            if case .float = kind { writer.set(Double(Float(number)), at: place) } else { writer.set(number, at: place) }
        default: return readRare(cell, writer, place)
        }
        return true
    }

    private func setNil(_ writer: PackedRowWriter, _ place: RowPlace) -> Bool {
        writer.setNil(place)
        return true
    }

    /// Returns a whole number, even if JSON writes it as `1.0` or `1e3`.
    private func wholeNumber(_ cell: Cell) -> Int64? {
        guard cell.kind == .number, var scanner = try? JSONScanner(cell.text) else { return nil }
        // Not as a double, which has only 53 bits.
        return try? scanner.readNumber().int64
    }

    @inline(never) private func readRare(_ cell: Cell, _ writer: PackedRowWriter, _ place: RowPlace) -> Bool {
        let text = cell.text
        if text.isEmpty, cell.kind == .plain { return setNil(writer, place) }
        switch kind {
        case .boolean:
            if Self.isSpelled(text, trueSpellings) {
                writer.set(Int64(1), at: place)
            } else if Self.isSpelled(text, falseSpellings) {
                writer.set(Int64(0), at: place)
            } else {
                return false
            }
        case .date(let format):
            guard let seconds = format.seconds(text), seconds.isFinite else { return false }
            writer.set(seconds, at: place)
        case .decimal:
            guard let plain = NumberText.plain(text, separator), Self.isNumeral(plain),
                let decimal = Decimal(string: plain, locale: Locale(identifier: "en_US_POSIX")), !decimal.isNaN
            else { return false }
            writer.set(.box(Box(decimal)), at: place)
        case .uuid:
            guard let uuid = UUID(uuidString: NumberText.string(text)) else { return false }
            writer.set(.uuid(uuid), at: place)
        case .data:
            guard let data = Data(base64Encoded: Data(text)) else { return false }
            data.withUnsafeBytes { writer.set(data: $0, at: place) }
        case .uri:
            guard let url = URL(string: NumberText.string(text)) else { return false }
            writer.set(.box(Box(url)), at: place)
        case .archive:
            guard let data = Data(base64Encoded: Data(text)), let value = try? AttributeArchive.value(of: data, attribute) else {
                return false
            }
            writer.set(.box(Box(value)), at: place)
        case .integer, .double, .float, .string: return false
        }
        return true
    }

    private static func isNumeral(_ text: String) -> Bool {
        text.wholeMatch(of: /[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/) != nil
    }

    private static func isSpelled(_ text: UnsafeRawBufferPointer, _ spellings: [[UInt8]]) -> Bool {
        for spelling in spellings where spelling.count == text.count {
            if zip(spelling, text).allSatisfy({ $0 == (0x41...0x5A ~= $1 ? $1 | 0x20 : $1) }) { return true }
        }
        return false
    }

    // MARK: Writing

    /// Appends the value of a row.
    ///
    /// - Returns: The form of the text; ``SpelledForm/null`` appends nothing.
    /// - Throws: Code 134030 for a value without a text.
    func write(_ row: Row, to output: inout [UInt8]) throws -> SpelledForm {
        let slot = row.layout.slots[attribute.slotIndex]
        if row.isNil(at: slot) { return .null }
        let place = row.slots + slot.location.offset
        switch kind {
        case .integer:
            NumberText.append(place.load(as: Int64.self), to: &output)
            return .number
        case .boolean:
            let isTrue = place.load(as: Int64.self) != 0
            output += isJSON ? Array((isTrue ? "true" : "false").utf8) : (isTrue ? trueSpellings : falseSpellings).first ?? []
            return .boolean
        case .double, .float:
            let number = place.load(as: Double.self)
            if isJSON, !number.isFinite {
                output += number.description.utf8
                return .text
            }
            if case .float = kind {
                NumberText.append(Float(number).description, separator: separator, to: &output)
            } else {
                NumberText.append(number, separator: separator, to: &output)
            }
            return .number
        case .date(let format):
            let seconds = place.load(as: Double.self)
            guard format.append(seconds, to: &output) else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "A date of “\(attribute)” has no text of the form “\(format.name)”.",
                    reason: "It is \(DateText.text(seconds)), and the form has no such year.",
                    next: "Use the form iso8601, or another date.")
            }
            return .text
        case .string:
            if slot.location.isPacked(row.slots) {
                output.append(contentsOf: PackedBytes.bytes(row.slots, slot.location.offset))
            } else {
                row.text(at: slot).withUTF8ForReading { output.append(contentsOf: $0) }
            }
            return .text
        case .data:
            output += row.data(at: slot).base64EncodedString().utf8
            return .text
        case .uuid:
            output += place.load(as: UUID.self).uuidString.utf8
            return .text
        case .decimal, .uri, .archive: return try writeBox(row.box(at: slot)?.value, to: &output)
        }
    }

    private func writeBox(_ value: Any?, to output: inout [UInt8]) throws -> SpelledForm {
        switch (kind, value) {
        case (_, nil): return .null
        case (.decimal, let number as Decimal):
            NumberText.append(number.description, separator: separator, to: &output)
            return .number
        case (.uri, let url as URL): output += url.absoluteString.utf8
        case (_, let value?): output += try AttributeArchive.data(of: value, attribute).base64EncodedString().utf8
        }
        return .text
    }
}
