internal import JSONReading

extension FileForms {
    private static let names = words(
        "style of names",
        [("asTheyAre", NameStyle.asTheyAre), ("snakeCase", .snakeCase), ("kebabCase", .kebabCase), ("pascalCase", .pascalCase)]
    ).named("names")

    /// The place of versions: `none`, `eTag`, `number:last_modified`, `tag:_rev`.
    static let version = FileForm<VersionSource>.choice(
        "place of versions",
        [
            .word("none", .none, "Nowhere."), .word("eTag", .eTag, "In the header ETag."),
            .key("number", path, "In a number, which every change increases.", isText: true, make: { .number($0) }) {
                if case .number(let path) = $0 { path } else { nil }
            },
            .key("tag", path, "In a text or number, which every change replaces.", isText: true, make: { .tag($0) }) {
                if case .tag(let path) = $0 { path } else { nil }
            },
        ]
    ).named("version")

    private static let collection = FileForm<CollectionStyle>.object("collection", CollectionStyle()) { keys in
        keys.key("path", \.template, text, "The path; {name} is replaced by the name.")
        keys.key("names", \.names, names, "How the name is written.")
        keys.key("plural", \.isPlural, flag, "Whether it is in the plural.")
        keys.key("typeIsEntity", \.typeIsEntity, flag, "Whether {type} is the name of the entity as it is.")
    }

    private static let envelope = FileForm<Envelope>.either(
        text.map(
            { Envelope(items: JSONPath($0)) },
            { $0 == Envelope(items: $0.items) && JSONPath($0.items.description) == $0.items ? $0.items.description : nil }
        ).expecting("the path to the list"),
        .object("envelope", Envelope()) { keys in
            keys.key("items", \.items, path, "The path to a list of resources; empty where the answer is the list.")
            keys.key("item", \.item, path, "The path to one resource, in answers with one.")
            keys.key("element", \.element, path, "The path to a resource within an element of the list.")
            keys.optional("included", \.included, path, "The path to a list of resources of any type that came along.")
            keys.optional("type", \.type, path, "The path to the type of a resource.")
        })

    private static let wrapping = FileForm<ServiceStyle.Wrapping>.either(
        text.map({ .init($0) }, { $0.constants.isEmpty ? $0.key : nil }),
        .object("wrapping", .init("")) { keys in
            keys.key("key", \.key, text, isRequired: true, "The key with the value.")
            keys.key("constants", \.constants, map(text), "What is beside it.")
        })

    private static let fields = FileForm<FieldsStyle>.either(
        text.map({ FieldsStyle($0) }, { $0 == FieldsStyle($0.template) ? $0.template : nil }),
        .object("fields", FieldsStyle("")) { keys in
            keys.key("template", \.template, text, isRequired: true, "The parameter: fields[{type}]={names}.")
            keys.key("separator", \.separator, text, "What stands between names.")
        })

    private static let includes = FileForm<IncludeStyle>.either(
        text.map({ IncludeStyle($0) }, { $0 == IncludeStyle($0.template) ? $0.template : nil }),
        .object("includes", IncludeStyle("")) { keys in
            keys.key("template", \.template, text, isRequired: true, "The parameter: include={paths}.")
            keys.key("separator", \.separator, text, "What stands between paths.")
            keys.key("deep", \.isDeep, flag, "Whether paths over several relationships are understood.")
        })

    private static let convention = words("convention", ServiceStyle.conventions.map { ($0.name, $0.style) }).named("convention")

    /// The style of a service: a convention, or the differences from one.
    static let style = FileForm<ServiceStyle>.either(
        convention,
        .object("style", .plain) { keys in
            keys.context = { style, context in
                var context = context
                context.style = style
                return context
            }
            keys.start("like", convention, "The convention that the style continues; plain unless it is said.", make: { $0 }) { _ in
                ServiceStyle.conventions.map(\.style)
            }
            keys.key("names", \.names, names, "How the names of properties become keys in JSON.")
            keys.key("collection", \.collection, collection, "How the name of an entity becomes the path of its collection.")
            keys.key("identity", \.identity, oneOrMore(text), "The paths to the identifier.")
            keys.key("version", \.version, version, "Where versions are: none, eTag, number:last_modified, tag:_rev.")
            keys.key("attributes", \.attributes, path, "The path to an object with the attributes.")
            keys.key("relationships", \.relationships, path, "The path to an object with the relationships.")
            keys.key("references", \.references, reference, "How references are written.")
            keys.key("referenceSuffix", \.referenceSuffix, text, "What follows the name of a to-one relationship in JSON.")
            keys.key("listsAtOneEnd", \.hasListsAtOneEnd, flag, "Whether of a relationship to many at both ends one end is a list.")
            keys.key("omitsNil", \.omitsNil, flag, "Whether resources lack what is nil, and lists that are empty.")
            keys.optional("kind", \.kind, path, "Where resources say of which subentity they are, by its name.")
            keys.key("comparesDatesAsText", \.comparesDatesAsText, flag, "Whether dates that are text are compared as text.")
            keys.key("lists", \.hasLists, flag, "Whether resources have lists of the destinations of to-many relationships.")
            keys.key("dates", \.dates, date, "How dates are written.")
            keys.optional("dateWrapping", \.dateWrapping, wrapping, "What wraps dates: a key, and constants beside it.")
            keys.key("envelope", \.envelope, envelope, "Where resources are in an answer.")
            keys.key("filters", \.filters, filters, "How lists are filtered.")
            keys.key("sorting", \.sorting, sorting, "How lists are sorted.")
            keys.key("paging", \.paging, paging, "How lists are divided.")
            keys.optional("fields", \.fields, fields, "How answers are limited to some properties.")
            keys.optional("includes", \.includes, includes, "How the destinations of relationships are made to come along.")
            keys.key("calls", \.calls, list(call), "The calls of a resource that describes none.")
            keys.optional(
                "saving", \.saving, saving, none: "none", base: { _ in SavingStyle() }, "How changes are saved; none for not at all.")
            keys.key("errors", \.errors, errors, "How errors are written.")
            keys.key("accept", \.accept, text, "The media type of answers.")
            keys.optional("contentType", \.contentType, text, "The media type of requests; as of answers unless it is said.")
            keys.optional("changeFeed", \.changeFeed, changeFeed, none: "none", "The feed of changes.")
            keys.optional(
                "changeSignals", \.changeSignals, changeSignals, none: "none",
                "What says at once that the feed of changes has something to tell.")
        })
}
