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

/// Ends the command after an interrupt. While it reads or writes objects, it closes everything first; otherwise it ends after a moment.
package enum Interruption {
    private static let isAsked = Atomic<Bool>(false)
    nonisolated(unsafe) private static var sources: [any DispatchSourceSignal] = []

    /// Starts to watch for interrupts. Call it once, when the command starts.
    package static func watch() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // The second interrupt ends the process at once.
                if isAsked.exchange(true, ordering: .relaxed) { end() }
                // If a command of the shell has ended meanwhile, the interrupt is forgotten.
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { if isAsked.load(ordering: .relaxed) { end() } }
            }
            source.resume()
            sources.append(source)
        }
    }

    /// Forgets an interrupt, to continue.
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
