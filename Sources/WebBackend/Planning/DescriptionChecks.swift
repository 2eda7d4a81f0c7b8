internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

// What a description says and no request and no answer would show is refused: whoever writes it believes that it holds.

/// Checks what can be said of a style, whatever the model is.
struct StyleChecks {
    private let style: ServiceStyle
    private let place = "“style”"

    init(_ style: ServiceStyle) { self.style = style }

    /// - Throws: Code 134080 with the key, and what to write instead.
    func run() throws {
        try MediaTypes.check(style.accept, "“accept”", "Answers")
        if let type = style.contentType { try MediaTypes.check(type, "“contentType”", "Bodies") }
        try checkTemplates()
        try checkSorting()
        try PagingChecks(style.paging, items: nil, "“paging” of the style").run()
        if let saving = style.saving { try SavingChecks(saving, "“saving” of the style").run() }
        if !style.errors.missing.isEmpty, style.errors.flag == nil {
            throw refused("errors.missing", "No answer of success is an error", "Describe errors.flag, or remove it.")
        }
        if style.errors.pointer != nil, style.errors.list == nil {
            throw refused("errors.pointer", "There is no list of errors that it is within", "Describe errors.list, or remove it.")
        }
        let feeds = if case .couchDB? = style.changeFeed { true } else { false }
        if style.envelope.type != nil, style.envelope.included == nil, !feeds, style.envelope != ServiceStyle.couchDB.envelope {
            throw refused(
                "envelope.type", "Only resources that come along are told apart by it",
                "Describe envelope.included, or the kinds of a resource; or remove it.")
        }
        let lists = (style.filters.listTemplates ?? [:]).keys.filter { $0 != .equal && $0 != .isIn }
        if let comparison = lists.map({ "\($0)" }).min() {
            throw refused(
                "filters.listComparisons.\(comparison)", "Members of lists are compared for equality only",
                "Write equal or isIn, or remove it.")
        }
        if case .none = style.filters.form, !style.filters.templates.isEmpty {
            throw refused(
                "filters", "Its form is none, and comparisons are described", "Write form: parameters, or remove the comparisons.")
        }
    }

    private func refused(_ key: String, _ reason: String, _ next: String) -> any Error {
        WebBackendError.description("“\(key)” of the style", "\(reason), so that nothing would come of it.", next: next)
    }

    private func checkTemplates() throws {
        let parameters: [(key: String, template: String?, places: [String])] = [
            ("fields", style.fields?.template, ["names", "type"]), ("includes", style.includes?.template, ["paths"]),
        ]
        for (key, template, known) in parameters {
            guard let template else { continue }
            try Self.checkParameter(template, known, "“\(key)” of the style")
        }
    }

    /// Checks the template of a parameter.
    static func checkParameter(_ template: String, _ known: [String], _ place: String) throws {
        guard Template.parameter(template) != nil else {
            throw WebBackendError.description(
                place, "“\(template)” has no name and value, so that nothing would be sent.",
                next: "Write a name, an equals sign and a value.")
        }
        let places = Template(template).places
        if let unknown = places.first(where: { !known.contains($0) }) {
            throw WebBackendError.description(
                place, "“\(template)” has “{\(unknown)}”, which stands for nothing here.",
                next: known.isEmpty ? "Write the value itself." : "Write \(known.map { "{\($0)}" }.joined(separator: " or ")).")
        }
    }

    private func checkSorting() throws {
        let sorting = style.sorting
        guard sorting.place == .body, sorting.parameter != nil else { return }
        if sorting.direction != nil || sorting.last != nil {
            throw refused(
                sorting.direction != nil ? "sorting.direction" : "sorting.last",
                "An order in the body is a list of keys with their directions",
                "Remove it, or write place: query.")
        }
    }
}

/// Checks how lists are divided.
struct PagingChecks {
    private let paging: PagingStyle
    /// Where the list is; nil where each call says it.
    private let items: JSONPath?
    private let place: String

    init(_ paging: PagingStyle, items: JSONPath?, _ place: String) { (self.paging, self.items, self.place) = (paging, items, place) }

    private func refused(_ reason: String, _ next: String) -> any Error { WebBackendError.description(place, reason, next: next) }

