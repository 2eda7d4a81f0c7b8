internal import ExampleSupport

extension SampleService {
    /// Delays the answers to all requests that arrive from now on.
    ///
    /// - Parameter delay: The delay; `.zero`, the initial value, answers at once.
    public func setDelay(_ delay: Duration) {
        responder.state.withLock { $0.behavior.delay = delay }
    }

    /// Answers the next requests with an HTTP error. Plans accumulate: they are used in the order of creation, one for each request.
    ///
    /// The body is an error in Bandcamp's format, `{"error":true,"error_message":"planned failure"}`.
    ///
    /// - Parameters:
    ///   - count: The number of failing requests.
    ///   - prefix: The prefix of the paths of failing requests, such as `/api/palettes`; the default is any path.
    ///   - status: The HTTP status of the answers.
    public func failNext(_ count: Int = 1, path prefix: String = "/", status: Int = 503) {
        responder.state.withLock { $0.behavior.plan(.failure(status: status), count: count, path: prefix) }
    }

    /// Answers the next requests with status 200 and the first half of the right answer, which is not valid JSON. Plans accumulate
    /// together with those of ``failNext(_:path:status:)``.
    ///
    /// - Parameters:
    ///   - count: The number of truncated answers.
    ///   - prefix: The prefix of the paths of such requests; the default is any path.
    public func answerMalformed(next count: Int = 1, path prefix: String = "/") {
        responder.state.withLock { $0.behavior.plan(.malformed, count: count, path: prefix) }
    }

    /// Resets the behavior: removes the delay, and all planned failures and malformed answers.
    public func resetBehavior() {
        responder.state.withLock { $0.behavior = Behavior() }
    }
}
