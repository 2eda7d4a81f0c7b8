internal import JSONReading
internal import RemoteStore

/// Checks whether pages have the requested size, end where the service says, and return every resource once.
enum PageCheck {
    static let name = "pages"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.lists.flatMap { list -> [Trial] in
            var trials = [Trial("all pages", list.call, .paging) { _ in looked(list, sample) }]
            if let trial = otherSize(list, sample) { trials.append(trial) }
            if let trial = behindTheEnd(list, sample) { trials.append(trial) }
            return trials
        }
    }

    // MARK: What was read

    private static func looked(_ list: ListReading, _ sample: EntitySample) -> [CapabilityFinding] {
        let call = list.call
        let claims = sample.claims
        func finding(_ asked: String, _ key: String, _ seen: String, _ page: Int = 0, _ advice: String) -> CapabilityFinding {
            sample.finding(
                .paging, name, call, asked, claim: claims.paging(call, key), seen: seen,
                request: list.pages[min(page, list.pages.count - 1)].request, advice: advice)
        }
        var findings: [CapabilityFinding] = []
        let (count, unique) = (list.count, list.ids.count)
        if unique < count {
            var seen: Set<ResourceID> = []
            let page = list.pages.firstIndex { page in page.resources.contains { !seen.insert($0.id).inserted } } ?? 0
            findings.append(
                finding(
                    "all pages", form(call),
                    "\(count - unique) of \(count) resources came twice: pages are not what they are described as.",
                    page, "Compare how the next page is asked for with the service's manual, or sort by a key that is unique."))
        }
        if list.end == .repeated {
            findings.append(
                finding(
                    "all pages", form(call), "The last page that was read names a page that was read before as its next one.",
                    list.pages.count - 1, "Name the place where answers have the next page, and what tells the last one (next, hasMore)."))
        }
        if let first = list.pages.first, let size = call.endpoint.paging.size, call.endpoint.paging.takesLimit,
            first.resources.count < size, !list.isWhole || count > first.resources.count
        {
            findings.append(
                finding(
                    "\(size) resources a page", "of",
                    "\(first.resources.count) came: the service has a smaller limit. Describe pages of \(first.resources.count).", 0,
                    "Set the number of resources of a page to \(first.resources.count)."))
        }
        let unreadable = list.pages.reduce(0) { $0 + $1.unreadable.count }
        if let total = list.total, list.isWhole, unreadable == 0, total != unique {
            findings.append(
                finding(
                    "all pages", "total",
                    total > unique
                        ? "\(unique) resources came, and the service tells of \(total): it ends its pages before."
                        : "\(unique) resources came, and the service tells of \(total) only.", list.pages.count - 1,
                    "Name the place of the number of all resources, or leave it out where the service counts something else."))
        }
        return findings
    }

    /// The key of the description by which the next page is found.
    private static func form(_ call: CallPlan) -> String {
        switch call.paging.form {
        case .none: "form"
        case .number: "page"
        case .offset: "offset"
        case .cursor: "cursor"
        case .address: "next"
        }
    }

    // MARK: Pages of another size

    /// Returns a trial with pages that are smaller by one: their borders differ, and their resources must not.
    private static func otherSize(_ list: ListReading, _ sample: EntitySample) -> Trial? {
        let call = list.call
        guard call.endpoint.paging.takesLimit, let size = call.endpoint.paging.size, size > 1, list.count > 1 else { return nil }
        let limit = min(size - 1, list.count - 1)
        let asked = "pages of \(limit)"
        return Trial(asked, call, .paging) { probe in
            var request = sample.request(call)
            request.limit = limit
            let other = try await probe.read(request, sample.plan, call, resources: .max, pages: 4)
            func finding(_ key: String, _ seen: String, _ advice: String) -> [CapabilityFinding] {
                [
                    sample.finding(
                        .paging, name, call, asked, claim: sample.claims.paging(call, key, key == "size" ? call.paging.sizeParameter : nil),
                        seen: seen, request: other.request, advice: advice)
                ]
            }
            if let first = other.pages.first, first.resources.count > limit {
                return finding(
                    "size", "\(first.resources.count) came: the number is ignored.",
                    "Leave out the parameter, so that a part of a list is not asked for, or name the one that the service has.")
            }
            if list.ids.count == list.count, other.ids.count < other.count {
                return finding(
                    form(call), "\(other.count - other.ids.count) of \(other.count) resources came twice.",
                    "Compare how the next page is asked for with the service's manual.")
            }
            let (more, fewer) = (other.ids.subtracting(list.ids), list.ids.subtracting(other.ids))
            if list.isWhole, let first = more.min(by: { $0.description < $1.description }) {
                return finding(
                    form(call),
                    "\(more.count) resources came that pages of \(size) have left out, the first is \(first): they end too early.",
                    "Name what tells the last page: next, hasMore, total, or endsEmpty where only an empty page is the last one.")
            }
            if other.isWhole, let first = fewer.min(by: { $0.description < $1.description }) {
                return finding(
                    form(call), "\(fewer.count) resources are missing that pages of \(size) have, the first is \(first).",
                    "Compare how the next page is asked for with the service's manual.")
            }
            return []
        }
    }

    // MARK: Behind the last page

    /// Returns a trial of the page after the last one, which must be empty.
    private static func behindTheEnd(_ list: ListReading, _ sample: EntitySample) -> Trial? {
        let call = list.call
        guard list.isWhole, let last = list.pages.last, let token = tokenBehind(list, last) else { return nil }
        let asked = "the page behind the last"
        return Trial(asked, call, .paging) { probe in
            var request = sample.request(call)
            request.page = token
            // No store requests that page, so any answer without further resources is acceptable.
            let answer: ProbeAnswer
            do { answer = try await probe.ask(request, sample.plan, call) } catch is ServiceProbe.Refusal { return [] }
            let new = answer.resources.filter { !list.ids.contains($0.id) }
            guard let first = new.first else { return [] }
            return [
                sample.finding(
                    .paging, name, call, asked, claim: sample.claims.paging(call, Self.end(call)),
                    seen: "\(new.count) further resources came, the first is \(first.id): the list ends too early.",
                    request: answer.request,
                    advice: "Name what tells the last page: next, hasMore, total, or endsEmpty where only an empty page is the last one.")
            ]
        }
    }

    /// The key of the description that determines the last page.
    private static func end(_ call: CallPlan) -> String {
        let paging = call.paging
        if paging.hasMore != nil { return "hasMore" }
        if paging.next != nil { return "next" }
        return paging.total != nil ? "total" : form(call)
    }

    private static func tokenBehind(_ list: ListReading, _ last: ProbeAnswer) -> PageToken? {
        let paging = list.call.paging
        switch paging.form {
        case .none, .address: return nil
        case .number(_, let first): return NumberToken(number: first + list.pages.count, size: paging.size).token
        case .offset: return NumberToken(number: list.count, size: paging.size).token
        case .cursor:
            // Some services have a cursor at the end, too.
            guard case .body(let path)? = paging.next, let text = last.body?.value(at: path)?.string, !text.isEmpty else { return nil }
            return list.lastToken?.text == text ? nil : PageToken(text)
        }
    }
}

/// Checks whether a list tells the right total in answers without resources.
enum CountCheck {
    static let name = "count"

    static func trials(_ sample: EntitySample, _ survey: Survey) -> [Trial] {
        sample.lists.filter { $0.call.endpoint.counts }.map { list in
            Trial("the number", list.call, .count) { probe in
                var request = sample.request(list.call)
                request.wantsCount = true
                let answer = try await probe.ask(request, sample.plan, list.call)
                let (total, unique) = (answer.total ?? -1, list.ids.count)
                let unreadable = list.pages.reduce(0) { $0 + $1.unreadable.count }
                guard list.isWhole ? total != unique + unreadable : total < unique else { return [] }
                return [
                    sample.finding(
                        .count, name, list.call, "the number", claim: sample.claims.paging(list.call, "total"),
                        seen: "\(total), and \(unique)\(list.isWhole ? "" : " or more") resources came.", request: answer.request,
                        advice: "Name the place of the number of all resources, or leave it out: then resources are counted as they come.")
                ]
            }
        }
    }
}
