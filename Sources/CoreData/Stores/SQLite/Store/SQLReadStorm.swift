internal import Foundation

/// Notices that faults fire one after the other, for which one read transaction does: to begin one each time is a third of the work.
///
/// The transaction lasts for a few milliseconds at most, so that nobody reads what has long been changed, and ends by itself when the faults
/// do, so that the log of the file can be emptied.
// Used by who has the reader that it belongs to.
struct SQLReadStorm {
    private static let firstFaults = 8
    private static let longest: UInt64 = 20_000_000
    private var count = 0
    private var last: UInt64 = 0
    private var start: UInt64 = 0
    private(set) var isOn = false

    /// What the store is to do before it reads the row of a fault.
    enum Step {
        case nothing
        case begin
        /// The transaction is old.
        case end
    }

    /// - Parameter now: in nanoseconds of the system's uptime.
    mutating func noteFault(at now: UInt64) -> Step {
        defer { last = now }
        if isOn {
            if now &- start < Self.longest { return .nothing }
            isOn = false
            count = Self.firstFaults
            return .end
        }
        count = now &- last > Self.longest ? 1 : count + 1
        if count < Self.firstFaults { return .nothing }
        isOn = true
        start = now
        return .begin
    }

    /// Something else is done.
    mutating func stop() {
        isOn = false
        count = 0
    }
}
