internal import RemoteStore

/// Checks the templates of comparisons.
enum FilterTemplates {
    /// Returns the names that a template may have in braces, by the form of the filters.
    private static func places(_ form: FilterStyle.Form) -> [String] {
        switch form {
        case .none, .parameters: ["name", "value", "values", "each", "type"]
        case .expression: ["name", "value", "values"]
        case .selector: ["value", "values", "pattern", "text"]
        }
    }

    /// Checks templates. An unknown name in braces would be sent as it is, and a template for one value would drop the others.
    ///
    /// - Parameters:
    ///   - maximumValues: The number of values that a comparison takes.
    ///   - place: The owner of the templates, for errors.
    /// - Throws: Code 134080 with the template.
    static func check(
        _ templates: [Parameter.Operator: String], _ form: FilterStyle.Form, maximumValues: Int, hasWildcards: Bool, _ place: String
    ) throws {
        try checkPatterns(templates, hasWildcards: hasWildcards, place)
        let known = places(form)
        for (comparison, text) in templates.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            // The template of a selector is the key of an operator, without places.
            if case .selector = form, !text.hasPrefix("{") { continue }
            if case .parameters = form, Template.parameter(text) == nil {
                throw WebBackendError.description(
                    place, "“\(text)” has no name and value.", next: "Write a name, an equals sign and a value: “min_year={value}”.")
            }
            let used = Template(text).places
            if let unknown = used.first(where: { !known.contains($0) }) {
                throw WebBackendError.description(
                    place, "“\(text)” has “{\(unknown)}”, which stands for nothing here.",
                    next: "Write one of \(known.map { "{\($0)}" }.joined(separator: ", ")).")
            }
            // Every value would result in the same request.
            if comparison != .isNil, comparison != .isNotNil, used.allSatisfy({ $0 == "name" || $0 == "type" }) {
                throw WebBackendError.description(
                    place, "“\(text)” has no place for the value, so that each value would find the same.",
                    next: "Write {\(comparison == .isIn && maximumValues > 1 ? "values" : "value")} where it stands.")
            }
            guard comparison == .isIn, maximumValues > 1, !used.contains("values"), !used.contains("each") else { continue }
            let repeats = known.contains("each")
            throw WebBackendError.description(
                place, "“\(text)” would send one of several values only.",
                next: repeats
                    ? "Write {values} for all of them in one parameter, {each} for a parameter for each, or allow one value."
                    : "Write {values} for all of them, or allow one value.")
        }
    }

    /// Checks that the wildcards of the service's patterns are known. Otherwise they would match other text than the program asks for.
    private static func checkPatterns(_ templates: [Parameter.Operator: String], hasWildcards: Bool, _ place: String) throws {
        if let text = templates[.like], !hasWildcards {
            throw WebBackendError.description(
                place, "“\(text)” compares with a pattern, and nothing says which signs patterns have in the service.",
                next: "Write “wildcards” in the style's filters, such as {any: \"%\", one: \"_\", escape: \"\\\\\"}, or leave “like” out.")
        }
        for comparison in [Parameter.Operator.beginsWith, .endsWith, .contains] {
            guard let text = templates[comparison],
                ["*", "%"].contains(where: { text.contains($0 + "{value}") || text.contains("{value}" + $0) })
            else { continue }
            throw WebBackendError.description(
                place, "“\(text)” makes a pattern of a value, in which signs of patterns would not stand for themselves.",
                next:
                    "Describe “like” with its “wildcards” instead: what begins with, ends with or contains a text is then asked for by it.")
        }
    }

    /// Returns the characters with a meaning of their own in a template's value: the quotation marks around it.
    static func marks(_ text: String) -> [String] {
        let marks = ["'", "\"", "`"].filter { mark in
            ["{value}", "{values}", "{each}"].contains { text.contains(mark + $0) || text.contains($0 + mark) }
        }
        // A backslash may escape a quotation mark.
        return marks.isEmpty ? [] : marks + ["\\"]
    }

    /// Returns whether a template repeats the parameter for each value.
    static func repeats(_ text: String?) -> Bool { text.map { Template($0).places.contains("each") } ?? false }
}
