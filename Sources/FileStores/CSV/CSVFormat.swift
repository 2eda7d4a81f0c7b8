internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The syntax of CSV files.
// Immutable.
final class CSVFormat: RecordFormat {
    let dialect: CSVDialect
    private let layout: FileLayout
    private let writer: CSVText

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
        if let twice = columns.first(where: { name in columns.filter { $0 == name }.count > 1 }), image.plan.names.contains(twice) {
            throw FileMistake(offset: 0, expected: "columns of different names, found “\(twice)” twice")
        }
        structure.columnOfName = image.plan.names.map { columns.firstIndex(of: $0) ?? -1 }
        try check(structure, image)
        image.structure = structure
        let hasKeys = image.plan.keyNames.contains { structure.columnOfName[$0] >= 0 }
        let lines = Self.lineCount(image.text)
        image.starts.reserveCapacity(lines)
        if hasKeys { image.index = KeyIndex(capacity: lines) } else { image.numbers.reserveCapacity(lines) }
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
                let known = plan.shapes.map { "“\($0.entityText)”" }.joined(separator: ", ")
                throw FileMistake(
                    offset: reader.place(plan.entityName), expected: "an entity (\(known)), found “\(NumberText.string(cell.text))”")
            }
            shape = index
        }
        let name = plan.keyNames[shape]
        let key = structure.columnOfName[name] >= 0 ? reader.cell(name) : nil
        try add(scanner.record.lowerBound, shape: shape, key: key, at: scanner.record.lowerBound, to: image, comparing: comparing)
    }

    /// Throws where a column is missing that a property needs.
    private func check(_ structure: CSVStructure, _ image: RecordImage) throws {
        let plan = image.plan
        func missing(_ name: Int) -> Bool { name >= 0 && structure.columnOfName[name] < 0 }
        func fail(_ name: Int, _ what: String) throws -> Never {
            let columns = structure.columns.map { "“\($0)”" }.joined(separator: ", ")
            throw FileMistake(offset: 0, expected: "a column “\(plan.names[name])” for \(what); the columns are \(columns)")
        }
        if missing(plan.entityName) { try fail(plan.entityName, "the entity of each record") }
        if missing(plan.versionName) { try fail(plan.versionName, "the version of each record") }
        for (shape, names) in zip(plan.shapes, plan.fieldNames) {
            for (field, name) in zip(shape.fields, names) where missing(name) { try fail(name, "“\(field.property)” of “\(shape.entity)”") }
        }
        for (index, shape) in plan.shapes.enumerated() where missing(plan.keyNames[index]) && shape.hasChosenKey {
            try fail(plan.keyNames[index], "the key of “\(shape.entity)”")
        }
    }

    private static func lineCount(_ text: TextBytes) -> Int {
        var (lines, returns) = (1, 1)
        for byte in text.buffer {
            if byte == 0x0A { lines += 1 }
            if byte == 0x0D { returns += 1 }
        }
        return lines > 1 ? lines : returns
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
        return image.plan.keyNames.allSatisfy { name in (structure?.columnOfName[name] ?? 0) < 0 }
    }

    func recordText(_ record: Int, of image: RecordImage) -> UnsafeRawBufferPointer {
        var scanner = CSVScanner(image.text, dialect)
        scanner.next = image.starts[record]
        guard (try? scanner.nextRecord()) == true else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: image.text.buffer[scanner.record])
    }

    // MARK: Writing

    func emptyText(_ plan: FilePlan) throws -> [UInt8] {
        guard dialect.hasHeader else { return [] }
        var text: [UInt8] = []
        for (index, name) in plan.names.enumerated() {
            if index > 0 { writer.separate(&text) }
            try writer.append(name, to: &text)
        }
        text += (dialect.lineEnding ?? .lineFeed).rawValue.utf8
        return text
    }

    func text(of image: RecordImage, changed changes: RecordChanges) throws -> [UInt8] {
        let structure = image.structure as? CSVStructure ?? CSVStructure()
        var output: [UInt8] = []
        output.reserveCapacity(image.text.count + image.text.count / 16 + changes.insertions.count * 64)
        var scanner = CSVScanner(image.text, dialect)
        var copied = 0
        var deletions = changes.deletions[...]
        // Used again for each record and value.
        var newFields: [(column: Int, field: RecordField?)] = []
        var scratch: [UInt8] = []
        func copy(to end: Int) {
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<end]))
        }
        func deleteRecords(before record: Int) throws {
            while let next = deletions.first, next < record {
                deletions.removeFirst()
                scanner.next = image.starts[next]
                _ = try scanner.nextRecord()
                copy(to: image.starts[next])
                copied = scanner.next
            }
        }
        for update in changes.updates {
            try deleteRecords(before: update.record)
            scanner.next = image.starts[update.record]
            _ = try scanner.nextRecord()
            copy(to: scanner.record.lowerBound)
            try rewrite(scanner, update, image, structure, &newFields, &scratch, &output)
            copied = scanner.record.upperBound
        }
        try deleteRecords(before: .max)
        copy(to: image.text.count)
        if !changes.insertions.isEmpty, let last = output.last, last != 0x0A, last != 0x0D { output += structure.lineEnding.rawValue.utf8 }
        let names = nameOfColumn(structure)
        for insertion in changes.insertions { try append(insertion, image.plan, structure, names, &scratch, &output) }
        return output
    }

    private func nameOfColumn(_ structure: CSVStructure) -> [Int] {
        var names = Array(repeating: -1, count: structure.columns.count)
        for (name, column) in structure.columnOfName.enumerated() where column >= 0 { names[column] = name }
        return names
    }

    /// Appends a record with the fields of changed properties anew, and all others byte by byte.
    private func rewrite(
        _ scanner: CSVScanner, _ update: RecordChanges.Update, _ image: RecordImage, _ structure: CSVStructure,
        _ newFields: inout [(column: Int, field: RecordField?)], _ scratch: inout [UInt8], _ output: inout [UInt8]
    ) throws {
        let shape = image.shapeIndex(update.record)
        let names = image.plan.fieldNames[shape]
        let fields = image.plan.shapes[shape].fields
        newFields.removeAll(keepingCapacity: true)
        for (index, field) in fields.enumerated() where update.changed.contains(field.property.slotIndex) {
            newFields.append((structure.columnOfName[names[index]], field))
        }
        if image.plan.versionName >= 0 { newFields.append((structure.columnOfName[image.plan.versionName], nil)) }
        let last = max(scanner.fields.count - 1, newFields.map(\.column).max() ?? 0)
        for column in 0...last {
            if column > 0 { writer.separate(&output) }
            if let new = newFields.first(where: { $0.column == column }) {
                if let field = new.field {
                    let isQuoted = column < scanner.fields.count && scanner.fields[column].isQuoted
                    try append(field, update.row, quoted: isQuoted, &scratch, &output)
                } else {
                    NumberText.append(update.version, to: &output)
                }
            } else if column < scanner.fields.count {
                output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[scanner.fields[column].whole]))
            }
        }
    }

    private func append(
        _ insertion: RecordChanges.Insertion, _ plan: FilePlan, _ structure: CSVStructure, _ names: [Int], _ scratch: inout [UInt8],
        _ output: inout [UInt8]
    ) throws {
        let shape = plan.shapes[insertion.shape]
        let start = output.count
        for (column, name) in names.enumerated() {
            if column > 0 { writer.separate(&output) }
            if name < 0 {
                output += dialect.values.nilSpelling.utf8
            } else if name == plan.entityName {
                try writer.append(shape.entityText, to: &output)
            } else if name == plan.keyNames[insertion.shape] {
                try writer.append(insertion.key, to: &output)
            } else if name == plan.versionName {
                NumberText.append(insertion.version, to: &output)
            } else if let index = plan.fieldNames[insertion.shape].firstIndex(of: name) {
                try append(shape.fields[index], insertion.row, &scratch, &output)
            } else {
                output += dialect.values.nilSpelling.utf8
            }
        }
        // An empty line is none.
        if output.count == start, let quote = dialect.quote?.asciiValue { output += [quote, quote] }
        output += structure.lineEnding.rawValue.utf8
    }

    /// Appends the value of a property.
    ///
    /// - Parameter isQuoted: Whether a value, but not nil, stands in quotes although it needs none, as the former one did.
    private func append(
        _ field: RecordField, _ row: Row, quoted isQuoted: Bool = false, _ text: inout [UInt8], _ output: inout [UInt8]
    ) throws {
        do {
            switch field.role {
            case .attribute(let codec):
                text.removeAll(keepingCapacity: true)
                let form = try codec.write(row, to: &text)
                if case .null = form {
                    output += dialect.values.nilSpelling.utf8
                    return
                }
                let looksLikeNil = text.elementsEqual(dialect.values.nilSpelling.utf8) || text.isEmpty
                try text.withUnsafeBytes { try writer.append($0, quoted: looksLikeNil || isQuoted, to: &output) }
            case .toOne, .list:
                guard let relationship = field.relationship else { return }
                let keys = row.relatedIDs(relationship).map { RecordKey.text($0.reference) }
                guard !keys.isEmpty else {
                    output += dialect.values.nilSpelling.utf8
                    return
                }
                let separator = dialect.values.listSeparator
                if relationship.isToMany, let wrong = keys.first(where: { $0.contains(separator) }) {
                    throw FileMistake(offset: 0, expected: "keys without the list separator “\(separator)”, found “\(wrong)”")
                }
                try writer.append(keys.joined(separator: String(separator)), quoted: isQuoted, to: &output)
            }
        } catch let mistake as FileMistake {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "“\(field.property)” of \(row.knownObjectID) cannot be written.",
                reason: "Expected \(mistake.expected).", next: "Change the value, or the dialect of the file.",
                info: [NSAffectedObjectsErrorKey: [row.knownObjectID]])
        }
    }
}
