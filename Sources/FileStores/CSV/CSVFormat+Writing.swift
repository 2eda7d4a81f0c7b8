internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// A field of a record that is rewritten.
private struct NewField {
    enum Value {
        /// The value of a property, or one of the values of the key of a related object.
        case field(RecordField, part: Int)
        case version
        case text(String)
    }

    let column: Int
    let value: Value
    /// Whether the column also belongs to other properties, which write it if this one is nil.
    let isShared: Bool

    func isNil(in row: Row) -> Bool {
        if case .field(let field, _) = value { field.isNil(in: row) } else { false }
    }
}

extension CSVFormat {
    func emptyText(_ plan: FilePlan) throws -> [UInt8] {
        guard dialect.hasHeader else { return [] }
        var text: [UInt8] = []
        for (index, name) in plan.columns.enumerated() {
            if index > 0 { writer.separate(&text) }
            try writer.append(name, to: &text)
        }
        text += (dialect.lineEnding ?? .lineFeed).rawValue.utf8
        return text
    }

    func text(of image: RecordImage, changed changes: RecordChanges) throws -> [UInt8] {
        var writing = CSVWriting(self, image, changes)
        return try writing.text()
    }
}

/// Writes the changes of one save into the text of a file.
private struct CSVWriting {
    private let format: CSVFormat
    private let image: RecordImage
    private let changes: RecordChanges
    private let structure: CSVStructure
    private let nilSpelling: [UInt8]
    private var scanner: CSVScanner
    private var output: [UInt8] = []
    private var copied = 0
    private var deletions: ArraySlice<Int>
    // Reused for each record and value.
    private var newFields: [NewField] = []
    private var newFieldsOf: (shape: Int, changed: PropertySet)?
    private var scratch: [UInt8] = []

    init(_ format: CSVFormat, _ image: RecordImage, _ changes: RecordChanges) {
        (self.format, self.image, self.changes) = (format, image, changes)
        structure = image.structure as? CSVStructure ?? CSVStructure()
        nilSpelling = Array(format.dialect.values.nilSpelling.utf8)
        scanner = CSVScanner(image.text, format.dialect)
        deletions = changes.deletions[...]
        output.reserveCapacity(
            image.text.count + image.text.count / 16 + changes.updates.count * 8 + changes.insertions.count * 64)
    }

    mutating func text() throws -> [UInt8] {
        for index in changes.updates.indices {
            let record = changes.updates[index].record
            if let next = deletions.first, next < record { try deleteRecords(before: record) }
            scanner.next = image.starts[record]
            _ = try scanner.nextRecord()
            copy(to: scanner.record.lowerBound)
            try rewrite(changes.updates[index])
        }
        try deleteRecords(before: .max)
        copy(to: image.text.count)
        if !changes.insertions.isEmpty, let last = output.last, last != 0x0A, last != 0x0D { output += structure.lineEnding.rawValue.utf8 }
        var names = Array(repeating: -1, count: structure.columns.count)
        for (name, column) in structure.columnOfName.enumerated() where column >= 0 { names[column] = name }
        for insertion in changes.insertions { try append(insertion, names) }
        return output
    }

