internal import JSONReading
internal import RemoteStore
internal import WebTransport

/// What an answer says about pages.
extension AnswerReader {
    /// Returns a part of an answer as text; nil where there is none.
    func part(_ part: AnswerPart?, _ response: WebResponse, _ body: JSONValue?) throws -> String? {
        switch part {
        case nil: nil
        case .body?, .relation?: part?.text(body)
        case .header(let name)?: response.headers[name]
        case .link(let relation)?: LinkHeader.address(relation, in: response.headers.all("Link"))
        case .contentRange?:
            response.headers["Content-Range"].flatMap { $0.split(separator: "/").last }.map(String.init)
        }
    }

    func next(
        _ request: BackendRequest, _ response: WebResponse, _ findings: Findings, _ total: Int?, _ url: String,
        signature: @autoclosure () -> Int? = nil
    ) throws -> PageToken? {
        let paging = call.paging
        if case .none = paging.form { return nil }
        if call.call.returns == .one || request.wantsCount { return nil }
        let text = try nextPage(request, response, findings)
        let hasMore = try hasMore(request, response, findings)
        if hasMore == false || paging.endsShort && findings.count < Self.size(request, paging) { return nil }
        if hasMore == true, let next = paging.next, let more = paging.hasMore, text == nil {
            throw contradiction(request, "\(more) says that there is another page, and \(next) names none.")
        }
        switch paging.form {
        case .none: return nil
        case .address:
            guard let text else { return nil }
            if findings.count == 0, hasMore == nil, paging.endsEmpty { return nil }
            guard let address = service.absolute(text, from: url) else { throw WebBackendError.foreign(request.description) }
            return PageToken(address)
        case .cursor:
            guard let text else { return nil }
            // An empty page may stand before others. Some services name a cursor at the end, too: the one that they were asked with.
            if findings.count == 0, hasMore == nil, paging.endsEmpty || text == request.page?.text { return nil }
            return PageToken(text)
        case .number(_, let first):
            let size = Self.size(request, paging)
            let number = request.page.map { NumberToken($0).number } ?? first
            let totals = Totals(total, request)
            if let text, let named = Int(text), let next = paging.next, named != number + 1 {
                throw contradiction(request, "By the description the page after \(number) is \(number + 1), and \(next) names \(named).")
            }
            let start = (number - first) * size
            let received = (request.page.flatMap { NumberToken($0).received } ?? start) + findings.count
            // Where all pages were full, their number says how many have come: the token is the same before the resources are read.
            let counted = received == start + size || kept(totals) == nil ? nil : received
            switch following(text, hasMore, totals, request, findings, from: start, to: start + size, received: received, size) {
            case .last: return nil
            case .told: return NumberToken(number: number + 1, size: size, total: kept(totals), received: counted).token
            case .guessed:
                let guess = Self.guess(isFirst: number == first, findings.count, size, signature())
                return NumberToken(number: number + 1, size: size, total: kept(totals), guess: guess, received: counted).token
            }
        case .offset:
            let size = Self.size(request, paging)
            let offset = request.page.map { NumberToken($0).number } ?? request.offset
            let totals = Totals(total, request)
            let end = Self.end(of: offset, named: text, findings.count, size)
            switch following(text, hasMore, totals, request, findings, from: offset, to: end, received: end, size) {
            case .last: return nil
            case .told: return NumberToken(number: end, size: size, total: kept(totals)).token
            case .guessed:
                let guess = Self.guess(isFirst: request.page == nil, findings.count, size, signature())
                return NumberToken(number: end, size: size, total: kept(totals), guess: guess).token
            }
        }
    }

    /// Returns the number of resources to skip behind a page: what the answer names, as far as it leads on.
    private static func end(of offset: Int, named text: String?, _ count: Int, _ size: Int) -> Int {
        if let named = text.flatMap({ Int($0) }), named > offset, named < largestOffset { return named }
        // An empty page says nothing of how far it reaches, other than that it was asked for so many.
        let (end, isBeyond) = offset.addingReportingOverflow(count > 0 ? count : size)
        return isBeyond ? .max : end
    }

    /// More than any list has.
    private static let largestOffset = 1 << 48

