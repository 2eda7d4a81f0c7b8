internal import JSONReading
internal import RemoteStore
internal import WebTransport

/// Reads the paging information of an answer.
extension AnswerReader {
    /// Returns a part of an answer as text; nil if there is none.
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
            // An empty page may come before others. At the end, some services repeat the cursor of the request.
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
            // If all pages were full, the page number determines the count, and the token is known before the resources are read.
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

    /// Returns the number of resources to skip for the next page: the one that the answer names, if that leads on.
    private static func end(of offset: Int, named text: String?, _ count: Int, _ size: Int) -> Int {
        if let named = text.flatMap({ Int($0) }), named > offset, named < largestOffset { return named }
        // The extent of an empty page is not known, so the requested size counts.
        let (end, isBeyond) = offset.addingReportingOverflow(count > 0 ? count : size)
        return isBeyond ? .max : end
    }

    /// An upper limit: no list is that long.
    private static let largestOffset = 1 << 48

    /// The totals that the pages of a list have told.
    private struct Totals {
        /// The latest one: some services tell it on the first page only.
        let latest: Int?
        let largest: Int

        init(_ total: Int?, _ request: BackendRequest) {
            let earlier = request.page.flatMap { NumberToken($0).total }
            latest = total ?? earlier
            largest = max(latest ?? 0, earlier ?? 0)
        }
    }

    /// The result of a page about the next one.
    private enum Following {
        /// There is no other page.
        case last
        /// There is another page, as the answer tells.
        case told
        /// There may be another page.
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
            // The service may have a smaller limit than the requested size, or its total may count only the remaining resources.
            if received < totals.largest { return .guessed }
            // A total that full pages reach exactly may be the size of the page, or the number at which the service stops counting.
            let mayBeCut = call.paging.exactTotal == nil && call.pageCounts.mayBeCut(total)
            return end == total && findings.count >= size && mayBeCut ? .guessed : .last
        }
        if call.paging.endsEmpty || findings.count >= size { return .guessed }
        // The service may have a smaller limit than the requested size.
        let isLast =
            call.paging.endsShort || call.pageCounts.hasLarger(than: findings.count) || named(request).map { findings.count >= $0 } ?? false
        return isLast ? .last : .guessed
    }

    /// Returns the number of resources that a request names by their identifiers; nil if it names none.
    private func named(_ request: BackendRequest) -> Int? {
        request.filters.filter { $0.keyPath == "SELF" || $0.keyPath == plan.identifierAttribute }.map { $0.ids.count + $0.values.count }
            .min()
    }

    private static func guess(isFirst: Bool, _ count: Int, _ size: Int, _ signature: @autoclosure () -> Int?) -> GuessedPage {
        if isFirst, count < size, let signature = signature() { .behindShortFirst(signature) } else { .behindOthers }
    }

    /// Returns the total that later pages need. It stays in the token, because later pages may tell another total, or none.
    private func kept(_ totals: Totals) -> Int? {
        totals.latest != nil && call.paging.next == nil && call.paging.hasMore == nil ? totals.largest : nil
    }

    // MARK: What answers say

    private func contradiction(_ request: BackendRequest, _ reason: String) -> any Error {
        WebBackendError.answer(
            request.description, reason, next: "Compare the places in the description with what the service answers.")
    }

    /// Returns the text that names the next page; nil if there is none.
    private func nextPage(_ request: BackendRequest, _ response: WebResponse, _ findings: Findings) throws -> String? {
        guard let place = call.paging.next else { return nil }
        if case .body = place, let value = findings.next {
            // Some services write false in place of null.
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

    /// Returns whether the answer announces another page; nil if it does not tell.
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

    /// Returns the total that the answer tells; nil if it tells none.
    func total(_ request: BackendRequest, _ response: WebResponse, _ findings: Findings) throws -> Int? {
        guard let place = call.paging.total, let text = try part(place, response, findings.total), !text.isEmpty else { return nil }
        // The total of the range is unknown.
        if case .contentRange = place, text == "*" { return nil }
        if try !isExact(response, findings) { return nil }
        guard let number = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) }), number >= 0 else {
            throw contradiction(
                request, "The description has the number of resources at \(place), and the answer has “\(text.prefix(40))”.")
        }
        return number
    }

    /// Returns whether the total is exact, and not a lower bound.
    private func isExact(_ response: WebResponse, _ findings: Findings) throws -> Bool {
        guard let mark = call.paging.exactTotal else { return true }
        return try part(mark.part, response, findings.exact) == mark.value
    }

    /// Returns the error of an answer to a count that lacks the total.
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

    /// Returns the requested size of a page.
    static func size(_ request: BackendRequest, _ paging: PagingStyle) -> Int {
        if let token = request.page, case .number = paging.form { return NumberToken(token).size }
        guard paging.sizeParameter != nil, let limit = request.limit, limit < paging.size else { return paging.size }
        return max(1, limit)
    }

    // MARK: Before the resources

    /// Returns the token of the next page, if the answer tells it independently of its resources.
    ///
    /// - Parameter scanner: A scanner at the beginning of the answer. Its final position is arbitrary.
    func earlyNext(_ scanner: inout JSONScanner, _ request: BackendRequest, _ response: WebResponse, _ url: String) throws -> PageToken? {
        let paging = call.paging
        guard call.call.returns != .one, !request.wantsCount, !paging.endsShort else { return nil }
        switch paging.form {
        // A cursor may follow even the last page, and the offset is known only when the resources have been read.
        case .none, .offset: return nil
        case .cursor where paging.hasMore == nil: return nil
        case .address where paging.endsEmpty && paging.hasMore == nil: return nil
        case .cursor, .address: break
        case .number:
            if paging.next != nil || paging.hasMore != nil { break }
            // If the service has a smaller limit, the number of resources is known only when they have been read.
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

    /// Reads the values around the resources until none is missing.
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
