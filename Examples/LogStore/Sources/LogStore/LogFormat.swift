@_spi(Stores) internal import CoreData
internal import Foundation

/// The format of a store's file: eight magic bytes, followed by records.
///
/// A record consists of its length, a checksum of its contents, a checksum of these two, and the contents, which begin with the kind. A
/// save is one or more records, of which the last marks the end: an incomplete save is ignored.
enum LogFormat {
    /// `LOGSTR01`, little-endian.
    static let magic: UInt64 = 0x3130_5254_5347_4F4C
    static let headSize = 24
    /// The approximate size of a save's records, so that the data being written stays in the processor's cache.
    static let recordSize = 128 * 1024

    enum Kind: UInt8 {
        /// The fingerprint of the model, and the metadata as a property list.
        case metadata = 1
        /// Current rows, and IDs of deleted objects; more records of the same save follow.
        case part = 2
        /// The same contents in the last record of a save.
        case end = 3
        /// The last assigned numbers, as IDs, so that they are never assigned again.
        case numbers = 4
    }

    /// Appends a record, whose contents `body` writes.
    static func append(_ kind: Kind, to bytes: inout ByteWriter, _ body: (inout ByteWriter) throws -> Void) rethrows {
        let start = bytes.count
        for _ in 0..<3 { bytes.append(fixed: 0) }
        bytes.append(kind.rawValue)
        try body(&bytes)
        let length = UInt64(bytes.count - start - headSize)
        bytes.replace(fixed: length, at: start)
        let sum = bytes.withUnsafeBytes { Checksum.of(UnsafeRawBufferPointer(rebasing: $0[(start + headSize)...])) }
        bytes.replace(fixed: sum, at: start + 8)
        let head = bytes.withUnsafeBytes { Checksum.of(UnsafeRawBufferPointer(rebasing: $0[start..<start + 16])) }
        bytes.replace(fixed: head, at: start + 16)
    }

    /// Reads the records of a file.
    ///
    /// - Parameter body: Called with the kind and the contents of each record.
    /// - Returns: The end of the last complete save, and why the data after it is ignored; nil where there is none.
    /// - Throws: Code 259 for a damaged file or another kind of file; the errors of `body`.
    static func read(
        _ file: UnsafeRawBufferPointer, path: String, _ body: (Kind, inout ByteReader) throws -> Void
    ) throws -> (end: Int, tear: String?) {
        guard file.count >= 8, file.loadUnaligned(as: UInt64.self) == magic.littleEndian else {
            throw LogStoreError.damaged(path, at: 0, "It is not a file of a LogStore.")
        }
        var place = 8
        var end = 8
        while place < file.count {
            let rest = UnsafeRawBufferPointer(rebasing: file[place...])
            let record: UnsafeRawBufferPointer
            switch check(rest) {
            case .whole(let found): record = found
            case .torn(let reason): return (end, reason)
            case .damaged(let reason): throw LogStoreError.damaged(path, at: place, reason)
            }
            guard let kind = record.first.flatMap(Kind.init) else {
                throw LogStoreError.damaged(path, at: place, "A record is of a kind that this version does not know.")
            }
            var reader = ByteReader(UnsafeRawBufferPointer(rebasing: record.dropFirst()))
            try body(kind, &reader)
            place += headSize + record.count
            if kind != .part { end = place }
        }
        return (end, place == end ? nil : "The last save has no end.")
    }

    private enum Check {
        case whole(UnsafeRawBufferPointer)
        /// The record was being written when the program or machine stopped.
        case torn(String)
        case damaged(String)
    }

    /// Checks the rest of a file. A killed program leaves a prefix of its data; a machine failure mostly leaves zeros.
    private static func check(_ rest: UnsafeRawBufferPointer) -> Check {
        guard rest.count >= headSize else { return .torn("A record ends before its head does.") }
        let head = (0..<3).map { UInt64(littleEndian: rest.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        guard head[2] == Checksum.of(UnsafeRawBufferPointer(rebasing: rest[..<16])) else {
            return rest.allSatisfy { $0 == 0 } ? .torn("Zeros follow.") : .damaged("The head of a record is wrong.")
        }
        guard head[0] <= UInt64(rest.count - headSize) else { return .torn("A record ends before its length says.") }
        let record = UnsafeRawBufferPointer(rebasing: rest[headSize..<headSize + Int(head[0])])
        if head[1] == Checksum.of(record) { return .whole(record) }
        let isLast = headSize + record.count == rest.count
        return isLast ? .torn("The last record is not whole.") : .damaged("A record is not as it was written.")
    }
}
