/// Reads the predicate format language, one word ahead, in time linear in the length of the format.
///
/// A parenthesis may open a predicate or an expression, and nothing before its end tells which. So one routine reads both, and whoever needs
/// one of the two checks what it got; nothing is ever read twice.
struct FormatParser {
    /// What has been read: a predicate, or an expression that may become part of one.
    enum Node {
        case predicate(PredicateTree)
        case expression(ExpressionTree)
    }

    let format: String
    var arguments: FormatArguments
    private let tokens: [FormatToken]
    private var index = 0
    private var depth = 0

    init(format: String, arguments: [Any?]) throws {
        self.format = format
        self.arguments = FormatArguments(arguments)
        tokens = try FormatLexer.tokens(of: format)
    }

    /// Reads a whole format as a predicate.
    static func predicate(_ format: String, arguments: [Any?]) throws -> PredicateTree {
        var parser = try FormatParser(format: format, arguments: arguments)
        let start = parser.token
        let node = try parser.disjunction()
        let tree = try parser.predicate(node, from: start)
        try parser.finish()
        return tree
    }

    /// Reads a whole format as an expression.
    static func expression(_ format: String, arguments: [Any?]) throws -> ExpressionTree {
        var parser = try FormatParser(format: format, arguments: arguments)
        let start = parser.token
        let node = try parser.binary(0)
        let tree = try parser.expression(node, from: start)
        try parser.finish()
        return tree
    }

    private func finish() throws {
        guard token.kind == .end else { throw unexpected(token, expected: "AND, OR or the end of the format") }
        guard arguments.remaining == 0 else {
            throw InvalidPredicateError(
                kind: .arguments, message: "The format uses \(arguments.used) of \(arguments.count) arguments", format: format)
        }
    }

    // MARK: Words

    /// The next word.
    var token: FormatToken { tokens[index] }

    /// The word after the next.
    var following: FormatToken { tokens[min(index + 1, tokens.count - 1)] }

    /// Moves past the next word and returns it.
    @discardableResult mutating func advance() -> FormatToken {
        defer { if index < tokens.count - 1 { index += 1 } }
        return tokens[index]
    }

