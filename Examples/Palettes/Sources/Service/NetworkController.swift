internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests and checks that the answer is a success.
enum NetworkController {
    private static let session = URLSession(configuration: .ephemeral)

    /// A task that asks once it is resumed.
    ///
    /// - Parameters:
    ///   - request: what to ask.
    ///   - completion: called on a queue of the session with the body of the answer, or with an error of ``PaletteErrorDomain``.
    static func task(_ request: URLRequest, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) -> URLSessionDataTask {
        let url = request.url
        return session.dataTask(with: request) { data, response, error in
            if let error {
                let reason = "No answer came: \(error.localizedDescription)"
                completion(nil, PaletteError.make(.unreachable, asking: url, reason, cause: error))
            } else if let status = (response as? HTTPURLResponse)?.statusCode, !(200..<300 ~= status) {
                completion(nil, PaletteError.make(.status, asking: url, "The service answered with HTTP status \(status)."))
            } else {
                completion(data ?? Data(), nil)
            }
        }
    }
}
