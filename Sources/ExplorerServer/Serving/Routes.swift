#if Command
internal import Explorer
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import StoreCommands

/// Answers the requests of a session's pages.
struct Routes: Sendable {
    private let session: ExplorerSession
    /// The maximum size of a request, in megabytes, and the timeout for receiving it.
    private static let largestRequest = 32
    private static let requestTime = TimeAmount.seconds(60)

    init(_ session: ExplorerSession) { self.session = session }

    func respond(_ request: Request, _ channel: any Channel) async -> Response {
        do {
            if request.method == .post { return Self.json(try await change(request, channel)) }
            return try await page(request)
        } catch let error as CancellationError {
            return Self.json(ExplorerError.json(error), .serviceUnavailable)
        } catch {
            // A mistake in a request is an answer to it: the page shows it at its place, and the browser need not log it.
            let status: HTTPResponse.Status =
                switch (error as? ExplorerError)?.kind {
                case .notFound?: .notFound
                case .forbidden?: .forbidden
                default: error is RequestError ? .badRequest : .ok
                }
            return Self.json(ExplorerError.json(error), status)
        }
    }

    static func json(_ value: JSONValue, _ status: HTTPResponse.Status = .ok) -> Response {
        ExplorerServer.text(value.text(indent: false), status, type: "application/json; charset=utf-8")
    }

    // MARK: Reading

    private func page(_ request: Request) async throws -> Response {
        let path = request.uri.path.removingPercentEncoding ?? request.uri.path
        let given = request.uri.queryParameters
        func text(_ name: String) -> String? { given[Substring(name)].map(String.init) }
        func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
        func needed(_ name: String) throws -> String {
            guard let value = text(name) else { throw RequestError("The request lacks “\(name)”.") }
            return value
        }
        func question() throws -> TableQuestion {
            TableQuestion(
                try needed("entity"), where: text("where"), sort: text("sort"), columns: text("columns"), offset: number("offset") ?? 0,
                limit: number("limit") ?? 100)
        }
        switch path {
        case "/api/store": return Self.json(try await session.overview())
        case "/api/count": return Self.json(try await session.count(question(), isExact: text("exact") != nil))
        case "/api/rows": return Self.json(try await session.rows(question()))
        case "/api/object": return Self.json(try await session.object(needed("id")))
        case "/api/related":
            return Self.json(
                try await session.related(needed("id"), needed("name"), offset: number("offset") ?? 0, limit: number("limit") ?? 50))
        case "/api/candidates":
            return Self.json(try await session.candidates(needed("id"), needed("name"), text: text("text") ?? ""))
        case "/api/history": return Self.json(try await session.history(before: number("before")))
        case "/api/changes": return Self.json(try await session.changes(of: Int64(needed("number")) ?? 0, offset: number("offset") ?? 0))
        case "/api/diagram.svg":
            return ExplorerServer.text(try await session.diagram(), type: "image/svg+xml")
        case Events.path: return Events(session).response()
        case "/value": return Self.file(try await session.file(needed("id"), needed("name")))
        case "/favicon.ico": return Response(status: .noContent)
        default: break
        }
        if let asset = Assets.named(path) {
            return Response(
                status: .ok, headers: [.contentType: asset.type, .contentLength: "\(asset.bytes.count)"],
                body: .init(byteBuffer: ByteBuffer(bytes: asset.bytes)))
        }
        throw RequestError("There is no page at \(path).")
    }

    /// Returns a value as a file. The browser shows only known kinds of pictures.
    private static func file(_ file: ExplorerSession.File) -> Response {
        var response = Response(
            status: .ok, headers: [.contentLength: "\(file.data.count)"], body: .init(byteBuffer: ByteBuffer(bytes: file.data)))
        response.headers[.contentType] = file.picture?.rawValue ?? (file.isText ? "text/plain; charset=utf-8" : "application/octet-stream")
        if file.picture == nil {
            response.headers[.contentDisposition] = "attachment; filename=\"value.\(file.isText ? "txt" : "bin")\""
        }
        response.headers[HTTPField.Name("Content-Security-Policy")!] = "default-src 'none'; sandbox"
        return response
    }

    // MARK: Changing

    private func change(_ request: Request, _ channel: any Channel) async throws -> JSONValue {
        let body = try await body(request, channel)
        let edit: Edit
        do { edit = try JSONDecoder().decode(Edit.self, from: Data(body.readableBytesView)) } catch {
            throw RequestError("The request is not valid: \("\(error)".prefix(1_000))")
        }
        guard request.uri.path == "/api/edit" else { throw RequestError("There is no page at \(request.uri.path).") }
        return try await session.apply(edit)
    }

    /// Reads the body of a request.
    ///
    /// - Throws: The limit, if the body is larger.
    private func body(_ request: Request, _ channel: any Channel) async throws -> ByteBuffer {
        var request = request
        let tooLarge = RequestError(
            "The request is too large: it may have \(Self.largestRequest) MB. Set such a value by a program that uses the store.")
        // An answer before the page has sent the whole request would end the connection, and be lost.
        let end = channel.eventLoop.scheduleTask(in: Self.requestTime) { channel.close(promise: nil) }
        defer { end.cancel() }
        do { return try await request.collectBody(upTo: Self.largestRequest << 20) } catch is NIOTooManyBytesError { throw tooLarge }
    }
}

/// The error of an unsupported request.
struct RequestError: LocalizedError {
    private let message: String
    init(_ message: String) { self.message = message }
    var errorDescription: String? { message }
}
#endif
