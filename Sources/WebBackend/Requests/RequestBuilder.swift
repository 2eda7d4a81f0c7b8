internal import Foundation
internal import JSONReading
internal import Predicates
internal import RemoteStore
internal import WebTransport

/// Converts requests of the store to requests to the service.
struct RequestBuilder {
    let service: ServicePlan
    private let values: ValueWriter

    init(_ service: ServicePlan) {
        self.service = service
        values = ValueWriter(plans: service.plans)
    }

    /// Returns the request of a call.
    ///
    /// - Throws: Code 134070 for values that cannot be sent.
    func request(_ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan) throws -> WebRequest {
        let label = "\(plan.entity).\(call.call.name)"
        let headers = self.headers(plan, hasBody: call.call.method != .get)
        let isInBody = call.paging.isInBody
        var query = commonQuery
        var body: JSONValue?
        if call.call.method != .get { body = .object(JSONObject()) }
        if let text = call.call.body { body = try JSONValue(parsing: Array(try filledBody(text, request, plan).utf8)) }
        for (name, value) in call.query {
            let pair = try (
                name.filled { try placeText($0, request, plan) }, value.filled { try placeText($0, request, plan) }
            )
            query.append(pair)
        }
        try addFilters(request, plan, call, &query, &body)
        addSorts(request, plan, call, &query, &body)
        addPage(request, call, isInBody, &query, &body)
        addShape(request, plan, call, &query)
        if let token = request.page, case .address = call.paging.form {
            // The address has the parameters, but not the body: it is sent again.
            return WebRequest(
                call.call.method, token.text, headers: headers, body: try body?.serialized(), isIdempotent: true, label: label)
        }
        let path = try call.path.filled { place in
            let text = try placeText(place, request, plan)
            guard let component = PercentEncoding.component(text) else { throw WebBackendError.path(text, label) }
            return component
        }
        let method: WebRequest.Method = request.wantsCount && call.paging.countsByHead ? .head : call.call.method
        return WebRequest(
            method, service.address + (path.isEmpty || path.hasPrefix("/") ? "" : "/") + path + Self.encoded(query, after: path),
            headers: headers, body: try body?.serialized(), isIdempotent: true, label: label)
    }

    /// Returns the request of a call whose only parameter is an identifier.
    ///
    /// - Throws: Code 134070 for an identifier that cannot stand in a path.
    func request(reading id: ResourceID, _ plan: ResourcePlan, _ call: CallPlan) throws -> WebRequest {
        let label = "\(plan.entity).\(call.call.name)"
        func text(_ place: String) -> String { values.text(id, part: place.split(separator: ".").last.flatMap { Int($0) }) }
        let path = try call.path.filled { place in
            guard let component = PercentEncoding.component(text(place)) else { throw WebBackendError.path(text(place), label) }
            return component
        }
        let query = commonQuery + call.query.map { ($0.name.filled(text), $0.value.filled(text)) }
        var body: [UInt8]?
        if call.call.method != .get {
            let filled = Template(call.call.body ?? "{}").filled { values.json(id, at: $0, nil, of: plan).description }
            body = try JSONValue(parsing: Array(filled.utf8)).serialized()
        }
        return WebRequest(
            call.call.method, service.address + (path.isEmpty || path.hasPrefix("/") ? "" : "/") + path + Self.encoded(query, after: path),
            headers: headers(plan, hasBody: body != nil), body: body, isIdempotent: true, label: label)
    }

