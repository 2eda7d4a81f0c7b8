internal import Foundation
internal import JSONReading
@_spi(Stores) internal import ObjectGraph

/// The text between the members of an object, so that new members look like existing ones.
private struct JSONStyle {
    var opening = ""
    var separator = ", "
    var colon = ": "
    var closing = ""

    /// The style of an object in a text.
    init(of record: Int, in image: RecordImage) throws(JSONError) {
        var scanner = try JSONScanner(image.text.buffer)
        scanner.seek(to: image.starts[record])
        try scanner.beginObject()
        var last = scanner.position
        var count = 0
        while try scanner.nextKey() != nil {
            let keyStart = image.text.buffer.baseAddress.map { scanner.keyStart - $0 } ?? 0
            let between = image.text.string(last..<keyStart)
            if count == 0 { opening = between } else { separator = between }
            let keyEnd = try Self.end(of: keyStart, in: image)
            let value = try scanner.skipValue()
            colon = image.text.string(keyEnd..<value.lowerBound)
            last = value.upperBound
            count += 1
        }
        closing = image.text.string(last..<scanner.position - 1)
        if count == 1 { separator = "," + (opening.isEmpty ? " " : opening) }
    }

    init() {}

    private static func end(of place: Int, in image: RecordImage) throws(JSONError) -> Int {
        var scanner = try JSONScanner(image.text.buffer)
        scanner.seek(to: place)
        return try scanner.skipValue().upperBound
    }
}

/// Edits a JSON text: replaces values, and adds and removes members and elements.
struct JSONEditor {
    private let image: RecordImage
    private let structure: JSONStructure
    private let reader: JSONRecordReader
    private var edits: [(range: Range<Int>, bytes: [UInt8])] = []
    private let changes: RecordChanges
    private let style: JSONStyle

    init(_ image: RecordImage, _ structure: JSONStructure, _ changes: RecordChanges) throws {
        self.image = image
        self.structure = structure
        self.changes = changes
        reader = JSONRecordReader(image, structure)
        style = image.count > 0 ? try JSONStyle(of: 0, in: image) : JSONStyle()
    }

    mutating func text() throws -> [UInt8] {
        for update in changes.updates { try change(update) }
        try changeLists()
        return edited()
    }

    /// Returns the text with records moved to lists of other records, including all nested text.
    mutating func text(moving moves: [(record: Int, owner: Int, list: String)]) throws -> [UInt8] {
        let moved = Set(moves.map(\.record))
        var elements: [Int: [Int]] = [:]
        for (record, list) in structure.listOfRecord.enumerated() { elements[Int(list), default: []].append(record) }
        for list in Set(moved.map({ Int(structure.listOfRecord[$0]) })).sorted() {
            try remove(moved, from: elements[list] ?? [], structure.lists[list])
        }
        var additions: [Int: [[UInt8]]] = [:]
        var missing: [Int: [String: [[UInt8]]]] = [:]
        for (record, owner, name) in moves {
            let end = try JSONFormat.end(of: image.starts[record], in: image) ?? image.starts[record]
            let bytes = Array(image.text.buffer[image.starts[record]..<end])
            if let list = structure.lists.firstIndex(where: { $0.owner == owner && $0.name == name }) {
                additions[list, default: []].append(bytes)
            } else {
                missing[owner, default: [:]][name, default: []].append(bytes)
            }
        }
        for (list, texts) in additions {
            let staying = (elements[list] ?? []).filter { !moved.contains($0) }
            try add(texts, to: structure.lists[list], elements[list] ?? [], staying)
        }
        for (owner, lists) in missing { for (name, texts) in lists { try addList(name, to: owner, texts) } }
        return edited()
    }

