internal import JSONReading
internal import RemoteStore
internal import WebTransport

/// Checks a call.
struct CallChecks {
    private let call: WebCall
    private let style: ServiceStyle
    private let place: String

    init(_ call: WebCall, _ style: ServiceStyle, _ place: String) { (self.call, self.style, self.place) = (call, style, place) }

    private func refused(_ reason: String, _ next: String) -> any Error { WebBackendError.description(place, reason, next: next) }

    func run() throws {
        if call.returns == .one {
            for (key, isSaid) in [
                ("filters", !(call.filters ?? []).isEmpty), ("paging", call.paging.map { $0 != .none } ?? false),
            ] where isSaid {
                throw refused("It returns one resource, of which “\(key)” says nothing.", "Remove it, or write returns: list.")
            }
        } else {
            try PagingChecks(call.paging ?? style.paging, items: call.items ?? style.envelope.items, place).run()
        }
        if let body = call.body {
            if call.method == .get || call.method == .head {
                throw refused("It has a body, and \(call.method.rawValue) has none.", "Write method: POST, or remove the body.")
            }
            try SavingChecks.checkJSON(Template(body).filled { _ in "0" }, "Its body", place)
        }
        for parameter in call.parameters {
            let name = parameter.keyPaths.first ?? ""
            if parameter.keyPaths.isEmpty || parameter.templates.isEmpty {
                throw refused("A parameter compares nothing.", "Say what it is for, and how a comparison is written.")
            }
            if parameter.maximumValues > 1, parameter.templates[.isIn] == nil {
                throw refused(
                    "The parameter for “\(name)” takes several values, and has no isIn.", "Describe isIn, or remove maximumValues.")
            }
        }
        if style.includes == nil, let name = call.includes.first(where: { !isEmbedded($0) }) {
            throw refused(
                "It includes “\(name)”, and the style has no parameter that asks for it.",
                "Describe the style's “includes”, or “\(name)” as an object that is embedded: reference: object:id.")
        }
        if style.includes?.isDeep == false, let path = call.includes.first(where: { $0.contains(".") }) {
            throw refused("It includes “\(path)”, and the style's includes are not deep.", "Write includes: {template: …, deep: true}.")
        }
    }

    private func isObject(_ body: String) -> Bool {
        (try? JSONValue(parsing: Array(Template(body).filled { _ in "0" }.utf8)))?.object != nil
    }

    /// Returns whether resources embed the destination of a relationship, by ``embedded``, which the plan sets after creation.
    private func isEmbedded(_ name: String) -> Bool { embedded.contains(name) }

    /// The relationships whose destinations are embedded.
    var embedded: Set<String> = []

    /// Checks that filters and orders in the body belong to a request that has a body.
    ///
    /// - Parameters:
    ///   - filters: Whether the call claims filters of the style.
    ///   - sorts: Whether it claims orders.
    func checkBody(filters: Bool, sorts: Bool) throws {
        if call.returns == .one { return }
        let isGet = call.method == .get
        if case .selector(let selector) = style.filters.form, filters {
            if case .body = selector.place, isGet {
                throw refused("Its filters stand in the body, and \(call.method.rawValue) has none.", "Write method: POST, or filters: [].")
            }
            if call.body != nil {
                throw refused(
                    "It has a body of its own, and the style's filters would stand beside it.", "Write filters: [], or remove the body.")
            }
        }
        if style.sorting.place == .body, sorts, isGet {
            throw refused("Its order stands in the body, and \(call.method.rawValue) has none.", "Write method: POST, or sorting: [].")
        }
        let paging = call.paging ?? style.paging
        if !isGet, paging.countsByHead {
            throw refused(
                "Its number is asked for by HEAD, which has no body with what \(call.method.rawValue) asks for.",
                "Write paging with countsByHead: false, or method: GET.")
        }
        let isInBody = sorts && style.sorting.place == .body || paging.isInBody && paging != .none
        if isInBody, let body = call.body, !isObject(body) {
            throw refused("Its body is no object, in which the order and the page could stand.", "Write an object.")
        }
        if paging.isInBody, isGet, paging != .none, paging.form != .none || paging.sizeParameter != nil, paging.form != .address {
            throw refused(
                "Its pages are asked for in the body, and \(call.method.rawValue) has none.", "Write method: POST, or paging: none.")
        }
    }
}
