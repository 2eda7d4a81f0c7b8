internal import Foundation
internal import JSONReading
@_spi(Stores) internal import ObjectGraph

/// A record that moves from the record of its owner to another one.
private struct JSONMove {
    let root: NSEntityDescription
    let key: String
    let owner: NSEntityDescription
    let ownerKey: String
    /// The name of the list in the owner's record.
    let list: String
}

/// Changes a file with moving records. First, all changes are written at the old places. Then, records move with all their text. Finally, deleted
/// records are removed, which may have been the owners.
struct JSONMoving {
    private let format: JSONFormat
    private let changes: RecordChanges
    private let original: RecordImage
    private var moves: [JSONMove] = []

    /// Nil if no record moves.
    init?(_ format: JSONFormat, _ image: RecordImage, _ changes: RecordChanges) throws {
        (self.format, self.changes, original) = (format, changes, image)
        guard image.plan.shapes.contains(where: { $0.owner != nil }) else { return nil }
        let reader = JSONRecordReader(image, format.structure(of: image))
        for update in changes.updates {
            let shape = image.shape(update.record)
            guard let owner = shape.owner, let entity = owner.entity, let row = update.row,
                let field = shape.fields.first(where: { $0.name == owner.field }), let relationship = field.relationship,
                update.changed.contains(relationship.slotIndex), let name = image.plan.names.firstIndex(of: owner.field)
            else { continue }
            try reader.open(update.record)
            let key = NumberText.string(reader.cell(image.plan.keyNames[image.shapeIndex(update.record)]).text)
            guard let ownerKey = row.relatedIDs(relationship).first.map({ RecordKey.text($0.reference) }), !image.isKeyless else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "\(row.knownObjectID) cannot leave its “\(relationship)”.",
                    reason: image.isKeyless ? "Records have no keys." : "Its record stands in that of its owner.",
                    next: image.isKeyless ? "Give each record its key." : "Set another owner, or delete it.",
                    info: [NSAffectedObjectsErrorKey: [row.knownObjectID]])
            }
            if ownerKey == NumberText.string(reader.cell(name).text) { continue }
            moves.append(JSONMove(root: shape.root, key: key, owner: entity, ownerKey: ownerKey, list: owner.list))
        }
        if moves.isEmpty { return nil }
    }

    func text() throws -> [UInt8] {
        var staying = changes
        staying.deletions = []
        var editor = try JSONEditor(original, format.structure(of: original), staying)
        var image = try scanned(try editor.text())
        var left = moves
        while !left.isEmpty {
            let (batch, others) = try batch(of: left, in: image)
            if batch.isEmpty {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "The file at \(original.path) was not written.",
                    reason: "“\(left[0].key)” would stand in a record that stands in it.", next: "Give it another owner.",
                    info: [NSFilePathErrorKey: original.path])
            }
            var editor = try JSONEditor(image, format.structure(of: image), RecordChanges())
            image = try scanned(try editor.text(moving: batch))
            left = others
        }
        if changes.deletions.isEmpty { return Array(image.text.buffer) }
        var deletions = RecordChanges()
        let reader = JSONRecordReader(original, format.structure(of: original))
        for record in changes.deletions {
            try reader.open(record)
            let key = NumberText.string(reader.cell(original.plan.keyNames[original.shapeIndex(record)]).text)
            if let found = try find(key, of: original.shape(record).root, in: image) { deletions.deletions.append(found) }
        }
        deletions.deletions.sort()
        var last = try JSONEditor(image, format.structure(of: image), deletions)
        return try last.text()
    }

    /// Returns the moves that can be made together: none of them leads into, or out of, another moving record.
    private func batch(
        of moves: [JSONMove], in image: RecordImage
    ) throws -> (batch: [(record: Int, owner: Int, list: String)], others: [JSONMove]) {
        var batch: [(record: Int, owner: Int, list: String)] = []
        var ranges: [Range<Int>] = []
        var others: [JSONMove] = []
        let moving = try moves.map { move in
            guard let record = try find(move.key, of: move.root, in: image),
                let end = try JSONFormat.end(of: image.starts[record], in: image)
            else { throw FileMistake(offset: 0, expected: "a record with the key “\(move.key)”") }
            guard let owner = try find(move.ownerKey, of: move.owner.rootEntity, in: image) else {
                throw FileMistake(offset: image.starts[record], expected: "a record “\(move.ownerKey)” to move to")
            }
            return (record, owner, range: image.starts[record]..<end)
        }
        // Ranges of records are nested or disjoint.
        let sorted = moving.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
        func isWithinMoving(_ place: Int) -> Bool {
            var (low, high) = (0, sorted.count)
            while low < high {
                let middle = (low + high) / 2
                if sorted[middle].lowerBound <= place { low = middle + 1 } else { high = middle }
            }
            // The outermost range around the place may be several ranges earlier.
            return sorted[..<low].reversed().prefix(64).contains { $0.contains(place) }
        }
        for (move, (record, owner, range)) in zip(moves, moving) {
            let isInner = sorted.contains { $0.lowerBound < range.lowerBound && $0.upperBound > range.upperBound } && sorted.count < 4096
            if isWithinMoving(image.starts[owner]) || isInner {
                others.append(move)
            } else {
                batch.append((record, owner, move.list))
                ranges.append(range)
            }
        }
        return (batch, others)
    }

    private func scanned(_ text: [UInt8]) throws -> RecordImage {
        let image = RecordImage(original.plan, path: original.path, text: TextBytes(text), form: original.form, stamp: nil)
        // The unreadable records of the original are still there.
        try format.scan(image, progress: nil, skip: original.skipped.isEmpty ? nil : { _ in })
        return image
    }

    private func find(_ key: String, of root: NSEntityDescription, in image: RecordImage) throws -> Int? {
        let reader = image.finding ?? format.reader(of: image)
        image.finding = reader
        return try key.withUTF8ForReading { text in
            let bytes = UnsafeRawBufferPointer(text)
            return try image.index.find(RecordKey.hash(bytes)) { other in
                guard image.shape(other).root === root else { return false }
                try reader.open(other)
                return reader.cell(image.plan.keyNames[image.shapeIndex(other)]).text.elementsEqual(bytes)
            }
        }
    }
}
