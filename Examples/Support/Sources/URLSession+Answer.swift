package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

extension URLSession {
    /// Sends a request, and returns the body and the response.
    ///
    /// As `data(for:)`, which may block for ever on Linux when its task is cancelled while the answer comes: it cancels within the handler of
    /// the task, which waits for a queue of all sessions, and that queue for the task.
    ///
    /// - Throws: `URLError`; `URLError.cancelled` where the task was cancelled.
    package func answer(to request: URLRequest) async throws -> (body: Data, response: URLResponse) {
        let sent = Locked<URLSessionTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = dataTask(with: request) { body, response, error in
                    guard let body, let response else { return continuation.resume(throwing: error ?? URLError(.badServerResponse)) }
                    continuation.resume(returning: (body, response))
                }
                sent.withLock { $0 = task }
                task.resume()
                // The handler has found none if it was called before.
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            // On another thread: no lock of the cancelled task is held there.
            if let task = sent.withLock({ $0 }) { DispatchQueue.global().async { task.cancel() } }
        }
    }
}
