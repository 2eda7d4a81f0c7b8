import Logging
import Platform

@testable import WebTransport

/// Answers requests by a closure, and remembers them.
final class ScriptedTransport: Transport {
    private let sent = LockedBox<[WebRequest]>([])
    private let answer: @Sendable (WebRequest, Int) async throws -> WebResponse

    /// - Parameter answer: Gets a request and the number of those before it.
    init(_ answer: @escaping @Sendable (WebRequest, Int) async throws -> WebResponse) { self.answer = answer }

    /// Gives these answers in order, and then the last one.
    convenience init(_ answers: WebResponse...) { self.init { _, index in answers[min(index, answers.count - 1)] } }

    var requests: [WebRequest] { sent.withLock { $0 } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let index = sent.withLock { sent in
            sent.append(request)
            return sent.count - 1
        }
        return try await answer(request, index)
    }
}

extension WebResponse {
    static func text(_ text: String, status: Int = 200, headers: WebHeaders = [:]) -> WebResponse {
        WebResponse(status: status, headers: headers, body: Array(text.utf8))
    }

    static func redirect(_ status: Int, _ location: String) -> WebResponse { WebResponse(status: status, headers: ["Location": location]) }

    var text: String { String(decoding: body, as: UTF8.self) }
}

let base = "https://api.example.com"

/// Returns a client of ``base`` over a transport, which waits for nothing.
func makeClient(_ transport: any Transport, time: VirtualTime = VirtualTime(), _ change: (inout WebClient.Options) -> Void = { _ in })
    throws
    -> WebClient
{
    var options = WebClient.Options()
    options.time = time.clientTime()
    options.logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    change(&options)
    return try WebClient(baseURL: base, transport: transport, options: options)
}

/// Returns the error of the transport that the body throws; nil where it throws none.
func transportError(_ body: () async throws -> some Any) async throws -> TransportError? {
    do {
        _ = try await body()
        return nil
    } catch let error as TransportError {
        return error
    }
}
