import CoreData

/// Ends a test's process when it has not come to an end in time: what stands still can only be seen from outside.
///
/// For tests that run in a process of their own.
enum Deadline {
    static func start(seconds: Double = 60) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: seconds)
            FileHandle.standardError.write(Data("The test stands still.\n".utf8))
            exit(3)
        }
    }

    /// How many threads the process has.
    static func threadCount() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return line.flatMap { Int($0.dropFirst(8).trimmingCharacters(in: .whitespaces)) } ?? 0
    }
}

/// A value behind a lock.
// `lock` guards `value`.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value
    init(_ value: Value) { self.value = value }

    func withValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result { try lock.withLock { try body(&value) } }
}
