@_spi(Stores) internal import CoreData
internal import Foundation

/// How the file of a store is laid out: eight bytes that say what it is, and then records one behind the other.
///
/// A record is its length, a checksum of what it holds, a checksum of these two, and what it holds, which begins with its kind. A save is one or more
/// records, the last of which says so: of a save that was cut off nothing counts.
enum LogFormat {
    /// `LOGSTR01`, little-endian.
    static let magic: UInt64 = 0x3130_5254_5347_4F4C
    static let headSize = 24
    /// A save is written in records of about this length, so that what is written lies in the processor's cache.
    static let recordSize = 128 * 1024

    enum Kind: UInt8 {
        /// The fingerprint of the model, and the metadata as a property list.
        case metadata = 1
        /// Rows that are as they say from now on, and IDs of objects that are gone; more of the same save comes.
        case part = 2
        /// The same, and the save is done.
        case end = 3
        /// The numbers that were given last, as IDs, so that they are never given again.
        case numbers = 4
    }

    /// Writes a record: `body` writes what it holds.
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
    /// - Parameter body: called with the kind of each record and what it holds.
    /// - Returns: where the last whole save ends, and why what comes after it is dropped; nil where nothing comes.
    /// - Throws: code 259 for a file that is something else, or damaged in the middle; what `body` throws.
    static func read(
        _ file: UnsafeRawBufferPointer, path: String, _ body: (Kind, inout ByteReader) throws -> Void
    ) throws -> (end: Int, tear: String?) {
        guard file.count >= 8, file.loadUnaligned(as: UInt64.self) == magic.littleEndian else {
            throw LogStoreError.damaged(path, at: 0, "It is no file of a LogStore.")
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
        /// It was being written when the program or the machine stopped.
        case torn(String)
        case damaged(String)
    }

    /// What a program writes before it is killed is a beginning of what it wanted to write; what a machine loses is mostly zero.
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
