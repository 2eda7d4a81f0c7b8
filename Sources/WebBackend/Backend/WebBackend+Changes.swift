internal import Foundation
internal import JSONReading
internal import ObjectGraph
public import RemoteStore
internal import WebTransport

extension WebBackend {
    /// Whether the description has a feed of changes.
    public var hasChangeFeed: Bool { service.service.style.changeFeed != nil }

    /// Asks what has changed, as the description says: each collection, or one feed of all.
    public func changes(_ request: ChangesRequest) async throws -> BackendChanges {
        switch service.service.style.changeFeed {
        case .since(let parameter, let token, let deleted)?: try await changesSince(request, parameter, token, deleted)
        case .couchDB(let path)?: try await documents(request, path)
        case nil: throw WebBackendError.description("the feed of changes", "There is none.", next: "Describe one.")
        }
    }

    // MARK: Collections

    private func changesSince(
        _ request: ChangesRequest, _ parameter: String, _ part: AnswerPart, _ deleted: JSONPath
    ) async throws -> BackendChanges {
        var tokens = request.token.flatMap { try? JSONValue(parsing: Array($0.text.utf8)).object } ?? JSONObject()
        let values = ResourceValues(service: service.plans, shapes: shapes)
        var found: [(plan: ResourcePlan, item: JSONValue)] = []
        for (entity, plan) in service.plans.sorted(by: { $0.key < $1.key }) {
            let since = tokens[entity]?.string
            var url = service.address + "/" + plan.collection
            var query: [(String, String)] = []
            if let since {
                query.append((parameter, since))
            } else if let size = plan.style.paging.sizeParameter {
                query.append((size, "1"))
            }
            url += RequestBuilder.encoded(query, after: url)
            var visited: Set<String> = [url]
            var isFirst = true
            while true {
                let asked = WebRequest(
                    .get, url, headers: RequestBuilder(service).headers(plan, hasBody: false), label: "\(entity).changes")
                let response = try await client.send(asked)
                let errors = ErrorReader(plan: plan, words: ServiceWords(client))
                if let error = errors.stray(response, to: asked, isSave: false) { throw error }
                if response.status == 410 { throw ExpiredChangeToken() }
                guard response.status < 300 else { throw errors.error(response, to: asked, isSave: false) }
                // The token of the first page: what changes while later ones are read comes again.
                if isFirst, let token = try text(part, response) { tokens[entity] = .string(token) }
                isFirst = false
                guard since != nil else { break }
                let body = try JSONValue(parsing: response.body)
                for item in body.value(at: plan.style.envelope.items)?.array ?? [] { found.append((plan, item)) }
                guard let next = try text(plan.style.paging.next, response), !next.isEmpty,
                    let address = service.absolute(next, from: url), visited.insert(address).inserted
                else { break }
                url = address
            }
        }
        var changes = request.answer(ChangeToken(try String(decoding: JSONValue.object(tokens).serialized(.sortedKeys), as: UTF8.self)))
        for (plan, item) in found {
            guard let id = values.identifier(item, plan) else { continue }
            if item.value(at: deleted)?.bool == true {
                try changes.remove(id, entity: plan.entity)
            } else {
                let entity = kind(item, plan)
                try changes.add(id, entity: entity, version: values.version(item, plan), values.values(item, of: entity, plan))
            }
        }
        return changes
    }

    private func text(_ part: AnswerPart?, _ response: WebResponse) throws -> String? {
        switch part {
        case .header(let name)?: response.headers[name]
        case .link(let relation)?: LinkHeader.address(relation, in: response.headers.all("Link"))
        case .body(let path)?: (try? JSONValue(parsing: response.body))?.value(at: path).map { $0.string ?? $0.description }
        case .contentRange?, nil: nil
        }
    }

    private func kind(_ item: JSONValue, _ plan: ResourcePlan) -> String {
        plan.kinds.flatMap { kinds in item.value(at: kinds.path).flatMap { kinds.entities[$0.string ?? $0.description] } } ?? plan.entity
    }

    // MARK: Documents

    private func documents(_ request: ChangesRequest, _ path: String) async throws -> BackendChanges {
        guard let style = service.plans.values.first?.style else { return request.answer(ChangeToken("")) }
        var query = [("include_docs", "true"), ("limit", "500")]
        if let token = request.token { query.append(("since", token.text)) } else { query = [("since", "now")] }
        let url = service.address + "/" + path
        var headers = WebHeaders()
        headers["Accept"] = style.accept
        let asked = WebRequest(.get, url + RequestBuilder.encoded(query, after: url), headers: headers, label: "changes")
        let response = try await client.send(asked)
        guard let plan = service.plans.values.first else { return request.answer(ChangeToken("")) }
        let errors = ErrorReader(plan: plan, words: ServiceWords(client))
        if let error = errors.stray(response, to: asked, isSave: false) { throw error }
        guard response.status < 300 else { throw errors.error(response, to: asked, isSave: false) }
        let body = try JSONValue(parsing: response.body)
        guard let last = body["last_seq"].map({ $0.string ?? $0.description }) else {
            throw WebBackendError.answer("changes", "It has no last_seq.")
        }
        var changes = request.answer(ChangeToken(last))
        changes.hasMore = (body["pending"]?.integer ?? 0) > 0 && request.token != nil
        let values = ResourceValues(service: service.plans, shapes: shapes)
        for row in body["results"]?.array ?? [] {
            guard let id = row["id"]?.string, !id.hasPrefix("_design/") else { continue }
            let document = row["doc"]
            let type = document?.value(at: style.envelope.type ?? "type")?.string
            let owner = service.plans.values.first { $0.type == type }
            if row["deleted"]?.bool == true {
                // A deleted document need not say what it was.
                for plan in owner.map({ [$0] }) ?? Array(service.plans.values) {
                    try changes.remove(ResourceID(key: id, plan.identifier), entity: plan.entity)
                }
            } else if let owner, let document, let found = values.identifier(document, owner) {
                let entity = kind(document, owner)
                try changes.add(
                    found, entity: entity, version: values.version(document, owner), values.values(document, of: entity, owner))
            }
        }
        return changes
    }
}
