internal import ExampleSupport
internal import FlyingFox
internal import Foundation

/// Decides the answer to each request. The decision is made on arrival, under one lock, and then delayed.
final class Responder: Sendable {
    /// Everything that a request reads or changes.
    struct State: Sendable {
        var behavior = Behavior()
        var palettes = PaletteCatalog.invented
        var room = ReadingRoom.invented
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

    private struct Decision {
        let answer: Answer
        let delay: Duration
        let record: RecordedRequest
        let onRequest: (@Sendable (RecordedRequest) -> Void)?
    }

    private func decide(_ question: Question) -> Decision {
        state.withLock { state in
            let answer = Self.answer(question, state: &state)
            let record = RecordedRequest(
                order: state.requests.count + 1, method: question.method, path: question.path, query: question.parameters,
                target: question.target, body: String(decoding: question.body, as: UTF8.self), status: answer.status)
            state.requests.append(record)
            return Decision(answer: answer, delay: state.behavior.delay, record: record, onRequest: state.onRequest)
        }
    }

    private static func answer(_ question: Question, state: inout State) -> Answer {
        switch state.behavior.takePlan(for: question.path) {
        case .failure(let status):
            .error("planned failure", status: status)
        case .malformed:
            endpoint(question, &state).cutInHalf
        case nil:
            endpoint(question, &state).unlessUnchanged(since: question.knownEntityTags)
        }
    }

    private static func endpoint(_ question: Question, _ state: inout State) -> Answer {
        if let answer = ReadingRoomEndpoints.answer(question, room: &state.room) { return answer }
        guard question.method == "GET" else { return .error("only GET is allowed", status: 405) }
        return BandcampEndpoints(catalog: .shared).answer(question)
            ?? ColourLoversEndpoints(catalog: state.palettes).answer(question)
            ?? .error("unknown address", status: 404)
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
    }
}
