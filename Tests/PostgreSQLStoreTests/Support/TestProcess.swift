#if PostgreSQL
import TestSupport
import Foundation

/// This executable in another process, which runs one of its tests.
// The process is started once, and asked for what it says on any thread.
final class TestProcess: @unchecked Sendable {
    private let process = Process()
    private let ended: AsyncStream<Int32>

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - filter: The test.
    ///   - environment: What tells the test that it is meant, and what to do.
    init(_ filter: String, _ environment: [String: String]) throws {
        process.executableURL = BuiltProgram.tests
        process.arguments = ["--testing-library", "swift-testing", "--filter", filter]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = FileHandle.nullDevice
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        ended = stream
        process.terminationHandler = {
            continuation.yield($0.terminationStatus)
            continuation.finish()
        }
        try process.run()
    }

    var isRunning: Bool { process.isRunning }

    /// The status with which the process ends. For one caller.
    var status: Int32 {
        get async {
            for await status in ended { return status }
            return -1
        }
    }
}
#endif
