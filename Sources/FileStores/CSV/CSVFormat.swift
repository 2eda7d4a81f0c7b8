internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The syntax of CSV files.
// Immutable.
final class CSVFormat: RecordFormat {
    let dialect: CSVDialect
    private let layout: FileLayout
    let writer: CSVText

    init(_ dialect: CSVDialect, _ layout: FileLayout) {
        self.dialect = dialect
        self.layout = layout
        writer = CSVText(dialect)
    }

    var newForm: TextForm { TextForm(encoding: dialect.encoding ?? .utf8, hasByteOrderMark: dialect.writesByteOrderMark) }
    var encoding: FileEncoding? { dialect.encoding }

    func reader(of image: RecordImage) -> any RecordReader { csvReader(of: image) }

    private func csvReader(of image: RecordImage) -> CSVReader {
        CSVReader(image, image.structure as? CSVStructure ?? CSVStructure(), dialect)
    }

    // MARK: Scanning

    /// Returns the names of the columns of a file, without reading its records.
    static func columns(_ text: TextBytes, _ dialect: CSVDialect) throws(FileMistake) -> (names: [String], end: Int) {
        var scanner = CSVScanner(text, dialect)
        guard try scanner.nextRecord() else { return ([], 0) }
        if dialect.hasHeader { return (scanner.fields.map { scanner.string($0) }, scanner.next) }
        return (scanner.fields.indices.map { "\($0 + 1)" }, 0)
    }

    func scan(_ image: RecordImage, progress: Progress?, skip: ((FileMistake) -> Void)?) throws {
        do {
            try scanRecords(image, progress: progress, skip: skip)
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        }
    }

    private func scanRecords(_ image: RecordImage, progress: Progress?, skip: ((FileMistake) -> Void)?) throws {
        var structure = CSVStructure()
        let (columns, start) = try Self.columns(image.text, dialect)
        structure.columns = columns
        // A foreign header may have any number of columns: each is looked up once.
        let known = Set(image.plan.columns)
        var places: [String: Int] = [:]
        for (place, column) in columns.enumerated() where known.contains(column) && places.updateValue(place, forKey: column) != nil {
            throw FileMistake(offset: 0, expected: "columns of different names, found “\(column)” twice")
        }
        structure.columnOfName = image.plan.columns.map { places[$0] ?? -1 }
        for parts in image.plan.composites { structure.columnOfName.append(parts.allSatisfy { structure.columnOfName[$0] >= 0 } ? -2 : -1) }
        try check(structure, image)
        image.structure = structure
        let hasKeys = image.plan.keyNames.contains { structure.columnOfName[$0] != -1 }
        let lines = Self.lineCount(image.text)
        image.starts.reserveCapacity(lines)
        if let known = image.knownIndex {
            image.index = known
        } else if hasKeys {
            image.index = KeyIndex(capacity: lines)
        } else {
            image.numbers.reserveCapacity(lines)
        }
        if image.plan.shapes.count > 1 { image.kinds.reserveCapacity(lines) }
        image.structure = structure
        let (reader, comparing) = (csvReader(of: image), csvReader(of: image))
        structure.lineEnding = try dialect.lineEnding ?? firstLineEnding(image.text) ?? .lineFeed
        image.structure = structure
        reader.scanner.next = start
        var told = 0
        while try reader.openNext() {
            do {
                try add(reader, comparing, columns.count, structure, image)
            } catch {
                guard let skip else { throw error }
                skip(error)
            }
            if reader.scanner.next - told > 1 << 20 {
                progress?.completedUnitCount += Int64(reader.scanner.next - told)
                told = reader.scanner.next
                if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            }
        }
        progress?.completedUnitCount += Int64(image.text.count - told)
    }

