internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// The parameters that the style's filters give a call.
struct FilterPlan {
    private(set) var parameters: [Parameter] = []

    init(_ call: WebCall, _ context: CallPlan.Context, _ place: String) throws {
        let style = context.style.filters
        if case .none = style.form {
            guard call.filters?.isEmpty ?? true else {
                throw WebBackendError.description(place, "It can be filtered, and the style says not how.", next: "Give the style filters.")
            }
            return
        }
        for (templates, areOfLists) in [(style.templates, false), (style.listTemplates ?? [:], true)] {
            // Members of lists are compared for equality only.
            try FilterTemplates.check(
                templates, style.form, maximumValues: style.maximumValues, hasWildcards: areOfLists || style.wildcards != nil, place)
        }
        let keyPaths =
            call.filters
            ?? (style.identifier == nil ? [] : ["SELF"])
            + context.properties.values.filter { $0.path != nil && context.entity.propertiesByName[$0.name] != nil }.map(\.name).sorted()
        for keyPath in keyPaths {
            let count = parameters.count
            try add(keyPath, context, place)
            if parameters.count == count, call.filters != nil {
                throw WebBackendError.description(
                    place, "It can be filtered by “\(keyPath)”, and no comparison of the style is one of such a property.",
                    next: "Describe one, or remove “\(keyPath)” from “filters”.")
            }
        }
        try checkNames(style, place)
    }

    /// Checks that a template shared by several properties contains the name of the property.
    private func checkNames(_ style: FilterStyle, _ place: String) throws {
        if case .selector = style.form { return }
        for parameter in parameters {
            let isList = parameter.keyPaths.first?.hasPrefix("ANY ") ?? false
            let templates = isList ? style.listTemplates ?? style.templates : style.templates
            guard let comparison = parameter.operators.first, let text = templates[comparison], !text.contains("{name}"),
                let other = parameters.first(where: { $0.operators == parameter.operators && $0.keyPaths != parameter.keyPaths })
            else { continue }
            throw WebBackendError.description(
                place, "“\(text)” would compare “\(parameter.keyPaths[0])” and “\(other.keyPaths[0])” alike.",
                next: "Write {name} for the name of the property, or name the one property in “filters” of the call.")
        }
    }

    private mutating func add(_ keyPath: String, _ context: CallPlan.Context, _ place: String) throws {
        let style = context.style.filters
        if try Self.isComposite(keyPath, context, place) { return }
        if keyPath == "SELF" {
            guard style.identifier != nil else {
                throw WebBackendError.description(
                    place, "It can be filtered by SELF, and the style says not by what name.", next: "Set the filters' identifier.")
            }
            return add(context.synonyms("SELF"), [.equal, .isIn], [], style)
        }
        let property = try Self.property(keyPath, context, place)
        switch property {
        case let attribute as NSAttributeDescription:
            let transform = keyPath.contains(".") ? .byType : context.properties[keyPath]?.transform ?? .byType
            guard attribute.attributeType.hasEquality, transform.keepsEquality else { return }
            let isText = attribute.attributeType == .stringAttributeType
            // Equal dates may have different texts, and the order of the texts is not that of the dates.
            if context.style.comparesDatesAsText, !keyPath.contains("."), context.properties[keyPath]?.isDateText == true {
                return add([keyPath], [.isNil, .isNotNil], [], style)
            }
            var operators: Set<Parameter.Operator> = [.equal, .notEqual, .isIn, .isNil, .isNotNil]
            if attribute.attributeType.hasOrder, transform.keepsOrder, !isText || style.comparesTextInOrder {
                operators.formUnion([.lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual])
            }
            // A separator within a string cannot be told from a separator between two strings.
            if isText, style.quoting == .bare, case .parameters = style.form, !FilterTemplates.repeats(style.templates[.isIn]) {
                operators.remove(.isIn)
            }
            // If the service has no word for the value, “not equal” means “not nil”.
            if transform.enumerated != nil, style.templates[.isNotNil] == nil, attribute.isOptional { operators.remove(.notEqual) }
            // If a value has several words, the filter sends all of them.
            if transform.mostWords > 1 {
                operators.remove(.notEqual)
                if style.templates[.isIn] == nil || transform.mostWords > style.maximumValues { operators.subtract([.equal, .isIn]) }
            }
            if isText, transform == .byType { operators.formUnion([.beginsWith, .endsWith, .contains, .like]) }
            add(
                keyPath.contains(".") ? [keyPath] : context.synonyms(keyPath), operators, isText ? style.caseInsensitive : [], style,
                isInexact: isText && style.isInexactForText, words: transform.mostWords)
        case let relationship as NSRelationshipDescription where !relationship.isToMany:
            add([keyPath], [.equal, .notEqual, .isIn, .isNil, .isNotNil], [], style)
        case is NSRelationshipDescription: add(["ANY " + keyPath], [.equal, .isIn], [], style, style.listTemplates)
        default: break
        }
    }

