internal import ExampleSupport
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Requests JSON from a server and waits for the answer, like `NSURLConnection.sendSynchronousRequest`.
///
/// The calling thread waits on a semaphore that the session signals from its own queue, so call it on a queue that may block: a private
/// context's, not the main one.
final class BandCampConnection: Sendable {
    private let session: URLSession
    private let timeout: TimeInterval

    init(timeout: TimeInterval) {
        self.timeout = timeout
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        configuration.timeoutIntervalForResource = timeout
        // Caching is the store's responsibility.
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Returns the JSON object at a URL.
    ///
    /// - Throws: An error of ``BandCampErrorDomain`` that names the URL.
    func object(at url: URL) throws -> [String: Any] {
        let (body, status) = try answer(of: url)
        return try BandCampResponse.object(body, status: status, of: url)
    }

    private typealias Answer = Result<(body: Data, status: Int), any Error>

    private func answer(of url: URL) throws -> (body: Data, status: Int) {
        let received = Locked<Answer?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        let task = session.dataTask(with: URLRequest(url: url, timeoutInterval: timeout)) { body, response, error in
            received.withLock { received in
                if let error {
                    received = .failure(error)
                } else if let body, let response = response as? HTTPURLResponse {
                    received = .success((body, response.statusCode))
                }
            }
            arrived.signal()
        }
        task.resume()
        // The session enforces the timeout; this wait is longer, and only ensures that no context is blocked forever.
        if arrived.wait(timeout: .now() + timeout + 5) == .timedOut { task.cancel() }
        switch received.withLock({ $0 }) {
        case .success(let answer): return answer
        case .failure(let error):
            throw NSError.failure(BandCampErrorCode.unreachable, asking: url, "No answer came: \(error.localizedDescription)", cause: error)
        case nil: throw NSError.failure(BandCampErrorCode.unreachable, asking: url, "No answer came within \(timeout) seconds.")
        }
    }
}
