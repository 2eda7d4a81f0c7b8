internal import JSONReading
internal import RemoteStore

extension FileForms {
    /// A comparison, as its name or sign.
    static let comparison = FileForm<Parameter.Operator>.choice(
        "comparison", Parameter.Operator.allCases.map { .word($0.word, $0, aliases: [$0.rawValue]) }
    ).named("comparison")

    /// Adds a key for each comparison.
    static func addComparisons<Root>(
        _ keys: inout FileKeys<Root>, _ path: any WritableKeyPath<Root, [Parameter.Operator: String]> & Sendable
    ) {
        for comparison in Parameter.Operator.allCases {
            keys.keys.append(
                FileKey(
                    name: comparison.word, aliases: [comparison.rawValue], summary: "How \(comparison.rawValue) is written.",
                    isRequired: false,
                    read: { $0[keyPath: path][comparison] = $1.isNull ? nil : try text.read($1, $2, nil) },
                    write: { root, base, context in
                        let template = root[keyPath: path][comparison]
                        if template == base[keyPath: path][comparison] { return nil }
                        return template.map { .string($0) } ?? .null
                    }, schema: { _ in ["type": ["string", "null"]] }))
        }
    }

    private static let place = FileForm<FilterStyle.Selector.Place>.choice(
        "place",
        [
            .key("query", text, "In a parameter, as text.", isText: true, make: { .query($0) }) {
                if case .query(let name) = $0 { name } else { nil }
            },
            .key("body", text, "In the body, at a key.", isText: true, make: { .body($0) }) {
                if case .body(let key) = $0 { key } else { nil }
            },
        ])

    private static let expression = FileForm<FilterStyle.Expression>.object("expression", .init("", and: "")) { keys in
        keys.key("parameter", \.parameter, text, isRequired: true, "The parameter.")
        keys.key("and", \.and, text, isRequired: true, "What stands between parts that all apply.")
        keys.optional("or", \.or, text, "What stands between parts of which one applies.")
        keys.optional("not", \.not, text, "What stands around a part that must not apply, with {} in its place.")
        keys.key("group", \.group, text, "What stands around several parts, with {} in their place.")
    }

    private static let selector = FileForm<FilterStyle.Selector>.object("selector", .init(.query(""))) { keys in
        keys.key("place", \.place, place, isRequired: true, "Where the object is sent: query:where, body:selector.")
        keys.optional("constants", \.constants, json, "What every selector contains besides.")
        keys.key("and", \.and, text, "The key of parts that all apply.")
        keys.optional("or", \.or, text, "The key of parts of which one applies.")
        keys.optional("nor", \.nor, text, "The key of parts none of which may apply.")
    }

    private static let filterForm = FileForm<FilterStyle.Form>.choice(
        "form of filters",
        [
            .word("none", .none, "No filters."), .word("parameters", .parameters, "A parameter for each comparison."),
            .key("expression", expression, "One parameter with an expression.", make: { .expression($0) }) {
                if case .expression(let expression) = $0 { expression } else { nil }
            },
            .key("selector", selector, "One JSON object.", make: { .selector($0) }) {
                if case .selector(let selector) = $0 { selector } else { nil }
            },
        ])

    /// One character of one code point.
    private static let character = plain(
        "one character", ["type": "string", "minLength": 1, "maxLength": 1],
        { value in
            value.string.flatMap { $0.unicodeScalars.count == 1 ? $0.first : nil }
        }, { (character: Character) in character.unicodeScalars.count == 1 ? .string(String(character)) : nil },
        accepts: { $0.string != nil })

    private static let quoting = FileForm<FilterStyle.Quoting>.choice(
        "way to write values",
        [
            .word("bare", .bare, "As they are."),
            .word("bareUnlessAmbiguous", .bareUnlessAmbiguous, "Only strings that look like other JSON in quotation marks."),
            .word("json", .json, "As JSON."), .word("singleQuoted", .singleQuoted, "In single quotation marks, doubled within."),
            .key("backslashed", character, "In this quotation mark, with a backslash before those within.", make: { .backslashed($0) }) {
                if case .backslashed(let mark) = $0 { mark } else { nil }
            },
        ])

    private static let wildcards = FileForm<FilterStyle.Wildcards>.object("wildcards", .init(any: "*")) { keys in
        keys.key("any", \.any, character, isRequired: true, "The sign for any number of characters.")
        keys.optional("one", \.one, character, "The sign for any one character.")
        keys.optional("escape", \.escape, character, "The sign before one that is meant as it is.")
    }

