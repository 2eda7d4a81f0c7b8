internal import Foundation
internal import Platform
internal import PropertyLists

/// The log of a migration in a file beside the unfinished destination: the pairs of source and destination objects, and the progress of the
/// migration.
///
/// Each save of the destination has a record, which is written before it. The metadata of the destination, which the save writes in the same
/// transaction, contain the number of the record. After a crash, the records up to that number are valid, whatever else has reached the disk; if one
/// of them is missing, the migration starts again. So the file need not be synced with each save.
struct MigrationJournal {
    /// The contents of the destination after a save.
    struct Record: Equatable {
        var sequence: Int
        var step: MigrationStep
        /// New pairs by the number of their entity mapping.
        var pairs: [Pairs] = []
        /// The entity mappings whose policies have associated objects themselves.
        var ownObjects: [Int] = []
    }

    /// Associations of an entity mapping.
    struct Pairs: Equatable {
        var mapping: Int
        var ids: IDs
        enum IDs: Equatable {
            /// Numbers of objects of one source entity and one destination entity.
            case numbers(source: String, destination: String, [Int64], [Int64])
            /// The URIs of any objects.
            case uris([String], [String])
        }
    }

    private static let magic = Data("OpenCoreData migration 1\n".utf8)
    private let handle: FileHandle
    private var lastSync = Date()

    /// Begins a journal.
    ///
    /// - Parameter fingerprint: A text that must be equal for the migration to be resumed.
    static func create(at url: URL, fingerprint: String) throws -> MigrationJournal {
        var writer = JournalWriter()
        writer.append(fingerprint)
        var data = magic
        data.append(writer.framed)
        try data.write(to: url)
        let handle = try FileHandle(forWritingTo: url)
        try handle.seekToEnd()
        try handle.synchronize()
        return MigrationJournal(handle: handle)
    }

    /// Continues a journal after its last record that holds.
    static func open(_ url: URL, length: Int) throws -> MigrationJournal {
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(length))
        try handle.seek(toOffset: UInt64(length))
        return MigrationJournal(handle: handle)
    }

    private init(handle: FileHandle) { self.handle = handle }

    /// Appends a record, which is on the disk within two seconds if records keep coming.
    mutating func append(_ record: Record) throws {
        try handle.write(contentsOf: JournalWriter.data(of: record))
        if Date().timeIntervalSince(lastSync) < 2 { return }
        try synchronize()
    }

    mutating func synchronize() throws {
        try handle.synchronize()
        lastSync = Date()
    }

    func close() throws { try handle.close() }

    /// The contents of a journal.
    struct Contents {
        let fingerprint: String
        let records: [Record]
        /// The place in the file after each record.
        let ends: [Int]
    }

    /// Reads a journal, up to an incomplete record; nil for anything else than a journal.
    static func read(_ url: URL) -> Contents? {
        guard let data = try? RegularFile.data(url), data.starts(with: magic) else { return nil }
        var reader = JournalReader(data, at: magic.count)
        guard var header = reader.frame(), let fingerprint = header.text() else { return nil }
        var records: [Record] = []
        var ends: [Int] = []
        while var frame = reader.frame(), let record = frame.record() {
            records.append(record)
            ends.append(reader.position)
        }
        return Contents(fingerprint: fingerprint, records: records, ends: ends)
    }
}

/// How far a migration is.
struct MigrationStep: Equatable {
    enum Pass: Int {
        case instances
        case relationships
        case validation
        /// The destination is complete and may be moved into place.
        case complete
    }
    var pass: Pass
    /// The entity mapping at work.
    var mapping: Int
    /// How many of its objects are done.
    var position: Int
    /// Whether the mapping is done in this pass.
    var isEnded: Bool
}

private struct JournalWriter {
    private(set) var data = Data()

    mutating func append(_ number: Int) { withUnsafeBytes(of: Int64(number).littleEndian) { data.append(contentsOf: $0) } }

    mutating func append(_ text: String) {
        append(text.utf8.count)
        data.append(contentsOf: text.utf8)
    }

    mutating func append(_ numbers: [Int64]) {
        append(numbers.count)
        for number in numbers { append(Int(number)) }
    }

    mutating func append(_ texts: [String]) {
        append(texts.count)
        for text in texts { append(text) }
    }

