extension PredicateTree: CustomStringConvertible {
    /// The predicate as a format string, in the form that `predicateFormat` has on Apple's platforms.
    ///
    /// It reads back as an equal tree, unless the tree holds something that no format string can: an object, a set, a block.
    public var description: String {
        switch self {
        case .true: "TRUEPREDICATE"
        case .false: "FALSEPREDICATE"
        case .comparison(let comparison): comparison.description
        case .and(let parts): PredicateTree.joined(parts, by: " AND ", empty: "TRUEPREDICATE")
        case .or(let parts): PredicateTree.joined(parts, by: " OR ", empty: "FALSEPREDICATE")
        case .not(let part): "NOT \(part.asPart)"
        case .block: "BLOCKPREDICATE"
        }
    }

    private static func joined(_ parts: [PredicateTree], by word: String, empty: String) -> String {
        switch parts.count {
        case 0: empty
        case 1: parts[0].description
        default: parts.map(\.asPart).joined(separator: word)
        }
    }

    /// The predicate inside a larger one: in parentheses when it is an AND or an OR.
    private var asPart: String {
        switch self {
        case .and(let parts) where parts.count > 1, .or(let parts) where parts.count > 1: "(\(description))"
        default: description
        }
    }
}

extension PredicateComparison: CustomStringConvertible {
    /// The comparison as a format string.
    public var description: String {
        let prefix =
            switch modifier {
            case .direct: ""
            case .any: "ANY "
            case .all: "ALL "
            }
        return "\(prefix)\(left.asSide) \(`operator`.keyword)\(options.suffix) \(right.asSide)"
    }
}

extension PredicateComparison {
    /// The comparison for error messages: long collections are cut, so that compiling does not print ten thousand identifiers.
    var clause: String {
        var short = self
        short.left = left.abbreviated
        short.right = right.abbreviated
        return short.description
    }
}

extension ExpressionTree {
    /// The constant with only its first elements, if it is a long collection.
    fileprivate var abbreviated: ExpressionTree {
        let limit = 10
        switch self {
        case .constant(.array(let values)) where values.count > limit:
            return .aggregate(values.prefix(limit).map(ExpressionTree.constant) + [.keyPath(["…"])])
        case .constant(.set(let values)) where values.count > limit:
            return .aggregate(values.prefix(limit).map(ExpressionTree.constant) + [.keyPath(["…"])])
        default: return self
        }
    }
}

extension PredicateComparison.Operator {
    /// The operator as it is written in a format string.
    public var keyword: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .equal: "=="
        case .notEqual: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .isIn: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        case .custom(let name): name
        }
    }
}

extension PredicateComparison.Options {
    /// `[cd]`, or nothing.
    var suffix: String {
        var letters = ""
        if contains(.caseInsensitive) { letters += "c" }
        if contains(.diacriticInsensitive) { letters += "d" }
        if contains(.normalized) { letters += "n" }
        if contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
