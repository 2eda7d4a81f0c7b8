internal import Foundation
internal import JSONReading
internal import ObjectGraph
public import RemoteStore
internal import WebTransport

extension WebBackend {
    /// Whether the description has a feed of changes.
    public var hasChangeFeed: Bool { service.service.style.changeFeed != nil }

    /// Asks the service for changes, by the feed that the description names: one feed for each collection, or one for all.
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
            var query = RequestBuilder(service).commonQuery
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
                // The token of the first page: changes that are made while later pages are read come again with the next request.
                if isFirst {
                    if let token = text(part, response) {
                        tokens[entity] = .string(token)
                    } else if since == nil {
                        // Without a token, no change would ever be reported.
                        throw WebBackendError.answer(asked.label, "It has no version at \(part).")
                    }
                }
                isFirst = false
                guard since != nil else { break }
                found += try items(response, plan, asked.label).map { (plan: plan, item: $0) }
                guard let next = text(plan.style.paging.next, response), !next.isEmpty,
                    let address = service.absolute(next, from: url), visited.insert(address).inserted
                else { break }
                url = address
            }
        }
        var changes = request.answer(ChangeToken(try String(decoding: JSONValue.object(tokens).serialized(.sortedKeys), as: UTF8.self)))
        for (plan, item) in found {
            let element = plan.style.envelope.element.isEmpty ? nil : item.value(at: plan.style.envelope.element)
            let isDeleted = item.value(at: deleted)?.bool == true || element?.value(at: deleted)?.bool == true
            // A deleted resource may have no more than its mark of deletion.
            let item = element?.object == nil ? item : element ?? item
            guard let id = values.identifier(item, plan) else {
                throw WebBackendError.answer(
                    "\(plan.entity).changes", "A resource has no identifier at “\(plan.identity.joined(separator: "”, “"))”.")
            }
            if isDeleted {
                try changes.remove(id, entity: plan.entity)
            } else {
                let entity = kind(item, plan)
                try changes.add(id, entity: entity, version: values.version(item, plan), values.values(item, of: entity, plan))
            }
        }
        return changes
    }

    /// Returns the resources of an answer.
    private func items(_ response: WebResponse, _ plan: ResourcePlan, _ label: String) throws -> [JSONValue] {
        let path = plan.style.envelope.items
        guard let items = try JSONValue(parsing: response.body).value(at: path)?.array else {
            throw WebBackendError.answer(label, "It has no list at “\(path)”, where resources should be.")
        }
        return items
    }

    /// Returns a part of an answer as text; nil if the answer has none.
    func text(_ part: AnswerPart?, _ response: WebResponse) -> String? {
        switch part {
        case .header(let name)?: response.headers[name]
        case .link(let relation)?: LinkHeader.address(relation, in: response.headers.all("Link"))
        case .body?, .relation?:
            value(part, response).flatMap { $0.bool == false ? nil : part?.text($0) }
        case .contentRange?, nil: nil
        }
    }

    /// Returns the value of the body that a part is read from.
    private func value(_ part: AnswerPart?, _ response: WebResponse) -> JSONValue? {
        guard let path = part?.bodyPath else { return nil }
        return (try? JSONValue(parsing: response.body))?.value(at: path)
    }

    private func kind(_ item: JSONValue, _ plan: ResourcePlan) -> String {
        plan.kinds.flatMap { kinds in item.value(at: kinds.path).flatMap { kinds.entities[$0.string ?? $0.description] } } ?? plan.entity
    }

    // MARK: Documents

    private func documents(_ request: ChangesRequest, _ path: String) async throws -> BackendChanges {
        guard let plan = service.plans.values.first else { return request.answer(ChangeToken("")) }
        let builder = RequestBuilder(service)
        let query =
            builder.commonQuery
            + (request.token.map { [("include_docs", "true"), ("limit", "500"), ("since", $0.text)] } ?? [("since", "now")])
        let url = service.address(path)
        let headers = builder.headers(plan, hasBody: false)
        let asked = WebRequest(.get, url + RequestBuilder.encoded(query, after: url), headers: headers, label: "changes")
        let response = try await client.send(asked)
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
            let type = document?.value(at: plan.style.envelope.type ?? "type")?.string
            let owner = service.plans.values.first { $0.type == type }
            if row["deleted"]?.bool == true {
                // A deleted document need not tell its type.
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
