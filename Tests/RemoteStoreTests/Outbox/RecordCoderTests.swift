import Foundation
@_spi(Stores) import ObjectGraph
import Predicates
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

/// Random values of everything that pending records contain.
struct RandomRecords {
    var random: SeededGenerator

    mutating func text() -> String {
        let pieces = ["", "a", "e\u{301}", "é", "\u{0}", "日本", "😀", "'; DROP", "\n", String(repeating: "x", count: 300)]
        return (0..<Int.random(in: 0...3, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
    }

    mutating func uuid() -> UUID {
        UUID(uuid: withUnsafeBytes(of: (random.next(), random.next())) { $0.loadUnaligned(as: uuid_t.self) })
    }

    mutating func id(_ depth: Int = 0) -> ResourceID {
        switch Int.random(in: 0...(depth < 3 ? 3 : 2), using: &random) {
        case 0: .integer(.random(in: .min ... .max, using: &random))
        case 1: .string(text())
        case 2: .uuid(uuid())
        default: .composite((0..<Int.random(in: 0...3, using: &random)).map { _ in id(depth + 1) })
        }
    }

    mutating func value(_ depth: Int = 0) -> PropertyValue {
        switch Int.random(in: 0...(depth < 3 ? 11 : 9), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .int64(.random(in: .min ... .max, using: &random))
        case 3:
            .double(
                [0, -0.0, .infinity, .leastNonzeroMagnitude, 1.1, .random(in: -1e300...1e300, using: &random)].randomElement(
                    using: &random)!)
        case 4:
            .decimal(Decimal(string: ["0", "-12.50", "1e90", "0.000000000001", "99999999999999999999"].randomElement(using: &random)!)!)
        case 5: .string(text())
        case 6: .date(Date(timeIntervalSinceReferenceDate: .random(in: -1e10...1e10, using: &random)))
        case 7: .data(Data((0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }))
        case 8: .uuid(uuid())
        case 9: .url(URL(string: "https://example.com/\(Int.random(in: 0...9, using: &random))?q=a%20b#c")!)
        case 10: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1) })
        default: .set(Set((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1) }))
        }
    }

    mutating func reference() -> ResourceReference { ResourceReference(id(), entity: Bool.random(using: &random) ? text() : nil) }
    mutating func references() -> [ResourceReference] { (0..<Int.random(in: 0...3, using: &random)).map { _ in reference() } }

    mutating func resourceValue() -> ResourceValue {
        switch Int.random(in: 0...3, using: &random) {
        case 0: .one(nil)
        case 1: .one(reference())
        case 2: .many(references())
        default: .value(value())
        }
    }

    mutating func values() -> [String: ResourceValue] {
        var values: [String: ResourceValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) { values[text()] = resourceValue() }
        return values
    }

    mutating func lists() -> [String: BackendChange.ListChange] {
        var lists: [String: BackendChange.ListChange] = [:]
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            lists[text()] = .init(added: references(), removed: references(), members: Bool.random(using: &random) ? references() : nil)
        }
        return lists
    }

    mutating func version() -> ResourceVersion? {
        [nil, .number(.random(in: .min ... .max, using: &random)), .tag(text())].randomElement(using: &random)!
    }

    mutating func change() -> BackendChange {
        BackendChange(
            [.insert, .update, .delete].randomElement(using: &random)!, text(), id: Bool.random(using: &random) ? id() : nil, values(),
            changedProperties: [text(), text()], lists: lists(), version: version(), key: .init(.random(in: 0...1_000_000, using: &random)),
            idempotencyKey: uuid())
    }

    /// - Parameter nextKeys: The numbers that the next new row may have got when a change was sent.
    mutating func record(nextKeys: ClosedRange<Int64> = 0...9) -> PendingRecord {
        var record = PendingRecord(
            entity: text(), key: LocalKey(root: text(), key: .random(in: 1...1_000, using: &random)), sequence: 3,
            isConfirmed: .random(using: &random), stage: .init(fields(nextKeys)))
        record.save = .random(in: .min ... .max, using: &random)
        record.resource = Bool.random(using: &random) ? id() : nil
        record.principal = Bool.random(using: &random) ? text() : nil
        record.isShown = .random(using: &random)
        (record.confirmed, record.lists, record.version) = (values(), lists(), version())
        record.isMerged = .random(using: &random)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            var upload = PendingRecord.Upload(key: uuid(), size: .random(in: 0 ... .max, using: &random))
            (upload.token, upload.confirmed) = (Bool.random(using: &random) ? text() : nil, .random(in: 0...9, using: &random))
            upload.reference = Bool.random(using: &random) ? resourceValue() : nil
            record.uploads[text()] = upload
        }
        return record
    }

    mutating func failure() -> PendingRecord.Failure { .init(domain: text(), code: .random(in: -9...9, using: &random), message: text()) }

    mutating func theirs() -> PendingRecord.Theirs {
        .init(values: Bool.random(using: &random) ? values() : nil, version: version())
    }

    /// The fields that a file may have for a stage; not every combination is one.
    mutating func fields(_ nextKeys: ClosedRange<Int64>) -> PendingRecord.StageFields {
        var fields = PendingRecord.StageFields(state: PendingRecord.State(rawValue: .random(in: 0...4, using: &random))!)
        (fields.mayRepeat, fields.isRepeated) = (.random(using: &random), .random(using: &random))
        if Bool.random(using: &random) {
            fields.sent = .init(change: change(), values: values(), lists: lists(), nextKey: .random(in: nextKeys, using: &random))
        }
        if Bool.random(using: &random) { fields.theirs = theirs() }
        fields.attempts = .init(count: .random(in: 0...99, using: &random), next: .random(in: 0...1e9, using: &random))
        if Bool.random(using: &random) { fields.attempts.failure = failure() }
        return fields
    }
}

