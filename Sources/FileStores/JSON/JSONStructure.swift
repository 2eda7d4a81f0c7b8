internal import JSONReading

/// The structure of a JSON file, without its records.
// Immutable once the file is scanned.
final class JSONStructure: @unchecked Sendable {
    /// A list of records.
    struct List {
        let name: String
        /// The record around the list; -1 for a list of the document.
        let owner: Int
        /// The places of the brackets.
        var open: Int
        var close: Int
    }

    var lists: [List] = []
    /// The list of each record, by index.
    var listOfRecord: [Int32] = []
    var isKeyless = false
}

extension RecordShape {
    /// The name of the list in the owner's record, for nested records.
    var nestedName: String? { owner.map(\.list) }
}

/// Reads the records of a JSON file.
final class JSONRecordReader: RecordReader {
    // The image owns its readers, and every other creator of a reader holds the image. The image therefore outlives the reader, which must not retain
    // it.
    private unowned(unsafe) let image: RecordImage
    private let structure: JSONStructure
    private let table: JSONKeyTable
    private var scanner: JSONScanner
    private var ranges: [Range<Int>]
    private var kinds: [JSONScanner.Kind]
    private(set) var record = 0
    private var start = 0
    /// Reads the owner of a nested record.
    private lazy var ownerReader = JSONRecordReader(image, structure)
    // The text of strings with escapes: allocated here and freed with the reader.
    private var scratch: [UnsafeMutableRawPointer] = []

    init(_ image: RecordImage, _ structure: JSONStructure) {
        self.image = image
        self.structure = structure
        table = JSONKeyTable(Array(image.plan.columns))
        ranges = Array(repeating: 0..<0, count: image.plan.columnCount)
        kinds = Array(repeating: .null, count: ranges.count)
        do {
            scanner = try JSONScanner(image.text.buffer)
        } catch {
            // Bounded: only a limit of length can be exceeded, and none is set.
            preconditionFailure("A document without a limit is too long.")
        }
    }

    deinit { for memory in scratch { memory.deallocate() } }

    func open(_ record: Int) throws(FileMistake) {
        self.record = record
        try open(at: image.starts[record])
    }

    /// Reads the object at a place.
    func open(at place: Int) throws(FileMistake) {
        start = place
        for memory in scratch { memory.deallocate() }
        scratch.removeAll(keepingCapacity: true)
        for index in ranges.indices { ranges[index] = 0..<0 }
        var twice: Int?
        do {
            scanner.seek(to: place)
            try scanner.beginObject()
            while let index = try scanner.nextIndex(in: table) {
                if index < 0 {
                    try scanner.skipValue()
                } else {
                    if !ranges[index].isEmpty { twice = index }
                    kinds[index] = try scanner.peek()
                    ranges[index] = try scanner.skipValue()
                }
            }
        } catch {
            throw FileMistake(error)
        }
        // One of the two values would be lost, and which one depends on the parser.
        if let twice {
            throw FileMistake(offset: ranges[twice].lowerBound, expected: "each member once, found “\(image.plan.columns[twice])” twice")
        }
    }

    func cell(_ name: Int) -> Cell {
        if let owner = ownerKey(name) { return owner }
        if name >= ranges.count { return composite(name) }
        let range = ranges[name]
        if range.isEmpty { return .absent }
        let text = UnsafeRawBufferPointer(rebasing: image.text.buffer[range])
        switch kinds[name] {
        case .string: return string(range)
        case .number: return Cell(kind: .number, text: text)
        case .true, .false: return Cell(kind: .boolean, text: text)
        case .null: return Cell(kind: .null, text: text)
        case .object, .array: return Cell(kind: .container, text: text)
        }
    }

    /// Returns the cell of a key of several members.
    private func composite(_ name: Int) -> Cell {
        guard let memory = CompositeKey.cell(image.plan.parts(name).lazy.map { self.cell($0) }), let start = memory.baseAddress else {
            return .absent
        }
        scratch.append(start)
        return Cell(kind: .quoted, text: UnsafeRawBufferPointer(memory))
    }

    /// Returns the key of the record around a nested record, as the cell of the relationship to it.
    private func ownerKey(_ name: Int) -> Cell? {
        guard !structure.listOfRecord.isEmpty, record < structure.listOfRecord.count else { return nil }
        let list = structure.lists[Int(structure.listOfRecord[record])]
        let shapeIndex = image.shapeIndex(record)
        guard list.owner >= 0, let owner = image.plan.shapes[shapeIndex].owner, image.plan.names[name] == owner.field else { return nil }
        let ownerShape = image.shapeIndex(list.owner)
        guard (try? ownerReader.open(list.owner)) != nil else { return .absent }
        return ownerReader.cell(image.plan.keyNames[ownerShape])
    }

    private func string(_ range: Range<Int>) -> Cell {
        let inner = UnsafeRawBufferPointer(rebasing: image.text.buffer[range.lowerBound + 1..<range.upperBound - 1])
        if !inner.contains(0x5C) { return Cell(kind: .quoted, text: inner) }
        scanner.seek(to: range.lowerBound)
        // It was validated when it was skipped.
        guard let text = try? scanner.readString() else { return .absent }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, text.count), alignment: 1)
        memory.copyMemory(from: text.start, byteCount: text.count)
        scratch.append(memory)
        return Cell(kind: .quoted, text: UnsafeRawBufferPointer(start: memory, count: text.count))
    }

    func place(_ name: Int) -> Int {
        let range = ranges[image.plan.parts(name)[0]]
        return range.isEmpty ? start : range.lowerBound
    }

    /// Returns the place of a value in the text; empty if the record lacks it.
    func range(_ name: Int) -> Range<Int> { ranges[name] }
}

extension FileMistake {
    init(_ error: JSONError) {
        let reason = error.reason
        let expected = reason.hasPrefix("Expected ") ? String(reason.dropFirst("Expected ".count)) : "correct JSON: \(reason)"
        self.init(offset: error.offset, expected: expected)
    }
}
