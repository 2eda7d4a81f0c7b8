internal import Foundation
internal import JSONReading
internal import Predicates
internal import RemoteStore

/// Writes the conditions of a list in the form of the style.
struct FilterWriter {
    let plan: ResourcePlan
    let call: CallPlan
    let names: NameWriter
    let values: ValueWriter

    /// The name and the values of a comparison, as text.
    private struct Texts {
        let name: String
        let values: [String]
    }

    // MARK: Parameters

    /// Returns the parameters of comparisons that must all match.
    ///
    /// - Throws: Code 134070 for a value that cannot be written.
    func parameters(_ comparisons: [Condition.Comparison]) throws -> [(name: String, value: String)] {
        let style = plan.style.filters
        return try comparisons.flatMap { comparison -> [(name: String, value: String)] in
            let custom =
                call.parameters["\(comparison.keyPath) \(comparison.comparison.rawValue)"]
                ?? call.parameters.values.first { $0.keyPaths.contains(comparison.keyPath) && $0.templates[comparison.comparison] != nil }
            let text = custom?.templates[comparison.comparison] ?? template(of: comparison)
            guard let text, let template = Template.parameter(text) else { throw unwritten(comparison) }
            let quoting = custom == nil ? style.quoting : .bare
            var texts = try self.texts(comparison, quoting)
            if comparison.comparison == .isIn, custom == nil, style.quoting == .json || style.quoting == .bareUnlessAmbiguous {
                texts = Texts(name: texts.name, values: texts.values.map { Self.withoutSeparator($0, style.separator) })
            }
            // The service would read one value as several.
            if quoting == .bare, text.contains("{values}"), let value = texts.values.first(where: { $0.contains(style.separator) }) {
                throw WebBackendError.unwritable(
                    comparison.keyPath, plan.entity, "“\(value)” contains the “\(style.separator)” that separates values.")
            }
            // If an empty string cannot be told from no value, the filter is left out, and the comparison is made in memory.
            if style.isInexactForText, custom == nil, texts.values == [""] { return [] }
            func fill(_ place: String, _ each: String) -> String {
                switch place {
                case "name": texts.name
                case "value": texts.values.first ?? ""
                case "each": each
                case "values": texts.values.joined(separator: style.separator)
                case "type": plan.type
                default: "{\(place)}"
                }
            }
            let each = FilterTemplates.repeats(text) ? texts.values : [texts.values.first ?? ""]
            return each.map { value in (template.name.filled { fill($0, value) }, template.value.filled { fill($0, value) }) }
        }
    }

    /// Returns one of several values without the separator: within JSON's quotation marks, a character can be escaped.
    private static func withoutSeparator(_ text: String, _ separator: String) -> String {
        guard separator.unicodeScalars.count == 1, let scalar = separator.unicodeScalars.first, scalar.value < 0x80,
            text.contains(separator)
        else { return text }
        let json = text.hasPrefix("\"") ? text : JSONValue.string(text).description
        let hex = String(scalar.value, radix: 16)
        return json.replacing(separator, with: "\\u" + String(repeating: "0", count: 4 - hex.count) + hex)
    }

    /// Returns the style's template for a comparison. Lists may have their own.
    private func template(of comparison: Condition.Comparison) -> String? {
        let style = plan.style.filters
        let own = comparison.keyPath.hasPrefix("ANY ") ? style.listTemplates ?? style.templates : style.templates
        return own[comparison.comparison]
    }

    private func unwritten(_ comparison: Condition.Comparison) -> NSError {
        WebBackendError.unwritable(
            comparison.keyPath, plan.entity, "The description has no template for \(comparison.comparison.rawValue).")
    }

    private func texts(_ comparison: Condition.Comparison, _ quoting: FilterStyle.Quoting) throws -> Texts {
        Texts(
            name: names.filterName(comparison.keyPath),
            values: try json(comparison).map { ValueWriter.text($0, quoting) })
    }

    /// Returns a condition with the service's words for values of enumerations. A value with several words is replaced by all of them, and a value
    /// without a word matches nothing.
    ///
    /// - Throws: Code 134070 for a resulting comparison without a template.
    func inWords(_ condition: Condition) throws -> Condition {
        try condition.replacing { comparison in
            guard let transform = names.property(comparison.keyPath)?.transform, transform.enumerated != nil, !comparison.values.isEmpty
            else { return .comparison(comparison) }
            let known = comparison.values.filter { values.words($0, transform)?.isEmpty == false }
            let count = known.reduce(0) { $0 + (values.words($1, transform)?.count ?? 0) }
            var kind = comparison.comparison
            switch kind {
            case .equal, .isIn:
                if known.isEmpty { return .constant(false) }
                if kind == .equal, count > 1 { kind = .isIn }
            case .notEqual:
                if known.isEmpty {
                    kind = .isNotNil
                    if plan.style.filters.templates[kind] == nil { return .constant(true) }
                }
                if count > 1 { throw unwritten(comparison) }
            default: return .comparison(comparison)
            }
            return .comparison(Condition.Comparison(keyPath: comparison.keyPath, comparison: kind, values: known, ids: comparison.ids))
        }
    }

    /// Returns the values of a comparison, with identifiers in the form of the property's references.
    private func json(_ comparison: Condition.Comparison) throws -> [JSONValue] {
        let property = names.property(comparison.keyPath)
        if comparison.comparison == .like, let wildcards = plan.style.filters.wildcards, case .string(let text)? = comparison.values.first {
            return [.string(wildcards.pattern(text))]
        }
        if let property, property.transform.enumerated != nil {
            return comparison.values.flatMap { values.words($0, property.transform) ?? [] }
        }
        return try comparison.ids.map { values.json($0, property, of: plan) }
            + comparison.values.map { try values.json($0, property, of: plan.entity) }
    }