    /// The parameters of every request.
    var commonQuery: [(String, String)] { service.service.query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    /// The headers of every request.
    func headers(_ plan: ResourcePlan, hasBody: Bool) -> WebHeaders {
        var headers = WebHeaders()
        headers["Accept"] = plan.style.accept
        if hasBody { headers["Content-Type"] = plan.style.contentType ?? plan.style.accept }
        for (name, value) in service.service.headers.sorted(by: { $0.key < $1.key }) { headers[name] = value }
        return headers
    }

    /// Returns parameters encoded as the end of an address.
    static func encoded(_ query: [(String, String)], after path: String) -> String {
        if query.isEmpty { return "" }
        let text = query.map { name, value in
            PercentEncoding.encoded(name, keeping: "[]$:@!*(),;") + "=" + PercentEncoding.encoded(value, keeping: "[]$:@!*(),;/?")
        }.joined(separator: "&")
        return (path.contains("?") ? "&" : "?") + text
    }

    // MARK: Places

    /// Returns the value of the call's parameter for a place.
    private func placeText(_ place: String, _ request: BackendRequest, _ plan: ResourcePlan) throws -> String {
        let part = place.split(separator: ".").last.flatMap { Int($0) }
        guard let filter = request.filter(CallPlan.keyPath(place)) else { return "" }
        if let id = filter.ids.first { return values.text(id, part: part) }
        let property = NameWriter(plan: plan, plans: service.plans).property(filter.keyPath)
        return try filter.values.first.map { ValueWriter.text(try values.json($0, property, of: plan.entity), .bare) } ?? ""
    }

    private func filledBody(_ text: String, _ request: BackendRequest, _ plan: ResourcePlan) throws -> String {
        try Template(text).filled { place in
            guard let filter = request.filter(CallPlan.keyPath(place)) else { return place == "type" ? plan.type : "null" }
            let property = NameWriter(plan: plan, plans: service.plans).property(filter.keyPath)
            if let id = filter.ids.first { return values.json(id, at: place, property, of: plan).description }
            return try filter.values.first.map { try values.json($0, property, of: plan.entity).description } ?? "null"
        }
    }

    // MARK: Parts

    private func addFilters(
        _ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan, _ query: inout [(String, String)], _ body: inout JSONValue?
    ) throws {
        let writer = FilterWriter(
            plan: plan, call: call, names: NameWriter(plan: plan, plans: service.plans), values: values)
        let places = Set(call.places.map(CallPlan.keyPath))
        let filters = request.filters.filter { !places.contains($0.parameter) }
        // A call's own parameters are sent beside the expression or the selector of the style.
        let isBeside =
            switch plan.style.filters.form {
            case .none, .parameters: false
            case .expression, .selector: true
            }
        func isOwn(_ filter: BackendRequest.Filter) -> Bool { isBeside && call.parameters[filter.parameter] != nil }
        query += try writer.parameters(filters.filter(isOwn).flatMap { try writer.inWords(Condition($0)).comparisons })
        let comparisons = filters.filter { !isOwn($0) }.map(Condition.init)
        var condition = comparisons.isEmpty ? nil : comparisons.count == 1 ? comparisons[0] : Condition.and(comparisons)
        if let tree = request.predicate {
            guard let parsed = Condition(tree) else {
                throw WebBackendError.unwritable("\(tree)", plan.entity, "It is no comparison that a filter can have.")
            }
            condition = parsed
        }
        condition = try condition.map(writer.inWords)
        if condition?.matchesNothing == true { throw WebBackendError.unwritable("FALSEPREDICATE", plan.entity, "It matches nothing.") }
        switch plan.style.filters.form {
        case .none, .parameters:
            query += try writer.parameters(condition?.comparisons ?? [])
        case .expression(let expression):
            if let condition, let text = try writer.expression(condition, expression) { query.append((expression.parameter, text)) }
        case .selector(let selector) where call.call.returns != .one && call.call.body == nil:
            let object = try writer.selector(condition, selector)
            switch selector.place {
            case .query(let name): if object.count > 0 { query.append((name, JSONValue.object(object).description)) }
            case .body(let key): body?[key] = .object(object)
            }
        case .selector: break
        }
    }

    /// Returns whether nothing can match a request: it has an empty list, or a value for which the service has no word.
    func matchesNothing(_ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan) -> Bool {
        let conditions = request.filters.map(Condition.init) + (request.predicate.flatMap(Condition.init).map { [$0] } ?? [])
        if conditions.isEmpty { return false }
        let writer = FilterWriter(plan: plan, call: call, names: NameWriter(plan: plan, plans: service.plans), values: values)
        // A condition that cannot be written throws later, when it is written.
        return conditions.contains { condition in ((try? writer.inWords(condition)) ?? condition).matchesNothing }
    }

    private func addSorts(
        _ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan, _ query: inout [(String, String)], _ body: inout JSONValue?
    ) {
        let style = plan.style.sorting
        let last = call.call.returns == .list && !request.wantsCount ? style.last : nil
        guard let parameter = style.parameter, !parameter.isEmpty, !request.sorts.isEmpty || last != nil else { return }
        let names = NameWriter(plan: plan, plans: service.plans)
        if style.place == .body {
            body?[parameter] = .array(
                request.sorts.map { [names.sortName($0.keyPath): .string($0.isAscending ? style.ascending : style.descending ?? "desc")] })
            return
        }
        var keys = request.sorts.map { sort in
            let isAsIs = sort.isAscending || style.direction != nil || style.descendingParameter != nil
            let template = isAsIs ? style.ascending : style.descending ?? style.ascending
            return template.replacing("{name}", with: names.sortName(sort.keyPath))
        }
        if let last, !keys.contains(last), !request.sorts.contains(where: { names.sortName($0.keyPath) == last }) { keys.append(last) }
        let isDescending = request.sorts.first.map { !$0.isAscending } ?? false
        query.append((isDescending ? style.descendingParameter ?? parameter : parameter, keys.joined(separator: style.separator)))
        if let direction = style.direction, let first = request.sorts.first {
            query.append((direction.parameter, first.isAscending ? direction.ascending : direction.descending))
        }
    }

    private func addPage(
        _ request: BackendRequest, _ call: CallPlan, _ isInBody: Bool, _ query: inout [(String, String)], _ body: inout JSONValue?
    ) {
        let paging = call.paging
        var size = paging.size
        if let limit = request.limit, limit < size { size = max(1, limit) }
        if request.wantsCount { size = 1 }
        func add(_ name: String, _ value: Int) {
            if isInBody { body?[name] = .integer(Int64(value)) } else { query.append((name, "\(value)")) }
        }
        switch paging.form {
        case .none, .address: break
        case .number(let name, let first):
            let token = request.page.map { NumberToken($0) }
            if let token { size = token.size }
            add(name, token?.number ?? first)
        case .offset(let name):
            let offset = request.page.map { NumberToken($0).number } ?? request.offset
            if offset > 0 { add(name, offset) }
        case .cursor(let name):
            if let token = request.page {
                if isInBody { body?[name] = .string(token.text) } else { query.append((name, token.text)) }
            }
        }
        if let name = paging.sizeParameter { add(name, size) }
        if let text = paging.totalParameter, let pair = Template.parameter(text), request.wantsCount || request.page == nil {
            query.append((pair.name.filled { $0 }, pair.value.filled { $0 }))
        }
    }

    private func addShape(_ request: BackendRequest, _ plan: ResourcePlan, _ call: CallPlan, _ query: inout [(String, String)]) {
        if let style = plan.style.fields, let wanted = request.properties, !request.wantsCount,
            let pair = Template.parameter(style.template)
        {
            // Included destinations are found by the relationship that leads to them.
            let relationships = request.embeddings.compactMap { $0.split(separator: ".").first.map(String.init) }
            var names = wanted.union(relationships).compactMap { plan.properties[$0] }.filter { $0.path != nil }.map(\.queryName)
            names += plan.identity.filter { !$0.hasPrefix("@") && plan.style.attributes.isEmpty }
            if let kinds = plan.kinds, plan.style.attributes.isEmpty { names.append(kinds.path.description) }
            if case .number(let path) = plan.version { names.append(path.description) }
            if case .tag(let path) = plan.version { names.append(path.description) }
            let text = Set(names).sorted().joined(separator: style.separator)
            func fill(_ place: String) -> String { place == "type" ? plan.type : place == "names" ? text : place }
            query.append((pair.name.filled(fill), pair.value.filled(fill)))
        }
        if let style = plan.style.includes, !request.embeddings.isEmpty, !request.wantsCount, let pair = Template.parameter(style.template)
        {
            let names = NameWriter(plan: plan, plans: service.plans)
            let text = request.embeddings.map(names.sortName).sorted().joined(separator: style.separator)
            query.append((pair.name.filled { $0 }, pair.value.filled { $0 == "paths" ? text : $0 }))
        }
    }
}

/// The token of a page with a number, and the size of the pages.
struct NumberToken {
    let number: Int
    let size: Int
    /// The largest total in an answer; nil if there is none.
    let total: Int?
    /// The reason for requesting the page, if no answer has announced it.
    let guess: GuessedPage?
    /// The number of resources of the previous pages, for pages by number that were not all full.
    let received: Int?

