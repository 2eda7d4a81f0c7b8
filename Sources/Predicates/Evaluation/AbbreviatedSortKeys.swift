import Foundation

/// Abbreviates the first sort key of each subject to one integer, which is compared instead of the values as long as it differs.
///
/// The integer contains the next eight bytes of strings after their common prefix; numbers and dates are complete.
struct AbbreviatedSortKeys {
    /// A subject's abbreviated value and its index.
    struct Entry {
        var key: UInt64
        var index: Int
    }

    private let location: SlotLocation
    private let kind: SlotKind
    private let ascending: Bool

    init?(_ location: SlotLocation, _ kind: SlotKind, _ descriptor: KeySortDescriptor) {
        switch kind {
        case .bool, .int64, .double, .date: break
        case .string where descriptor.order == .binary: break
        default: return nil
        }
        self.location = location
        self.kind = kind
        ascending = descriptor.ascending
    }

    /// Whether different values always have different keys, except that nil shares its key with the smallest value.
    var isWhole: Bool {
        switch kind {
        case .bool, .int64: true
        default: false
        }
    }

    /// The key of nil.
    var nilKey: UInt64 { ascending ? 0 : .max }

    /// Returns the entries of subjects; a smaller key precedes, and equal keys leave the order open.
    func entries(of subjects: [PredicateSubject]) -> [Entry] {
        switch kind {
        case .bool, .int64:
            return decorated(subjects) { subject in
                UInt64(bitPattern: subject.slots.load(fromByteOffset: location.offset, as: Int64.self)) ^ (1 << 63)
            }
        case .double, .date:
            return decorated(subjects) { subject in
                let value = subject.slots.load(fromByteOffset: location.offset, as: Double.self)
                // The bits of numbers are ordered like integers once the sign is flipped; the two zeros are equal.
                let bits = (value == 0 ? 0 : value).bitPattern
                return bits >> 63 == 1 ? ~bits : bits | (1 << 63)
            }
        default:
            let shared = sharedPrefix(subjects)
            return decorated(subjects) { subject in
                AbbreviatedSortKeys.text(subject, location) { AbbreviatedSortKeys.key($0, from: shared) }
            }
        }
    }

    private func decorated(_ subjects: [PredicateSubject], _ key: (PredicateSubject) -> UInt64) -> [Entry] {
        var entries: [Entry] = []
        entries.reserveCapacity(subjects.count)
        for (index, subject) in subjects.enumerated() {
            let key = location.isNull(in: subject) ? 0 : key(subject)
            entries.append(Entry(key: ascending ? key : ~key, index: index))
        }
        return entries
    }

    /// Sorts entries by their keys with a stable radix sort: a fixed number of passes instead of comparisons.
    static func sortByKey(_ entries: inout [Entry]) {
        let count = entries.count
        var spare = entries
        entries.withUnsafeMutableBufferPointer { first in
            spare.withUnsafeMutableBufferPointer { second in
                var (source, target) = (first, second)
                for digit in 0..<8 {
                    let shift = UInt64(digit * 8)
                    var places = DigitPlaces()
                    let isOneDigit = places.count(source, shift)
                    if isOneDigit { continue }
                    for index in 0..<count { target[places.next(source[index].key, shift)] = source[index] }
                    swap(&source, &target)
                }
                if source.baseAddress != first.baseAddress { _ = first.update(fromContentsOf: source) }
            }
        }
    }

    /// The number of keys with each digit, then the position of the next of them.
    private struct DigitPlaces {
        private var places = [Int](repeating: 0, count: 256)

        /// Counts digits. Returns true when all are equal.
        mutating func count(_ entries: UnsafeMutableBufferPointer<Entry>, _ shift: UInt64) -> Bool {
            places.withUnsafeMutableBufferPointer { places in
                for entry in entries { places[Int(truncatingIfNeeded: entry.key >> shift & 0xFF)] += 1 }
                if places[Int(truncatingIfNeeded: entries[0].key >> shift & 0xFF)] == entries.count { return true }
                var sum = 0
                for digit in 0..<256 { (places[digit], sum) = (sum, sum + places[digit]) }
                return false
            }
        }

        @inline(__always) mutating func next(_ key: UInt64, _ shift: UInt64) -> Int {
            let digit = Int(truncatingIfNeeded: key >> shift & 0xFF)
            defer { places[digit] &+= 1 }
            return places[digit]
        }
    }

    // MARK: Text

    /// Calls `body` with the bytes of the composed string.
    @inline(__always) private static func text<Result>(
        _ subject: PredicateSubject, _ location: SlotLocation, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        var text = location.text(subject)
        if !TextMatching.isComposed(text) { text = TextMatching.composed(text) }
        return text.withUTF8(body)
    }

    /// Returns eight bytes in big-endian order; zeros after the end.
    @inline(__always) private static func key(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> UInt64 {
        guard bytes.count > start, let base = bytes.baseAddress else { return 0 }
        let count = bytes.count - start
        if count >= 8 { return UInt64(bigEndian: UnsafeRawPointer(base + start).loadUnaligned(as: UInt64.self)) }
        var key: UInt64 = 0
        for offset in 0..<count { key |= UInt64(bytes[start + offset]) << UInt64(56 - 8 * offset) }
        return key
    }

    /// Returns the length of the common prefix of all strings; nil has any prefix.
    private func sharedPrefix(_ subjects: [PredicateSubject]) -> Int {
        guard let first = subjects.first(where: { !location.isNull(in: $0) }) else { return 0 }
        let reference = AbbreviatedSortKeys.text(first, location) { Array($0) }
        var shared = reference.count
        for subject in subjects where !location.isNull(in: subject) {
            if shared == 0 { return 0 }
            AbbreviatedSortKeys.text(subject, location) { bytes in
                shared = min(shared, bytes.count)
                var index = 0
                while index < shared, bytes[index] == reference[index] { index += 1 }
                shared = index
            }
        }
        return shared
    }
}
