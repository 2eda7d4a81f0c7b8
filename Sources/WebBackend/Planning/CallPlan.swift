internal import JSONReading
internal import ObjectGraph
internal import Predicates
internal import RemoteStore

/// A call's description, checked against the entity, and the endpoint that the store gets.
struct CallPlan: Sendable {
    /// The entity and the style that a call is checked against.
    struct Context {
        let entity: NSEntityDescription
        let properties: [String: PropertyPlan]
        let style: ServiceStyle
        let collection: String
        let type: String
        let identifierAttribute: String?
        let identityCount: Int
        /// The entities whose identifiers have several parts.
        let composites: Set<String>
        let hasVersionInHeader: Bool
    }

    let call: WebCall
    let endpoint: Endpoint
    let paging: PagingStyle
    let path: Template
    let query: [(name: Template, value: Template)]
    /// The names of the places in path, query and body. They are required parameters.
    let places: Set<String>
    /// The call's own parameters, which the style's filters do not write, by their names.
    let parameters: [String: WebParameter]
    /// The sizes of the pages that have come.
    let pageCounts = PageCounts()

    init(_ call: WebCall, _ context: Context) throws {
        let style = context.style
        let entity = context.entity.name ?? "?"
        let place = "the call “\(call.name)” of “\(entity)”"
        let call = context.completed(call)
        var checks = CallChecks(call, style, place)
        checks.embedded = context.embedded
        try checks.run()
        self.call = call
        paging = call.returns == .one ? .none : call.paging ?? style.paging
        path = Template(call.path.replacing("{path}", with: context.collection).replacing("{type}", with: context.type))
        query = call.query.sorted { $0.key < $1.key }.map { (Template($0.key), Template($0.value.replacing("{type}", with: context.type))) }
        var places = Set(path.places).union(query.flatMap { $0.name.places + $0.value.places })
        if let body = call.body { places.formUnion(Template(body).places) }
        self.places = places

        var parameters: [Parameter] = []
        var custom: [String: WebParameter] = [:]
        for name in Set(places.map(Self.keyPath)).sorted() {
            if name != "SELF" { try Self.check(name, context, place) }
            try Self.checkWords(name, "“{\(name)}” stands", context, place)
            parameters.append(Parameter(keyPaths: context.synonyms(name), name: name, operators: [.equal], isRequired: true))
        }
        for parameter in call.parameters {
            for keyPath in parameter.keyPaths where keyPath != "SELF" { try Self.check(keyPath, context, place) }
            if parameter.text != .exact, !parameter.keyPaths.contains(where: { Self.isText($0, context) }) {
                throw WebBackendError.description(
                    place, "“text” says how strings are compared, and “\(parameter.keyPaths[0])” is no string.", next: "Remove it.")
            }
            try FilterTemplates.check(
                parameter.templates, .parameters, maximumValues: parameter.maximumValues, hasWildcards: style.filters.wildcards != nil,
                place)
            for (comparison, template) in parameter.templates.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                guard Template.parameter(template) != nil else {
                    throw WebBackendError.description(
                        place, "“\(template)” has no name and value.", next: "Write a name, an equals sign and a value: “min_year={value}”."
                    )
                }
                if comparison == .equal || comparison == .notEqual {
                    for keyPath in parameter.keyPaths { try Self.checkWords(keyPath, "“\(template)” stands", context, place) }
                }
                let name = "\(parameter.keyPaths.first ?? "") \(comparison.rawValue)"
                custom[name] = parameter
                var described = Parameter(
                    keyPaths: parameter.keyPaths, name: name, operators: [comparison], isRequired: parameter.isRequired,
                    maximumValues: parameter.maximumValues, text: parameter.text.options,
                    isExact: parameter.isExact && (comparison != .like || style.filters.wildcards?.isExact ?? true))
                described.reserved = FilterTemplates.marks(template) + (template.contains("{values}") ? [style.filters.separator] : [])
                parameters.append(described)
            }
        }
        self.parameters = custom
        var hasFilters = false
        if call.returns != .one {
            let filters = try FilterPlan(call, context, place).parameters
            hasFilters = !filters.isEmpty
            parameters += filters.filter { filter in !parameters.contains { $0.name == filter.name } }
        }
        for name in (call.properties ?? []).sorted() where context.properties[name] == nil {
            throw WebBackendError.description(place, "It brings “\(name)”, which the entity does not have.", next: "Remove it.")
        }
        for keyPath in call.includes { try Self.check(keyPath, context, place) }

