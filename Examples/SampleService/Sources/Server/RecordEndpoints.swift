internal import Foundation

/// The part of the service that speaks Kinto's protocol (version 1), as far as the to-do client needs it: accounts, collections with filters,
/// orders and pages, versions, the feed of changes, and several requests in one.
///
/// Source: https://docs.kinto-storage.org/en/stable/api/1.x/
struct RecordEndpoints {
    /// Returns the answer, and makes the change that the question asks for; nil when the path is not below `/v1`.
    static func answer(_ question: Question, server: inout RecordServer) -> Answer? {
        let parts = question.path.split(separator: "/").map(String.init)
        guard parts.first == "v1" else { return nil }
        if parts.count == 3, parts[1] == "accounts" { return .json(["data": ["id": .string(parts[2])]], status: 201) }
        guard let user = question.authorization else { return error("Please authenticate yourself to use this endpoint.", status: 401) }
        if parts == ["v1", "batch"], question.method == "POST" { return batch(question, &server) }
        guard parts.count >= 6, parts.count <= 7, parts[1] == "buckets", parts[3] == "collections", parts[5] == "records" else {
            return error("The resource you are looking for could not be found.", status: 404)
        }
        let (collection, id) = (parts[4], parts.count == 7 ? parts[6] : nil)
        switch (question.method, id) {
        case ("GET", nil), ("HEAD", nil): return list(question, user, collection, server)
        case ("GET", let id?): return server.record(id, of: user, collection).map { answer($0) } ?? missing
        case ("POST", nil): return save(UUID().uuidString.lowercased(), question, user, collection, &server)
        case ("PUT", let id?), ("PATCH", let id?): return save(id, question, user, collection, &server)
        case ("DELETE", let id?): return remove(id, question, user, collection, &server)
        default: return error("Method not allowed on this endpoint.", status: 405)
        }
    }

    // MARK: Reading

    private static func list(_ question: Question, _ user: String, _ collection: String, _ server: RecordServer) -> Answer {
        var found = server.all(of: user, collection)
        var (limit, start): (Int?, Int) = (nil, 0)
        var since: Int?
        for (name, text) in question.parameters.sorted(by: { $0.key < $1.key }) {
            switch name {
            case "_since": since = Int(text.trimmingCharacters(in: ["\""]))
            case "_limit": limit = Int(text)
            case "_token": start = Int(text) ?? 0
            case "_sort", "_fields": continue
            default:
                guard let filter = RecordFilter(name, text) else { return error("\(name): it is no filter of this service.", status: 400) }
                found.removeAll { !$0.isDeleted && !filter.matches($0.json) }
            }
        }
        if let since { found.removeAll { $0.lastModified <= since } } else { found.removeAll(where: \.isDeleted) }
        if let keys = question.list("_sort") { found.sort { RecordFilter.isOrdered($0.json, $1.json, by: keys) } }
        let page = found.dropFirst(start).prefix(limit ?? .max)
        var headers = ["ETag": "\"\(server.time(of: user, collection))\"", "Total-Records": "\(found.filter { !$0.isDeleted }.count)"]
        if start + page.count < found.count {
            var target = question.target.split(separator: "&").filter { !$0.hasPrefix("_token=") }.joined(separator: "&")
            target += (target.contains("?") ? "&" : "?") + "_token=\(start + page.count)"
            headers["Next-Page"] = "http://\(question.host)\(target)"
        }
        var answer = Answer.json(["data": .array(page.map(\.json))])
        answer.headers = headers
        answer.entityTag = headers["ETag"]
        return answer
    }

    private static func answer(_ record: RecordServer.Record, status: Int = 200) -> Answer {
        var answer = Answer.json(["data": record.json], status: status)
        answer.entityTag = "\"\(record.lastModified)\""
        return answer
    }

    // MARK: Saving

    private static func save(
        _ id: String, _ question: Question, _ user: String, _ collection: String, _ server: inout RecordServer
    ) -> Answer {
        guard case .object(let body)? = JSON(parsing: question.body), case .object(let sent) = body["data"] ?? [:] else {
            return error("The body is no JSON object.", status: 400)
        }
        let old = server.record(id, of: user, collection)
        if let refusal = refusal(question, old) { return refusal }
        if question.method == "PATCH" {
            guard let old else { return missing }
            return answer(server.put(id, old.fields.merging(sent) { $1 }, of: user, collection))
        }
        return answer(server.put(id, sent, of: user, collection), status: old == nil ? 201 : 200)
    }

    private static func remove(
        _ id: String, _ question: Question, _ user: String, _ collection: String, _ server: inout RecordServer
    ) -> Answer {
        guard let old = server.record(id, of: user, collection) else { return missing }
        return refusal(question, old) ?? .json(["data": server.remove(id, of: user, collection).json])
    }

    /// The answer to a change of another version than the one that is there; nil where there is nothing to say against it.
    private static func refusal(_ question: Question, _ old: RecordServer.Record?) -> Answer? {
        let isWrong = question.ifMatch.map { $0 != old.map { "\"\($0.lastModified)\"" } } ?? false
        guard isWrong || old != nil && question.knownEntityTags.contains("*") else { return nil }
        return .json(
            [
                "code": 412, "errno": 114, "error": "Precondition Failed", "message": "Resource was modified meanwhile",
                "details": .object(old.map { ["existing": $0.json] } ?? [:]),
            ], status: 412)
    }

    private static func batch(_ question: Question, _ server: inout RecordServer) -> Answer {
        guard case .object(let body)? = JSON(parsing: question.body), case .array(let requests)? = body["requests"] else {
            return error("The body has no requests.", status: 400)
        }
        var responses: [JSON] = []
        for case .object(let request) in requests {
            guard case .string(let method)? = request["method"], case .string(let target)? = request["path"] else { continue }
            var headers: [String: String] = [:]
            if case .object(let sent)? = request["headers"] {
                for case (let name, .string(let value)) in sent { headers[name.lowercased()] = value }
            }
            let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
            var inner = Question(
                method: method, target: target, path: parts[0], encodedQuery: parts.count > 1 ? parts[1] : "",
                ifNoneMatch: headers["if-none-match"], body: request["body"]?.data ?? Data())
            (inner.ifMatch, inner.authorization, inner.host) = (headers["if-match"], question.authorization, question.host)
            let answer = self.answer(inner, server: &server) ?? missing
            responses.append([
                "status": .integer(answer.status), "path": .string(target), "body": JSON(parsing: answer.body) ?? .null,
                "headers": .object(answer.entityTag.map { ["ETag": .string($0)] } ?? [:]),
            ])
        }
        return .json(["responses": .array(responses)])
    }

    private static var missing: Answer { error("The resource you are looking for could not be found.", status: 404) }
    private static func error(_ message: String, status: Int) -> Answer {
        .json(["code": .integer(status), "message": .string(message)], status: status)
    }
}
