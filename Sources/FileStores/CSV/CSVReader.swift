/// The structure of a CSV file, without its records.
struct CSVStructure: Sendable {
    /// The names of the columns.
    var columns: [String] = []
    /// The index of the column for each name of the plan; -1 for none, and -2 for a name of several columns, all of which exist.
    var columnOfName: [Int] = []
    /// The line ending of new records.
    var lineEnding = CSVDialect.LineEnding.lineFeed
}

/// Reads the records of a CSV file.
final class CSVReader: RecordReader {
    private let text: TextBytes
    // The image owns its readers, and every other creator of a reader holds the image. The image therefore outlives the reader, which must not retain
    // it.
    private unowned(unsafe) let image: RecordImage
    // Used by one caller at a time, which the scanner does not call.
    @exclusivity(unchecked) var scanner: CSVScanner
    private let columnOfName: [Int]
    private let nilSpelling: [UInt8]
    // The unescaped text of the open record's fields: allocated here and freed with the reader.
    private var scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: 1024)
    private var capacity = 1024
    @exclusivity(unchecked) private var used = 0
    // The text of keys of several columns in the open record: allocated for a cell, and freed before the next record and with the reader.
    @exclusivity(unchecked) private var composed: [UnsafeMutableRawBufferPointer] = []

    init(_ image: RecordImage, _ structure: CSVStructure, _ dialect: CSVDialect) {
        self.image = image
        text = image.text
        scanner = CSVScanner(image.text, dialect)
        columnOfName = structure.columnOfName
        nilSpelling = Array(dialect.values.nilSpelling.utf8)
    }

    deinit {
        scratch.deallocate()
        for memory in composed { memory.deallocate() }
    }

    func open(_ record: Int) throws(FileMistake) {
        scanner.next = image.starts[record]
        guard try scanner.nextRecord() else { throw FileMistake(offset: image.starts[record], expected: "a record") }
        prepare()
    }

    /// Reads the next record. Returns false if there is none.
    func openNext() throws(FileMistake) -> Bool {
        guard try scanner.nextRecord() else { return false }
        prepare()
        return true
    }

    @inline(__always) private func prepare() {
        used = 0
        if !composed.isEmpty { forgetComposed() }
        let needed = scanner.record.count
        if needed <= capacity { return }
        scratch.deallocate()
        capacity = needed * 2
        scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    }

    private func forgetComposed() {
        for memory in composed { memory.deallocate() }
        composed.removeAll(keepingCapacity: true)
    }

    @inline(__always) func cell(_ name: Int) -> Cell {
        let column = columnOfName[name]
        return column == -2 ? composite(name) : cell(inColumn: column)
    }

    /// Returns the cell of a key of several columns.
    @inline(never) private func composite(_ name: Int) -> Cell {
        guard let memory = CompositeKey.cell(image.plan.parts(name).lazy.map { self.cell(inColumn: self.columnOfName[$0]) }) else {
            return .absent
        }
        composed.append(memory)
        return Cell(kind: .plain, text: UnsafeRawBufferPointer(memory))
    }

    @inline(__always) func cell(inColumn column: Int) -> Cell {
        guard column >= 0, column < scanner.fields.count else { return .absent }
        let field = scanner.fields[column]
        let text = UnsafeRawBufferPointer(start: text.start + field.start, count: field.count)
        if !field.isQuoted, field.count == nilSpelling.count, text.elementsEqual(nilSpelling) { return Cell(kind: .null, text: text) }
        if field.hasEscapes { return unescaped(field) }
        return Cell(kind: field.isQuoted ? .quoted : .plain, text: text)
    }

    private func unescaped(_ field: CSVField) -> Cell {
        // The cells of one record may be requested several times: there is room for all fields once.
        if used + field.count > capacity { used = 0 }
        let start = scratch + used
        let count = scanner.unescape(field, into: start)
        used += count
        return Cell(kind: field.isQuoted ? .quoted : .plain, text: UnsafeRawBufferPointer(start: start, count: count))
    }

    func place(_ name: Int) -> Int {
        let column = columnOfName[image.plan.parts(name)[0]]
        return column >= 0 && column < scanner.fields.count ? scanner.fields[column].whole.lowerBound : scanner.record.lowerBound
    }
}
