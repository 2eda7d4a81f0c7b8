internal import Foundation
internal import JSONReading
internal import ObjectGraph

extension JSONFormat {
    func text(of image: RecordImage, migrated change: FormChange) throws -> [UInt8] {
        do {
            return try migratedText(image, change)
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        } catch let error as JSONError {
            throw image.error(FileMistake(error))
        }
    }

    private func migratedText(_ image: RecordImage, _ change: FormChange) throws -> [UInt8] {
        if let removed = change.removed.first, image.kinds.contains(UInt16(removed)) || image.plan.shapes.count == 1 && image.count > 0 {
            throw CoreDataError.make(
                NSMigrationError, "The file at \(image.path) cannot be migrated.",
                reason:
                    "Its list “\(image.plan.shapes[removed].file)” has records of “\(image.plan.shapes[removed].entity)”, which is gone.",
                next: "Remove them from the file.", info: [NSFilePathErrorKey: image.path])
        }
        var edits: [(range: Range<Int>, bytes: [UInt8])] = []
        var scanner = try JSONScanner(image.text.buffer)
        if isDocument, !change.lists.isEmpty {
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                if let name = change.lists[key.string] { edits.append((try keyRange(scanner, image), Self.quoted(name))) }
                try scanner.skipValue()
            }
        }
        for record in 0..<image.count {
            let shape = image.shapeIndex(record)
            scanner.seek(to: image.starts[record])
            try scanner.beginObject()
            var last = scanner.position
            var between = ""
            var isEmpty = true
            while let key = try scanner.nextKey() {
                let name = key.string
                let range = try keyRange(scanner, image)
                if !isEmpty { between = image.text.string(last..<range.lowerBound) }
                if let new = change.names[shape][name] { edits.append((range, Self.quoted(new))) }
                let start = try scanner.skipValue()
                last = start.upperBound
                if image.plan.entityName >= 0, name == image.plan.names[image.plan.entityName], let text = change.entityTexts[shape] {
                    edits.append((start, Self.quoted(text)))
                }
                isEmpty = false
            }
            var added: [UInt8] = []
            for addition in change.additions {
                guard let value = addition.values[shape] else { continue }
                if !(isEmpty && added.isEmpty) { added += (between.isEmpty ? ", " : between).utf8 }
                added += Self.quoted(addition.name) + Array(": ".utf8)
                switch value.form {
                case .null: added += "null".utf8
                case .text: added += Self.quoted(String(decoding: value.text, as: UTF8.self))
                case .number, .boolean: added += value.text
                }
            }
            if !added.isEmpty { edits.append((last..<last, added)) }
        }
        edits.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
        var output: [UInt8] = []
        output.reserveCapacity(image.text.count + edits.reduce(0) { $0 + $1.bytes.count })
        var copied = 0
        for edit in edits {
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<edit.range.lowerBound]))
            output += edit.bytes
            copied = edit.range.upperBound
        }
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<image.text.count]))
        return output
    }

    private static func quoted(_ text: String) -> [UInt8] { Array(JSONValue.string(text).description.utf8) }

    /// Returns the place of the last key of a scanner.
    private func keyRange(_ scanner: borrowing JSONScanner, _ image: RecordImage) throws(JSONError) -> Range<Int> {
        let start = image.text.buffer.baseAddress.map { scanner.keyStart - $0 } ?? 0
        var other = try JSONScanner(image.text.buffer)
        other.seek(to: start)
        return try other.skipValue()
    }
}
