internal import ExampleSupport

extension SampleService {
    /// Makes every request that arrives from now on wait before it is answered.
    ///
    /// - Parameter delay: How long; `.zero`, as at the start, answers at once.
    public func setDelay(_ delay: Duration) {
        responder.state.withLock { $0.behavior.delay = delay }
    }

    /// Answers the next requests with an HTTP error. Plans add up: each is used in the order it was made, and a request uses one.
    ///
    /// The body is an error of Bandcamp's shape, `{"error":true,"error_message":"planned failure"}`.
    ///
    /// - Parameters:
    ///   - count: How many requests fail.
    ///   - prefix: What the path of a failing request begins with, such as `/api/palettes`; by default any path fails.
    ///   - status: The HTTP status of the answers.
    public func failNext(_ count: Int = 1, path prefix: String = "/", status: Int = 503) {
        responder.state.withLock { $0.behavior.plan(.failure(status: status), count: count, path: prefix) }
    }

    /// Answers the next requests with status 200 and the first half of the right answer, which is not valid JSON. Plans add up as
    /// those of ``failNext(_:path:status:)`` do, and stand in one line with them.
    ///
    /// - Parameters:
    ///   - count: How many answers are cut off.
    ///   - prefix: What the path of such a request begins with; by default any path.
    public func answerMalformed(next count: Int = 1, path prefix: String = "/") {
        responder.state.withLock { $0.behavior.plan(.malformed, count: count, path: prefix) }
    }

    /// Answers promptly and rightly again: no delay, and no planned failure or malformed answer is left.
    public func resetBehavior() {
        responder.state.withLock { $0.behavior = Behavior() }
    }
}