    init(number: Int, size: Int, total: Int? = nil, guess: GuessedPage? = nil, received: Int? = nil) {
        (self.number, self.size, self.total, self.guess, self.received) = (number, size, total, guess, received)
    }

    init(_ token: PageToken) {
        let parts = token.text.split(separator: "@", omittingEmptySubsequences: false)
        func number(_ index: Int) -> Int? { index < parts.count ? Int(parts[index]) : nil }
        self.init(
            number: number(0) ?? 0, size: number(1) ?? 1, total: number(2), guess: parts.count > 3 ? GuessedPage(parts[3]) : nil,
            received: number(4))
    }

    var token: PageToken {
        func text(_ number: Int?) -> String { number.map { "\($0)" } ?? "" }
        return PageToken("\(number)@\(size)@\(text(total))@\(guess?.text ?? "")@\(text(received))", shown: "\(number)")
    }
}

extension BackendRequest {
    /// Returns the reason for requesting the page, if no answer has announced it; nil for other pages.
    func guessedPage(_ call: CallPlan) -> GuessedPage? {
        switch call.paging.form {
        case .number, .offset: page.flatMap { NumberToken($0).guess }
        case .none, .cursor, .address: nil
        }
    }
}

extension Condition {
    /// The comparisons that must all match.
    var comparisons: [Comparison] {
        switch self {
        case .comparison(let comparison): [comparison]
        case .and(let parts): parts.flatMap(\.comparisons)
        case .or, .not, .constant: []
        }
    }
}