        for index in parameters.indices {
            parameters[index].dateSteps = parameters[index].keyPaths.lazy.compactMap { context.properties[$0]?.dateSteps }.first
        }

        let (isTree, connectives) = style.filters.form.logic
        let canTree = isTree && places.isEmpty && call.parameters.isEmpty && call.returns != .one
        let total = paging.total != nil
        let sorting = try Self.sorting(call, context, place)
        try checks.checkBody(filters: hasFilters, sorts: !sorting.keys.isEmpty)
        var endpoint = Endpoint(
            call.name, parameters: parameters, logic: canTree ? .tree : .all, sorting: sorting,
            paging: Self.described(paging), counts: total && call.returns == .list,
            properties: call.properties ?? context.broughtProperties, embeddings: context.embeddings(call),
            includesSubentities: call.includesSubentities, freshness: call.freshness.map { .seconds($0) },
            cost: call.returns == .one && call.cost == .init() ? .init(expectedRows: 1) : call.cost)
        endpoint.connectives = connectives
        endpoint.negationsFindNil = true
        self.endpoint = endpoint
    }

    /// Checks that each value of a parameter for one value has one word in the service.
    private static func checkWords(_ keyPath: String, _ what: String, _ context: Context, _ place: String) throws {
        guard let words = context.properties[keyPath]?.transform.mostWords, words > 1 else { return }
        throw WebBackendError.description(
            place, "\(what) for one word, and values of “\(keyPath)” have several.",
            next: "Describe isIn for it, which is given all of them, or leave it out: it is compared in memory.")
    }

    /// Returns the property that a place stands for: `{SELF.0}` is a part of `SELF`.
    static func keyPath(_ place: String) -> String {
        let parts = place.split(separator: ".")
        guard parts.count > 1, let last = parts.last, Int(last) != nil else { return place }
        return parts.dropLast().joined(separator: ".")
    }

    /// Returns whether a request names the identifiers of its resources.
    func asksIdentifiers(_ request: BackendRequest) -> Bool { request.filters.contains { $0.keyPath == "SELF" && !$0.ids.isEmpty } }

    /// Returns whether the value at the end of a key path is a string.
    private static func isText(_ keyPath: String, _ context: Context) -> Bool {
        var current: NSEntityDescription? = context.entity
        var last: NSPropertyDescription?
        for key in keyPath.split(separator: ".") where key != "SELF" {
            last = current?.allKindsInModel.lazy.compactMap { $0.propertiesByName[String(key)] }.first
            current = (last as? NSRelationshipDescription)?.destinationEntity
        }
        return (last as? NSAttributeDescription)?.attributeType == .stringAttributeType
    }

    private static func check(_ keyPath: String, _ context: Context, _ place: String) throws {
        var current = context.entity
        let keys = keyPath.split(separator: ".").map(String.init)
        for (index, key) in keys.enumerated() {
            let known = current.allKindsInModel.lazy.compactMap { $0.propertiesByName[key] }.first
            if index == keys.count - 1, known != nil { return }
            guard let next = (known as? NSRelationshipDescription)?.destinationEntity else {
                throw WebBackendError.description(
                    place,
                    "It names “\(keyPath)”; “\(current.name ?? "?")” has no such \(index < keys.count - 1 ? "relationship" : "property").",
                    next: "Name a property of the entity, a key path over relationships, or SELF.")
            }
            current = next
        }
    }

    private static func described(_ style: PagingStyle) -> Paging {
        let isEndGuessed = style.next == nil && style.hasMore == nil && style.total == nil && !style.endsEmpty
        let takesLimit = style.sizeParameter != nil
        switch style.form {
        case .none: return .whole
        case .cursor, .address: return Paging(size: style.size, takesLimit: takesLimit, stability: style.stability)
        case .number: return Paging(size: style.size, takesLimit: takesLimit, stability: style.stability, isEndGuessed: isEndGuessed)
        case .offset:
            return Paging(
                size: style.size, takesLimit: takesLimit, takesOffset: true, stability: style.stability, isEndGuessed: isEndGuessed)
        }
    }

    private static func sorting(_ call: WebCall, _ context: Context, _ place: String) throws -> Sorting {
        let style = context.style.sorting
        guard style.parameter != nil, call.returns == .list else {
            guard call.sorting?.isEmpty ?? true else {
                if call.returns != .list {
                    throw WebBackendError.description(
                        place, "It returns \(call.returns == .one ? "one resource" : "a map"), which has no order.",
                        next: "Remove sorting, or write returns: list.")
                }
                throw WebBackendError.description(place, "It can be sorted, and the style says not how.", next: "Give the style a sorting.")
            }
            return .none
        }
        for keyPath in call.sorting ?? [] {
            try check(keyPath, context, place)
            if style.sortsNilFirst == false, context.entity.attributesByName[keyPath]?.isOptional ?? false {
                throw WebBackendError.description(
                    place,
                    "It is sorted by “\(keyPath)”, which may be nil, and by “sortsNilFirst: false” nil has another place than in Core Data.",
                    next:
                        "Remove it from “sorting”: it is sorted in memory. Or leave out “sortsNilFirst”, where nil comes first in this list."
                )
            }
            guard let property = context.properties[keyPath], case .attribute(_, let transform) = property.kind, !transform.keepsOrder
            else {
                continue
            }
            throw WebBackendError.description(
                place, "It is sorted by “\(keyPath)”, whose order in the service is another one, by how it is written there.",
                next: "Remove it from “sorting”: it is sorted in memory.")
        }
        let names =
            call.sorting ?? (style.parameter == "" ? [] : nil)
            ?? context.properties.values.filter { plan in
                guard case .attribute(let type, let transform) = plan.kind, transform.keepsOrder, type.hasOrder,
                    let attribute = context.entity.attributesByName[plan.name]
                else { return false }
                let isOther = plan.isText && !style.sortsTextInOrder || plan.isDateText && context.style.comparesDatesAsText
                return !isOther && (style.sortsNilFirst == true || !attribute.isOptional)
            }.map(\.name).sorted()
        return Sorting(
            names.map {
                Sorting.Key($0, isReversible: style.descending != nil || style.direction != nil || style.descendingParameter != nil)
            },
            // A separate direction applies to one key, and so does a separate parameter.
            maximumKeys: style.direction == nil && style.descendingParameter == nil ? style.maximumKeys : 1)
    }
}