    private static let listComparisons = FileForm<[Parameter.Operator: String]>.object("listComparisons", [:]) { keys in
        addComparisons(&keys, \.self)
    }

    /// The filters of lists: `none`, `byName`, `{equal: "{name}={value}", isIn: "{name}__in={values}"}`.
    static let filters = FileForm<FilterStyle>.either(
        words("style of filters", [("none", .none), ("byName", .byName)]),
        .object("filters", .none) { keys in
            keys.begin = { present, filters in
                // Comparisons in a style without filters imply the form “parameters”.
                let names = Parameter.Operator.allCases.flatMap { [$0.word, $0.rawValue] }
                if filters.form == .none, !present.contains("form"), !present.isDisjoint(with: names) { filters.form = .parameters }
            }
            keys.key("form", \.form, filterForm, "The form: none, parameters, {expression: …} or {selector: …}.")
            addComparisons(&keys, \.templates)
            keys.key("quoting", \.quoting, quoting, "How values are written.")
            keys.key("separator", \.separator, text, "What stands between several values.")
            keys.key("maximumValues", \.maximumValues, integer(from: 1), "The number of values of one comparison, and of identifiers.")
            keys.key("inexact", \.inexact, set(comparison), "The comparisons that may find more than Core Data would.")
            keys.key("caseInsensitive", \.caseInsensitive, set(comparison), "The comparisons of strings that are regardless of case.")
            keys.optional("identifier", \.identifier, text, "The name of the identifier in filters.")
            keys.key("comparesTextInOrder", \.comparesTextInOrder, flag, "Whether strings have Core Data's order in the service.")
            keys.optional("pathSeparator", \.pathSeparator, text, "What separates the keys of a key path over relationships.")
            keys.key("referenceSuffix", \.referenceSuffix, text, "What follows the name of a relationship.")
            keys.optional("listComparisons", \.listTemplates, listComparisons, "How comparisons with members of a list are written.")
            keys.optional("wildcards", \.wildcards, wildcards, "The signs in the patterns of like.")
            keys.key("reserved", \.reserved, list(text), "Signs in texts that mean something else: such texts are compared in memory.")
            keys.key("inexactForText", \.isInexactForText, flag, "Whether strings may be compared otherwise than as they are.")
        })

    private static let direction = FileForm<SortStyle.Direction>.either(
        text.map({ .init($0) }, { $0 == SortStyle.Direction($0.parameter) ? $0.parameter : nil }),
        .object("direction", .init("")) { keys in
            keys.key("parameter", \.parameter, text, isRequired: true, "The name of the parameter.")
            keys.key("ascending", \.ascending, text, "The value for an ascending order.")
            keys.key("descending", \.descending, text, "The value for a descending order.")
        })

    /// The orders of lists: `none`, the name of the parameter, or an object.
    static let sorting = FileForm<SortStyle>.either(
        text.map(
            { $0 == "none" ? .none : SortStyle($0) },
            { style in
                if style == .none { return "none" }
                return style.parameter != "none" && style == SortStyle(style.parameter) ? style.parameter : nil
            }
        ).expecting("none, the name of a parameter"),
        .object("sorting", .none) { keys in
            keys.optional("parameter", \.parameter, text, "The parameter with the order.")
            keys.key("ascending", \.ascending, text, "How an ascending key is written.")
            keys.optional("descending", \.descending, text, "How a descending key is written.")
            keys.key("separator", \.separator, text, "What stands between keys.")
            keys.key("maximumKeys", \.maximumKeys, integer(from: 1), "The number of keys.")
            keys.key(
                "sortsTextInOrder", \.sortsTextInOrder, flag,
                "Whether the order of strings is Core Data's; if not, except those that a call names in sorting.")
            keys.optional(
                "sortsNilFirst", \.sortsNilFirst, flag,
                "Whether nil comes before every value; where it is not said, calls say so of the attributes that they name in sorting.")
            keys.optional("direction", \.direction, direction, "A second parameter with the direction.")
            keys.optional("descendingParameter", \.descendingParameter, text, "The parameter with the order where that is descending.")
            keys.key("place", \.place, words("place", [("query", .query), ("body", .body)]), "The place of the order.")
            keys.optional("last", \.last, text, "A key that always comes last, such as the identifier.")
        })
}

extension Parameter.Operator {
    /// The name of the comparison in files.
    fileprivate var word: String { "\(self)" }
}
