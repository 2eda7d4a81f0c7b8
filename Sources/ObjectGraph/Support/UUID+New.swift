internal import Foundation
internal import Synchronization

/// UUIDs without `UUID()`, which opens a file of the system's for each one on Linux: that takes longer than to insert an object.
extension UUID {
    /// Returns a time-ordered UUID, version 7, for keys of rows: an index gets consecutive ones at its end.
    package static func ofNow() -> UUID {
        var generator = SystemRandomNumberGenerator()
        let milliseconds = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
        return version(7, milliseconds << 16 | generator.next() & 0xFFF, generator.next())
    }

    /// Returns a UUID that no other call in this process returns, for names that do not leave it: a random number of the process, and a count.
    package static func ofProcess() -> UUID { version(4, processNumber, count.add(1, ordering: .relaxed).newValue) }

    private static let processNumber: UInt64 = .random(in: 0 ... .max)
    private static let count = Atomic<UInt64>(0)

    private static func version(_ number: UInt64, _ high: UInt64, _ low: UInt64) -> UUID {
        let parts = ((high & ~0xF000 | number << 12).bigEndian, (low & ~(0b11 << 62) | 0b10 << 62).bigEndian)
        return withUnsafeBytes(of: parts) { $0.loadUnaligned(as: UUID.self) }
    }
}