extension CallPlan.Context {
    /// Returns a call with the style's defaults. If the style's own lists claim no filters and no orders, because these differ from call to call,
    /// another list claims only those that it names.
    func completed(_ call: WebCall) -> WebCall {
        guard call.returns != .one, let own = style.calls.first(where: { $0.returns == .list }) else { return call }
        var call = call
        if call.filters == nil, own.filters == [] { call.filters = [] }
        if call.sorting == nil, own.sorting == [] { call.sorting = [] }
        return call
    }

    /// The relationships whose destinations are embedded in resources.
    var embedded: Set<String> {
        Set(
            properties.values.filter { plan in
                switch plan.kind {
                case .toOne(let reference), .toMany(let reference, _, _):
                    if case .object = reference.style { return plan.path != nil }
                    return false
                case .attribute, .composite: return false
                }
            }.map(\.name))
    }

    /// The properties in answers, unless a call says otherwise: those that resources have.
    var broughtProperties: Set<String>? {
        Set(properties.values.filter { plan in plan.path != nil }.map(\.name))
    }

    /// Returns the key paths with the same meaning as another: the identifier, and the attribute with it.
    func synonyms(_ keyPath: String) -> [String] {
        if keyPath == "SELF" { return ["SELF"] + (identifierAttribute.map { [$0] } ?? []) }
        if keyPath == identifierAttribute { return [keyPath, "SELF"] }
        return [keyPath]
    }