    private mutating func edited() -> [UInt8] {
        edits.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
        var output: [UInt8] = []
        output.reserveCapacity(image.text.count + edits.reduce(0) { $0 + $1.bytes.count })
        var copied = 0
        for edit in edits {
            // Edits within a removed record are dropped.
            if edit.range.lowerBound < copied { continue }
            output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<edit.range.lowerBound]))
            output += edit.bytes
            copied = edit.range.upperBound
        }
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: image.text.buffer[copied..<image.text.count]))
        return output
    }

    // MARK: Members

    private mutating func change(_ update: RecordChanges.Update) throws {
        let (plan, shapeIndex) = (image.plan, image.shapeIndex(update.record))
        let shape = plan.shapes[shapeIndex]
        try reader.open(update.record)
        var members: [(name: Int, bytes: [UInt8])] = []
        for (name, text) in update.texts { members.append((name, Self.key(text))) }
        for (index, field) in shape.fields.enumerated() where update.changed.contains(field.property.slotIndex) {
            guard let row = update.row else { break }
            // The record moves: see ``JSONMoving``.
            if field.name == shape.owner?.field { continue }
            for (part, name) in plan.parts(plan.fieldNames[shapeIndex][index]).enumerated() {
                if members.contains(where: { $0.name == name }) { continue }
                // The member belongs to another property or to the key.
                if field.columns.count > 1, plan.sharedNames[shapeIndex].contains(name), field.isNil(in: row) { continue }
                let bytes = try Self.value(field, part, row)
                if bytes.isEmpty, reader.range(name).isEmpty { continue }
                members.append((name, bytes.isEmpty ? Array("null".utf8) : bytes))
            }
        }
        if plan.versionName >= 0, !shape.isJoin { members.append((plan.versionName, Array(String(update.version).utf8))) }
        var added: [UInt8] = []
        for (name, bytes) in members {
            let range = reader.range(name)
            if range.isEmpty { added += Self.member(plan.names[name], bytes, style, after: true) } else { edits.append((range, bytes)) }
        }
        if !added.isEmpty { try add(added, to: update.record) }
    }

    /// Adds members after the last one of a record.
    private mutating func add(_ members: [UInt8], to record: Int) throws {
        var scanner = try JSONScanner(image.text.buffer)
        scanner.seek(to: image.starts[record])
        try scanner.beginObject()
        var last = scanner.position
        var isEmpty = true
        while try scanner.nextKey() != nil {
            last = try scanner.skipValue().upperBound
            isEmpty = false
        }
        edits.append((last..<last, isEmpty ? Array(members.dropFirst(style.separator.utf8.count)) : members))
    }

    private static func member(_ name: String, _ bytes: [UInt8], _ style: JSONStyle, after: Bool) -> [UInt8] {
        Array((after ? style.separator : style.opening).utf8) + Array(JSONValue.string(name).description.utf8) + Array(style.colon.utf8)
            + bytes
    }

    /// Returns a value, or one of the values of the key of a related object, as JSON; empty for nil.
    private static func value(_ field: RecordField, _ part: Int, _ row: Row) throws -> [UInt8] {
        switch field.role {
        case .attribute(let codec):
            var text: [UInt8] = []
            switch try codec.write(row, to: &text) {
            case .null: return []
            case .text: return Array(JSONValue.string(String(decoding: text, as: UTF8.self)).description.utf8)
            case .number, .boolean: return text
            }
        case .toOne:
            guard let relationship = field.relationship, let id = row.relatedIDs(relationship).first else { return [] }
            guard let parts = CompositeKey.parts(RecordKey.text(id.reference), count: field.columns.count) else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "“\(relationship)” of \(row.knownObjectID) cannot be written.",
                    reason: "The key of \(id) has not \(field.columns.count) values.", next: "Correct the layout.")
            }
            return key(parts[part])
        case .list:
            guard let relationship = field.relationship else { return [] }
            let keys = row.relatedIDs(relationship).map { key(RecordKey.text($0.reference)) }
            return keys.isEmpty ? Array("[]".utf8) : [0x5B] + Array(keys.joined(separator: ", ".utf8)) + [0x5D]
        }
    }

    /// Returns a key as JSON: a number if it has the text of one.
    private static func key(_ text: String) -> [UInt8] {
        if case .integer = RecordKey.reference(text) { return Array(text.utf8) }
        return Array(JSONValue.string(text).description.utf8)
    }

    // MARK: Lists

    private mutating func changeLists() throws {
        if changes.insertions.isEmpty, changes.deletions.isEmpty { return }
        let deleted = Set(changes.deletions)
        var elements: [Int: [Int]] = [:]
        let touched = Set(deleted.map { Int(structure.listOfRecord[$0]) })
        for (record, list) in structure.listOfRecord.enumerated() { elements[Int(list), default: []].append(record) }
        for list in touched { try remove(deleted, from: elements[list] ?? [], structure.lists[list]) }
        var additions: [Int: [RecordChanges.Insertion]] = [:]
        var missing: [(owner: Int, name: String, records: [RecordChanges.Insertion])] = []
        for insertion in changes.insertions {
            let shape = image.plan.shapes[insertion.shape]
            let (owner, name) = try place(of: insertion, shape)
            // It is written with its new owner.
            guard let owner else { continue }
            if let list = structure.lists.firstIndex(where: { $0.owner == owner && $0.name == name }) {
                additions[list, default: []].append(insertion)
            } else if let index = missing.firstIndex(where: { $0.owner == owner && $0.name == name }) {
                missing[index].records.append(insertion)
            } else {
                missing.append((owner, name, [insertion]))
            }
        }
        for (list, insertions) in additions {
            let staying = (elements[list] ?? []).filter { !deleted.contains($0) }
            try add(try insertions.map { try record($0) }, to: structure.lists[list], elements[list] ?? [], staying)
        }
        for (owner, name, insertions) in missing { try addList(name, to: owner, try insertions.map { try record($0) }) }
    }

    /// Returns the place of a new record: the record around it (-1 for the document, nil for a new record), and the list there.
    private func place(of insertion: RecordChanges.Insertion, _ shape: RecordShape) throws -> (owner: Int?, name: String) {
        guard let owner = shape.owner else { return (-1, structure.lists.first?.name == "" ? "" : shape.file) }
        guard let key = ownerKey(of: insertion, shape) else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "A new “\(shape.entity)” has no “\(owner.field)”.",
                reason: "Its record stands in that of its owner.", next: "Set the relationship before the object is saved.",
                info: [NSAffectedObjectsErrorKey: insertion.row.map { [$0.knownObjectID] } ?? []])
        }
        for record in 0..<image.count where owner.entity.map({ image.shape(record).entity.isKindOf(entity: $0) }) ?? false {
            try reader.open(record)
            if NumberText.string(reader.cell(image.plan.keyNames[image.shapeIndex(record)]).text) == key { return (record, owner.list) }
        }
        return (nil, owner.list)
    }

    private func ownerKey(of insertion: RecordChanges.Insertion, _ shape: RecordShape) -> String? {
        guard let relationship = shape.fields.first(where: { $0.name == shape.owner?.field })?.relationship, let row = insertion.row else {
            return nil
        }
        return row.relatedIDs(relationship).first.map { RecordKey.text($0.reference) }
    }

    private mutating func remove(_ deleted: Set<Int>, from elements: [Int], _ list: JSONStructure.List) throws {
        let ends = try elements.map { try JSONFormat.end(of: image.starts[$0], in: image) ?? image.starts[$0] }
        var index = 0
        var lastStaying: Int?
        while index < elements.count {
            guard deleted.contains(elements[index]) else {
                lastStaying = index
                index += 1
                continue
            }
            var end = index
            while end + 1 < elements.count, deleted.contains(elements[end + 1]) { end += 1 }
            if let lastStaying {
                edits.append((ends[lastStaying]..<ends[end], []))
            } else if end + 1 < elements.count {
                edits.append((image.starts[elements[index]]..<image.starts[elements[end + 1]], []))
            } else {
                edits.append((list.open + 1..<list.close, []))
            }
            index = end + 1
        }
    }

    private mutating func add(
        _ texts: [[UInt8]], to list: JSONStructure.List, _ elements: [Int], _ staying: [Int]
    ) throws {
        let isInline = !image.text.string(list.open..<list.close).contains("\n") && !elements.isEmpty
        let indentation = indentation(at: list.open)
        var between = isInline ? ", " : ",\n" + indentation + "  "
        if elements.count > 1, let end = try JSONFormat.end(of: image.starts[elements[0]], in: image) {
            between = image.text.string(end..<image.starts[elements[1]])
        }
        guard let last = elements.last, let end = try JSONFormat.end(of: image.starts[last], in: image) else {
            let open = isInline ? "" : "\n" + indentation + "  "
            let bytes = Array(open.utf8) + Array(texts.joined(separator: between.utf8)) + Array((isInline ? "" : "\n" + indentation).utf8)
            edits.append((list.open + 1..<list.close, bytes))
            return
        }
        // After the last element, which may itself be removed: the edits are in the order of their places.
        if staying.isEmpty {
            edits.removeAll { $0.range == list.open + 1..<list.close }
            let first = image.text.string(list.open + 1..<image.starts[elements[0]])
            let closing = image.text.string(end..<list.close)
            edits.append(
                (list.open + 1..<list.close, Array(first.utf8) + Array(texts.joined(separator: between.utf8)) + Array(closing.utf8)))
        } else {
            edits.append((end..<end, texts.flatMap { Array(between.utf8) + $0 }))
        }
    }

    /// Adds a list that its owner or the document lacks.
    private mutating func addList(_ name: String, to owner: Int, _ texts: [[UInt8]]) throws {
        let bytes = [0x5B] + Array(texts.joined(separator: ", ".utf8)) + [0x5D]
        if owner >= 0 { return try add(Self.member(name, bytes, style, after: true), to: owner) }
        var scanner = try JSONScanner(image.text.buffer)
        try scanner.beginObject()
        var last = scanner.position
        var isEmpty = true
        while try scanner.nextKey() != nil {
            last = try scanner.skipValue().upperBound
            isEmpty = false
        }
        let member = Array((isEmpty ? "\n  " : ",\n  ").utf8) + Array(JSONValue.string(name).description.utf8) + Array(": ".utf8) + bytes
        edits.append((last..<last, member))
    }

    /// Returns the blanks at the beginning of the line at a place.
    private func indentation(at place: Int) -> String {
        var start = place
        while start > 0, image.text.buffer[start - 1] != 0x0A { start -= 1 }
        var end = start
        while end < place, image.text.buffer[end] == 0x20 || image.text.buffer[end] == 0x09 { end += 1 }
        return image.text.string(start..<end)
    }

    /// Returns a new record as JSON.
    private func record(_ insertion: RecordChanges.Insertion) throws -> [UInt8] {
        let plan = image.plan
        let shape = plan.shapes[insertion.shape]
        var members: [(name: String, bytes: [UInt8])] = []
        let hasEntity = plan.shapes.filter { $0.file == shape.file && $0.nestedName == shape.nestedName }.count > 1
        if hasEntity { members.append((plan.names[plan.entityName], Array(JSONValue.string(shape.entityText).description.utf8))) }
        if !structure.isKeyless, shape.keyField == nil, shape.keyColumns.count == 1 {
            members.append((shape.keyName, Self.key(insertion.key)))
        }
        for (name, text) in insertion.texts.sorted(by: { $0.key < $1.key }) { members.append((plan.names[name], Self.key(text))) }
        if plan.versionName >= 0, !shape.isJoin { members.append((plan.names[plan.versionName], Array(String(insertion.version).utf8))) }
        for field in shape.fields where field.name != shape.owner?.field {
            guard let row = insertion.row else { break }
            for (part, column) in field.columns.enumerated() {
                var bytes = try Self.value(field, part, row)
                if bytes.isEmpty, field === shape.keyField { bytes = Self.key(insertion.key) }
                if !bytes.isEmpty, !members.contains(where: { $0.name == column }) { members.append((column, bytes)) }
            }
        }
        for nested in try nestedLists(in: insertion, shape) { members.append(nested) }
        var text: [UInt8] = [0x7B]
        for (index, member) in members.enumerated() { text += Self.member(member.name, member.bytes, style, after: index > 0) }
        return text + Array(style.closing.utf8) + [0x7D]
    }

    /// Returns the lists of new records that are nested in a new record.
    private func nestedLists(in insertion: RecordChanges.Insertion, _ shape: RecordShape) throws -> [(name: String, bytes: [UInt8])] {
        var lists: [(name: String, bytes: [UInt8])] = []
        let inner = changes.insertions.filter { other in
            let otherShape = image.plan.shapes[other.shape]
            guard let owner = otherShape.owner?.entity, shape.entity.isKindOf(entity: owner) else { return false }
            return ownerKey(of: other, otherShape) == insertion.key
        }
        for name in Set(inner.compactMap { image.plan.shapes[$0.shape].nestedName }).sorted() {
            let texts = try inner.filter { image.plan.shapes[$0.shape].nestedName == name }.map { try record($0) }
            lists.append((name, [0x5B] + Array(texts.joined(separator: ", ".utf8)) + [0x5D]))
        }
        return lists
    }
}

extension JSONFormat {
    func text(of image: RecordImage, changed changes: RecordChanges) throws -> [UInt8] {
        do {
            if let moving = try JSONMoving(self, image, changes) { return try moving.text() }
            var editor = try JSONEditor(image, structure(of: image), changes)
            return try editor.text()
        } catch let mistake as FileMistake {
            throw image.error(mistake)
        } catch let error as JSONError {
            throw image.error(FileMistake(error))
        }
    }
}
