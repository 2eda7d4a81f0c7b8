import Foundation
import RemoteStoreTesting

/// A process that dies before or after one of its next commits: what the files are then is all that is left of it, and what it still seems to do
/// happens nowhere.
// What changes is in a `Guarded`.
final class CrashPoint: Sendable {
    private struct State {
        var commits: Int?
        var isAfter = false
        var remains: URL?
        var done = 0
    }

    private let state = Guarded(State())
    private let directory: URL
    private let address: String
    private let network: SimulatedNetwork

    init(_ directory: URL, _ address: String, _ network: SimulatedNetwork) {
        (self.directory, self.address, self.network) = (directory, address, network)
    }

    /// Lets the process die at a commit.
    ///
    /// - Parameters:
    ///   - commits: The number of the commit, from now on.
    ///   - isAfter: Whether the commit is done.
    func set(_ commits: Int, isAfter: Bool) { state.withValue { if $0.remains == nil { ($0.commits, $0.isAfter) = (commits, isAfter) } } }

    /// Lets the process live on.
    func disarm() { state.withValue { $0.commits = nil } }

    /// Called at each commit.
    func pass(isAfter: Bool) {
        let dies = state.withValue { state -> Bool in
            if isAfter { state.done += 1 }
            guard let left = state.commits, state.isAfter == isAfter else { return false }
            state.commits = left > 1 ? left - 1 : nil
            return left <= 1
        }
        if dies { die() }
    }

    /// Dies now.
    func die() {
        if remains != nil { return }
        let place = directory.deletingLastPathComponent().appendingPathComponent(directory.lastPathComponent + "-remains")
        do { try Self.copy(directory, to: place) } catch { print("CrashPoint: \(error)") }
        state.withValue { ($0.remains, $0.commits) = (place, nil) }
        network.crash(address)
    }

    /// The number of commits that were done.
    var commits: Int { state.withValue { $0.done } }

    /// What is left of the process; nil while it lives.
    var remains: URL? { state.withValue { $0.remains } }

    static func copy(_ old: URL, to place: URL) throws {
        try FileManager.default.copyItem(at: old, to: place)
        try? FileManager.default.removeItem(at: place.appendingPathComponent("cache.sqlite-shm"))
    }
}
