internal import Foundation

/// The source of a client's time and randomness. Tests replace it to avoid waits and to get predictable values.
public struct ClientTime: Sendable {
    /// The seconds since an arbitrary moment, which never decrease.
    public var seconds: @Sendable () -> Double
    /// The seconds since the beginning of 1970, for dates in the messages of services.
    public var secondsSince1970: @Sendable () -> Double
    /// Waits for some seconds. Throws `CancellationError` if the task is cancelled.
    public var sleep: @Sendable (Double) async throws -> Void
    /// A number from 0 to 1, excluding 1.
    public var random: @Sendable () -> Double

    /// Creates a source of time and randomness.
    public init(
        seconds: @escaping @Sendable () -> Double, secondsSince1970: @escaping @Sendable () -> Double,
        sleep: @escaping @Sendable (Double) async throws -> Void, random: @escaping @Sendable () -> Double
    ) {
        self.seconds = seconds
        self.secondsSince1970 = secondsSince1970
        self.sleep = sleep
        self.random = random
    }

    /// The system's clock and random numbers.
    public static let system = ClientTime(
        seconds: { ProcessInfo.processInfo.systemUptime }, secondsSince1970: { Date().timeIntervalSince1970 },
        sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, min($0, 1e9)) * 1e9)) }, random: { Double.random(in: 0..<1) })
}
