internal import Foundation
public import WebTransport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests over Foundation's `URLSession`.
///
/// It needs nothing but Foundation. Programs that enable the package trait `WebBackend` have `AsyncHTTPClientTransport`, whose limits,
/// errors and redirects are those that `WebClient` expects.
public final class URLSessionTransport: Transport {
    private let session: URLSession

    /// Creates a transport.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns its answer, whatever status it has.
    public func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let name = "\(request.method.rawValue) \(request.url)"
        guard let url = URL(string: request.url) else { throw TransportError(.invalid, request: name, detail: "It has no address.") }
        var sent = URLRequest(url: url, timeoutInterval: limits.requestSeconds)
        sent.httpMethod = request.method.rawValue
        for header in request.headers.fields { sent.addValue(header.value, forHTTPHeaderField: header.name) }
        sent.httpBody = request.body.map { Data($0) }
        do {
            let (body, response) = try await session.answer(to: sent)
            guard let response = response as? HTTPURLResponse else { throw TransportError(.malformed, request: name) }
            guard body.count <= limits.maximumBytes else { throw TransportError(.tooLarge, request: name) }
            let fields = response.allHeaderFields.map { WebHeaders.Field("\($0.key)", "\($0.value)") }
            return WebResponse(status: response.statusCode, headers: WebHeaders(fields), body: Array(body))
        } catch let error as URLError {
            try Task.checkCancellation()
            throw TransportError(Self.kind(error), request: name, detail: error.localizedDescription)
        }
    }

    private static func kind(_ error: URLError) -> TransportError.Kind {
        switch error.code {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet: .cannotConnect
        case .timedOut: .timedOut
        default: .lost
        }
    }
}

/// Returns a transport over the network: the one of the package trait `WebBackend` where it is enabled.
public func networkTransport() -> any Transport {
    #if WebBackend
    AsyncHTTPClientTransport()
    #else
    URLSessionTransport()
    #endif
}