@Suite("Pending changes as bytes") struct RecordCoderTests {
    @Test("A pending change that was read is the one that was written, to the last bit") func exact() throws {
        let seed = TestSeed.current(for: "RecordCoderTests.exact")
        var random = RandomRecords(random: SeededGenerator(seed: seed))
        for _ in TestRounds(seconds: 1.6, atLeast: 200) {
            let record = random.record()
            let data = try record.encoded()
            let read = try PendingRecord(record.key, sequence: record.sequence, state: record.state, data)
            expect(read, equals: record, "seed \(seed)")
            // The form of a text counts too, which comparisons of strings ignore.
            try expect(read.encoded().count, equals: data.count, "seed \(seed)")
        }
    }

    @Test("Bytes that were cut, altered or lengthened are an error, never another change") func damaged() throws {
        let seed = TestSeed.current(for: "RecordCoderTests.damaged")
        var random = RandomRecords(random: SeededGenerator(seed: seed))
        for _ in TestRounds(seconds: 0.7, atLeast: 50) {
            let record = random.record()
            let data = try record.encoded()
            func open(_ data: Data) throws { _ = try PendingRecord(record.key, sequence: 1, state: .waiting, data) }
            #expect(throws: (any Error).self, "seed \(seed)") {
                try open(Data(data.prefix(.random(in: 0..<data.count, using: &random.random))))
            }
            #expect(throws: (any Error).self, "seed \(seed)") { try open(data + [0]) }
            var altered = data
            let place = Int.random(in: 0..<data.count, using: &random.random)
            altered[place] ^= 1 << UInt8.random(in: 0...7, using: &random.random)
            #expect(throws: (any Error).self, "seed \(seed)") { try open(altered) }
        }
    }

    @Test("Bytes with a valid checksum that were written by somebody else are read without a stop") func foreign() throws {
        let seed = TestSeed.current(for: "RecordCoderTests.foreign")
        var random = RandomRecords(random: SeededGenerator(seed: seed))
        for _ in TestRounds(seconds: 1.9, atLeast: 300) {
            var content = [UInt8](try random.record().encoded().dropLast(8))
            for _ in 0..<Int.random(in: 1...4, using: &random.random) {
                content[Int.random(in: 1..<content.count, using: &random.random)] = .random(in: 0...255, using: &random.random)
            }
            let sealed = content.withUnsafeBytes { bytes in Data(bytes) + withUnsafeBytes(of: Checksum.of(bytes).littleEndian) { Data($0) }
            }
            _ = try? PendingRecord(LocalKey(root: "A", key: 1), sequence: 1, state: .waiting, sealed)
        }
    }

    @Test("A change that an earlier version has written is read: without uploads, what was known when it was sent, or whose it is")
    func earlierForm() throws {
        let seed = TestSeed.current(for: "RecordCoderTests.earlierForm")
        var random = RandomRecords(random: SeededGenerator(seed: seed))
        for _ in 0..<100 {
            var record = random.record(nextKeys: 0...0)
            (record.uploads, record.principal) = ([:], nil)
            // Without the last number, and without the number of uploads before it.
            for form in [3, 2, 1] as [UInt8] {
                let content = Data([form]) + (try record.encoded().dropFirst().dropLast(8 + 3 - Int(form)))
                let sealed = content.withUnsafeBytes { bytes in
                    content + withUnsafeBytes(of: Checksum.of(bytes).littleEndian) { Data($0) }
                }
                let read = try PendingRecord(record.key, sequence: record.sequence, state: record.state, sealed)
                expect(read, equals: record, "seed \(seed)")
            }
        }
    }

    @Test("A form of a later version is an error that says so") func laterForm() {
        let data = Data([9, 1, 2, 3])
        let sealed = data.withUnsafeBytes { bytes in data + withUnsafeBytes(of: Checksum.of(bytes).littleEndian) { Data($0) } }
        let error = failure { _ = try PendingRecord(LocalKey(root: "A", key: 1), sequence: 1, state: .waiting, sealed) }
        expect(error?.localizedFailureReason?.contains("9"), equals: true)
    }
}