    /// The numbers of all resources that the pages of a list have told.
    private struct Totals {
        /// The last one: some services tell it on the first page alone.
        let latest: Int?
        let largest: Int

        init(_ total: Int?, _ request: BackendRequest) {
            let earlier = request.page.flatMap { NumberToken($0).total }
            latest = total ?? earlier
            largest = max(latest ?? 0, earlier ?? 0)
        }
    }

    /// What follows a page.
    private enum Following {
        /// Nothing.
        case last
        /// Another page, as the answer tells.
        case told
        /// Perhaps another page.
        case guessed
    }

    private func following(
        _ next: String?, _ hasMore: Bool?, _ totals: Totals, _ request: BackendRequest, _ findings: Findings, from start: Int, to end: Int,
        received: Int, _ size: Int
    ) -> Following {
        if call.paging.next != nil { return next != nil ? .told : .last }
        if let hasMore { return hasMore ? .told : .last }
        guard findings.count > 0 else { return .last }
        if let total = totals.latest {
            call.pageCounts.note(total: total)
            if end < total { return .told }
            // A service may give fewer at a time than it is asked for, or tell how many are left.
            if received < totals.largest { return .guessed }
            // A number that full pages reach exactly may be that of the page's, or where the service stops to count.
            let mayBeCut = call.paging.exactTotal == nil && call.pageCounts.mayBeCut(total)
            return end == total && findings.count >= size && mayBeCut ? .guessed : .last
        }
        if call.paging.endsEmpty || findings.count >= size { return .guessed }
        // Fewer than were asked for may be all that the service gives at a time.
        let isLast =
            call.paging.endsShort || call.pageCounts.hasLarger(than: findings.count) || named(request).map { findings.count >= $0 } ?? false
        return isLast ? .last : .guessed
    }

    /// The number of resources that a request names by their identifiers; nil where it names none.
    private func named(_ request: BackendRequest) -> Int? {
        request.filters.filter { $0.keyPath == "SELF" || $0.keyPath == plan.identifierAttribute }.map { $0.ids.count + $0.values.count }
            .min()
    }

    private static func guess(isFirst: Bool, _ count: Int, _ size: Int, _ signature: @autoclosure () -> Int?) -> GuessedPage {
        if isFirst, count < size, let signature = signature() { .behindShortFirst(signature) } else { .behindOthers }
    }

    /// The total that later pages need: where they are asked for it themselves, they tell it, and it may be another one.
    private func kept(_ totals: Totals) -> Int? {
        totals.latest != nil && call.paging.next == nil && call.paging.hasMore == nil ? totals.largest : nil
    }

    // MARK: What answers say

    private func contradiction(_ request: BackendRequest, _ reason: String) -> any Error {
        WebBackendError.answer(
            request.description, reason, next: "Compare the places in the description with what the service answers.")
    }

    /// Returns what names the next page; nil where there is none.
    private func nextPage(_ request: BackendRequest, _ response: WebResponse, _ findings: Findings) throws -> String? {
        guard let place = call.paging.next else { return nil }
        if case .body = place, let value = findings.next {
            // Some services write false where others have null.
            if value.bool == false { return nil }
            if value.bool == true || value.object != nil || value.array != nil {
                throw contradiction(
                    request, "The description has the next page at \(place), and the answer has \(AnswerShape.text(value) { $0 }).")
            }
        }
        if case .relation = place, let value = findings.next, !value.isNull, value.array == nil {
            throw contradiction(
                request, "The description has a list of links for \(place), and the answer has \(AnswerShape.text(value) { $0 }).")
        }
        return try part(place, response, findings.next).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns whether there is another page, as the answer tells; nil where it does not.
    private func hasMore(_ request: BackendRequest, _ response: WebResponse, _ findings: Findings) throws -> Bool? {
        guard let place = call.paging.hasMore, let text = try part(place, response, findings.more), !text.isEmpty else { return nil }
        switch text.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        default:
            throw contradiction(
                request, "The description has true or false at \(place), and the answer has “\(text.prefix(40))”.")
        }
    }

