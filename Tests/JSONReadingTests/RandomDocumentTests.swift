import Foundation
import JSONReading
import TestSupport
import Testing

/// Random documents, whole and damaged, against Foundation's parser.
///
/// Each run has a fresh seed, which it prints, and goes on for a second: `COREDATA_TEST_SEED` repeats a run, and
/// `COREDATA_TEST_ROUNDS` says for how many documents instead.
@Suite("Random documents") struct RandomDocumentTests {
    /// The depth at which Foundation stops.
    private static let limits = JSONLimits(depth: 512)

    private static func run(_ name: String, _ body: (inout RandomDocuments, UInt64) throws -> Void) throws {
        let seed = TestSeed.current(for: name)
        var documents = RandomDocuments(seed: seed)
        var done = 0
        for _ in TestRounds(seconds: 1, atLeast: 100) {
            try body(&documents, seed)
            done += 1
        }
        print("\(name): \(done) documents")
    }

    private static func foundation(_ bytes: [UInt8]) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }

    private static func ours(_ bytes: [UInt8]) -> JSONValue? { try? JSONValue(parsing: bytes, limits: limits) }

    @Test("Random documents have the values that Foundation reads, however they are read, and are read again as they are written")
    func values() throws {
        try Self.run("Random documents") { documents, seed in
            let bytes = documents.document()
            let text = String(decoding: bytes, as: UTF8.self)
            guard let value = Self.ours(bytes), let other = Self.foundation(bytes) else {
                Issue.record("seed \(seed): \(text) was refused")
                return
            }
            if !equal(value, other) { Issue.record("seed \(seed): \(text) is \(value), not \(other)") }
            let walked = try walk(bytes)
            if walked != value { Issue.record("seed \(seed): \(text) is read with a table as \(walked)") }
            try skip(bytes)
            for options: JSONWriter.Options in [[], [.prettyPrinted, .sortedKeys]] {
                let again = try JSONValue(parsing: value.serialized(options), limits: Self.limits)
                if again != value { Issue.record("seed \(seed): \(text) is read again as \(again)") }
            }
        }
    }

    @Test("Damaged documents are accepted and refused as Foundation does, except where it does not do as RFC 8259 says")
    func damages() throws {
        var counts: [String: Int] = [:]
        let cases = JSONCase.all.filter { $0.bytes.count < 1000 }
        try Self.run("Damaged documents") { documents, seed in
            let whole =
                Int.random(in: 0..<4, using: &documents.random) == 0
                ? cases.randomElement(using: &documents.random)!.bytes : documents.document()
            let bytes = documents.damage(whole)
            let (value, other) = (Self.ours(bytes), Self.foundation(bytes))
            let text = String(decoding: bytes, as: UTF8.self).debugDescription
            if (value == nil) != ((try? skip(bytes, limits: Self.limits)) == nil) {
                Issue.record("seed \(seed): \(text) is skipped otherwise")
            }
            counts[value == nil ? "refused" : "accepted", default: 0] += 1
            switch (value, other) {
            case (nil, nil): return
            case (let value?, let other?):
                if !equal(value, other) { Issue.record("seed \(seed): \(text) is \(value), not \(other)") }
            default:
                guard let difference = FoundationDifference.of(bytes, value) else {
                    Issue.record("seed \(seed): \(text), \(bytes), was \(value == nil ? "refused" : "accepted")")
                    return
                }
                counts[difference.rawValue, default: 0] += 1
            }
        }
        print("Damaged documents: \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))")
    }
}

/// Where Foundation does otherwise.
private enum FoundationDifference: String {
    /// It accepts a byte order mark, which is refused here.
    case byteOrderMark = "with a byte order mark"
    /// It guesses UTF-16 and UTF-32 from bytes that are zero, which RFC 8259 does not allow between systems.
    case otherEncoding = "in UTF-16 or UTF-32"
    /// It refuses a number beyond what doubles can be, which is well formed and an error only for who asks for a double.
    case hugeNumber = "with a huge number"

    /// It accepts a comma before the end of an array or object.
    case trailingComma = "with a trailing comma"

    static func of(_ bytes: [UInt8], _ value: JSONValue?) -> FoundationDifference? {
        if let value { return hasHugeNumber(value) ? .hugeNumber : nil }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .byteOrderMark }
        if bytes.prefix(4).contains(0) || bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) { return .otherEncoding }
        return isRightWithoutTrailingCommas(bytes) ? .trailingComma : nil
    }

    private static func isRightWithoutTrailingCommas(_ bytes: [UInt8]) -> Bool {
        var bytes = bytes
        while true {
            do {
                _ = try JSONValue(parsing: bytes, limits: JSONLimits(depth: 512))
                return true
            } catch {
                let before = bytes[..<error.offset].lastIndex { !Array(" \t\n\r".utf8).contains($0) }
                guard error.offset < bytes.count, Array("]}".utf8).contains(bytes[error.offset]), let before,
                    bytes[before] == UInt8(ascii: ",")
                else { return false }
                bytes.remove(at: before)
            }
        }
    }

    private static func hasHugeNumber(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let object): object.contains { hasHugeNumber($0.value) }
        case .array(let array): array.contains { hasHugeNumber($0) }
        case .decimal: value.double == nil
        default: false
        }
    }
}

/// Whether a string is what Foundation read: it drops a byte order mark at the beginning of a string, which is a character there.
private func equal(_ string: String, _ other: String) -> Bool {
    let bytes = Array(string.utf8)
    return bytes.elementsEqual(other.utf8) || bytes.starts(with: [0xEF, 0xBB, 0xBF]) && bytes.dropFirst(3).elementsEqual(other.utf8)
}

/// Whether a value is what Foundation read. Of a key that is there twice either may count.
private func equal(_ value: JSONValue, _ other: Any) -> Bool {
    switch value {
    case .null: return other is NSNull
    case .string(let string): return (other as? String).map { equal(string, $0) } ?? false
    case .bool(let bool): return (other as? NSNumber)?.boolValue == bool && isBool(other)
    case .array(let array):
        guard let other = other as? [Any], array.count == other.count else { return false }
        return zip(array, other).allSatisfy { equal($0, $1) }
    case .object(let object):
        guard let other = other as? [String: Any] else { return false }
        // Foundation's dictionaries take equivalent keys for one.
        guard Set(object.keys).count == other.count else { return false }
        return other.allSatisfy { key, other in object.contains { equal($0.key, key) && equal($0.value, other) } }
    case .integer(let integer):
        guard let number = other as? NSNumber, !isBool(other) else { return false }
        return number.int64Value == integer
    case .number, .decimal:
        guard let number = other as? NSNumber, !isBool(other), let double = value.double else { return false }
        if number.doubleValue == double { return true }
        // Foundation has a decimal for many digits, whose double is not always the nearest.
        return abs(number.doubleValue - double) <= abs(double) * 1e-13
    }
}

private func isBool(_ value: Any) -> Bool { value is Bool && (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? true }