    // MARK: Expressions

    /// Returns an expression; nil for a condition that matches everything.
    ///
    /// - Throws: Code 134070 for a value that cannot be written.
    func expression(_ condition: Condition, _ style: FilterStyle.Expression) throws -> String? {
        let filters = plan.style.filters
        func grouped(_ parts: [Condition], _ separator: String) throws -> String? {
            let texts = try parts.compactMap { part -> String? in
                guard let text = try expression(part, style) else { return nil }
                switch part {
                case .and(let inner) where inner.count > 1, .or(let inner) where inner.count > 1:
                    return style.group.replacing("{}", with: text)
                default: return text
                }
            }
            return texts.isEmpty ? nil : texts.joined(separator: separator)
        }
        switch condition {
        case .constant(true): return nil
        case .constant(false): throw WebBackendError.unwritable("FALSEPREDICATE", plan.entity, "It matches nothing.")
        case .and(let parts): return try grouped(parts, style.and)
        case .or(let parts):
            guard let or = style.or else { throw WebBackendError.unwritable("OR", plan.entity, "The style has none.") }
            return try grouped(parts, or)
        case .not(let part):
            guard let not = style.not, let text = try expression(part, style) else {
                throw WebBackendError.unwritable("NOT", plan.entity, "The style has none.")
            }
            return not.replacing("{}", with: text)
        case .comparison(let comparison):
            guard let template = template(of: comparison) else { throw unwritten(comparison) }
            let texts = try self.texts(comparison, filters.quoting)
            try checkBare(texts.values, comparison, style)
            return Template(template).filled { place in
                switch place {
                case "name": texts.name
                case "value": texts.values.first ?? ""
                case "values": texts.values.joined(separator: filters.separator)
                default: "{\(place)}"
                }
            }
        }
    }

    /// Checks that no unquoted value contains text that joins or groups comparisons and values.
    private func checkBare(_ values: [String], _ comparison: Condition.Comparison, _ style: FilterStyle.Expression) throws {
        guard plan.style.filters.quoting == .bare else { return }
        let signs = style.signs(plan.style.filters.separator)
        for value in values {
            if let sign = signs.first(where: { !$0.isEmpty && value.contains($0) }) {
                throw WebBackendError.unwritable(
                    comparison.keyPath, plan.entity, "“\(value)” contains “\(sign)”, which has a meaning in expressions.")
            }
        }
    }

    // MARK: Selectors

    /// Returns a selector, with the constants of the style.
    ///
    /// - Throws: Code 134070 for a value that cannot be written.
    func selector(_ condition: Condition?, _ style: FilterStyle.Selector) throws -> JSONObject {
        var object = JSONObject()
        if let constants = style.constants {
            let text = constants.replacing("{type}", with: plan.type)
            object = try JSONValue(parsing: Array(text.utf8)).object ?? object
        }
        guard let condition, let own = try json(condition, style) else { return object }
        if own.keys.contains(where: { object[$0] != nil }) {
            object[style.and] = .array([.object(own)])
        } else {
            for member in own { object[member.key] = member.value }
        }
        return object
    }

    private func json(_ condition: Condition, _ style: FilterStyle.Selector) throws -> JSONObject? {
        switch condition {
        case .constant(true): return nil
        case .constant(false): throw WebBackendError.unwritable("FALSEPREDICATE", plan.entity, "It matches nothing.")
        case .and(let parts):
            let objects = try parts.compactMap { try json($0, style) }
            return objects.count > 1 ? [style.and: .array(objects.map { .object($0) })] : objects.first
        case .or(let parts):
            guard let or = style.or else { throw WebBackendError.unwritable("OR", plan.entity, "The style has none.") }
            return [or: .array(try parts.compactMap { try json($0, style).map { .object($0) } })]
        case .not(let part):
            guard let nor = style.nor, let inner = try json(part, style) else {
                throw WebBackendError.unwritable("NOT", plan.entity, "The style has none.")
            }
            return [nor: .array([.object(inner)])]
        case .comparison(let comparison): return [names.filterName(comparison.keyPath): try operators(comparison)]
        }
    }

    /// Returns the object of operators of a comparison. Its template is the operator's key, or JSON with `{value}`, `{values}` or
    /// `{pattern}`, the value as a regular expression.
    private func operators(_ comparison: Condition.Comparison) throws -> JSONValue {
        guard let template = template(of: comparison) else { throw unwritten(comparison) }
        var json = try self.json(comparison)
        if let property = names.property(comparison.keyPath), !property.isAttribute {
            let references = ReferenceWriter(plans: names.plans, values: values)
            json =
                try comparison.ids.map { try references.json(ResourceReference($0), property, of: plan.entity) }
                + comparison.values.map { try references.json($0, property, of: plan.entity) }
        }
        if template.hasPrefix("{") {
            let text = Template(template).filled { place in
                switch place {
                case "value": json.first?.description ?? "null"
                case "values": JSONValue.array(json).description
                case "pattern":
                    JSONValue.string(NSRegularExpression.escapedPattern(for: json.first?.string ?? "")).description
                case "text":
                    String(
                        JSONValue.string(NSRegularExpression.escapedPattern(for: json.first?.string ?? "")).description.dropFirst()
                            .dropLast())
                default: "{\(place)}"
                }
            }
            return try JSONValue(parsing: Array(text.utf8))
        }
        return [template: comparison.comparison == .isIn ? .array(json) : json.first ?? .null]
    }
}