    /// Returns the number of resources in all pages, as the answer tells; nil where it does not.
    func total(_ request: BackendRequest, _ response: WebResponse, _ findings: Findings) throws -> Int? {
        guard let place = call.paging.total, let text = try part(place, response, findings.total), !text.isEmpty else { return nil }
        // A range whose whole is not known.
        if case .contentRange = place, text == "*" { return nil }
        if try !isExact(response, findings) { return nil }
        guard let number = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) }), number >= 0 else {
            throw contradiction(
                request, "The description has the number of resources at \(place), and the answer has “\(text.prefix(40))”.")
        }
        return number
    }

    /// Returns whether the number of resources is the number, and not the least that it may be.
    private func isExact(_ response: WebResponse, _ findings: Findings) throws -> Bool {
        guard let mark = call.paging.exactTotal else { return true }
        return try part(mark.part, response, findings.exact) == mark.value
    }

    /// The error of an answer to the question how many resources there are, which does not tell it.
    func uncounted(_ request: BackendRequest, _ response: WebResponse, _ findings: Findings) -> any Error {
        guard let mark = call.paging.exactTotal, let total = try? part(call.paging.total, response, findings.total) else {
            return WebBackendError.answer(request.description, "It does not tell the number of resources.")
        }
        let found = (try? part(mark.part, response, findings.exact)) ?? "nothing"
        return WebBackendError.answer(
            request.description,
            "It tells “\(total.prefix(40))” as their number, and “\(found.prefix(40))” at \(mark.part): they may be more.",
            next: "Let the service count them all, by a totalParameter if it has one; or fetch them, and count what comes.")
    }

    /// The number of resources that a page was asked for.
    static func size(_ request: BackendRequest, _ paging: PagingStyle) -> Int {
        if let token = request.page, case .number = paging.form { return NumberToken(token).size }
        guard paging.sizeParameter != nil, let limit = request.limit, limit < paging.size else { return paging.size }
        return max(1, limit)
    }

    // MARK: Before the resources

    /// Returns the token of the next page, where the answer tells it whatever its resources are.
    ///
    /// - Parameter scanner: Stands at the beginning of the answer; afterwards, anywhere.
    func earlyNext(_ scanner: inout JSONScanner, _ request: BackendRequest, _ response: WebResponse, _ url: String) throws -> PageToken? {
        let paging = call.paging
        guard call.call.returns != .one, !request.wantsCount, !paging.endsShort else { return nil }
        switch paging.form {
        // Behind the last page there may be a cursor, too, and how many resources to skip is known only afterwards.
        case .none, .offset: return nil
        case .cursor where paging.hasMore == nil: return nil
        case .address where paging.endsEmpty && paging.hasMore == nil: return nil
        case .cursor, .address: break
        case .number:
            if paging.next != nil || paging.hasMore != nil { break }
            // What a service that gives fewer at a time has given is known only afterwards.
            let isCapped = request.page.flatMap { NumberToken($0).received } != nil || call.pageCounts.areShort(of: paging.size)
            if paging.total == nil || isCapped { return nil }
        }
        var findings = Findings()
        findings.count = Self.size(request, paging)
        var missing = [paging.next, paging.hasMore, paging.total, paging.exactTotal?.part].count { $0?.bodyPath != nil }
        if missing > 0 {
            try lookAround(&scanner, envelope, &findings, &missing)
        }
        let total = try total(request, response, findings)
        return try next(request, response, findings, total, url)
    }

    /// Reads what stands around the resources, until nothing of it is missing.
    private func lookAround(
        _ scanner: inout JSONScanner, _ shape: EnvelopeShape, _ findings: inout Findings, _ missing: inout Int
    ) throws {
        try shape.forEachNode(&scanner, until: { missing <= 0 }) { node, scanner in
            let place = scanner.place
            try scanner.skipValue()
            let end = scanner.place
            for part in node.parts {
                scanner.seek(to: place)
                switch part {
                case .next: findings.next = try scanner.readValue()
                case .total: findings.total = try scanner.readValue()
                case .exact: findings.exact = try scanner.readValue()
                case .more: findings.more = try scanner.readValue()
                case .items, .item, .included: continue
                }
                missing -= 1
            }
            if let children = node.children, missing > 0 {
                scanner.seek(to: place)
                try lookAround(&scanner, children, &findings, &missing)
            }
            scanner.seek(to: end)
        }
    }
}
