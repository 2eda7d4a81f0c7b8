internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The way in which a part reads objects by their identity.
struct CombinedLookup: Sendable {
    let endpoint: Endpoint
    /// The parameter that accepts identities; nil if everything is read.
    let parameter: Parameter?
    /// The endpoint that reads by the part's own identifiers, with its parameter; nil for none.
    let own: (endpoint: Endpoint, parameter: Parameter)?

    /// Finds the way; nil if no endpoint returns the identity and all plain properties.
    init?(_ resource: Resource, _ share: CombinedBackend.Share, _ plain: Set<String>) {
        func ways(_ path: String, _ properties: Set<String>) -> [(endpoint: Endpoint, parameter: Parameter)] {
            resource.endpoints.filter { $0.properties?.isSuperset(of: properties) ?? true }.compactMap { endpoint in
                let others = endpoint.parameters.filter { $0.isRequired && !$0.keyPaths.contains(path) }
                guard others.isEmpty,
                    let parameter = endpoint.parameters.first(where: {
                        $0.keyPaths.contains(path) && !$0.operators.isDisjoint(with: .equality)
                    })
                else { return nil }
                return (endpoint, parameter)
            }.sorted { $0.parameter.maximumValues > $1.parameter.maximumValues }
        }
        let needed = share.identifiesAlike ? plain : plain.union([share.identity])
        own = ways("SELF", share.identifiesAlike ? [] : [share.identity]).first
        let alike = share.identifiesAlike ? ways("SELF", needed).first : nil
        if let way = alike ?? ways(share.identity, needed).first {
            (endpoint, parameter) = way
            return
        }
        let all = resource.endpoints.first { endpoint in
            !endpoint.parameters.contains(where: \.isRequired) && endpoint.properties?.isSuperset(of: needed) ?? true
        }
        guard let all else { return nil }
        (endpoint, parameter) = (all, nil)
    }

    /// Whether its answers contain properties.
    func brings(_ properties: Set<String>) -> Bool { endpoint.properties?.isSuperset(of: properties) ?? true }

    /// Whether objects are requested by the part's own identifiers.
    var asksIdentifiers: Bool { parameter?.keyPaths.contains("SELF") ?? false }
}

extension BackendRequest {
    /// Adds a filter for some values of a key path, with a parameter of an endpoint.
    mutating func add(_ parameter: Parameter, _ keyPath: String, ids: [ResourceID], logic: Endpoint.Logic) {
        let isOne = ids.count == 1 && parameter.operators.contains(.equal)
        let values = keyPath == "SELF" ? [] : ids.map(\.attributeValue)
        filters.append(
            Filter(
                parameter: parameter.name, keyPath: keyPath, comparison: isOne ? .equal : .isIn, values: values,
                ids: keyPath == "SELF" ? ids : []))
        if logic == .tree { predicate = filters[filters.count - 1].tree([parameter]) }
    }
}

extension BackendRequest.Filter {
    /// Returns the comparison as a predicate, for endpoints that accept predicates.
    func tree(_ parameters: [Parameter]) -> PredicateTree {
        let isAny = keyPath.hasPrefix("ANY ")
        let path = isAny ? String(keyPath.dropFirst(4)) : keyPath
        let left: ExpressionTree = path == "SELF" ? .evaluatedObject : .keyPath(path.split(separator: ".").map(String.init))
        let all = values + ids.map(\.propertyValue)
        let operation: PredicateComparison.Operator
        switch comparison {
        case .equal, .isNil: operation = .equal
        case .notEqual, .isNotNil: operation = .notEqual
        case .lessThan: operation = .lessThan
        case .lessThanOrEqual: operation = .lessThanOrEqual
        case .greaterThan: operation = .greaterThan
        case .greaterThanOrEqual: operation = .greaterThanOrEqual
        case .isIn: operation = .isIn
        case .beginsWith: operation = .beginsWith
        case .endsWith: operation = .endsWith
        case .contains: operation = .contains
        case .like: operation = .like
        }
        let right: PropertyValue = comparison == .isIn ? .array(all) : all.first ?? .null
        let isText = all.contains { if case .string = $0 { true } else { false } }
        let options = isText ? parameters.first { $0.name == parameter }?.text ?? [] : []
        return .compare(left, operation, .constant(right), modifier: isAny ? .any : .direct, options: options)
    }
}

extension ResourceID {
    /// The identity as the value of an attribute.
    var attributeValue: PropertyValue {
        switch self {
        case .integer(let number): .int64(number)
        case .string(let text): .string(text)
        case .uuid(let uuid): .uuid(uuid)
        case .composite: .string(description)
        }
    }
}
