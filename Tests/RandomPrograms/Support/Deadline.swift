import Foundation

/// Ends a test's process when it has not come to an end in time: what stands still can only be seen from outside.
///
/// For tests that run in a process of their own.
package enum Deadline {
    package static func start(seconds: Double = 600) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            FileHandle.standardError.write(Data("The test stands still.\n".utf8))
            exit(3)
        }
    }

    /// How many threads the process has.
    package static func threadCount() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return line.flatMap { Int($0.dropFirst(8).trimmingCharacters(in: .whitespaces)) } ?? 0
    }
}
