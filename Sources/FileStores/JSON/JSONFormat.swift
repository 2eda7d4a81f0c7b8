internal import Foundation
internal import JSONReading
@_spi(Stores) internal import ObjectGraph

/// The syntax of JSON files: an array of objects, or a document with an array for each entity.
// Immutable.
final class JSONFormat: RecordFormat {
    /// Whether a file is a document with lists.
    let isDocument: Bool

    init(isDocument: Bool) { self.isDocument = isDocument }

    var newForm: TextForm { TextForm(encoding: .utf8, hasByteOrderMark: false) }
    var encoding: FileEncoding? { nil }
    var keepsOrder: Bool { false }

    func structure(of image: RecordImage) -> JSONStructure { image.structure as? JSONStructure ?? JSONStructure() }

    func reader(of image: RecordImage) -> any RecordReader { JSONRecordReader(image, structure(of: image)) }

    func isKeyless(_ image: RecordImage) -> Bool { structure(of: image).isKeyless }

    func recordText(_ record: Int, of image: RecordImage) -> UnsafeRawBufferPointer {
        guard let range = try? Self.end(of: image.starts[record], in: image).map({ image.starts[record]..<$0 }) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(rebasing: image.text.buffer[range])
    }

    /// Returns the end of the value at a place.
    static func end(of place: Int, in image: RecordImage) throws(FileMistake) -> Int? {
        do throws(JSONError) {
            var scanner = try JSONScanner(image.text.buffer)
            scanner.seek(to: place)
            return try scanner.skipValue().upperBound
        } catch {
            throw FileMistake(error)
        }
    }

    func emptyText(_ plan: FilePlan) throws -> [UInt8] {
        guard isDocument else { return Array("[]\n".utf8) }
        let lists = Self.lists(of: plan).map { "  \(JSONValue.string($0).description): []" }
        return Array("{\n\(lists.joined(separator: ",\n"))\n}\n".utf8)
    }

    /// Returns the names of the lists of a document, in the order of the plan.
    static func lists(of plan: FilePlan) -> [String] {
        var names: [String] = []
        for shape in plan.shapes where shape.owner == nil && !names.contains(shape.file) { names.append(shape.file) }
        return names
    }

    func keys(in cell: Cell) throws(FileMistake) -> [String] {
        guard cell.kind == .container, cell.text.first == UInt8(ascii: "[") else { return [NumberText.string(cell.text)] }
        var keys: [String] = []
        do throws(JSONError) {
            var scanner = try JSONScanner(cell.text)
            try scanner.beginArray()
            while try scanner.nextElement() {
                if try scanner.peek() == .string {
                    keys.append(try scanner.readString().string)
                } else {
                    keys.append(try scanner.readNumber().text.string)
                }
            }
        } catch {
            throw FileMistake(error)
        }
        return keys
    }

    // MARK: Scanning

    func scan(_ image: RecordImage, progress: Progress?, skip: ((FileMistake) -> Void)?) throws {
        let structure = JSONStructure()
        image.structure = structure
        // If a document is not JSON, none of it can be read.
        do throws(FileMistake) {
            var scan = try JSONScan(image, structure, self, skip)
            try scan.run(isDocument: isDocument)
        } catch {
            throw image.error(error)
        }
        image.finding = nil
        image.walking = nil
        progress?.completedUnitCount += Int64(image.text.count)
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
    }
}

/// Finds the records of a JSON file.
private struct JSONScan: ~Copyable {
    private let image: RecordImage
    private let structure: JSONStructure
    private let format: JSONFormat
    private let skip: ((FileMistake) -> Void)?
    private var scanner: JSONScanner
    private let reader: JSONRecordReader
    private let comparing: JSONRecordReader
    private let nested: [String: [Int]]

    init(
        _ image: RecordImage, _ structure: JSONStructure, _ format: JSONFormat, _ skip: ((FileMistake) -> Void)?
    ) throws(FileMistake) {
        (self.image, self.structure, self.format, self.skip) = (image, structure, format, skip)
        do { scanner = try JSONScanner(image.text.buffer) } catch { throw FileMistake(error) }
        reader = JSONRecordReader(image, structure)
        comparing = JSONRecordReader(image, structure)
        var nested: [String: [Int]] = [:]
        for (index, shape) in image.plan.shapes.enumerated() { if let name = shape.nestedName { nested[name, default: []].append(index) } }
        self.nested = nested
        // The estimate is a record for every hundred bytes.
        image.index = KeyIndex(capacity: 0)
    }

