internal import Foundation
internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

/// Sends several changes as a list of requests.
struct BatchSender {
    let sender: ChangeSender
    let batch: SavingStyle.BatchRequests

    func save(_ changes: [BackendChange]) async throws -> ChangeSender.Outcomes {
        var (sent, outcomes) = try await sender.prepared(changes) { change, current in
            let request = try sender.request(change, current: current)
            return (request: request, element: try element(request))
        }
        if sent.isEmpty { return outcomes }
        var body = JSONValue.array(sent.map(\.value.element))
        if !batch.list.isEmpty { body = [batch.list: body] }
        let builder = RequestBuilder(sender.service)
        let address = sender.service.address(batch.path)
        let request = WebRequest(
            .post, address + RequestBuilder.encoded(builder.commonQuery, after: address),
            headers: builder.headers(sender.plan, hasBody: true),
            body: try body.serialized(), isIdempotent: sent.allSatisfy(\.value.request.isIdempotent), label: "\(sender.plan.entity).batch")
        let response: WebResponse
        do { response = try await sender.send(request) } catch {
            for one in sent { outcomes[one.change.key] = ChangeSender.outcome(error) }
            return outcomes
        }
        guard response.status < 300, !response.refusesCredentials() else {
            for one in sent { outcomes[one.change.key] = sender.outcome(response, one.change, one.value.request) }
            return outcomes
        }
        let (answers, error) = sender.answers(response, at: batch.answers, request, sent.count)
        // Without an answer, it is not known whether the change was saved.
        for one in sent.dropFirst(answers.count) { outcomes[one.change.key] = .unknown(error) }
        for (one, answer) in zip(sent, answers) {
            outcomes[one.change.key] = await sender.outcome(try self.response(answer), one.change, one.value.request, over: one.current)
        }
        return sender.paired(outcomes, sent.map(\.change), request)
    }

    private func element(_ request: WebRequest) throws -> JSONValue {
        var path = String(request.url.dropFirst(sender.service.address.count))
        if batch.hasWholePaths { path = sender.service.basePath + path }
        var element: JSONValue = ["method": .string(request.method.rawValue), "path": .string(path)]
        var headers = JSONObject()
        for field in request.headers.fields where field.name.lowercased() != "accept" { headers[field.name] = .string(field.value) }
        if headers.count > 0, batch.status != nil { element["headers"] = .object(headers) }
        if let body = request.body { element["body"] = try JSONValue(parsing: body) }
        return element
    }

    private func response(_ answer: JSONValue) throws -> WebResponse {
        var status = 200
        var body = answer.value(at: JSONPath(batch.body)) ?? .null
        var headers = WebHeaders()
        if let key = batch.status { status = answer.value(at: JSONPath(key))?.integer.map(Int.init) ?? 500 }
        if let key = batch.error, let error = answer.value(at: JSONPath(key)) {
            status = 400
            body = error
        }
        for member in answer["headers"]?.object ?? [:] { headers[member.key] = member.value.string ?? member.value.description }
        return WebResponse(status: status, headers: headers, body: try body.serialized())
    }
}

/// Sends several changes as a list of resources.
struct DocumentSender {
    let sender: ChangeSender
    let path: String
    let list: String
    let deleted: String

    func save(_ changes: [BackendChange]) async throws -> ChangeSender.Outcomes {
        var (sent, outcomes) = try await sender.prepared(changes, deletionsHaveFields: true) { change, current in
            var document = try sender.resource(change, current: current)
            if let id = change.id, let identity = sender.plan.identity.first { document.set(sender.json(id), at: JSONPath(identity)) }
            if change.kind == .delete { document[deleted] = true }
            return try sender.document(document, change.id)
        }
        if sent.isEmpty { return outcomes }
        let builder = RequestBuilder(sender.service)
        let address = sender.service.address(path)
        let request = WebRequest(
            .post, address + RequestBuilder.encoded(builder.commonQuery, after: address),
            headers: builder.headers(sender.plan, hasBody: true),
            body: try JSONValue.object([list: .array(sent.map(\.value))]).serialized(), label: "\(sender.plan.entity).batch")
        let response: WebResponse
        do { response = try await sender.send(request) } catch {
            for one in sent { outcomes[one.change.key] = ChangeSender.outcome(error) }
            return outcomes
        }
        guard response.status < 300, !response.refusesCredentials() else {
            for one in sent { outcomes[one.change.key] = sender.outcome(response, one.change, request) }
            return outcomes
        }
        let (answers, error) = sender.answers(response, at: "", request, sent.count)
        // Without an answer, it is not known whether the change was saved.
        for one in sent.dropFirst(answers.count) { outcomes[one.change.key] = .unknown(error) }
        for (one, answer) in zip(sent, answers) {
            let change = one.change
            let status: Int
            if let error = answer["error"]?.string {
                status = error == "conflict" ? 409 : 400
            } else if let receipt = sender.saving.receipt, answer.value(at: receipt.version) == nil {
                outcomes[change.key] = .unknown(
                    WebBackendError.unfit(
                        request.label, "“\(receipt.version)” or “error”", AnswerShape.text(answer) { sender.words.clean($0, request) }
                    ))
                continue
            } else {
                status = 201
            }
            outcomes[change.key] = await sender.outcome(
                WebResponse(status: status, body: try answer.serialized()), change, request, over: one.current)
        }
        return sender.paired(outcomes, sent.map(\.change), request)
    }
}

extension ChangeSender {
    /// Returns the answers to several changes, and the error for missing ones.
    func answers(_ response: WebResponse, at path: JSONPath, _ request: WebRequest, _ count: Int) -> (answers: [JSONValue], error: NSError)
    {
        let body = try? JSONValue(parsing: response.body)
        let answers = body?.value(at: path)?.array
        let found = answers.map { "a list of \($0.count)" } ?? AnswerShape.text(response, body) { words.clean($0, request) }
        return (
            answers ?? [], WebBackendError.unfit(request.label, "a list of \(count) answers\(path.isEmpty ? "" : " at “\(path)”")", found)
        )
    }

    /// Returns the outcomes, with unknown ones for new resources whose answers have each other's values: the answers have come in another order than
    /// the requests, so their identifiers belong to other resources.
    func paired(_ outcomes: Outcomes, _ changes: [BackendChange], _ request: WebRequest) -> Outcomes {
        let new = changes.filter { $0.kind == .insert && $0.id == nil }
        var others: [BackendChange.Key: [String: ResourceValue]] = [:]
        for change in new {
            guard case .saved(_, _, let told)? = outcomes[change.key] else { continue }
            let different = told.filter { name, value in change.values[name].map { !$0.isAlike(value) } ?? false }
            if !different.isEmpty { others[change.key] = different }
        }
        // A single one has values that the service has set itself.
        if others.count < 2 { return outcomes }
        var paired = outcomes
        for (key, told) in others {
            let isAnothers = new.contains { other in
                other.key != key && others[other.key] != nil
                    && told.allSatisfy { name, value in other.values[name]?.isAlike(value) ?? false }
            }
            if !isAnothers { continue }
            paired[key] = .unknown(
                UnreadAnswer(
                    WebBackendError.unfit(
                        request.label, "the answers in the order of the requests", "one with the values of another resource",
                        next: "Send the changes one by one: describe no batch.")))
        }
        return paired
    }

    /// Returns a resource with the constants of a request's body, for a list of resources.
    func document(_ resource: JSONValue, _ id: ResourceID?) throws -> JSONValue {
        var document = resource
        try bodies.addConstants(to: &document, id)
        return document
    }
}
