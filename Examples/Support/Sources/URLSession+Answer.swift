package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLSession {
    /// Sends a request, and returns the body and the response.
    ///
    /// As `data(for:)`, but a request that is cancelled runs to its end, and nobody waits for it: on Linux, cancelling a task of a session while
    /// its answer comes may block all sessions for ever (the handler of `data(for:)` waits for a queue that waits for the cancelled task), or
    /// stop the program (“Trying to access a behaviour for a task that in not in the registry”).
    ///
    /// - Throws: `URLError`; `CancellationError` where the task was cancelled.
    package func answer(to request: URLRequest) async throws -> (body: Data, response: URLResponse) {
        let asking = Locked(Asking())
        @Sendable func end(_ result: Result<(body: Data, response: URLResponse), any Error>) {
            let continuation = asking.withLock { asking in
                defer { (asking.continuation, asking.isOver) = (nil, true) }
                return asking.continuation
            }
            continuation?.resume(with: result)
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = asking.withLock { asking in
                    if !asking.isOver { asking.continuation = continuation }
                    return asking.isOver
                }
                // It was cancelled before.
                if isOver { return continuation.resume(throwing: CancellationError()) }
                dataTask(with: request) { body, response, error in
                    guard let body, let response else { return end(.failure(error ?? URLError(.badServerResponse))) }
                    end(.success((body, response)))
                }.resume()
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }
}

/// Who waits for an answer.
private struct Asking: Sendable {
    var continuation: CheckedContinuation<(body: Data, response: URLResponse), any Error>?
    var isOver = false
}
