internal import JSONReading
internal import ObjectGraph
internal import RemoteStore
internal import WebTransport

// A part of a description that would have no effect on any request or answer is refused, because its author expects an effect.

/// Checks the parts of a style that do not depend on the model.
struct StyleChecks {
    private let style: ServiceStyle
    private let place = "“style”"

    init(_ style: ServiceStyle) { self.style = style }

    /// - Throws: Code 134080 with the key, and the correction.
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
        try checkFilters()
        try checkFeed()
        let lists = (style.filters.listTemplates ?? [:]).keys.filter { $0 != .equal && $0 != .isIn }
        if let comparison = lists.map({ "\($0)" }).min() {
            throw refused(
                "filters.listComparisons.\(comparison)", "Members of lists are compared for equality only",
                "Write equal or isIn, or remove it.")
        }
        if style.errors.list == nil, style.errors.detail != ErrorStyle().detail {
            throw refused("errors.detail", "There is no list of errors that it is within", "Describe errors.list, or remove it.")
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
        if let fields = style.fields, !Template(fields.template).places.contains("names") {
            throw refused(
                "fields", "“\(fields.template)” does not say which properties are wanted",
                "Write {names} where they stand, or send what is always the same by “query”.")
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
        guard let parameter = sorting.parameter else {
            if sorting != .none {
                throw refused("sorting", "No parameter has the order", "Describe sorting.parameter, or write sorting: none.")
            }
            return
        }
        if parameter.isEmpty { return }
        if sorting.place == .query { return try checkKeys(sorting) }
        if sorting.direction != nil || sorting.last != nil || sorting.descendingParameter != nil {
            throw refused(
                sorting.direction != nil ? "sorting.direction" : sorting.last != nil ? "sorting.last" : "sorting.descendingParameter",
                "An order in the body is a list of keys with their directions",
                "Remove it, or write place: query.")
        }
        for (key, template) in [("ascending", sorting.ascending), ("descending", sorting.descending ?? "")]
        where template.contains("{name}") {
            throw refused(
                "sorting.\(key)", "An order in the body is a list of keys with their directions: “\(template)” would stand there as it is",
                "Write the word for the direction, such as \(key == "ascending" ? "asc" : "desc").")
        }
        if sorting.separator != "," {
            throw refused("sorting.separator", "An order in the body is a list", "Remove it, or write place: query.")
        }
    }
}

extension StyleChecks {
    /// Checks an order in a parameter.
    private func checkKeys(_ sorting: SortStyle) throws {
        if !sorting.ascending.contains("{name}") {
            throw refused("sorting.ascending", "“\(sorting.ascending)” does not say by what is sorted", "Write {name} where that stands.")
        }
        guard let name = sorting.direction?.parameter ?? sorting.descendingParameter else {
            guard let descending = sorting.descending else { return }
            if !descending.contains("{name}") {
                throw refused(
                    "sorting.descending", "“\(descending)” does not say by what is sorted", "Write {name} where that stands, or null.")
            }
            if descending == sorting.ascending {
                throw refused(
                    "sorting.descending", "It is the same as ascending",
                    "Write null where there is one order, or describe sorting.direction.")
            }
            return
        }
        if let direction = sorting.direction, direction.ascending == direction.descending {
            throw refused("sorting.direction", "Both directions are “\(direction.ascending)”", "Write another word for one of them.")
        }
        if let other = sorting.descendingParameter {
            if sorting.direction != nil {
                throw refused("sorting.descendingParameter", "“\(name)” tells the direction", "Remove one of the two.")
            }
            if other == sorting.parameter {
                throw refused("sorting.descendingParameter", "It is the same as parameter", "Remove it, or write the other name.")
            }
        }
        if let descending = sorting.descending, descending != SortStyle("").descending {
            throw refused("sorting.descending", "“\(name)” tells the direction", "Remove one of the two.")
        }
        if sorting.maximumKeys > 1, sorting.maximumKeys != .max {
            throw refused(
                "sorting.maximumKeys", "“\(name)” is the direction of one key", "Write maximumKeys: 1, or remove it.")
        }
    }

    private func checkFilters() throws {
        let filters = style.filters
        let templates = Array(filters.templates.values) + Array((filters.listTemplates ?? [:]).values)
        if case .none = filters.form {
            if !templates.isEmpty {
                throw refused(
                    "filters", "Its form is none, and comparisons are described", "Write form: parameters, or remove the comparisons.")
            }
            if filters != .none {
                throw refused("filters", "Its form is none", "Write form: parameters with comparisons, or filters: none.")
            }
            return
        }
        if templates.isEmpty, filters.form != .parameters {
            throw refused("filters.form", "No comparison is described", "Describe some, such as equal, or write filters: none.")
        }
        func has(_ comparison: Parameter.Operator) -> Bool {
            filters.templates[comparison] != nil || filters.listTemplates?[comparison] != nil
        }
        if case .selector = filters.form {
            for (key, isSaid) in [("quoting", filters.quoting != .bare), ("separator", filters.separator != ",")] where isSaid {
                throw refused("filters.\(key)", "A selector has values as JSON", "Remove it.")
            }
        } else if filters.separator != ",", !templates.contains(where: { $0.contains("{values}") }) {
            throw refused("filters.separator", "No comparison has {values}, between which it would stand", "Write {values}, or remove it.")
        }
        if case .expression(let expression) = filters.form {
            // Without the part that it negates or groups, the filter would have another meaning.
            for (key, text) in [("not", expression.not), ("group", expression.group)] {
                guard let text else { continue }
                if text.ranges(of: "{}").count != 1 || !Template(text.replacing("{}", with: "")).places.isEmpty {
                    throw refused("filters.\(key)", "“\(text)” does not say where the expression stands", "Write {} once, in its place.")
                }
            }
        }
        if let lacking = filters.caseInsensitive.map(\.rawValue).sorted().first(where: { name in
            !filters.templates.keys.contains { $0.rawValue == name }
        }) {
            throw refused("filters.caseInsensitive", "The comparison \(lacking) is not described", "Describe it, or remove it here.")
        }
        if filters.identifier != nil, !has(.equal), !has(.isIn) {
            throw refused("filters.identifier", "Identifiers are compared by equal and isIn", "Describe one of them, or remove it.")
        }
        let usual = [FilterStyle.none.maximumValues] + ServiceStyle.conventions.map(\.style.filters.maximumValues)
        if !has(.isIn), !usual.contains(filters.maximumValues) {
            throw refused("filters.maximumValues", "No comparison takes several values", "Describe isIn, or remove it.")
        }
    }

