internal import CHiredis
internal import Foundation

/// A connection that is used by one task at a time, on a queue of its own: hiredis waits for its answers, and a thread of Swift's pool must
/// not wait with it.
// Unchecked: everything that changes is used on `queue` only.
final class RedisConnection: @unchecked Sendable {
    private let host: String
    private let port: Int
    private let timeout: Double
    private let queue: DispatchQueue
    // Owned by the connection: made by `redisConnectWithTimeout`, released by `redisFree`.
    private var context: UnsafeMutablePointer<redisContext>?

    init(host: String, port: Int, timeout: Double) {
        self.host = host
        self.port = port
        self.timeout = timeout
        queue = DispatchQueue(label: "redis \(host):\(port)")
    }

    deinit { if let context { redisFree(context) } }

    /// Runs a conversation with the server on the connection's queue, while the caller is suspended.
    ///
    /// - Throws: The closure's error; `CancellationError` where the task was cancelled before its turn.
    func perform<Result: Sendable>(_ body: @escaping @Sendable (RedisConversation) throws -> Result) async throws -> Result {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Swift.Result { try body(RedisConversation(self)) })
            }
        }
    }

    /// Sends commands together, and returns their answers in order. A broken connection is closed, and opened for the next commands.
    ///
    /// Call it on the queue.
    fileprivate func send(_ commands: [RedisCommand]) throws -> [RedisReply] {
        let context = try opened()
        for command in commands {
            // hiredis copies the words.
            let lengths = command.words.map(\.count)
            let words = command.words.map { word -> UnsafePointer<CChar>? in
                let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(1, word.count))
                _ = word.withUnsafeBytes { memcpy(copy, $0.baseAddress ?? UnsafeRawPointer(copy), word.count) }
                return UnsafePointer(copy)
            }
            defer { for word in words { word?.deallocate() } }
            var pointers = words
            guard redisAppendCommandArgv(context, Int32(words.count), &pointers, lengths) == REDIS_OK else { throw broken() }
        }
        return try commands.map { _ in
            var reply: UnsafeMutableRawPointer?
            guard redisGetReply(context, &reply) == REDIS_OK, let reply else { throw broken() }
            defer { freeReplyObject(reply) }
            return RedisReply(reply.assumingMemoryBound(to: redisReply.self).pointee)
        }
    }

    private func opened() throws -> UnsafeMutablePointer<redisContext> {
        if let context { return context }
        let seconds = timeval(tv_sec: Int(timeout), tv_usec: Int((timeout - timeout.rounded(.down)) * 1e6))
        guard let made = redisConnectWithTimeout(host, Int32(port), seconds) else { throw RedisError.connection("no memory") }
        context = made
        guard made.pointee.err == 0, redisSetTimeout(made, seconds) == REDIS_OK else { throw broken() }
        return made
    }

    /// Closes the connection, and returns the reason.
    private func broken() -> RedisError {
        guard let context else { return .connection("closed") }
        let reason = withUnsafeBytes(of: context.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        redisFree(context)
        self.context = nil
        return .connection(reason.isEmpty ? "closed" : reason)
    }
}

/// What a task says on a connection during its turn.
struct RedisConversation {
    private let connection: RedisConnection

    fileprivate init(_ connection: RedisConnection) { self.connection = connection }

    /// Sends commands together, and returns their answers in order.
    ///
    /// - Throws: ``RedisError``, for a refused command too.
    func send(_ commands: [RedisCommand]) throws -> [RedisReply] {
        if commands.isEmpty { return [] }
        let replies = try connection.send(commands)
        for (command, reply) in zip(commands, replies) {
            if case .error(let reason) = reply { throw RedisError.refused(command: command.title, reason: reason) }
        }
        return replies
    }

    /// Sends a command.
    func send(_ words: String...) throws -> RedisReply { try send([RedisCommand(words)])[0] }

    /// Sends commands as a transaction.
    ///
    /// - Returns: Whether it was made: a key that is watched has not changed.
    /// - Throws: ``RedisError``.
    func transaction(_ commands: [RedisCommand]) throws -> Bool {
        guard let last = try send([RedisCommand("MULTI")] + commands + [RedisCommand("EXEC")]).last else { return false }
        for (command, reply) in zip(commands, last.elements) {
            if case .error(let reason) = reply { throw RedisError.refused(command: command.title, reason: reason) }
        }
        return !last.isNone
    }
}
