internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Writes the objects of an XML store: unchanged objects are copied from the old file.
struct XMLStoreWriter {
    let names: XMLStoreNames
    let rawArchives: Set<ArchiveContents.RawArchive>
    let output: ArchiveOutput

    private static let attributeEnd = Array("</attribute>".utf8)
    private static let relationshipEnd = Array("></relationship>".utf8)
    private static let references = Array(" idrefs=\"".utf8)
    private static let objectEnd = Array("\n    </object>".utf8)

    /// Writes one object, with the line end before it.
    func write(_ row: Row) throws {
        let id = row.knownObjectID
        let number = id.number.known("rows of the store have numbers")
        guard let entity = names[id.owningEntity] else {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "\(id) cannot be saved.", reason: "The store does not have its entity.",
                next: "Assign it to the store of its configuration.", info: [NSAffectedObjectsErrorKey: [id]])
        }
        try output.append(Array("\n    <object type=\"\(XMLStoreText.inAttribute(entity.name))\" id=\"z".utf8))
        try XMLStoreNumbers.write(number, to: output)
        try output.append([0x22, 0x3E])
        for index in entity.written {
            let column = entity.columns[index]
            if let relationship = column.relationship {
                try output.append(entity.beginnings[index])
                let ids = row.relatedIDs(relationship)
                if !ids.isEmpty {
                    try output.append(Self.references)
                    for (place, id) in ids.enumerated() {
                        try output.append(place == 0 ? [0x7A] : [0x20, 0x7A])
                        try XMLStoreNumbers.write(id.number.known("objects of the store have numbers"), to: output)
                    }
                    try output.append([0x22])
                }
                try output.append(Self.relationshipEnd)
            } else if !column.isNil(in: row) {
                try output.append(entity.beginnings[index])
                let isRaw = !rawArchives.isEmpty && rawArchives.contains(.init(number: number, slotIndex: column.property.slotIndex))
                try XMLStoreValue.write(column, of: row, isRaw: isRaw, to: output)
                try output.append(Self.attributeEnd)
            }
        }
        try output.append(Self.objectEnd)
    }

    /// Writes the objects in the order of the old file, changed ones in their places, and new ones after them.
    ///
    /// - Returns: Their present places.
    func write(_ changes: ArchiveChanges, copying map: XMLStoreMap, from old: ArchiveSource?) throws -> [XMLStoreMap.Span] {
        var spans: [XMLStoreMap.Span] = []
        spans.reserveCapacity(map.spans.count + changes.inserted.count)
        // Adjacent copied objects are copied together.
        var copied: Range<Int>?
        func finishCopying() throws {
            guard let range = copied else { return }
            copied = nil
            try old.known("there are objects in the old file").copy(range, to: output)
        }
        var written = output.count
        for span in map.spans {
            if changes.deleted.contains(span.number) { continue }
            if let row = changes.changed[span.number] {
                try finishCopying()
                try write(row)
                spans.append(.init(number: span.number, offset: written, length: output.count - written))
                written = output.count
                continue
            }
            if copied?.upperBound != span.offset { try finishCopying() }
            copied = (copied?.lowerBound ?? span.offset)..<(span.offset + span.length)
            spans.append(.init(number: span.number, offset: written, length: span.length))
            written += span.length
        }
        try finishCopying()
        for row in changes.inserted {
            let start = output.count
            try write(row)
            spans.append(.init(number: row.knownObjectID.number ?? 0, offset: start, length: output.count - start))
        }
        return spans
    }
}