    private func checkFeed() throws {
        guard case .since(_, let token, _)? = style.changeFeed else { return }
        if token == .contentRange {
            throw refused(
                "changeFeed.since.token", "The header Content-Range has a number of resources", "Name a header or a value of the body.")
        }
        switch style.paging.form {
        case .none: return
        case .address where style.paging.next != .contentRange: return
        case .address, .number, .offset, .cursor:
            throw WebBackendError.description(
                "“changeFeed” of the style",
                "A feed has the pages of “paging”, and goes on where an answer names the address of the next one: changes behind the first page would be lost.",
                next: "Write paging: {next: …} with the place of the address, or paging: none, and the pages of lists in their calls.")
        }
    }
}

/// Checks the description of pages.
struct PagingChecks {
    private let paging: PagingStyle
    /// The path to the list; nil if each call has its own.
    private let items: JSONPath?
    private let place: String

    init(_ paging: PagingStyle, items: JSONPath?, _ place: String) { (self.paging, self.items, self.place) = (paging, items, place) }

    private func refused(_ reason: String, _ next: String) -> any Error { WebBackendError.description(place, reason, next: next) }

    func run() throws {
        for (key, part) in [
            ("next", paging.next), ("hasMore", paging.hasMore), ("total", paging.total), ("exactTotal", paging.exactTotal?.part),
        ] {
            guard let part else { continue }
            if items?.isEmpty == true, let path = part.bodyPath, case .key? = path.steps.first {
                throw refused(
                    "“\(key)” is \(part), and the answer is the list itself, beside which there is nothing.",
                    "Describe where the list is by envelope.items, or “\(key)” as a header.")
            }
            switch (key, part) {
            case ("total", .link), ("hasMore", .link), ("hasMore", .contentRange), ("next", .contentRange), ("total", .relation),
                ("hasMore", .relation), ("exactTotal", .link), ("exactTotal", .relation), ("exactTotal", .contentRange):
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
        if case .none = paging.form {
            for (key, isSaid) in [
                ("of", paging.size != PagingStyle.none.size && paging.sizeParameter == nil), ("stability", paging.stability != .offsets),
                ("endsEmpty", paging.endsEmpty), ("endsShort", paging.endsShort),
            ] where isSaid {
                throw refused(
                    "Its form is none, so that nothing would come of “\(key)”.",
                    "Say how the next page is asked for, by page, offset, cursor or next; or remove it.")
            }
        }
        switch paging.form {
        case .none where paging.sizeParameter == nil, .address where paging.sizeParameter == nil:
            if paging.isInBody { throw refused("“inBody” is about parameters, and there is none.", "Describe “size”, or remove it.") }
        case .number where paging.endsEmpty && paging.next != nil, .offset where paging.endsEmpty && paging.next != nil:
            throw refused("“endsEmpty” and “next” both say which page is the last.", "Remove one of the two.")
        default: break
        }
        if paging.endsEmpty, paging.endsShort {
            throw refused("“endsEmpty” and “endsShort” contradict each other.", "Remove one of the two.")
        }
        if paging.countsByHead {
            switch paging.total {
            case .header?, .contentRange?: break
            case .body?, .link?, .relation?, nil:
                throw refused("“countsByHead” asks for headers only, and “total” is in none.", "Describe total: header:NAME, or remove it.")
            }
        }
        if paging.exactTotal != nil, paging.total == nil {
            throw refused("“exactTotal” is about a number that nothing reads.", "Describe “total”, or remove it.")
        }
        if let parameter = paging.totalParameter {
            if paging.total == nil {
                throw refused("“totalParameter” makes answers tell what nothing reads.", "Describe “total”, or remove it.")
            }
            try StyleChecks.checkParameter(parameter, [], place)
        }
    }
}

/// Checks media types: bodies and answers are JSON.
enum MediaTypes {
    /// Parts of the names of types that are not JSON. The names of other types, such as those of vendors, do not tell.
    private static let others = [
        "x-www-form-urlencoded", "multipart/", "xml", "csv", "html", "yaml", "msgpack", "cbor", "protobuf", "octet-stream", "image/", "pdf",
    ]

    /// - Throws: Code 134080 for a type that is not JSON.
    static func check(_ text: String, _ place: String, _ what: String) throws {
        let types = text.lowercased().split(separator: ",")
        guard !types.isEmpty, types.allSatisfy({ type in others.contains { type.contains($0) } && !type.contains("json") }) else { return }
        throw WebBackendError.description(
            place, "\(what) are JSON, and “\(text)” is not.", next: "Write application/json, or another type of JSON; or remove it.")
    }
}
