internal import JSONReading
internal import RemoteStore

extension FileForms {
    /// A link in a list: `{in: links, name: next}`.
    private struct Link: Hashable, Sendable {
        var list = AnswerPart.LinkList("links")
        var name = ""
    }

    private static let relation = FileForm<Link>.object("linkInList", Link()) { keys in
        keys.key("name", \.name, text, isRequired: true, "The relation: next.")
        keys.key("in", \.list.path, path, "The path to the list of links.")
        keys.key("relation", \.list.relation, text, "The key of a link's relation; FHIR's is relation.")
        keys.key("address", \.list.address, text, "The key of a link's address; FHIR's is url.")
    }

    /// A part of an answer: `body:meta.next`, `header:Next-Page`, `link:next`, `contentRange`.
    static let answerPart = FileForm<AnswerPart>.choice(
        "part of an answer",
        [
            .word("contentRange", .contentRange, "What follows the slash in the header Content-Range."),
            .key("body", path, "A value of the body.", isText: true, make: { .body($0) }) {
                if case .body(let path) = $0 { path } else { nil }
            },
            .key("header", text, "The value of a header.", isText: true, make: { .header($0) }) {
                if case .header(let name) = $0 { name } else { nil }
            },
            .key("link", text, "The address of a relation in the header Link.", isText: true, make: { .link($0) }) {
                if case .link(let relation) = $0 { relation } else { nil }
            },
            .key("linkInList", relation, "The address of a relation in a list of links in the body.", make: { .relation($0.list, $0.name) })
            {
                if case .relation(let list, let name) = $0 { Link(list: list, name: name) } else { nil }
            },
        ]
    ).named("answerPart")

    private static let mark = FileForm<AnswerMark>.object("answerMark", AnswerMark(.body(JSONPath("")), is: "")) { keys in
        keys.key("at", \.part, answerPart, isRequired: true, "Where an answer says it.")
        keys.key("is", \.value, text, isRequired: true, "The value, as text: eq, true.")
    }

    private static let stability = words("stability", [("cursors", Paging.Stability.cursors), ("offsets", .offsets)])

    /// The division of lists into pages: `none`, `{page: page, size: per_page, of: 50}`, `{next: "link:next"}`.
    ///
    /// A description is complete if it says how the next page is found. Otherwise it changes the style's.
    static let paging = FileForm<PagingStyle>.either(
        words("form of pages", [("none", .none)]),
        .object("paging", .none) { keys in
            keys.start("page", text, "The parameter with the number of the page.", make: { PagingStyle(.number($0, first: 1)) }) {
                if case .number(let name, _) = $0.form { [name] } else { [] }
            }
            keys.start("offset", text, "The parameter with the number of resources to skip.", make: { PagingStyle(.offset($0)) }) {
                if case .offset(let name) = $0.form { [name] } else { [] }
            }
            keys.start(
                "cursor", text, "The parameter with what the answer before has named.",
                make: { PagingStyle(.cursor($0), stability: .cursors) }
            ) { if case .cursor(let name) = $0.form { [name] } else { [] } }
            keys.start(
                "form", words("form of pages", [("none", PagingStyle.none), ("address", PagingStyle(.address))]),
                "none, or address where the answer before has the address of the next page; next alone says that, too.", make: { $0 }
            ) { paging in
                switch paging.form {
                case .none: [PagingStyle.none]
                case .address: [PagingStyle(.address)]
                case .number, .offset, .cursor: []
                }
            }
            keys.begin = { present, paging in
                guard present.contains("next"), present.isDisjoint(with: ["page", "offset", "cursor", "form"]) else { return }
                paging = PagingStyle(.address)
            }
            keys.optional("first", \.firstPage, integer(from: 0), "The number of the first page, which is 1.")
            // The key would have no effect on other forms.
            let first = keys.keys.removeLast()
            keys.keys.append(
                FileKey(
                    name: first.name, aliases: first.aliases, summary: first.summary, isRequired: first.isRequired,
                    read: { paging, value, context in
                        guard case .number = paging.form else {
                            throw context.problem("Only pages with numbers have a first one.", next: "Describe “page”, or remove it.")
                        }
                        try first.read(&paging, value, context)
                    }, write: first.write, schema: first.schema))
            keys.optional("size", \.sizeParameter, text, "The parameter with the number of resources of a page.")
            keys.key("of", \.size, integer(from: 1), "The number of resources of a page.")
            keys.optional("next", \.next, answerPart, "Where an answer names the next page.")
            keys.optional("hasMore", \.hasMore, answerPart, "Where an answer tells whether there is a next page.")
            keys.optional("total", \.total, answerPart, "Where an answer tells the number of resources in all pages.")
            keys.optional("exactTotal", \.exactTotal, mark, "What an answer says where total is the number, not the least that it may be.")
            keys.optional("totalParameter", \.totalParameter, text, "A parameter that makes answers tell it: count=1.")
            keys.key(
                "stability", \.stability, stability,
                "What becomes of pages when resources come and go: offsets move, cursors stay. It is cursors with “cursor”.")
            keys.key(
                "endsEmpty", \.endsEmpty, flag,
                "Whether only an empty page is the last one: for services that may send fewer than asked for.")
            keys.key(
                "endsShort", \.endsShort, flag,
                "Whether a page with fewer than asked for is the last one, even one that names a next one; if nothing tells, the next is asked for."
            )
            keys.key("countsByHead", \.countsByHead, flag, "Whether the number is asked for by the method HEAD.")
            keys.key("inBody", \.isInBody, flag, "Whether the parameters are sent in the body.")
        })
}

extension PagingStyle {
    /// The number of the first page; nil, and unchanged by setting, if pages have no numbers.
    fileprivate var firstPage: Int? {
        get { if case .number(_, let first) = form { first } else { nil } }
        set { if case .number(let name, _) = form { form = .number(name, first: newValue ?? 1) } }
    }
}