    @inline(__always) private func add(
        _ reader: CSVReader, _ comparing: CSVReader, _ columnCount: Int, _ structure: CSVStructure, _ image: RecordImage
    ) throws(FileMistake) {
        let (scanner, plan) = (reader.scanner, image.plan)
        let found = scanner.fields.count
        if found != columnCount, found > columnCount || !dialect.allowsShortRecords {
            let place = found > columnCount ? scanner.fields[columnCount].whole.lowerBound : scanner.record.upperBound
            throw FileMistake(offset: place, expected: "\(columnCount) fields, found \(found)")
        }
        var shape = 0
        if plan.hasEntityColumn {
            let cell = reader.cell(plan.entityName)
            guard let index = plan.shapeIndex(cell.text) else {
                let known = CoreDataError.names(plan.shapes.map(\.entityText))
                throw FileMistake(
                    offset: reader.place(plan.entityName), expected: "an entity (\(known)), found “\(NumberText.string(cell.text))”")
            }
            shape = index
        }
        let name = plan.keyNames[shape]
        let key = structure.columnOfName[name] != -1 ? reader.cell(name) : nil
        try add(scanner.record.lowerBound, shape: shape, key: key, at: scanner.record.lowerBound, to: image, comparing: comparing)
    }

    /// Checks that all columns that properties need are there.
    private func check(_ structure: CSVStructure, _ image: RecordImage) throws {
        let plan = image.plan
        func missing(_ name: Int) -> Bool { name >= 0 && structure.columnOfName[name] == -1 }
        func fail(_ name: Int, _ what: String) throws -> Never {
            let columns = CoreDataError.names(structure.columns)
            let name = plan.parts(name).first(where: missing) ?? name
            throw FileMistake(offset: 0, expected: "a column “\(plan.names[name])” for \(what); the columns are \(columns)")
        }
        if missing(plan.entityName) { try fail(plan.entityName, "the entity of each record") }
        if missing(plan.versionName) { try fail(plan.versionName, "the version of each record") }
        for (shape, names) in zip(plan.shapes, plan.fieldNames) {
            for (field, name) in zip(shape.fields, names) where missing(name) { try fail(name, "“\(field.property)” of “\(shape.entity)”") }
        }
        for (index, shape) in plan.shapes.enumerated() where missing(plan.keyNames[index]) && shape.hasChosenKey {
            try fail(plan.keyNames[index], shape.isJoin ? "the pairs of “\(shape.entityText)”" : "the key of “\(shape.entity)”")
        }
        for (shape, names) in zip(plan.shapes, plan.otherNames) {
            for name in names where missing(name) { try fail(name, "the pairs of “\(shape.entityText)”") }
        }
    }

    private static func lineCount(_ text: TextBytes) -> Int {
        // A file may mix line endings.
        var (feeds, returns, pairs, previous) = (0, 0, 0, UInt8(0))
        for byte in text.buffer {
            if byte == 0x0A { feeds += 1 }
            if byte == 0x0D { returns += 1 }
            if byte == 0x0A, previous == 0x0D { pairs += 1 }
            previous = byte
        }
        return feeds + returns - pairs + 1
    }

    private func firstLineEnding(_ text: TextBytes) throws(FileMistake) -> CSVDialect.LineEnding? {
        var scanner = CSVScanner(text, dialect)
        return try scanner.nextRecord() ? scanner.lineEnding : nil
    }

    func keys(in cell: Cell) throws(FileMistake) -> [String] {
        NumberText.string(cell.text).split(separator: dialect.values.listSeparator).map(String.init)
    }

    var keepsOrder: Bool { true }

    func isKeyless(_ image: RecordImage) -> Bool {
        let structure = image.structure as? CSVStructure
        return image.plan.keyNames.allSatisfy { name in structure?.columnOfName[name] == -1 }
    }

    func recordText(_ record: Int, of image: RecordImage) -> UnsafeRawBufferPointer {
        var scanner = CSVScanner(image.text, dialect)
        scanner.next = image.starts[record]
        guard (try? scanner.nextRecord()) == true else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: image.text.buffer[scanner.record])
    }
}
