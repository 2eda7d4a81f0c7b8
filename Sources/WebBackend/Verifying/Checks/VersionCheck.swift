internal import JSONReading
internal import RemoteStore
internal import WebTransport

/// Checks whether resources have the described versions.
enum VersionCheck {
    static let name = "versions"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        switch sample.plan.version {
        case .none: return []
        case .eTag:
            guard let call = sample.one else { return [] }
            return [Trial("ETag", call, .version) { _ in tags(call, sample) }]
        case .number, .tag:
            return sample.lists.map { list in Trial("the version", list.call, .version) { _ in missing(list, sample) } }
        }
    }

    /// Returns a version as a finding shows it.
    static func shown(_ version: ResourceVersion) -> String {
        switch version {
        case .number(let number): "\(number)"
        case .tag(let tag): "“\(tag)”"
        }
    }

    private static func missing(_ list: ListReading, _ sample: EntitySample) -> [CapabilityFinding] {
        let lacking = list.resources.filter { $0.version == nil }
        guard let first = lacking.first else { return [] }
        return [
            sample.finding(
                .version, name, list.call, "the version", claim: sample.claims.version(),
                seen: "\(lacking.count) of \(list.count) resources have none, the first is \(first.id): changes of others stay unnoticed.",
                request: list.request, advice: "Correct the path of the version, or say version: none.")
        ]
    }

    private static func tags(_ call: CallPlan, _ sample: EntitySample) -> [CapabilityFinding] {
        let answers = sample.ones.filter { !$0.value.resources.isEmpty }.sorted { $0.key.description < $1.key.description }
        func finding(_ seen: String, _ request: String, _ advice: String) -> [CapabilityFinding] {
            [sample.finding(.version, name, call, "ETag", claim: sample.claims.version(), seen: seen, request: request, advice: advice)]
        }
        if let (id, answer) = answers.first(where: { $0.value.response.headers["ETag"] == nil }) {
            return finding(
                "The answer to \(id) has none: changes of others stay unnoticed.", answer.request,
                "Say where the version is (number, tag), or version: none with conflicts: byReading.")
        }
        // Several resources may share a revision, but not a hash.
        let known = answers.compactMap { $0.value.response.headers["ETag"] }
        guard known.count > 1, Set(known).count == 1, let tag = known.first, AnswerReader.opaque(tag).contains(where: { !$0.isNumber }),
            Set(answers.map(\.value.response.body)).count > 1
        else { return [] }
        return finding(
            "\(answers.count) different resources have the same, \(tag): it does not tell what has changed.", answers[0].value.request,
            "Say where the version is (number, tag), or version: none with conflicts: byReading.")
    }
}

/// Checks whether a request with an outdated condition returns the resource, with its unchanged tag.
enum ConditionCheck {
    static let name = "conditions"
    private static let made = "\"made-up-by-verify\""

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        var trials: [Trial] = []
        if let call = sample.one, sample.plan.version == .eTag, !sample.resources.isEmpty {
            trials.append(Trial("If-None-Match", call, .version) { probe in try await one(call, sample, probe) })
        }
        for list in sample.lists {
            guard let first = list.pages.first, let condition = condition(first.response) else { continue }
            let claim = "the header \(condition.name == "If-None-Match" ? "ETag" : "Last-Modified") of its answers"
            trials.append(
                Trial(condition.name, list.call, .version) { probe in
                    let answer = try await asked(sample.request(list.call), list.call, condition, sample, probe)
                    return answer.response.status == 304 ? [unchanged(list.call, condition, answer, sample, claim: claim)] : []
                })
        }
        return trials
    }

    /// Returns a condition that no answer can meet, of the kind that conditional requests have.
    private static func condition(_ response: WebResponse) -> (name: String, value: String)? {
        if response.headers["ETag"] != nil { return ("If-None-Match", made) }
        if response.headers["Last-Modified"] != nil { return ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:01 GMT") }
        return nil
    }

    /// Sends a conditional request. A service need not understand tags that it has not made.
    private static func asked(
        _ request: BackendRequest, _ call: CallPlan, _ condition: (name: String, value: String), _ sample: EntitySample,
        _ probe: ServiceProbe
    ) async throws -> ProbeAnswer {
        do { return try await probe.ask(request, sample.plan, call, headers: [condition.name: condition.value]) } catch is ServiceProbe
            .Refusal
        {
            throw Trial.Untried(reason: "The service refuses a \(condition.name) that it has not made.")
        }
    }

    private static func unchanged(
        _ call: CallPlan, _ condition: (name: String, value: String), _ answer: ProbeAnswer, _ sample: EntitySample,
        claim: String
    ) -> CapabilityFinding {
        sample.finding(
            .version, name, call, condition.name, claim: claim,
            seen: "304 came for \(condition.value), which no answer has had: what has changed would never be seen.",
            request: answer.request + " with \(condition.name): \(condition.value)",
            advice: "Have the service, or the cache before it, compare the tag; leave out ETag and Last-Modified meanwhile.")
    }

    private static func one(_ call: CallPlan, _ sample: EntitySample, _ probe: ServiceProbe) async throws -> [CapabilityFinding] {
        guard let resource = sample.chosen.first, let request = sample.request(call, given: resource) else { return [] }
        let condition = (name: "If-None-Match", value: made)
        let answer = try await asked(request, call, condition, sample, probe)
        if answer.response.status == 304 { return [unchanged(call, condition, answer, sample, claim: sample.claims.version())] }
        guard let before = sample.ones[resource.id], before.response.body == answer.response.body,
            let old = before.response.headers["ETag"], let new = answer.response.headers["ETag"],
            AnswerReader.comparable(old) != AnswerReader.comparable(new)
        else { return [] }
        return [
            sample.finding(
                .version, name, call, "ETag", claim: sample.claims.version(),
                seen: "\(resource.id) had \(old), and then \(new), and is the same: each change would be a conflict.",
                request: answer.request,
                advice: "Say where the version is (number, tag), or version: none with conflicts: byReading.")
        ]
    }
}

extension AnswerReader {
    /// Returns the comparable part of a tag, without the mark of a weak tag and without quotation marks.
    fileprivate static func comparable(_ tag: String) -> String { opaque(tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag) }
}