    @inline(__always) private mutating func copy(to end: Int) {
        if end > copied { output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<end])) }
        copied = end
    }

    private mutating func deleteRecords(before record: Int) throws {
        while let next = deletions.first, next < record {
            deletions.removeFirst()
            scanner.next = image.starts[next]
            _ = try scanner.nextRecord()
            copy(to: image.starts[next])
            copied = scanner.next
        }
    }

    /// Appends a record with new fields for changed properties, and with all other fields unchanged.
    private mutating func rewrite(_ update: RecordChanges.Update) throws {
        let shape = image.shapeIndex(update.record)
        // Usually, the same properties have changed in all records.
        if newFieldsOf.map({ $0.shape != shape || $0.changed != update.changed }) ?? true || !update.texts.isEmpty {
            collectFields(update, shape)
        }
        var last = scanner.fields.count - 1
        for index in newFields.indices {
            let column = newFields[index].column
            var isQuoted = false
            if column < scanner.fields.count {
                if newFields[index].isShared, case .field(let new, _) = newFields[index].value,
                    update.row.map({ new.isNil(in: $0) }) ?? true
                {
                    continue
                }
                let field = scanner.fields[column]
                isQuoted = field.isQuoted
                copy(to: field.whole.lowerBound)
                copied = field.whole.upperBound
            } else {
                copy(to: scanner.record.upperBound)
                while last < column {
                    format.writer.separate(&output)
                    last += 1
                }
            }
            switch newFields[index].value {
            case .field(let field, let part):
                guard let row = update.row else { continue }
                try append(field, part, row, quoted: isQuoted)
            case .version: NumberText.append(update.version, to: &output)
            case .text(let text): try format.writer.append(text, quoted: isQuoted, to: &output)
            }
        }
        copy(to: scanner.record.upperBound)
    }

    private mutating func collectFields(_ update: RecordChanges.Update, _ shape: Int) {
        let plan = image.plan
        let (names, shared) = (plan.fieldNames[shape], plan.sharedNames[shape])
        newFields.removeAll(keepingCapacity: true)
        for (index, field) in plan.shapes[shape].fields.enumerated() where update.changed.contains(field.property.slotIndex) {
            for (part, name) in plan.parts(names[index]).enumerated() {
                newFields.append(
                    NewField(column: structure.columnOfName[name], value: .field(field, part: part), isShared: shared.contains(name)))
            }
        }
        if plan.versionName >= 0 {
            newFields.append(NewField(column: structure.columnOfName[plan.versionName], value: .version, isShared: false))
        }
        for (name, text) in update.texts {
            newFields.append(NewField(column: structure.columnOfName[name], value: .text(text), isShared: false))
        }
        newFields.sort { $0.column < $1.column }
        // Properties that share a column have equal values for it, except references that are nil.
        if let row = update.row, newFields.contains(where: \.isShared) {
            newFields.sort { ($0.column, $0.isNil(in: row) ? 1 : 0) < ($1.column, $1.isNil(in: row) ? 1 : 0) }
        }
        for index in newFields.indices.dropFirst().reversed() where newFields[index].column == newFields[index - 1].column {
            newFields.remove(at: index)
        }
        newFieldsOf = update.texts.isEmpty && !newFields.contains(where: \.isShared) ? (shape, update.changed) : nil
    }

    private mutating func append(_ insertion: RecordChanges.Insertion, _ names: [Int]) throws {
        let (plan, index) = (image.plan, insertion.shape)
        let shape = plan.shapes[index]
        let start = output.count
        for (column, name) in names.enumerated() {
            if column > 0 { format.writer.separate(&output) }
            if name < 0 {
                output += nilSpelling
            } else if name == plan.entityName {
                try format.writer.append(shape.entityText, to: &output)
            } else if name == plan.keyNames[index] {
                try format.writer.append(insertion.key, to: &output)
            } else if name == plan.versionName {
                NumberText.append(insertion.version, to: &output)
            } else if !insertion.texts.isEmpty, let text = insertion.texts[name] {
                try format.writer.append(text, to: &output)
            } else if let row = insertion.row {
                let writers = plan.writers[index][name]
                if let (field, part) = writers.first(where: { !shape.fields[$0.field].isNil(in: row) }) ?? writers.first {
                    try append(shape.fields[field], part, row, quoted: false)
                } else {
                    output += nilSpelling
                }
            } else {
                output += nilSpelling
            }
        }
        // A line without text is not a record.
        if output.count == start, let quote = format.dialect.quote?.asciiValue { output += [quote, quote] }
        output += structure.lineEnding.rawValue.utf8
    }

    /// Appends the value of a property.
    ///
    /// - Parameters:
    ///   - part: The index of the value in the key of a related object.
    ///   - isQuoted: Whether a value other than nil is quoted even if it needs no quotes, as its predecessor was.
    private mutating func append(_ field: RecordField, _ part: Int, _ row: Row, quoted isQuoted: Bool) throws {
        do {
            switch field.role {
            case .attribute(let codec):
                scratch.removeAll(keepingCapacity: true)
                let form = try codec.write(row, to: &scratch)
                if case .null = form {
                    output += nilSpelling
                    return
                }
                let looksLikeNil = scratch.isEmpty || scratch.count == nilSpelling.count && scratch == nilSpelling
                try scratch.withUnsafeBytes { try format.writer.append($0, quoted: looksLikeNil || isQuoted, to: &output) }
            case .toOne, .list:
                guard let relationship = field.relationship else { return }
                let keys = row.relatedIDs(relationship).map { RecordKey.text($0.reference) }
                guard let first = keys.first else {
                    output += nilSpelling
                    return
                }
                if field.columns.count > 1 {
                    guard let parts = CompositeKey.parts(first, count: field.columns.count) else {
                        throw FileMistake(offset: 0, expected: "a key of \(field.columns.count) values, found “\(first)”")
                    }
                    try format.writer.append(parts[part], quoted: isQuoted, to: &output)
                    return
                }
                let separator = format.dialect.values.listSeparator
                if relationship.isToMany, let wrong = keys.first(where: { $0.contains(separator) }) {
                    throw FileMistake(offset: 0, expected: "keys without the list separator “\(separator)”, found “\(wrong)”")
                }
                try format.writer.append(keys.joined(separator: String(separator)), quoted: isQuoted, to: &output)
            }
        } catch let mistake as FileMistake {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "“\(field.property)” of \(row.knownObjectID) cannot be written.",
                reason: "Expected \(mistake.expected).", next: "Change the value, or the dialect of the file.",
                info: [NSAffectedObjectsErrorKey: [row.knownObjectID]])
        }
    }
}
