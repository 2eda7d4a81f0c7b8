internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Keeps the rows of a batch insert between the program's handler, which is called without a lock, and the transaction, which needs one.
///
/// Few rows stay in memory; many go to a temporary file without a name, so that a batch of any size takes the memory of one chunk.
// Used by one thread.
final class SQLBatchSpool {
    /// The number of rows that are kept in memory.
    static let chunkSize = 4096

    private let entity: NSEntityDescription
    private let store: SQLiteStore
    private var rows: [BatchRow] = []
    /// The number of rows.
    private(set) var count = 0
    /// The file, which belongs to the spool.
    private var file: UnsafeMutablePointer<FILE>?
    private var chunkCount = 0
    private lazy var coder = RowCoder(for: store)
    /// The common ID of all rows in the file; they get their own when they are inserted.
    private let placeholder: NSManagedObjectID
    /// Archives are not written twice: rows with values of any class stay in memory.
    private let isPlain: Bool

    init(_ entity: NSEntityDescription, of store: SQLiteStore) {
        self.entity = entity
        self.store = store
        placeholder = NSManagedObjectID(entity: entity, token: store.token, reference: .integer(0))
        isPlain = !entity.frozenParts.properties.contains { property in
            guard let type = (property as? NSAttributeDescription)?.attributeType else { return false }
            return [.transformableAttributeType, .compositeAttributeType, .objectIDAttributeType].contains(type)
        }
    }

    deinit { if let file { fclose(file) } }

    /// Adds a row.
    ///
    /// - Throws: An error if there is no space for a temporary file.
    func add(_ row: BatchRow) throws {
        rows.append(row)
        count += 1
        if rows.count >= Self.chunkSize, isPlain { try spill() }
    }

    /// Calls `body` with all rows in order, some at a time. It is called once.
    func forEachChunk(_ body: ([BatchRow]) throws -> Void) throws {
        if let file {
            rewind(file)
            for _ in 0..<chunkCount {
                // Each chunk is released before the next one is read.
                try body(try chunk(in: file))
            }
        }
        if !rows.isEmpty { try body(rows) }
    }

    // MARK: The file

    private func failure() -> NSError { Self.failure(entity) }

    /// Returns the error if there is no space for the file.
    static func failure(_ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            CocoaError.Code.fileWriteUnknown.rawValue, "A batch insert of “\(entity)” cannot be executed.",
            reason: "Its rows do not fit into a temporary file: \(String(cString: strerror(errno))).",
            next: "Make space in the directory of temporary files, or insert fewer rows at a time.")
    }

    /// Moves the rows to the file.
    private func spill() throws {
        if file == nil { file = tmpfile() }
        guard let file else { throw failure() }
        var bytes = ByteWriter(capacity: 1 << 20)
        bytes.append(short: UInt64(rows.count))
        for row in rows {
            row.row.objectID = placeholder
            try coder.encode(row.row, into: &bytes)
            let given = entity.frozenParts.properties.map(\.slotIndex).filter { row.given.contains($0) }
            bytes.append(short: UInt64(given.count))
            for index in given { bytes.append(short: UInt64(index)) }
        }
        rows.removeAll(keepingCapacity: true)
        var length = UInt64(bytes.count)
        let isWritten = bytes.withUnsafeBytes { fwrite(&length, 8, 1, file) == 1 && fwrite($0.baseAddress, 1, $0.count, file) == $0.count }
        guard isWritten else { throw failure() }
        chunkCount += 1
    }

    private func chunk(in file: UnsafeMutablePointer<FILE>) throws -> [BatchRow] {
        var length: UInt64 = 0
        guard fread(&length, 8, 1, file) == 1 else { throw failure() }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(length), alignment: 8)
        defer { bytes.deallocate() }
        guard fread(bytes.baseAddress, 1, bytes.count, file) == bytes.count else { throw failure() }
        var reader = ByteReader(UnsafeRawBufferPointer(bytes))
        return try (0..<(try reader.short())).map { _ in
            let row = try coder.decodeRow(from: &reader)
            var given = PropertySet()
            for _ in 0..<(try reader.short()) { given.insert(Int(try reader.short())) }
            return BatchRow(row: row, given: given)
        }
    }
}
