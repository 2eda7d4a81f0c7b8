internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import PropertyLists

/// The part of an XML store before the objects.
struct XMLStoreHeader: @unchecked Sendable {
    // The metadata are immutable property lists.

    /// The first lines, up to the tag `databaseInfo`.
    var beginning: [UInt8]
    /// Everything from there up to the first object.
    var info: [UInt8]
    /// The length of both in the file.
    var length: Int
    var metadata: [String: Any]
    /// The compiled model that the file keeps among its metadata, where Apple's framework preserves unknown values.
    var model: Data?
    var lastNumber: Int64
    /// The number in the file.
    var writtenNumber: Int64
    /// The unknown elements of `databaseInfo`.
    var others: [[UInt8]]

    /// The first number is 102: it is so in every file of Apple's framework.
    static let firstNumber: Int64 = 101

    private static let modelKey = "OpenCoreDataModel"

    static let defaultBeginning = Array(
        """
        <?xml version="1.0" standalone="no"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

        <database>\n    \

        """.utf8)

    /// Reads the header of a document.
    static func read(_ scanner: inout XMLStoreScanner, start: Int) throws -> XMLStoreHeader {
        guard let root = try scanner.next(), scanner.has(root.name, "database"), !root.isEnd else {
            throw scanner.failure("A store begins with “<database>”.", at: min(scanner.position, scanner.bytes.count))
        }
        guard !root.isEmpty, let tag = try scanner.next(), scanner.has(tag.name, "databaseInfo"), !tag.isEnd, !tag.isEmpty else {
            throw scanner.failure("“<databaseInfo>” is expected here.")
        }
        var uuid: String?
        var number: Int64?
        var list: [String: Any] = [:]
        var others: [[UInt8]] = []
        while true {
            guard let child = try scanner.next() else { throw scanner.failure("“databaseInfo” is not ended.", at: tag.start) }
            if child.isEnd {
                guard scanner.has(child.name, "databaseInfo") else {
                    throw scanner.failure("“</databaseInfo>” is expected here.", at: child.start)
                }
                break
            }
            if scanner.has(child.name, "UUID") {
                uuid = try string(scanner.text(of: child), scanner)
            } else if scanner.has(child.name, "nextObjectID") {
                let text = try string(scanner.text(of: child), scanner)
                guard let value = Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)), value >= 0,
                    value <= ArchiveContents.largestNumber
                else {
                    throw scanner.failure("“\(text.prefix(40))” is no number of an object.", at: child.start)
                }
                number = value
            } else if scanner.has(child.name, "metadata") {
                list = try metadata(&scanner, child)
            } else {
                _ = try scanner.text(of: child)
                if !scanner.has(child.name, "version") { others.append(Array(scanner.slice(child.start..<scanner.position))) }
            }
        }
        guard let uuid, !uuid.isEmpty else { throw scanner.failure("The store has no UUID.", at: tag.start) }
        list[NSStoreUUIDKey] = uuid
        list[NSStoreTypeKey] = NSXMLStoreType
        let model = list[modelKey] as? Data
        if model != nil { list[modelKey] = nil }
        return XMLStoreHeader(
            beginning: Array(scanner.slice(start..<tag.start)), info: Array(scanner.slice(tag.start..<scanner.position)),
            length: scanner.position, metadata: list, model: model, lastNumber: max(number ?? 0, firstNumber), writtenNumber: number ?? 0,
            others: others)
    }

    private static func string(_ text: XMLStoreScanner.Text, _ scanner: XMLStoreScanner) -> String {
        switch text {
        case .plain(let range): scanner.string(range)
        case .converted(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Reads the property list of the metadata.
    private static func metadata(_ scanner: inout XMLStoreScanner, _ tag: XMLStoreScanner.Tag) throws -> [String: Any] {
        if tag.isEmpty { return [:] }
        guard let first = try scanner.next() else { throw scanner.failure("“metadata” is not ended.", at: tag.start) }
        if first.isEnd {
            guard scanner.has(first.name, "metadata") else { throw scanner.failure("“</metadata>” is expected here.", at: first.start) }
            return [:]
        }
        guard scanner.has(first.name, "plist") else { throw scanner.failure("“<plist>” is expected here.", at: first.start) }
        guard !first.isEmpty, let end = scanner.offset(of: "</plist>") else {
            throw scanner.failure("“plist” is not ended.", at: first.start)
        }
        let data = Data(scanner.slice(first.start..<(end + 8)))
        scanner.position = end + 8
        guard let last = try scanner.next(), last.isEnd, scanner.has(last.name, "metadata") else {
            throw scanner.failure("“</metadata>” is expected here.")
        }
        do { return try PropertyListValues.dictionary(data) } catch let error as BinaryPropertyList.FormatError {
            throw scanner.failure("The metadata cannot be read. \(error.reason)", at: first.start)
        }
    }

    // MARK: Writing

    /// Renders the element `databaseInfo`.
    mutating func render() throws {
        var list = metadata
        let uuid = list[NSStoreUUIDKey] as? String ?? ""
        for key in [NSStoreUUIDKey, NSStoreTypeKey, StoreModelHashes.copyKey] { list[key] = nil }
        // The copy is kept only with the hashes: without them, it is unknown whether it is the model of the objects.
        if let model, list[NSStoreModelVersionHashesKey] != nil { list[Self.modelKey] = model }
        var text = """
            <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(XMLStoreText.inAttribute(uuid))</UUID>
                    <nextObjectID>\(lastNumber)</nextObjectID>
                    <metadata>
            """
        if !list.isEmpty {
            let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            text += Self.indented(String(decoding: data, as: UTF8.self)) + "\n        "
        }
        text += "</metadata>"
        for other in others { text += "\n        " + String(decoding: other, as: UTF8.self) }
        text += "\n    </databaseInfo>"
        info = Array(text.utf8)
        writtenNumber = lastNumber
    }

    /// Returns an XML property list with the indentation that a store has: four spaces, at the depth of the metadata. Data keeps its own lines.
    private static func indented(_ list: String) -> String {
        guard let start = list.range(of: "<plist"), let end = list.range(of: "</plist>", options: .backwards) else { return "" }
        var result = "\n            "
        var rest = list[start.lowerBound..<end.upperBound]
        var depth = -1
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let tag = rest[open...close]
            result += tag
            let isEnd = tag.hasPrefix("</")
            let isEmpty = tag.hasSuffix("/>")
            rest = rest[rest.index(after: close)...]
            guard let next = rest.firstIndex(of: "<") else { break }
            let holdsText = !isEnd && !isEmpty && !["<dict>", "<array>"].contains(tag) && !tag.hasPrefix("<plist")
            if holdsText {
                result += rest[..<next]
                rest = rest[next...]
                continue
            }
            if !isEnd, !isEmpty { depth += 1 }
            if isEnd, tag == "</dict>" || tag == "</array>" { depth -= 1 }
            let closes = ["</dict>", "</array>", "</plist>"].contains { rest[next...].hasPrefix($0) }
            result += "\n" + String(repeating: "    ", count: depth + 4 - (closes ? 1 : 0))
            rest = rest[next...]
        }
        return result
    }
}

extension XMLStoreScanner {
    /// Returns the offset of a text from the current position on.
    func offset(of text: StaticString) -> Int? {
        var place = position
        while place + text.utf8CodeUnitCount <= bytes.count {
            if memcmp(bytes.baseAddress! + place, text.utf8Start, text.utf8CodeUnitCount) == 0 { return place }
            place += 1
        }
        return nil
    }
}
