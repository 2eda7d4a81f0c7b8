#if Command
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Synchronization

/// Limits the number of simultaneous answers, because each may hold a whole value of the store until the page has read it.
// `waiting` is guarded by its mutex.
final class AnswerSlots: Sendable {
    /// A place among the simultaneous answers. It is given back when it is released.
    final class Slot: Sendable {
        private let slots: AnswerSlots

        fileprivate init(_ slots: AnswerSlots) { self.slots = slots }

        deinit { slots.giveBack() }
    }

    private let state: Mutex<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

    init(_ count: Int) { state = Mutex((count, [])) }

    /// Waits for a place, in the order of the requests.
    func take() async -> Slot {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        return Slot(self)
    }

    /// Whether requests wait for a place.
    var isCrowded: Bool { state.withLock { !$0.waiting.isEmpty } }

    private func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}

/// Writes an answer in pieces, and closes the connection if the reader takes no piece for a while, so that its answer is not kept.
private struct PatientWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let channel: any Channel
    /// Returns the current timeout for a piece.
    let patience: @Sendable () -> TimeAmount

    private static let pieceBytes = 64 << 10

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)), piece.readableBytes > 0 {
            let end = channel.eventLoop.scheduleTask(in: patience()) { [channel] in channel.close(promise: nil) }
            defer { end.cancel() }
            try await base.write(piece)
            // The event loop processes the write first: the next piece waits if this one was not taken.
            try await channel.eventLoop.submit {}.get()
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await base.finish(trailingHeaders) }
}

extension ResponseBody {
    /// Returns a body for readers that may stop reading.
    ///
    /// - Parameters:
    ///   - channel: The connection, which is closed if the reader takes nothing for the time of `patience`.
    ///   - slot: The place that is held until everything is written.
    func written(to channel: any Channel, patience: @escaping @Sendable () -> TimeAmount, holding slot: AnswerSlots.Slot?) -> ResponseBody {
        ResponseBody(contentLength: contentLength) { [self] writer in
            try await self.write(PatientWriter(base: writer, channel: channel, patience: patience))
            withExtendedLifetime(slot) {}
        }
    }
}

/// The context of a request, with its connection.
struct ExplorerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
#endif
