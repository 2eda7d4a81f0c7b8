internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Ends the command when the user interrupts it: where it reads or writes objects, with all that it opened closed; elsewhere after a moment.
package enum Interruption {
    private static let isAsked = Atomic<Bool>(false)
    nonisolated(unsafe) private static var sources: [any DispatchSourceSignal] = []

    /// Watches for interrupts. Call it once, when the command starts.
    package static func watch() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The second time at once.
                if isAsked.exchange(true, ordering: .relaxed) { end() }
                // A command of the shell that has ended meanwhile is forgotten.
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { if isAsked.load(ordering: .relaxed) { end() } }
            }
            source.resume()
            sources.append(source)
        }
    }

    /// Goes on after an interrupt.
    package static func forget() { isAsked.store(false, ordering: .relaxed) }

    private static func end() -> Never {
        TemporaryFolders.removeAll()
        _exit(130)
    }

    /// Throws `CancellationError` after an interrupt.
    package static func check() throws {
        if isAsked.load(ordering: .relaxed) { throw CancellationError() }
    }
}
