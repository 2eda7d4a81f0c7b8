internal import FileStores
internal import Foundation
internal import JSONReading
internal import Platform
internal import PropertyLists

/// Reads the records of JSON and CSV files in the form in which ``StoreExport`` and `coredata query` write them.
enum ExchangeReader {
    /// Returns the records of a file, or of the files of a folder.
    ///
    /// - Parameter entity: The entity of a file whose records do not name it; nil for the name of the file.
    /// - Throws: ``ExchangeMistake`` with the place, and errors of the system.
    static func records(at path: String, entity: String?) throws -> [ExchangeRecord] {
        try StoreKind.refuseAddress(path)
        let url = URL(fileURLWithPath: path)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw CommandError.make("There is no file at \(PlaceText.shown(url.path)).", next: "Check the path.")
        }
        guard isFolder.boolValue else { return try records(of: url, entity: entity) }
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().filter { name in
            !name.hasPrefix(".") && ["csv", "json"].contains((name as NSString).pathExtension.lowercased())
        }
        guard !names.isEmpty else {
            throw CommandError.make("There is nothing to import at \(url.path).", reason: "The folder has no CSV or JSON files.")
        }
        if entity != nil {
            throw CommandError.make(
                "Nothing is imported from \(url.path).", reason: "--entity names the entity of a file, and this is a folder.",
                next: "Give one of its files: \(names.joined(separator: ", ")).")
        }
        return try names.flatMap { try records(of: url.appendingPathComponent($0), entity: nil) }
    }

    private static func records(of url: URL, entity: String?) throws -> [ExchangeRecord] {
        let name = entity ?? url.deletingPathExtension().lastPathComponent
        guard ["csv", "json"].contains(url.pathExtension.lowercased()) else {
            throw CommandError.make(
                "The file \(PlaceText.shown(url.path)) is not imported.", reason: "Its name ends neither in .json nor in .csv.",
                next: "Rename it.")
        }
        if RegularFile.isDevice(url.path) {
            throw CommandError.make(
                "The file \(PlaceText.shown(url.path)) is not imported.", reason: "It is a device, whose bytes may have no end.",
                next: "Copy what it gives to a file.")
        }
        let data: Data
        // A handle is used because the file may be a pipe.
        do { data = try FileHandle(forReadingFrom: url).readToEnd() ?? Data() } catch {
            throw CommandError.make(
                "The file \(url.path) cannot be read.", reason: error.localizedDescription, next: "Check its permissions.", cause: error)
        }
        var bytes = [UInt8](data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        let file = url.lastPathComponent
        return url.pathExtension.lowercased() == "csv" ? try csv(bytes, file, name) : try json(bytes, file, entity: entity, name)
    }

    // MARK: CSV

    private static func csv(_ bytes: [UInt8], _ file: String, _ entity: String) throws -> [ExchangeRecord] {
        let text = TextBytes(bytes)
        var scanner = CSVScanner(text, .rfc4180)
        var lines = LineCounter(text)
        func mistake(_ offset: Int, _ message: String) -> ExchangeMistake {
            ExchangeMistake(place: .init(file: file, line: text.place(of: offset).line), message: message)
        }
        if let wrong = UTF8Check.firstMistake(text.buffer) { throw mistake(wrong, "The file is not UTF-8.") }
        func next() throws -> Bool {
            do throws(FileMistake) { return try scanner.nextRecord() } catch { throw mistake(error.offset, "Expected \(error.expected).") }
        }
        guard try next() else { return [] }
        let names = scanner.fields.map { scanner.string($0) }
        if let twice = names.enumerated().first(where: { names[..<$0.offset].contains($0.element) })?.element {
            throw mistake(0, "The column “\(twice)” is there twice.")
        }
        var records: [ExchangeRecord] = []
        while try next() {
            try Interruption.check()
            let place = ExchangeRecord.Place(file: file, line: lines.line(of: scanner.record.lowerBound))
            guard scanner.fields.count == names.count else {
                throw ExchangeMistake(
                    place: place, message: "The record has \(scanner.fields.count) fields, and the header has \(names.count).")
            }
            var (id, values) = (String?.none, [(name: String, value: ExchangeRecord.Value)]())
            for (name, field) in zip(names, scanner.fields) {
                let text = field.count == 0 && !field.isQuoted ? nil : scanner.string(field)
                if name == "$id" { id = text } else { values.append((name, .text(text))) }
            }
            records.append(ExchangeRecord(place: place, entity: entity, id: id, values: values))
        }
        return records
    }

    // MARK: JSON

    private static func json(_ bytes: [UInt8], _ file: String, entity: String?, _ name: String) throws -> [ExchangeRecord] {
        let text = TextBytes(bytes)
        do throws(JSONError) {
            var scanner = try JSONScanner(text.buffer)
            var (records, lines) = ([ExchangeRecord](), LineCounter(text))
            if try scanner.peek() == .array {
                try list(&scanner, &lines, file, name, &records)
            } else {
                try scanner.beginObject()
                while let key = try scanner.nextKey()?.string { try list(&scanner, &lines, file, key, &records) }
            }
            try scanner.end()
            return withExtendedLifetime(text) { records }
        } catch {
            throw ExchangeMistake(place: .init(file: file, line: error.line), message: "\(error.reason).")
        }
    }

    private static func list(
        _ scanner: inout JSONScanner, _ lines: inout LineCounter, _ file: String, _ entity: String, _ records: inout [ExchangeRecord]
    ) throws(JSONError) {
        try scanner.beginArray()
        while try scanner.nextElement() {
            _ = try scanner.peek()
            var place = ExchangeRecord.Place(file: file, line: lines.line(of: scanner.position))
            if records.last?.place.line == place.line { place.column = lines.column }
            guard let object = try scanner.readValue().object else {
                throw JSONError("A record is an object", offset: scanner.position, line: place.line, column: 1)
            }
            var (id, own, values) = (String?.none, entity, [(name: String, value: ExchangeRecord.Value)]())
            var names: Set<String> = []
            for member in object.members {
                guard names.insert(member.key).inserted else {
                    throw JSONError("The member “\(member.key)” is there twice", offset: scanner.position, line: place.line, column: 1)
                }
                switch member.key {
                case "$id":
                    guard let text = member.value.string else {
                        throw JSONError("“$id” is a string", offset: scanner.position, line: place.line, column: 1)
                    }
                    id = text
                case "$entity": own = member.value.string ?? entity
                default: values.append((member.key, .json(member.value)))
                }
            }
            records.append(ExchangeRecord(place: place, entity: own, id: id, values: values))
        }
    }
}

/// Counts the lines up to places in ascending order.
private struct LineCounter {
    private let text: TextBytes
    private var (offset, line) = (0, 1)
    /// The column of the last place, in characters, counted from 1.
    private(set) var column = 1

    init(_ text: TextBytes) { self.text = text }

    mutating func line(of place: Int) -> Int {
        while offset < min(place, text.count) {
            let byte = text.buffer[offset]
            if byte == 0x0A || (byte == 0x0D && !(offset + 1 < text.count && text.buffer[offset + 1] == 0x0A)) {
                (line, column) = (line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
            offset += 1
        }
        return line
    }
}
