internal import ExampleSupport
internal import FlyingFox
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Decides the answer to each request. The decision is made on arrival, under one lock, and then delayed.
final class Responder: Sendable {
    /// Everything that a request reads or changes.
    struct State: Sendable {
        var behavior = Behavior()
        var palettes = PaletteCatalog.invented
        var room = ReadingRoom.invented
        var records = RecordServer()
        /// The address of another server, which answers what begins with `/v1`.
        var upstream: URL?
        var requests: [RecordedRequest] = []
        var onRequest: (@Sendable (RecordedRequest) -> Void)?
    }

    let state = Locked(State())

    /// Answers a request of the HTTP server, after the delay in force when it arrived.
    func respond(to request: HTTPRequest) async -> HTTPResponse {
        let body: Data
        do {
            body = try await request.bodyData
        } catch {
            return .cutOff
        }
        let question = Question(request, body)
        if let upstream = state.withLock({ $0.upstream }), question.path.hasPrefix("/v1") {
            return await pass(question, request, on: upstream)
        }
        let decision = decide(question)
        decision.onRequest?(decision.record)
        if decision.delay > .zero {
            do {
                try await Task.sleep(for: decision.delay)
            } catch {
                return .cutOff
            }
        }
        return HTTPResponse(decision.answer)
    }

    /// Asks another server, as a network in between does.
    private func pass(_ question: Question, _ request: HTTPRequest, on upstream: URL) async -> HTTPResponse {
        guard let url = URL(string: upstream.absoluteString + question.target) else { return .cutOff }
        var passed = URLRequest(url: url)
        passed.httpMethod = question.method
        if !question.body.isEmpty { passed.httpBody = question.body }
        for (name, value) in request.headers where ![.contentLength, .connection].contains(name) {
            passed.setValue(value, forHTTPHeaderField: name.rawValue)
        }
        guard let (body, response) = try? await session.data(for: passed), let response = response as? HTTPURLResponse else {
            return .cutOff
        }
        let (record, onRequest) = state.withLock { $0.note(question, status: response.statusCode) }
        onRequest?(record)
        var headers: HTTPHeaders = [:]
        for case (let name as String, let value as String) in response.allHeaderFields
        where !["content-length", "connection", "transfer-encoding"].contains(name.lowercased()) { headers[HTTPHeader(name)] = value }
        return HTTPResponse(
            statusCode: HTTPStatusCode(response.statusCode, phrase: ReasonPhrase.phrase(for: response.statusCode)), headers: headers,
            body: body)
    }

    private let session = URLSession(configuration: .ephemeral)

    private struct Decision {
        let answer: Answer
        let delay: Duration
        let record: RecordedRequest
        let onRequest: (@Sendable (RecordedRequest) -> Void)?
    }

    private func decide(_ question: Question) -> Decision {
        state.withLock { state in
            let answer = Self.answer(question, state: &state)
            let (record, onRequest) = state.note(question, status: answer.status)
            return Decision(answer: answer, delay: state.behavior.delay, record: record, onRequest: onRequest)
        }
    }

    private static func answer(_ question: Question, state: inout State) -> Answer {
        switch state.behavior.takePlan(for: question.path) {
        case .failure(let status):
            .error("planned failure", status: status)
        case .malformed:
            endpoint(question, &state).cutInHalf
        case nil:
            question.method == "GET"
                ? endpoint(question, &state).unlessUnchanged(since: question.knownEntityTags) : endpoint(question, &state)
        }
    }

    private static func endpoint(_ question: Question, _ state: inout State) -> Answer {
        if let answer = ReadingRoomEndpoints.answer(question, room: &state.room) { return answer }
        if let answer = RecordEndpoints.answer(question, server: &state.records) { return answer }
        guard question.method == "GET" else { return .error("only GET is allowed", status: 405) }
        return BandcampEndpoints(catalog: .shared).answer(question)
            ?? ColourLoversEndpoints(catalog: state.palettes).answer(question)
            ?? .error("unknown address", status: 404)
    }
}

extension Responder.State {
    /// Notes a request, and returns who is told of it.
    mutating func note(
        _ question: Question, status: Int
    ) -> (record: RecordedRequest, onRequest: (@Sendable (RecordedRequest) -> Void)?) {
        let record = RecordedRequest(
            order: requests.count + 1, method: question.method, path: question.path, query: question.parameters,
            target: question.target, body: String(decoding: question.body, as: UTF8.self), status: status)
        requests.append(record)
        return (record, onRequest)
    }
}

extension HTTPResponse {
    /// What a client gets when the service stops while its answer is delayed: a body is announced and never comes, so that the closing
    /// connection is an error of the connection. (The server would make a status 500 of a thrown error.)
    fileprivate static var cutOff: HTTPResponse {
        HTTPResponse(statusCode: .ok, headers: HTTPHeaders([.contentLength: "1"]))
    }

    fileprivate init(_ answer: Answer) {
        var headers: HTTPHeaders = [.contentType: "application/json; charset=utf-8"]
        if let entityTag = answer.entityTag { headers[.eTag] = entityTag }
        for (name, value) in answer.headers { headers[HTTPHeader(name)] = value }
        self.init(
            statusCode: HTTPStatusCode(answer.status, phrase: ReasonPhrase.phrase(for: answer.status)), headers: headers,
            body: answer.body)
    }
}

extension Question {
    fileprivate init(_ request: HTTPRequest, _ body: Data) {
        self.init(
            method: request.method.rawValue, target: request.target.rawValue, path: request.path,
            encodedQuery: request.target.query(percentEncoded: true), ifNoneMatch: request.headers[.ifNoneMatch],
            body: body)
        ifMatch = request.headers[HTTPHeader("If-Match")]
        authorization = request.headers[.authorization]
        host = request.headers[.host] ?? ""
    }
}
