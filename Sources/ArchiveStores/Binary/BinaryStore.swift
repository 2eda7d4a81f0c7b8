package import Foundation
internal import ModelFiles
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import PropertyLists

/// The binary store: a binary property list with the metadata, the model, and the rows of each entity. Apple's format is not public, and this is
/// another one.
// Unchecked, as its superclass.
package final class BinaryStore: ArchiveStore, @unchecked Sendable {
    override class var typeName: String { NSBinaryStoreType }

    static let format = "OpenCoreData binary store"
    /// The number of this form of the format. Files of a later one are refused.
    static let formatVersion: Int64 = 1

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let file = ArchiveFile(url)
        guard let read = try file.read() else { throw file.failure(ENOENT, "read", isWriting: false) }
        return try metadata(in: read.bytes, of: file)
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        try replaceMetadata(metadata, at: url)
    }

    /// Runs `body` with the parts of a file, and adds the file's path to its errors.
    private static func reading<Result>(
        _ bytes: [UInt8], _ file: ArchiveFile, _ body: (BinaryStoreList, [String: Int]) throws -> Result
    ) throws -> Result {
        func damaged(_ reason: String, next: String = "Restore the file from a copy.") -> NSError {
            CoreDataError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "The binary store at \(file.path) cannot be read.", reason: reason,
                next: next,
                info: [NSFilePathErrorKey: file.path])
        }
        let foreign = damaged(
            "It is not a file of this framework's binary store. Apple's format of binary stores is not public, and is not read.",
            next: "Copy the store to a SQLite store on an Apple platform, with migratePersistentStore, and open that.")
        return try bytes.withUnsafeBytes { bytes in
            let list: BinaryStoreList
            let parts: [String: Int]
            do {
                list = try BinaryStoreList(bytes)
            } catch let failure as BinaryStoreList.Failure {
                // It may have been ours before it was cut off.
                throw bytes.starts(with: BinaryStoreList.beginning) ? damaged(failure.reason) : foreign
            }
            guard let found = try? list.dictionary(list.root), (try? list.text(found["format"])) == format else { throw foreign }
            parts = found
            do {
                let version = try list.integer(parts["version"])
                guard version == formatVersion else {
                    throw damaged("It has the version \(version) of its format.", next: "Open it with a later version of this framework.")
                }
                return try body(list, parts)
            } catch let failure as BinaryStoreList.Failure {
                throw damaged(failure.reason)
            } catch let failure as BinaryStoreRows.Failure {
                throw damaged(failure.reason)
            }
        }
    }

    override class func metadata(in bytes: [UInt8], of file: ArchiveFile) throws -> [String: Any] {
        try reading(bytes, file) { list, parts in try metadata(list, parts) }
    }

    private static func metadata(_ list: BinaryStoreList, _ parts: [String: Int]) throws -> [String: Any] {
        // Not read by Foundation, whose decoder stops the program at some damaged lists.
        guard let found = try? PropertyListValues.dictionary(Data(list.data(parts["metadata"]))),
            let uuid = found[NSStoreUUIDKey] as? String,
            !uuid.isEmpty
        else { throw BinaryStoreList.Failure(reason: "Its metadata are damaged.") }
        var metadata = found
        metadata[NSStoreTypeKey] = NSBinaryStoreType
        return metadata
    }

    override class func write(_ metadata: [String: Any], in bytes: [UInt8], of file: ArchiveFile, to output: ArchiveOutput) throws {
        try reading(bytes, file) { list, parts in
            var writer = try BinaryStoreListWriter(output)
            let entities = try list.array(parts["entities"]).map { index in
                let entity = try list.dictionary(index)
                let rows = try list.array(entity["rows"]).map { try writer.add(list.data($0)) }
                let names = try list.array(entity["properties"]).map { try writer.add(list.text($0)) }
                return try writer.add([
                    ("name", writer.add(list.text(entity["name"]))), ("properties", writer.add(names)), ("rows", writer.add(rows)),
                ])
            }
            let model = try parts["model"].map { Data(try list.data($0)) }
            try finish(&writer, metadata, model, list.integer(parts["lastNumber"]), entities)
        }
    }

    private static func finish(
        _ writer: inout BinaryStoreListWriter, _ metadata: [String: Any], _ model: Data?, _ lastNumber: Int64, _ entities: [Int]
    ) throws {
        let data = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        var parts = try [
            ("format", writer.add(format)), ("version", writer.add(formatVersion)),
            ("metadata", data.withUnsafeBytes { try writer.add($0) }),
            ("lastNumber", writer.add(lastNumber)), ("entities", writer.add(entities)),
        ]
        if let model { parts.append(("model", try model.withUnsafeBytes { try writer.add($0) })) }
        _ = try writer.add(parts)
        try writer.finish()
    }

    override func readContents(_ bytes: [UInt8]) throws -> ArchiveContents {
        try Self.reading(bytes, file) { list, parts in
            var reader = try BinaryStoreRows.Reader(self)
            let entities = try list.array(parts["entities"]).map { try list.dictionary($0) }
            // References name entities by their positions.
            try reader.begin(entities.map { try list.text($0["name"]) })
            for (position, entity) in entities.enumerated() {
                let names = try list.array(entity["properties"]).map { try list.text($0) }
                for chunk in try list.array(entity["rows"]) { try reader.read(list.data(chunk), position, names) }
            }
            let number = try list.integer(parts["lastNumber"])
            guard number >= 0, number <= ArchiveContents.largestNumber else {
                throw BinaryStoreList.Failure(reason: "Its last number is wrong.")
            }
            return ArchiveContents(
                rows: reader.rows, metadata: try Self.metadata(list, parts), lastNumber: max(number, reader.lastNumber),
                rawArchives: reader.rawArchives)
        }
    }

    override func write(_ new: inout ArchiveContents, _ changes: ArchiveChanges, to output: ArchiveOutput) throws {
        var list = try BinaryStoreListWriter(output)
        let rows = try BinaryStoreRows.Writer(entities, new.rawArchives)
        let written = try rows.entities.indices.map { position in
            let (entity, columns) = rows.entities[position]
            var chunks: [Int] = []
            try rows.forEachChunk(of: position, new.rows) { chunks.append(try list.add($0)) }
            let names = try columns.map { try list.add($0.name) }
            return try list.add([("name", list.add(entity.name ?? "")), ("properties", list.add(names)), ("rows", list.add(chunks))])
        }
        try Self.finish(&list, new.metadata, modelContent(), new.lastNumber, written)
    }

    // MARK: The model

    override class func modelContent(in bytes: [UInt8], of file: ArchiveFile) throws -> Data? {
        try reading(bytes, file) { list, parts in try parts["model"].map { Data(try list.data($0)) } }
    }
}