    /// Returns whether a filter compares a composite identifier, for which a template has no place.
    private static func isComposite(_ keyPath: String, _ context: CallPlan.Context, _ place: String) throws -> Bool {
        if case .selector = context.style.filters.form { return false }
        if keyPath == "SELF" { return context.identityCount > 1 }
        guard let relationship = try property(keyPath, context, place) as? NSRelationshipDescription else { return false }
        return context.composites.contains(relationship.destinationEntity?.name ?? "")
    }

    /// Adds a parameter for each comparison, so that a lower and an upper bound can be combined.
    private mutating func add(
        _ keyPaths: [String], _ operators: Set<Parameter.Operator>, _ caseInsensitive: Set<Parameter.Operator>, _ style: FilterStyle,
        _ templates: [Parameter.Operator: String]? = nil, isInexact: Bool = false, words: Int = 1
    ) {
        let known = operators.intersection((templates ?? style.templates).keys)
        for comparison in known.sorted(by: { $0.rawValue < $1.rawValue }) {
            // A comparison without regard to case finds all results of an exact one, and more. The parameter's text options say so, and not `isExact`.
            var parameter = Parameter(
                keyPaths: keyPaths, name: "\(keyPaths[0]) \(comparison.rawValue)", operators: [comparison],
                maximumValues: comparison == .isIn ? max(1, style.maximumValues / words) : 1,
                text: caseInsensitive.contains(comparison) ? .caseInsensitive : [],
                isExact: !isInexact && !style.inexact.contains(comparison) && (comparison != .like || style.wildcards?.isExact ?? true))
            parameter.reserved = style.reservedSigns(in: (templates ?? style.templates)[comparison] ?? "")
            parameters.append(parameter)
        }
    }

    private static func property(_ keyPath: String, _ context: CallPlan.Context, _ place: String) throws -> NSPropertyDescription {
        var current = context.entity
        let keys = keyPath.split(separator: ".").map(String.init)
        for (index, key) in keys.enumerated() {
            let known = current.allKindsInModel.lazy.compactMap { $0.propertiesByName[key] }.first
            if let known, index == keys.count - 1 { return known }
            guard context.style.filters.pathSeparator != nil, let next = (known as? NSRelationshipDescription)?.destinationEntity else {
                throw WebBackendError.description(
                    place, "It can be filtered by “\(keyPath)”, which “\(current.name ?? "?")” does not have, or the style cannot write.",
                    next: "Name a property, or a key path over relationships if the filters have a path separator.")
            }
            current = next
        }
        throw WebBackendError.description(place, "It can be filtered by nothing.", next: "Name a property.")
    }
}

extension FilterStyle {
    /// Returns the reserved characters: a template cannot express a text with one of them.
    fileprivate func reservedSigns(in template: String) -> [String] {
        guard quoting == .bare else { return reserved }
        switch form {
        case .none, .selector: return reserved
        case .parameters:
            return reserved + FilterTemplates.marks(template) + (template.contains("{values}") ? [separator] : [])
        case .expression(let expression): return reserved + FilterTemplates.marks(template) + expression.signs(separator)
        }
    }
}

extension FilterStyle.Expression {
    /// Returns the text that joins or groups comparisons and values. A value without quotation marks that contains such text would change the
    /// expression.
    func signs(_ separator: String) -> [String] {
        [and, or, separator].compactMap { $0 }
            + [group, not].compactMap { $0 }.flatMap { $0.replacing("{}", with: "\n").split(separator: "\n").map(String.init) }
    }
}

extension PropertyPlan {
    /// The transform of an attribute; ``ValueTransform/byType`` for other properties.
    var transform: ValueTransform { if case .attribute(_, let transform) = kind { transform } else { .byType } }
}

extension Parameter {
    /// Creates a parameter from a list of key paths.
    init(
        keyPaths: [String], name: String, operators: Set<Operator>, isRequired: Bool = false, maximumValues: Int = 1,
        text: PredicateComparison.Options = [], isExact: Bool = true
    ) {
        self.init(
            name, name: name, operators: operators, isRequired: isRequired, maximumValues: maximumValues, text: text, isExact: isExact)
        self.keyPaths = keyPaths
    }
}
