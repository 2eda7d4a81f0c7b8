#if PostgreSQL
internal import Dispatch
internal import Platform
#if os(Linux) || os(Android)
internal import CPostgreSQL
internal import Foundation
internal import ObjectGraph
internal import Predicates

/// A registration of a socket with epoll for one wait, until it is readable or writable.
///
/// One thread watches the sockets of all connections with epoll. A small transaction waits so often that a Dispatch source for each wait, which three
/// threads handle in turn, would take longer than the rest of the transaction.
struct SocketWatch: Sendable {
    private let number: UInt64

    /// - Parameters:
    ///   - reads: Whether to wait until the socket is readable.
    ///   - writes: Whether to wait until it is writable.
    ///   - wait: Ends once, with ``SocketReadiness/Outcome/ready``, when the socket is ready, or has an error.
    /// - Returns: nil if the system does not watch the socket.
    init?(_ socket: Int32, reads: Bool, writes: Bool, for wait: SocketWait) {
        guard let number = SocketPoller.shared?.watch(socket, reads: reads, writes: writes, for: wait) else { return nil }
        self.number = number
    }

    /// Watches no more.
    func end() { SocketPoller.shared?.forget(number) }
}

// `state` is guarded by its lock.
private final class SocketPoller: Sendable {
    /// nil if the system provides no descriptor, or no thread.
    static let shared = SocketPoller()

    private struct State {
        var lastNumber: UInt64 = 0
        var waits: [UInt64: SocketWait] = [:]
    }
    private let state = LockedBox(State())
    /// The epoll descriptor. It stays open as long as the program runs.
    private let descriptor: Int32

    private init?() {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        if descriptor < 0 { return nil }
        Thread.start("PostgreSQLStore.sockets") { Self.shared?.run() }
    }

    func watch(_ socket: Int32, reads: Bool, writes: Bool, for wait: SocketWait) -> UInt64? {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.waits[state.lastNumber] = wait
            return state.lastNumber
        }
        var event = epoll_event()
        event.events = EPOLLONESHOT.rawValue | (reads ? EPOLLIN.rawValue : 0) | (writes ? EPOLLOUT.rawValue : 0)
        event.data.u64 = number
        // A closed socket is not watched any more: another one with its number is new.
        if epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event) == 0 { return number }
        if errno == ENOENT, epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event) == 0 { return number }
        forget(number)
        return nil
    }

    /// Forgets a wait. Later events of its socket are ignored.
    func forget(_ number: UInt64) { state.withLock { $0.waits[number] = nil } }

    private func run() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let count = Int(epoll_wait(descriptor, &events, Int32(events.count), -1))
            // A signal came.
            if count <= 0 { continue }
            let ready = state.withLock { state in events[..<count].compactMap { state.waits.removeValue(forKey: $0.data.u64) } }
            for wait in ready { wait.end(.ready) }
        }
    }
}
#else
internal import Foundation

/// A socket that is watched for a wait, until it can be read or written: by sources of Dispatch.
// The sources are used under the lock of their wait.
struct SocketWatch: @unchecked Sendable {
    private let sources: [any DispatchSourceProtocol]
    private static let queue = DispatchQueue(label: "PostgreSQLStore.watches")

    /// - Parameters:
    ///   - reads: Whether to wait until the socket is readable.
    ///   - writes: Whether to wait until it is writable.
    ///   - wait: Ends once, with ``SocketReadiness/Outcome/ready``, when the socket is ready, or has an error.
    /// - Returns: nil if the system does not watch the socket.
    init?(_ socket: Int32, reads: Bool, writes: Bool, for wait: SocketWait) {
        var sources: [any DispatchSourceProtocol] = []
        defer { for source in sources { source.activate() } }
        for isOfReading in [true, false] where isOfReading ? reads : writes {
            // A duplicated descriptor: a source may use it until its cancellation is handled, when the socket may already be closed.
            let own = dup(socket)
            guard own >= 0 else {
                for source in sources { source.cancel() }
                return nil
            }
            let source: any DispatchSourceProtocol =
                isOfReading
                ? DispatchSource.makeReadSource(fileDescriptor: own, queue: Self.queue)
                : DispatchSource.makeWriteSource(fileDescriptor: own, queue: Self.queue)
            source.setEventHandler { wait.end(.ready) }
            source.setCancelHandler { close(own) }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Watches no more.
    func end() { for source in sources { source.cancel() } }
}
#endif
#endif