    /// Moves past the next word if it is this symbol.
    mutating func accept(_ symbol: String) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }

    /// Moves past the next word, which must be this symbol.
    mutating func expect(_ symbol: String) throws {
        guard accept(symbol) else { throw unexpected(token, expected: "\"\(symbol)\"") }
    }

    /// The next word in upper case, when it is a name that may be a keyword.
    var keyword: String? {
        guard case .identifier(let name) = token.kind else { return nil }
        return name.uppercased()
    }

    func unexpected(_ token: FormatToken, expected: String) -> InvalidPredicateError {
        failure(.syntax, "Expected \(expected), found \(token.name)", at: token, expected: expected)
    }

    func failure(_ kind: InvalidPredicateError.Kind, _ message: String, at token: FormatToken, expected: String? = nil)
        -> InvalidPredicateError
    {
        InvalidPredicateError(
            kind: kind, message: message, format: format, position: FormatLexer.position(ofByte: token.start, in: format),
            expected: expected)
    }

    func predicate(_ node: Node, from start: FormatToken) throws -> PredicateTree {
        if case .predicate(let tree) = node { return tree }
        if token.kind == .end { throw unexpected(token, expected: "a comparison operator") }
        if start.kind == .end { throw unexpected(start, expected: "a predicate") }
        throw unexpected(token, expected: "a comparison operator")
    }

    func expression(_ node: Node, from start: FormatToken) throws -> ExpressionTree {
        if case .expression(let tree) = node { return tree }
        throw failure(.syntax, "Expected an expression, found a predicate", at: start, expected: "an expression")
    }

    /// Runs one level deeper, within the limit.
    mutating func nested<Result>(_ body: (inout FormatParser) throws -> Result) throws -> Result {
        depth += 1
        defer { depth -= 1 }
        try checkDepth(depth)
        return try body(&self)
    }

    func checkDepth(_ depth: Int) throws {
        guard depth <= PredicateLimits.nesting else {
            throw failure(.tooDeep, "The predicate nests deeper than \(PredicateLimits.nesting) levels", at: token)
        }
    }

    // MARK: Predicates

    /// `a OR b OR c`
    mutating func disjunction() throws -> Node {
        try junction(keyword: "OR", symbol: "||", make: PredicateTree.or) { try $0.conjunction() }
    }

    /// `a AND b AND c`, which binds tighter than OR.
    private mutating func conjunction() throws -> Node {
        try junction(keyword: "AND", symbol: "&&", make: PredicateTree.and) { try $0.negation() }
    }

    private mutating func junction(
        keyword word: String, symbol: String, make: ([PredicateTree]) -> PredicateTree, part: (inout FormatParser) throws -> Node
    ) throws -> Node {
        var start = token
        let first = try part(&self)
        guard keyword == word || token.kind == .symbol(symbol) else { return first }
        var parts = [try predicate(first, from: start)]
        while keyword == word || token.kind == .symbol(symbol) {
            advance()
            start = token
            let next = try part(&self)
            parts.append(try predicate(next, from: start))
        }
        return .predicate(make(parts))
    }

    /// `NOT a`, which binds tighter than AND.
    private mutating func negation() throws -> Node {
        guard keyword == "NOT" || token.kind == .symbol("!") else { return try comparison() }
        advance()
        let start = token
        let node = try nested { try $0.negation() }
        return .predicate(.not(try predicate(node, from: start)))
    }

    /// `a == b`, `ANY a == b`, or an expression on its own.
    private mutating func comparison() throws -> Node {
        if let keyword, ["ANY", "SOME", "ALL", "NONE"].contains(keyword) {
            let start = advance()
            let node = try nested { try $0.comparison() }
            return .predicate(try modified(node, by: keyword, from: start))
        }
        let start = token
        let node = try binary(0)
        // `a NOT IN b` says what `NOT a IN b` says.
        let isNegated = keyword == "NOT" && PredicateKeywords.comparisons.contains(following.uppercasedName)
        let left: ExpressionTree
        if isNegated {
            left = try expression(node, from: start)
            advance()
        } else {
            guard comparisonOperator() != nil else { return node }
            left = try expression(node, from: start)
        }
        guard let operation = comparisonOperator() else { throw unexpected(token, expected: "a comparison operator") }
        advance()
        let options = try comparisonOptions()
        let rightStart = token
        let rightNode = try binary(0)
        let comparison = PredicateComparison(
            left: left, operator: operation, right: try expression(rightNode, from: rightStart), options: options)
        if operation == .between { try checkBounds(comparison.right, at: rightStart) }
        return .predicate(isNegated ? .not(.comparison(comparison)) : .comparison(comparison))
    }

    private func modified(_ node: Node, by keyword: String, from start: FormatToken) throws -> PredicateTree {
        guard case .predicate(.comparison(var comparison)) = node, comparison.modifier == .direct else {
            throw failure(.syntax, "\(keyword) must stand before a comparison", at: start, expected: "a comparison")
        }
        comparison.modifier = keyword == "ALL" ? .all : .any
        // NONE has no modifier of its own: it is NOT ANY.
        return keyword == "NONE" ? .not(.comparison(comparison)) : .comparison(comparison)
    }

    private func checkBounds(_ bounds: ExpressionTree, at start: FormatToken) throws {
        let count: Int
        switch bounds {
        case .constant(.array(let values)): count = values.count
        case .aggregate(let values): count = values.count
        case .constant: count = 0
        default: return
        }
        guard count == 2 else {
            throw failure(.syntax, "BETWEEN needs a lowest and a highest value", at: start, expected: "{lowest, highest}")
        }
    }

    // MARK: Operators

    private func comparisonOperator() -> PredicateComparison.Operator? {
        switch token.kind {
        case .symbol(let symbol):
            switch symbol {
            case "=", "==": .equal
            case "!=", "<>": .notEqual
            case "<": .lessThan
            case "<=", "=<": .lessThanOrEqual
            case ">": .greaterThan
            case ">=", "=>": .greaterThanOrEqual
            default: nil
            }
        case .identifier:
            switch keyword {
            case "BEGINSWITH": .beginsWith
            case "ENDSWITH": .endsWith
            case "CONTAINS": .contains
            case "LIKE": .like
            case "MATCHES": .matches
            case "IN": .isIn
            case "BETWEEN": .between
            default: nil
            }
        default:
            nil
        }
    }

    /// `[cd]` after an operator.
    private mutating func comparisonOptions() throws -> PredicateComparison.Options {
        guard accept("[") else { return [] }
        var options: PredicateComparison.Options = []
        while case .identifier(let letters) = token.kind {
            for letter in letters {
                switch letter {
                case "c", "C": options.insert(.caseInsensitive)
                case "d", "D": options.insert(.diacriticInsensitive)
                case "n", "N": options.insert(.normalized)
                case "l", "L": options.insert(.localeSensitive)
                default: throw unexpected(token, expected: "the options c, d, n or l")
                }
            }
            advance()
        }
        guard !options.isEmpty else { throw unexpected(token, expected: "the options c, d, n or l") }
        try expect("]")
        return options
    }
}
