internal import Foundation
internal import ObjectGraph

extension CSVFormat {
    func text(of image: RecordImage, migrated change: FormChange) throws -> [UInt8] {
        do { return try migratedText(image, change) } catch let mistake as FileMistake { throw image.error(mistake) }
    }

    private func migratedText(_ image: RecordImage, _ change: FormChange) throws -> [UInt8] {
        let structure = image.structure as? CSVStructure ?? CSVStructure()
        let nilSpelling = Array(dialect.values.nilSpelling.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(image.text.count + image.count * change.additions.count * 4)
        var scanner = CSVScanner(image.text, dialect)
        var copied = 0
        func copy(to end: Int) {
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<end]))
            copied = end
        }
        if dialect.hasHeader, try scanner.nextRecord() {
            for (index, column) in structure.columns.enumerated() {
                guard let name = try Self.newName(column, change) else { continue }
                let field = scanner.fields[index]
                copy(to: field.whole.lowerBound)
                try writer.append(name, quoted: field.isQuoted, to: &output)
                copied = field.whole.upperBound
            }
            copy(to: scanner.record.upperBound)
            for addition in change.additions {
                writer.separate(&output)
                try writer.append(addition.name, to: &output)
            }
        }
        let entityColumn = image.plan.entityName < 0 ? -1 : structure.columnOfName[image.plan.entityName]
        for record in 0..<image.count {
            scanner.next = image.starts[record]
            guard try scanner.nextRecord() else { break }
            let shape = image.shapeIndex(record)
            copy(to: scanner.record.lowerBound)
            if change.removed.contains(shape) {
                copied = scanner.next
                continue
            }
            if let text = change.entityTexts[shape], entityColumn >= 0, entityColumn < scanner.fields.count {
                let field = scanner.fields[entityColumn]
                copy(to: field.whole.lowerBound)
                try writer.append(text, quoted: field.isQuoted, to: &output)
                copied = field.whole.upperBound
            }
            copy(to: scanner.record.upperBound)
            if change.additions.isEmpty { continue }
            // The fields that a short record omits.
            for _ in scanner.fields.count..<max(scanner.fields.count, structure.columns.count) { writer.separate(&output) }
            for addition in change.additions {
                writer.separate(&output)
                guard let value = addition.values[shape] else {
                    output += nilSpelling
                    continue
                }
                let looksLikeNil = value.text.isEmpty || value.text == nilSpelling
                try value.text.withUnsafeBytes { try writer.append($0, quoted: looksLikeNil, to: &output) }
            }
        }
        copy(to: image.text.count)
        return output
    }

    /// Returns the new name of a column; nil if it keeps its name.
    private static func newName(_ column: String, _ change: FormChange) throws -> String? {
        let names = Set(change.names.indices.filter { !change.removed.contains($0) }.compactMap { change.names[$0][column] })
        if names.count > 1 {
            throw CoreDataError.make(
                NSMigrationError, "The column “\(column)” cannot be renamed.",
                reason: "It would be \(names.sorted().joined(separator: " and ")): entities of one file share it.",
                next: "Name the columns in the layout.")
        }
        return names.first
    }
}
