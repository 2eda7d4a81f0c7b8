#if PostgreSQL
import Foundation
import Synchronization

/// What the load of a soak tells `Scripts/soak-postgresql`, in files of a folder.
// `state` is guarded by its mutex.
final class SoakLog: Sendable {
    private struct State {
        var faults: [String] = []
        /// How often saves were refused, and why.
        var refusals: [String: Int] = [:]
    }
    private let state = Synchronization.Mutex(State())
    private let folder: URL
    private let (acknowledged, wrong): (FileHandle, FileHandle)

    /// - Parameter folder: A folder with the files `acknowledged` and `faults`.
    init(_ folder: URL) throws {
        self.folder = folder
        acknowledged = try FileHandle(forUpdating: folder.appendingPathComponent("acknowledged"))
        wrong = try FileHandle(forUpdating: folder.appendingPathComponent("faults"))
    }

    /// Whether the script has no more events.
    var isOver: Bool { FileManager.default.fileExists(atPath: folder.appendingPathComponent("stop").path) }
    var faults: [String] { state.withLock { $0.faults } }

    /// Notes the time of an acknowledged write.
    func acknowledge() throws {
        // In the order of the lines.
        try state.withLock { _ in try acknowledged.write(contentsOf: Data("\(Int(Date().timeIntervalSince1970 * 1000))\n".utf8)) }
    }

    /// Notes that something which was acknowledged does not hold.
    func add(fault: String) throws {
        try state.withLock { state in
            state.faults.append(fault)
            try wrong.write(contentsOf: Data("\(fault)\n".utf8))
        }
    }

    func add(refusal error: any Error) {
        let text = String("\((error as NSError).localizedFailureReason ?? "\(error)")".prefix(160))
        state.withLock { $0.refusals[text, default: 0] += 1 }
    }

    /// Writes the last line, and why saves were refused.
    func finish(_ totals: String) throws {
        try Data(totals.utf8).write(to: folder.appendingPathComponent("totals"))
        let lines = state.withLock { state in state.refusals.sorted { $0.value > $1.value }.map { "\($0.value) × \($0.key)\n" } }
        try Data(lines.joined().utf8).write(to: folder.appendingPathComponent("refusals"))
    }
}
#endif