    mutating func run(isDocument: Bool) throws(FileMistake) {
        let count = image.text.buffer.lazy.filter { $0 == UInt8(ascii: "{") }.count
        image.index = KeyIndex(capacity: count)
        do throws(JSONError) {
            if isDocument {
                let names = JSONFormat.lists(of: image.plan)
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    let name = key.string
                    guard names.contains(name) else {
                        try scanner.skipValue()
                        continue
                    }
                    let shapes = image.plan.shapes.indices.filter {
                        image.plan.shapes[$0].file == name && image.plan.shapes[$0].owner == nil
                    }
                    try list(name, shapes, owner: -1)
                }
            } else {
                try list("", image.plan.shapes.indices.filter { image.plan.shapes[$0].owner == nil }, owner: -1)
            }
            try scanner.end()
        } catch {
            throw stopped ?? FileMistake(error)
        }
    }

    /// The mistake, if it is not one of syntax.
    private var stopped: FileMistake?

    private mutating func list(_ name: String, _ shapes: [Int], owner: Int) throws(JSONError) {
        try scanner.beginArray()
        let number = structure.lists.count
        structure.lists.append(JSONStructure.List(name: name, owner: owner, open: scanner.position - 1, close: 0))
        while try scanner.nextElement() {
            _ = scanner.token()
            let start = scanner.position
            do throws(FileMistake) {
                try record(start, shapes, number)
            } catch {
                guard let skip else {
                    stopped = error
                    throw JSONError(error.expected, offset: error.offset, line: 0, column: 0)
                }
                skip(error)
                scanner.seek(to: start)
                try scanner.skipValue()
            }
        }
        structure.lists[number].close = scanner.position - 1
    }

    private mutating func record(_ start: Int, _ shapes: [Int], _ list: Int) throws(FileMistake) {
        var inner: [(name: String, place: Int)] = []
        var end = 0
        do throws(JSONError) {
            if nested.isEmpty {
                guard try scanner.peek() == .object else { throw scanner.unexpected("an object") }
                end = try scanner.skipValue().upperBound
            } else {
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    let name = key.string
                    var isNested = nested[name] != nil
                    if isNested { isNested = try scanner.peek() == .array }
                    let place = try scanner.skipValue()
                    if isNested { inner.append((name, place.lowerBound)) }
                }
                end = scanner.position
            }
        } catch {
            throw FileMistake(error)
        }
        let plan = image.plan
        try reader.open(at: start)
        var shape = shapes[0]
        if shapes.count > 1 {
            let cell = reader.cell(plan.entityName)
            guard let index = plan.shapeIndex(cell.text), shapes.contains(index) else {
                let known = shapes.map { "“\(plan.shapes[$0].entityText)”" }.joined(separator: ", ")
                throw FileMistake(
                    offset: reader.place(plan.entityName),
                    expected: "an entity (\(known)) in “\(plan.names[plan.entityName])”, found “\(NumberText.string(cell.text))”")
            }
            shape = index
        }
        let name = plan.keyNames[shape]
        if image.count == 0, !plan.shapes[shape].hasChosenKey, reader.cell(name).kind == .absent { structure.isKeyless = true }
        // The list is noted before the record, because the cells of the record may be requested meanwhile.
        structure.listOfRecord.append(Int32(list))
        do throws(FileMistake) {
            try format.add(
                start, shape: shape, key: structure.isKeyless ? nil : reader.cell(name), at: reader.place(name), to: image,
                comparing: comparing)
        } catch {
            structure.listOfRecord.removeLast()
            throw error
        }
        let record = image.count - 1
        for (name, place) in inner {
            guard
                let shapes = nested[name]?.filter({
                    plan.shapes[$0].owner?.entity.map { plan.shapes[shape].entity.isKindOf(entity: $0) } ?? false
                }),
                !shapes.isEmpty
            else { continue }
            do throws(JSONError) {
                scanner.seek(to: place)
                try self.list(name, shapes, owner: record)
            } catch {
                throw stopped ?? FileMistake(error)
            }
        }
        if !inner.isEmpty { scanner.seek(to: end) }
    }
}
