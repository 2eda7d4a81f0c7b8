internal import JSONReading
internal import RemoteStore
internal import WebTransport

/// Checks whether the feed of changes reports exactly the changes since a token.
///
/// Only a change shows whether it is reported, and a check only reads. If tokens are comparable with versions, the check requests the changes that the
/// versions of the sample imply.
enum FeedCheck {
    static let name = "feed of changes"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        guard case .since(let parameter, let part, let deleted)? = sample.plan.style.changeFeed, let list = sample.lists.first else {
            return []
        }
        let feed = Feed(parameter: parameter, part: part, deleted: deleted, sample: sample, list: list)
        return [
            Trial("deleted resources", list.call, .changes) { _ in feed.deletedInList() },
            Trial("nothing new", list.call, .changes) { probe in try await feed.sinceNow(probe) },
            Trial("what is newer", list.call, .changes) { probe in try await feed.sinceVersion(probe) },
        ]
    }
}

/// The feed of one collection.
private struct Feed {
    let parameter: String
    let part: AnswerPart
    let deleted: JSONPath
    let sample: EntitySample
    let list: ListReading

    private var values: ResourceValues { ResourceValues(service: sample.backend.service.plans) }

    private func finding(_ asked: String, _ claim: String, _ seen: String, _ request: String, _ advice: String) -> [CapabilityFinding] {
        [
            sample.finding(
                .changes, FeedCheck.name, list.call, asked, claim: "style.changeFeed.\(claim)", seen: seen, request: request,
                advice: advice)
        ]
    }

    func deletedInList() -> [CapabilityFinding] {
        let gone = list.items.filter { $0.value(at: deleted)?.bool == true }
        guard let id = gone.compactMap({ values.identifier($0, sample.plan) }).first else { return [] }
        return finding(
            "deleted resources", "deleted: \(deleted)", "\(gone.count) resources of the list are deleted, the first is \(id).",
            list.request,
            "Describe a path whose list leaves out what was deleted.")
    }

    func sinceNow(_ probe: ServiceProbe) async throws -> [CapabilityFinding] {
        let (token, request) = try await token(probe)
        guard let token else {
            return finding(
                "a token", "token: \(part)", "The answer has none.", request, "Name the place where an answer has the token of changes.")
        }
        let (found, asked) = try await changes(since: token, probe)
        let ids = Set(found.map(\.id))
        guard ids.count > 1, list.ids.isSubset(of: ids) else { return [] }
        return finding(
            "nothing new", "parameter: \(parameter)",
            "All \(ids.count) resources came again, though nothing has changed since: it is ignored.",
            asked, "Name the parameter that takes the token.")
    }

    func sinceVersion(_ probe: ServiceProbe) async throws -> [CapabilityFinding] {
        let versions = sample.resources.compactMap { resource -> Int64? in
            if case .number(let number)? = resource.version { number } else { nil }
        }.sorted()
        guard let token = try await token(probe).token, let largest = Int64(token.filter { $0 != "\"" }), let newest = versions.last,
            largest >= newest, versions.count > 2
        else { throw Trial.Untried(reason: "Its tokens are not versions of resources: only a change would tell.") }
        let middle = versions[versions.count / 2]
        let (found, asked) = try await changes(since: token.replacing("\(largest)", with: "\(middle)"), probe)
        let ids = Set(found.map(\.id))
        let missing = sample.resources.filter { resource in
            if case .number(let number)? = resource.version { number > middle && !ids.contains(resource.id) } else { false }
        }
        // An empty answer means that its tokens are not versions.
        guard !ids.isEmpty, let first = missing.first else { return [] }
        return finding(
            "what is newer", "parameter: \(parameter)",
            "\(missing.count) resources with a version above \(middle) are missing, the first is \(first.id).", asked,
            "Say changeFeed: none; then lists are read as a whole.")
    }

    // MARK: Requests

    private func token(_ probe: ServiceProbe) async throws -> (token: String?, request: String) {
        let size = sample.plan.style.paging.sizeParameter.map { [($0, "1")] } ?? []
        let (response, request) = try await send(size, probe)
        return (text(part, response), request)
    }

    private func changes(since token: String, _ probe: ServiceProbe) async throws -> (found: [(id: ResourceID, item: JSONValue)], String) {
        var (response, request) = try await send([(parameter, token)], probe)
        let first = request
        var found: [(id: ResourceID, item: JSONValue)] = []
        for page in 1... {
            let items = (try? JSONValue(parsing: response.body))?.value(at: sample.plan.style.envelope.items)?.array ?? []
            found += items.compactMap { item in values.identifier(item, sample.plan).map { ($0, item) } }
            guard let next = text(sample.plan.style.paging.next, response), !next.isEmpty,
                let address = sample.backend.service.absolute(next, from: sample.backend.service.address + "/" + sample.plan.collection)
            else { break }
            guard page < 4 else { throw Trial.Untried(reason: "The changes have more than \(page) pages.") }
            (response, request) = try await send(to: address, probe)
        }
        return (found, first)
    }

    private func send(_ query: [(String, String)], _ probe: ServiceProbe) async throws -> (WebResponse, String) {
        let path = sample.backend.service.address + "/" + sample.plan.collection
        return try await send(to: path + RequestBuilder.encoded(query, after: path), probe)
    }

    private func send(to address: String, _ probe: ServiceProbe) async throws -> (WebResponse, String) {
        let builder = RequestBuilder(sample.backend.service)
        let web = WebRequest(
            .get, address, headers: builder.headers(sample.plan, hasBody: false), label: "\(sample.plan.entity).changes")
        let response = try await probe.send(web)
        guard response.status < 300 else {
            let error = ErrorReader(plan: sample.plan, words: ServiceWords(sample.backend.client)).error(response, to: web, isSave: false)
            throw ServiceProbe.Refusal(request: probe.show(web), status: response.status, error: error)
        }
        return (response, probe.show(web))
    }

    private func text(_ part: AnswerPart?, _ response: WebResponse) -> String? {
        switch part {
        case .header(let name)?: response.headers[name]
        case .link(let relation)?: LinkHeader.address(relation, in: response.headers.all("Link"))
        case .body(let path)?: part?.text((try? JSONValue(parsing: response.body))?.value(at: path))
        case .relation(let list, _)?: part?.text((try? JSONValue(parsing: response.body))?.value(at: list.path))
        case .contentRange?, nil: nil
        }
    }
}