    func run() throws {
        for (key, part) in [("next", paging.next), ("hasMore", paging.hasMore), ("total", paging.total)] {
            guard let part else { continue }
            if items?.isEmpty == true, case .body(let path) = part, case .key? = path.steps.first {
                throw refused(
                    "“\(key)” is \(part), and the answer is the list itself, beside which there is nothing.",
                    "Describe where the list is by envelope.items, or “\(key)” as a header.")
            }
            switch (key, part) {
            case ("total", .link), ("hasMore", .link), ("hasMore", .contentRange), ("next", .contentRange):
                throw refused("“\(key)” is \(part), which does not tell it.", "Name a value of the body or a header that does.")
            default: break
            }
        }
        switch paging.form {
        case .none where paging.next != nil || paging.hasMore != nil:
            throw refused(
                "Its form is none, so that the first page would be taken for all, and “\(paging.next != nil ? "next" : "hasMore")” tells of others.",
                "Say how the next page is asked for, by page, offset, cursor or form: address.")
        case .cursor where paging.next == nil, .address where paging.next == nil:
            throw refused("Nothing says where an answer names the next page, so that the first would be taken for all.", "Describe “next”.")
        default: break
        }
        if paging.endsEmpty, paging.endsShort {
            throw refused("“endsEmpty” and “endsShort” contradict each other.", "Remove one of the two.")
        }
        if paging.countsByHead {
            switch paging.total {
            case .header?, .contentRange?: break
            case .body?, .link?, nil:
                throw refused("“countsByHead” asks for headers only, and “total” is in none.", "Describe total: header:NAME, or remove it.")
            }
        }
        if let parameter = paging.totalParameter {
            if paging.total == nil {
                throw refused("“totalParameter” makes answers tell what nothing reads.", "Describe “total”, or remove it.")
            }
            try StyleChecks.checkParameter(parameter, [], place)
        }
    }
}

/// Checks how changes are saved.
struct SavingChecks {
    private let saving: SavingStyle
    private let place: String

    init(_ saving: SavingStyle, _ place: String) { (self.saving, self.place) = (saving, place) }

    private func refused(_ reason: String, _ next: String) -> any Error { WebBackendError.description(place, reason, next: next) }

    func run() throws {
        for (path, template) in saving.constants.sorted(by: { $0.key < $1.key }) {
            let template = Template(template)
            if let unknown = template.places.first(where: { $0 != "type" && $0 != "SELF" }) {
                throw refused("The constant “\(path)” has “{\(unknown)}”, which stands for nothing here.", "Write {type} or {SELF}.")
            }
            try Self.checkJSON(template.filled { _ in "0" }, "The constant “\(path)”", place)
        }
        if let removal = saving.removal { try Self.checkJSON(removal, "“removal”", place) }
        if case .backend = saving.conflicts, saving.precondition == .none {
            throw refused(
                "“conflicts” says that the service notices changes of others, and nothing tells it which version a change is made on.",
                "Write precondition: ifMatch or field, or conflicts: byReading or none.")
        }
        if case .requests(let batch)? = saving.batch, batch.status == nil, batch.error == nil {
            throw refused("Its batch says neither where a status is nor where a failure.", "Describe “status” or “error” of the batch.")
        }
    }

    /// Checks what depends on where versions are.
    ///
    /// - Parameter hasVersion: Whether resources have one.
    func run(_ version: VersionSource) throws {
        switch (saving.precondition, version) {
        case (.none, _), (.ifMatch, .eTag), (_, .number), (_, .tag): break
        case (_, .none):
            throw refused(
                "“precondition” promises that no change is made on another version, and nothing says where versions are.",
                "Describe “version”, or write precondition: none.")
        case (.field, .eTag):
            throw refused("“precondition” is a field of the resource, and versions are in the header ETag.", "Write precondition: ifMatch.")
        }
    }

    static func checkJSON(_ text: String, _ what: String, _ place: String) throws {
        do { _ = try JSONValue(parsing: Array(text.utf8)) } catch {
            throw WebBackendError.description(place, "\(what) is no JSON: \(error.reason)", next: "Write JSON: strings in quotation marks.")
        }
    }
}

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

    /// Whether resources have the destination embedded; told by the resource afterwards.
    private func isEmbedded(_ name: String) -> Bool { embedded.contains(name) }

    /// The relationships whose destinations are embedded.
    var embedded: Set<String> = []

    /// Checks that what goes into the body has one.
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
        if paging.isInBody, isGet, paging != .none, paging.form != .none || paging.sizeParameter != nil, paging.form != .address {
            throw refused(
                "Its pages are asked for in the body, and \(call.method.rawValue) has none.", "Write method: POST, or paging: none.")
        }
    }
}

/// Checks media types: what is read and written is JSON.
enum MediaTypes {
    /// Parts of the names of types that are not JSON. Of others, such as those of vendors, nothing tells.
    private static let others = [
        "x-www-form-urlencoded", "multipart/", "xml", "csv", "html", "yaml", "msgpack", "cbor", "protobuf", "octet-stream", "image/", "pdf",
    ]

    /// - Throws: Code 134080 for a type that JSON does not have.
    static func check(_ text: String, _ place: String, _ what: String) throws {
        let types = text.lowercased().split(separator: ",")
        guard !types.isEmpty, types.allSatisfy({ type in others.contains { type.contains($0) } && !type.contains("json") }) else { return }
        throw WebBackendError.description(
            place, "\(what) are JSON, and “\(text)” is not.", next: "Write application/json, or another type of JSON; or remove it.")
    }
}
