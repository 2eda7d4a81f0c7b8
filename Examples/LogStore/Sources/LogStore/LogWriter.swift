@_spi(Stores) internal import CoreData
internal import Foundation

/// Writes records.
struct LogWriter {
    private let coder: RowCoder
    /// Receives the written bytes.
    private let write: (UnsafeRawBufferPointer) throws -> Void

    init(_ coder: RowCoder, _ write: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.coder = coder
        self.write = write
    }

    /// Writes the start of a file.
    func writeBeginning() throws {
        var bytes = ByteWriter()
        bytes.append(fixed: LogFormat.magic)
        try bytes.withUnsafeBytes(write)
    }

    /// Writes the metadata.
    ///
    /// - Throws: Code 134030 for values that a property list cannot hold.
    func write(_ metadata: [String: Any]) throws {
        guard PropertyListSerialization.propertyList(metadata, isValidFor: .binary) else {
            throw LogStoreError.make(
                NSPersistentStoreSaveError, "The metadata of a store cannot be written.", reason: "A property list cannot hold them.",
                next: "Use texts, numbers, dates, data, arrays and dictionaries only.")
        }
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        var bytes = ByteWriter(capacity: list.count + 128)
        LogFormat.append(.metadata, to: &bytes) { bytes in
            bytes.append(fixed: coder.fingerprint)
            list.withUnsafeBytes { bytes.append(counted: $0) }
        }
        try bytes.withUnsafeBytes(write)
    }

    /// Writes the last assigned numbers.
    func write(numbers: [NSManagedObjectID]) throws {
        var bytes = ByteWriter()
        try LogFormat.append(.numbers, to: &bytes) { bytes in
            bytes.append(short: UInt64(numbers.count))
            for id in numbers { try coder.encode(id, into: &bytes) }
        }
        try bytes.withUnsafeBytes(write)
    }

    /// Writes a save: the rows of changes, and the IDs of deleted objects. A small save is written by one call.
    func write(_ parts: [[StoreChange]], deleted: [NSManagedObjectID]) throws {
        var bytes = ByteWriter(capacity: 4096)
        for changes in parts {
            var start = 0
            while start < changes.count {
                try appendRows(&bytes) { bytes in
                    let piece = try coder.encodeRows(of: changes, from: start, upTo: bytes.count + LogFormat.recordSize, into: &bytes)
                    start = piece.end
                    return piece.rowCount
                }
            }
        }
        try writeEnd(deleted, &bytes)
    }

    /// Writes a save of rows.
    func write(_ rows: [Row], deleted: [NSManagedObjectID]) throws {
        var bytes = ByteWriter(capacity: 4096)
        var start = 0
        while start < rows.count {
            try appendRows(&bytes) { bytes in
                let (first, limit) = (start, bytes.count + LogFormat.recordSize)
                while start < rows.count, bytes.count < limit {
                    try coder.encode(rows[start], into: &bytes)
                    start += 1
                }
                return start - first
            }
        }
        try writeEnd(deleted, &bytes)
    }

    /// Appends a record of rows, and writes the buffer once it is large.
    ///
    /// - Parameter body: Appends rows, and returns their number.
    private func appendRows(_ bytes: inout ByteWriter, _ body: (inout ByteWriter) throws -> Int) throws {
        try LogFormat.append(.part, to: &bytes) { bytes in
            let place = bytes.count
            bytes.append(fixed: 0)
            bytes.replace(fixed: UInt64(try body(&bytes)), at: place)
            bytes.append(short: 0)
        }
        guard bytes.count >= LogFormat.recordSize else { return }
        try bytes.withUnsafeBytes(write)
        bytes.truncate(to: 0)
    }

    private func writeEnd(_ deleted: [NSManagedObjectID], _ bytes: inout ByteWriter) throws {
        try LogFormat.append(.end, to: &bytes) { bytes in
            bytes.append(fixed: 0)
            bytes.append(short: UInt64(deleted.count))
            for id in deleted { try coder.encode(id, into: &bytes) }
        }
        try bytes.withUnsafeBytes(write)
    }
}
