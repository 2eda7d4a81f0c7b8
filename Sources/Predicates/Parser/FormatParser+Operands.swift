extension FormatParser {
    /// Parses up to the end of the next operand, or of a prefix that must be followed by one.
    ///
    /// - Returns: Whether an operand is complete; after a sign or an opening bracket it is not.
    mutating func readOperand() throws -> Bool {
        let start = index
        let word = advance()
        switch word.kind {
        case .literal(let value):
            try push(.expression(.constant(value)), from: start)
        case .variable(let name):
            guard accept(":=") else {
                try push(.expression(.variable(name)), from: start)
                break
            }
            frames.append(.assignment(name))
            return false
        case .placeholder:
            let node = try arguments.node(for: word, in: self)
            try push(node, height: node.height, from: start)
        case .escapedIdentifier(let name), .collectionOperator(let name):
            try push(.expression(.keyPath([name])), from: start)
        case .symbol(let symbol):
            return try readSymbol(symbol, word, at: start)
        case .identifier(let name):
            return try readName(name, word, at: start)
        case .end:
            throw unexpected(word, expected: "an expression")
        }
        return true
    }

    /// Whether a token that begins a predicate is valid here.
    private var allowsPredicate: Bool {
        switch frames.last {
        case nil, .junction, .not, .open: true
        default: false
        }
    }

    private mutating func readSymbol(_ symbol: String, _ word: FormatToken, at start: Int) throws -> Bool {
        switch symbol {
        case "(":
            try open(.parenthesis, at: start)
            return false
        case "{":
            guard accept("}") else {
                try open(.collection, at: start)
                return false
            }
            try push(.expression(.constant(.array([]))), from: start)
            return true
        case "!" where allowsPredicate:
            frames.append(.not)
            return false
        default:
            guard let sign = Sign(rawValue: symbol) else { throw unexpected(word, expected: "an expression") }
            frames.append(.sign(sign))
            return false
        }
    }

    private mutating func readName(_ name: String, _ word: FormatToken, at start: Int) throws -> Bool {
        switch word.uppercasedName {
        case "TRUEPREDICATE": try push(.predicate(.true), from: start)
        case "FALSEPREDICATE": try push(.predicate(.false), from: start)
        case "TRUE", "YES": try push(.expression(.constant(.bool(true))), from: start)
        case "FALSE", "NO": try push(.expression(.constant(.bool(false))), from: start)
        case "NULL", "NIL": try push(.expression(.constant(.null)), from: start)
        case "SELF": try push(.expression(.evaluatedObject), from: start)
        case "ANYKEY": try push(.expression(.anyKey), from: start)
        case "NOT" where allowsPredicate:
            frames.append(.not)
            return false
        case let keyword where PredicateKeywords.quantifiers.contains(keyword) && allowsPredicate:
            frames.append(.quantifier(keyword, at: start))
            return false
        case let keyword where PredicateKeywords.operators.contains(keyword):
            throw unexpected(word, expected: "an expression")
        default:
            return try readKeyOrCall(name, at: start)
        }
        return true
    }

    private mutating func readKeyOrCall(_ name: String, at start: Int) throws -> Bool {
        // A selector such as add:to: is one name.
        var function = name
        while accept(":") {
            function += ":"
            guard case .identifier(let part) = token.kind else { break }
            function += part
            advance()
        }
        guard accept("(") else {
            guard function == name else { throw unexpected(token, expected: "\"(\"") }
            try push(.expression(.keyPath([name])), from: start)
            return true
        }
        if accept(")") {
            try pushCall(function, [], from: start)
            return true
        }
        try open(.call(function), at: start)
        return false
    }
}

extension FormatParser.Node {
    /// The height of the tree, counted up to one above the limit.
    var height: Int {
        switch self {
        case .predicate(let tree): tree.height(limit: PredicateLimits.nesting + 1)
        case .expression(let tree): tree.height(limit: PredicateLimits.nesting + 1)
        }
    }
}