    /// The bytes with their number and a check sum before them.
    var framed: Data {
        var frame = JournalWriter()
        frame.append(data.count)
        frame.append(JournalReader.checkSum(data))
        return frame.data + data
    }

    static func data(of record: MigrationJournal.Record) -> Data {
        var writer = JournalWriter()
        for number in [
            record.sequence, record.step.pass.rawValue, record.step.mapping, record.step.position, record.step.isEnded ? 1 : 0,
            record.pairs.count,
        ] { writer.append(number) }
        writer.append(record.ownObjects.map(Int64.init))
        for pairs in record.pairs {
            writer.append(pairs.mapping)
            switch pairs.ids {
            case .numbers(let source, let destination, let sources, let destinations):
                writer.append(0)
                writer.append(source)
                writer.append(destination)
                writer.append(sources)
                writer.append(destinations)
            case .uris(let sources, let destinations):
                writer.append(1)
                writer.append(sources)
                writer.append(destinations)
            }
        }
        return writer.framed
    }
}

private struct JournalReader {
    private let data: Data
    private(set) var position: Int

    init(_ data: Data, at position: Int) { (self.data, self.position) = (data, position) }

    /// FNV-1a over words of eight bytes.
    static func checkSum(_ data: Data) -> Int {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        data.withUnsafeBytes { bytes in
            var index = 0
            while index + 8 <= bytes.count {
                sum = (sum ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian) &* 0x100_0000_01b3
                sum ^= sum >> 29
                index += 8
            }
            while index < bytes.count {
                sum = (sum ^ UInt64(bytes[index])) &* 0x100_0000_01b3
                index += 1
            }
        }
        return Int(truncatingIfNeeded: sum)
    }

    mutating func frame() -> JournalReader? {
        let start = position
        guard let count = number(), let sum = number(), count >= 0, count <= data.count - position else {
            position = start
            return nil
        }
        let bytes = data.subdata(in: data.startIndex + position..<data.startIndex + position + count)
        guard Self.checkSum(bytes) == sum else {
            position = start
            return nil
        }
        position += count
        return JournalReader(bytes, at: 0)
    }

    mutating func number() -> Int? {
        guard position + 8 <= data.count else { return nil }
        let value = data.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: Int64.self)) }
        position += 8
        return Int(value)
    }

    mutating func text() -> String? {
        guard let count = number(), count >= 0, count <= data.count - position else { return nil }
        let bytes = data.subdata(in: data.startIndex + position..<data.startIndex + position + count)
        position += count
        return String(data: bytes, encoding: .utf8)
    }

    private mutating func numbers() -> [Int64]? {
        guard let count = number(), count >= 0, count <= (data.count - position) / 8 else { return nil }
        let start = position
        position += count * 8
        return data.withUnsafeBytes { bytes in
            (0..<count).map { Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + $0 * 8, as: Int64.self)) }
        }
    }

    private mutating func texts() -> [String]? {
        guard let count = number(), count >= 0, count <= (data.count - position) / 8 else { return nil }
        var texts: [String] = []
        for _ in 0..<count {
            guard let text = text() else { return nil }
            texts.append(text)
        }
        return texts
    }

    mutating func record() -> MigrationJournal.Record? {
        guard let sequence = number(), let pass = number().flatMap(MigrationStep.Pass.init), let mapping = number(),
            let position = number(),
            let isEnded = number(), let count = number(), count >= 0, count <= data.count, let own = numbers()
        else { return nil }
        let step = MigrationStep(pass: pass, mapping: mapping, position: position, isEnded: isEnded == 1)
        var record = MigrationJournal.Record(sequence: sequence, step: step)
        record.ownObjects = own.map { Int($0) }
        for _ in 0..<count {
            guard let mapping = number(), let kind = number() else { return nil }
            if kind == 0 {
                guard let source = text(), let destination = text(), let sources = numbers(), let destinations = numbers(),
                    sources.count == destinations.count
                else { return nil }
                record.pairs.append(.init(mapping: mapping, ids: .numbers(source: source, destination: destination, sources, destinations)))
            } else {
                guard let sources = texts(), let destinations = texts(), sources.count == destinations.count else { return nil }
                record.pairs.append(.init(mapping: mapping, ids: .uris(sources, destinations)))
            }
        }
        return record
    }
}
