internal import Foundation

/// Detects series of faults, which share one read transaction: beginning one for each fault is a third of its cost.
///
/// The transaction lasts a few milliseconds at most, so that reads are current, and ends when the faults do, so that the log of the file
/// can be checkpointed.
// Used by the thread that has its reader.
struct SQLFaultSeries {
    private static let firstFaults = 8
    private static let longest: UInt64 = 20_000_000
    /// The age in seconds that a row may have which is read in a series.
    static var maximumAge: Double { Double(longest) / 1e9 }
    private var count = 0
    private var last: UInt64 = 0
    private var start: UInt64 = 0
    private(set) var isOn = false

    /// The action before reading the row of a fault.
    enum Step {
        case nothing
        case begin
        /// Ends the transaction because it is too old.
        case end
    }

    /// - Parameter now: The time in nanoseconds of the system's uptime.
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

    /// Ends a series because of another operation.
    mutating func stop() {
        isOn = false
        count = 0
    }
}