    /// Returns the relationships whose destinations are included.
    func embeddings(_ call: WebCall) -> [Endpoint.Embedding] {
        var known = properties.values.filter { plan in
            switch plan.kind {
            case .toOne(let reference), .toMany(let reference, _, _):
                if case .object = reference.style { return plan.path != nil && (call.properties?.contains(plan.name) ?? true) }
                return false
            case .attribute, .composite: return false
            }
        }.map { Endpoint.Embedding($0.name, isAlwaysThere: true) }
        if style.includes != nil {
            let names =
                call.includes.isEmpty && call.returns != .map
                ? properties.values.filter { !$0.isAttribute && $0.path != nil }.map(\.name) : call.includes
            known += names.sorted().filter { name in !known.contains { $0.keyPath == name } }.map { Endpoint.Embedding($0) }
        }
        return known.sorted { $0.keyPath < $1.keyPath }
    }
}

extension FilterStyle.Form {
    /// Whether predicates of any form can be written, and the connectives besides AND that they may have.
    fileprivate var logic: (isTree: Bool, connectives: Set<Endpoint.Connective>) {
        let (or, not): (String?, String?) =
            switch self {
            case .expression(let expression): (expression.or, expression.not)
            case .selector(let selector): (selector.or, selector.nor)
            case .none, .parameters: (nil, nil)
            }
        let connectives = Set((or == nil ? [] : [Endpoint.Connective.or]) + (not == nil ? [] : [.not]))
        if case .selector = self { return (true, connectives) }
        return (!connectives.isEmpty, connectives)
    }
}

extension TextComparison {
    /// The options of Core Data's comparisons.
    var options: PredicateComparison.Options {
        switch self {
        case .exact: []
        case .caseInsensitive: .caseInsensitive
        case .diacriticInsensitive: .diacriticInsensitive
        case .caseAndDiacriticInsensitive: [.caseInsensitive, .diacriticInsensitive]
        }
    }
}

extension ValueTransform {
    /// Whether values have the same order as their JSON.
    var keepsOrder: Bool {
        switch self {
        case .byType, .date, .text: true
        case .scaled(let factor): factor > 0
        case .wrapped(_, _, let inner): inner.keepsOrder
        case .enumeration, .enumerationOfJSON, .json, .relativeURL, .joined: false
        }
    }
    /// The words of an enumeration in the order of their texts, with their values; nil for other transforms.
    var enumerated: [(word: JSONValue, value: String)]? {
        switch self {
        case .enumeration(let names): names.sorted { $0.key < $1.key }.map { (.string($0.key), $0.value) }
        case .enumerationOfJSON(let names):
            names.sorted { $0.key < $1.key }.compactMap { key, value in
                (try? JSONValue(parsing: Array(key.utf8))).map { ($0, value) }
            }
        case .wrapped(_, _, let inner): inner.enumerated
        default: nil
        }
    }
    /// The largest number of words for one value of an enumeration; 1 for other transforms.
    var mostWords: Int {
        Dictionary(grouping: enumerated ?? [], by: \.value).values.map(\.count).max() ?? 1
    }
    /// Whether equal values, and only those, are equal in JSON.
    var keepsEquality: Bool {
        switch self {
        case .byType, .date, .text, .scaled, .enumeration, .enumerationOfJSON: true
        case .wrapped(_, _, let inner): inner.keepsEquality
        case .json, .relativeURL, .joined: false
        }
    }
}

extension NSAttributeType {
    /// Whether values have an order that services share.
    var hasOrder: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
            .decimalAttributeType, .dateAttributeType, .stringAttributeType:
            true
        default: false
        }
    }
    /// Whether values can be compared for equality in a service.
    var hasEquality: Bool {
        switch self {
        case .transformableAttributeType, .binaryDataAttributeType, .undefinedAttributeType, .compositeAttributeType: false
        default: true
        }
    }
}
