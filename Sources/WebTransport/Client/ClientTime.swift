internal import Foundation

/// Where a client has its time and its chance from. Tests replace it, to wait for nothing and to know what comes.
public struct ClientTime: Sendable {
    /// The seconds since some moment, which never go back.
    public var seconds: @Sendable () -> Double
    /// The seconds since the beginning of 1970, for dates that services name.
    public var secondsSince1970: @Sendable () -> Double
    /// Waits for some seconds; throws `CancellationError` where the task is cancelled.
    public var sleep: @Sendable (Double) async throws -> Void
    /// A number from 0 to 1, without 1.
    public var random: @Sendable () -> Double

    /// Creates a source of time and chance.
    public init(
        seconds: @escaping @Sendable () -> Double, secondsSince1970: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Double) async throws -> Void, random: @escaping @Sendable () -> Double
    ) {
        self.seconds = seconds
        self.secondsSince1970 = secondsSince1970
        self.sleep = sleep
        self.random = random
    }

    /// The clock of the system, and its randomness.
    public static let system = ClientTime(
        seconds: { ProcessInfo.processInfo.systemUptime }, secondsSince1970: { Date().timeIntervalSince1970 },
        sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, min($0, 1e9)) * 1e9)) }, random: { Double.random(in: 0..<1) })
}
