extension PredicateTree: CustomStringConvertible {
    /// The predicate as a format string, in the form of `predicateFormat` on Apple's platforms.
    ///
    /// Parsing it returns an equal tree, unless the tree contains a value that format strings cannot represent: an object, a set, a
    /// block.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        WorkCount.step()
        switch self {
        case .true: text += "TRUEPREDICATE"
        case .false: text += "FALSEPREDICATE"
        case .comparison(let comparison): comparison.write(to: &text)
        case .and(let parts): PredicateTree.write(parts, joinedBy: " AND ", empty: "TRUEPREDICATE", to: &text)
        case .or(let parts): PredicateTree.write(parts, joinedBy: " OR ", empty: "FALSEPREDICATE", to: &text)
        case .not(let part):
            text += "NOT "
            part.writePart(to: &text)
        case .block: text += "BLOCKPREDICATE"
        }
    }

    private static func write(_ parts: [PredicateTree], joinedBy word: String, empty: String, to text: inout String) {
        if parts.isEmpty { text += empty }
        if parts.count == 1 { return parts[0].write(to: &text) }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += word }
            part.writePart(to: &text)
        }
    }

    /// Writes the predicate as a part: an AND or an OR in parentheses.
    private func writePart(to text: inout String) {
        switch self {
        case .and(let parts) where parts.count > 1, .or(let parts) where parts.count > 1:
            text += "("
            write(to: &text)
            text += ")"
        default: write(to: &text)
        }
    }
}

extension PredicateComparison: CustomStringConvertible {
    /// The comparison as a format string.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    func write(to text: inout String) {
        switch modifier {
        case .direct: break
        case .any: text += "ANY "
        case .all: text += "ALL "
        }
        left.writeSide(to: &text)
        text += " \(`operator`.keyword)\(options.suffix) "
        right.writeSide(to: &text)
    }
}

extension PredicateComparison {
    /// The comparison for error messages, in which long collections are truncated.
    var clause: String {
        var short = self
        short.left = left.abbreviated
        short.right = right.abbreviated
        return short.description
    }
}

extension ExpressionTree {
    /// The constant with only the first elements of a long collection.
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
    /// The operator in the format language.
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
        case .comparator: "CUSTOMCOMPARATOR"
        }
    }
}

extension PredicateComparison.Options {
    /// The options such as `[cd]`, or an empty string.
    var suffix: String {
        var letters = ""
        if contains(.caseInsensitive) { letters += "c" }
        if contains(.diacriticInsensitive) { letters += "d" }
        if contains(.normalized) { letters += "n" }
        if contains(.localeSensitive) { letters += "l" }
        return letters.isEmpty ? "" : "[\(letters)]"
    }
}
