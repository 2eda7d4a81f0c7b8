package import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The XML store: Core Data's layout of an XML file, with every object as an element.
// See ``ArchiveStore``; `names` is set when the store is opened, before it is shared.
package final class XMLStore: ArchiveStore, @unchecked Sendable {
    private var names: XMLStoreNames!

    override class var typeName: String { NSXMLStoreType }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let file = ArchiveFile(url)
        guard let read = try file.read() else { throw file.failure(ENOENT, "read", isWriting: false) }
        return try metadata(in: read.bytes, of: file)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try replaceMetadata(metadata, at: url)
    }

    override class func metadata(in bytes: [UInt8], of file: ArchiveFile) throws -> [String: Any] {
        let document = try XMLStoreDocument(bytes, file)
        let header = try document.reading { bytes in
            var scanner = XMLStoreScanner(bytes, from: document.start)
            return try XMLStoreHeader.read(&scanner, start: 0)
        }
        return comparable(header.metadata)
    }

    override class func modelContent(in bytes: [UInt8], of file: ArchiveFile) throws -> Data? {
        let document = try XMLStoreDocument(bytes, file)
        return try document.reading { bytes in
            var scanner = XMLStoreScanner(bytes, from: document.start)
            return try XMLStoreHeader.read(&scanner, start: 0).model
        }
    }

    override class func write(_ metadata: [String: Any], in bytes: [UInt8], of file: ArchiveFile, to output: ArchiveOutput) throws {
        let document = try XMLStoreDocument(bytes, file)
        try document.reading { bytes in
            var scanner = XMLStoreScanner(bytes, from: document.start)
            var header = try XMLStoreHeader.read(&scanner, start: 0)
            header.metadata = metadata
            try header.render()
            try output.append(document.isConverted ? XMLStoreHeader.defaultBeginning : header.beginning)
            try output.append(header.info)
            try output.append(UnsafeRawBufferPointer(rebasing: bytes[header.length...]))
        }
    }

    override func readContents(_ bytes: [UInt8]) throws -> ArchiveContents {
        let names = try XMLStoreNames(entities)
        self.names = names
        let document = try XMLStoreDocument(bytes, file)
        return try document.reading { bytes in
            var reader = XMLStoreReader(self, names, bytes, start: document.start)
            return try reader.read(document)
        }
    }

    override func write(_ new: inout ArchiveContents, _ changes: ArchiveChanges, to output: ArchiveOutput) throws {
        if names == nil { names = try XMLStoreNames(entities) }
        let writer = XMLStoreWriter(names: names, rawArchives: new.rawArchives, output: output)
        var map = new.map as? XMLStoreMap ?? emptyMap(new)
        var changes = changes
        if !map.isCopyable {
            // Rewritten, in UTF-8.
            (map.header.beginning, map.header.others, map.tail) = (XMLStoreHeader.defaultBeginning, [], XMLStoreMap.defaultTail)
            changes = ArchiveChanges()
            var all: [Row] = []
            try new.rows.forEachRow { all.append($0) }
            changes.inserted = all.sorted { ($0.knownObjectID.number ?? 0) < ($1.knownObjectID.number ?? 0) }
        }
        let isSame = NSDictionary(dictionary: new.metadata).isEqual(to: ArchiveStore.comparable(map.header.metadata))
        let wantsNumber = new.lastNumber > map.header.lastNumber || map.header.writtenNumber == 0
        map.header.lastNumber = max(map.header.lastNumber, new.lastNumber)
        // Other programs preserve a copy that they do not understand, even if they write another version of the model.
        let model = isOfOwnModel(new.metadata) ? modelContent() : map.header.model
        if !isSame || wantsNumber || !map.isCopyable || model != map.header.model {
            map.header.metadata = new.metadata
            map.header.model = model
            try map.header.render()
        }
        try output.append(map.header.beginning)
        try output.append(map.header.info)
        map.header.length = output.count
        let old = map.spans.isEmpty ? nil : try ArchiveSource(file, expected: new.stamp)
        map.spans = try writer.write(changes, copying: map, from: old)
        try old?.finish()
        try output.append(map.tail)
        map.isCopyable = true
        new.map = map
    }

    /// The map of a file that is not there yet.
    private func emptyMap(_ new: ArchiveContents) -> XMLStoreMap {
        let header = XMLStoreHeader(
            beginning: XMLStoreHeader.defaultBeginning, info: [], length: 0, metadata: [:], model: nil,
            lastNumber: max(XMLStoreHeader.firstNumber, new.lastNumber), writtenNumber: 0, others: [])
        return XMLStoreMap(header: header, spans: [], tail: XMLStoreMap.defaultTail, isCopyable: true)
    }
}
