extension FormatParser {
    /// The construct that must come next.
    enum Next {
        case operandNeeded
        case operandComplete
        case finished
    }

    /// Parses the token after a complete operand.
    mutating func readOperator() throws -> Next {
        let word = token
        switch word.kind {
        case .end: return try readEnd()
        case .symbol(let symbol): return try readOperator(symbol, word)
        case .identifier: return try readOperator(named: word.uppercasedName, word)
        default: throw try unexpectedOperator()
        }
    }

    private mutating func readOperator(_ symbol: String, _ word: FormatToken) throws -> Next {
        switch symbol {
        case ".": return try readKey()
        case "[": return try readIndex()
        case ")", "]", "}", ",": return try close(symbol)
        case "&&": return try begin(junctionOfAll: true)
        case "||": return try begin(junctionOfAll: false)
        default:
            if let operation = ExpressionTree.ArithmeticOperator(rawValue: symbol) { return try begin(.arithmetic(operation)) }
            guard let operation = PredicateComparison.Operator(symbol: symbol) else { throw try unexpectedOperator() }
            return try begin(operation, isNegated: false)
        }
    }

    private mutating func readOperator(named keyword: String, _ word: FormatToken) throws -> Next {
        switch keyword {
        case "AND": return try begin(junctionOfAll: true)
        case "OR": return try begin(junctionOfAll: false)
        case "NOT":
            guard let operation = PredicateComparison.Operator(keyword: following.uppercasedName) else { throw try unexpectedOperator() }
            advance()
            return try begin(operation, isNegated: true)
        default:
            if let operation = ExpressionTree.SetOperator(rawValue: keyword) { return try begin(.set(operation)) }
            guard let operation = PredicateComparison.Operator(keyword: keyword) else { throw try unexpectedOperator() }
            return try begin(operation, isNegated: false)
        }
    }

    // MARK: Operators with a right side

    private mutating func begin(junctionOfAll isAnd: Bool) throws -> Next {
        try reduce(whileAbove: isAnd ? Precedence.and : Precedence.or)
        // The left side is checked here, so that the error has this position.
        if let last = operands.last { _ = try predicate(last) }
        if case .junction(isAnd, let count) = frames.last {
            frames[frames.count - 1] = .junction(isAnd: isAnd, count: count + 1)
        } else {
            frames.append(.junction(isAnd: isAnd, count: 2))
        }
        advance()
        return .operandNeeded
    }

    private mutating func begin(_ operation: BinaryOperator) throws -> Next {
        // Equal precedence suffices: these operators are left-associative.
        try reduce(whileAbove: operation.precedence - 1)
        if let last = operands.last { _ = try expression(last) }
        frames.append(.binary(operation))
        advance()
        return .operandNeeded
    }

    private mutating func begin(_ operation: PredicateComparison.Operator, isNegated: Bool) throws -> Next {
        try reduce(whileAbove: Precedence.comparison)
        if case .comparison = frames.last { throw try unexpectedOperator() }
        if let last = operands.last { _ = try expression(last) }
        advance()
        frames.append(.comparison(operation, try comparisonOptions(), isNegated: isNegated))
        return .operandNeeded
    }

    /// Parses options such as `[cd]` after an operator.
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
        guard accept("]") else { throw unexpected(token, expected: "\"]\"") }
        return options
    }

    // MARK: Key paths and elements

    private mutating func readKey() throws -> Next {
        guard let operand = operands.popLast() else { throw unexpected(token, expected: "an expression") }
        var base = try expression(operand)
        var height = operand.height
        // All keys first, so that a long path is created once.
        var path: [String] = []
        while accept(".") {
            let word = advance()
            switch word.kind {
            case .identifier(let name), .escapedIdentifier(let name), .collectionOperator(let name): path.append(name)
            case .placeholder(.key), .placeholder(.value): path += try arguments.keys(for: word, in: self)
            case .variable(let name):
                // The key is the value of the variable.
                let collection = path.isEmpty ? base : base.appending(path)
                if let error = collection.pathError { throw failure(error.kind, error.message, at: token, expected: "a shorter key path") }
                base = .element(collection, .at(.variable(name)))
                height += path.isEmpty ? 1 : 2
                try checkHeight(height)
                path = []
            default: throw unexpected(word, expected: "a key")
            }
        }
        WorkCount.step(path.count)
        let result = path.isEmpty ? base : base.appending(path)
        if let error = result.pathError { throw failure(error.kind, error.message, at: token, expected: "a shorter key path") }
        try push(.expression(result), height: height + (path.isEmpty || result.isKeyPath ? 0 : 1), from: operand.start)
        return .operandComplete
    }

    private mutating func readIndex() throws -> Next {
        guard let operand = operands.last, case .expression(let base) = operand.node else { throw try unexpectedOperator() }
        let bracket = index
        advance()
        let selectors: [String: ExpressionTree.ElementIndex] = ["FIRST": .first, "LAST": .last, "SIZE": .size]
        guard let selector = selectors[token.uppercasedName], following.isSymbol("]") else {
            try open(.index, at: bracket)
            return .operandNeeded
        }
        advance()
        advance()
        operands.removeLast()
        try push(.expression(.element(base, selector)), height: operand.height + 1, from: operand.start)
        return .operandComplete
    }

    // MARK: Ends

    private mutating func readEnd() throws -> Next {
        try reduce(whileAbove: 0)
        if case .open(let opening, _, _) = frames.last { throw unexpected(token, expected: expectation(in: opening)) }
        return .finished
    }

    private mutating func close(_ symbol: String) throws -> Next {
        try reduce(whileAbove: 0)
        guard case .open(let opening, let count, let word) = frames.last else {
            throw unexpected(token, expected: "AND, OR or the end of the format")
        }
        if symbol == ",", opening.hasParts {
            frames[frames.count - 1] = .open(opening, count: count + 1, at: word)
            advance()
            return .operandNeeded
        }
        guard symbol == opening.end else { throw unexpected(token, expected: expectation(in: opening)) }
        advance()
        removeOpenFrame()
        try complete(opening, count: count, from: word)
        return .operandComplete
    }

    private func expectation(in opening: Opening) -> String {
        if opening.hasParts { return "\",\" or \"\(opening.end)\"" }
        if case .parenthesis = opening, case .predicate? = operands.last?.node { return "AND, OR or \"\(opening.end)\"" }
        return "\"\(opening.end)\""
    }

    /// Returns the error for the next token, which depends on the operand before it.
    private mutating func unexpectedOperator() throws -> InvalidPredicateError {
        let word = token
        try reduce(whileAbove: 0)
        if case .open(let opening, _, _) = frames.last { return unexpected(word, expected: expectation(in: opening)) }
        if case .expression? = operands.last?.node { return unexpected(word, expected: "a comparison operator") }
        return unexpected(word, expected: "AND, OR or the end of the format")
    }
}

extension PredicateComparison.Operator {
    fileprivate init?(symbol: String) {
        switch symbol {
        case "=", "==": self = .equal
        case "!=", "<>": self = .notEqual
        case "<": self = .lessThan
        case "<=", "=<": self = .lessThanOrEqual
        case ">": self = .greaterThan
        case ">=", "=>": self = .greaterThanOrEqual
        default: return nil
        }
    }

    fileprivate init?(keyword: String) {
        switch keyword {
        case "BEGINSWITH": self = .beginsWith
        case "ENDSWITH": self = .endsWith
        case "CONTAINS": self = .contains
        case "LIKE": self = .like
        case "MATCHES": self = .matches
        case "IN": self = .isIn
        case "BETWEEN": self = .between
        case "ISKINDOFCLASS:": self = .custom(ClassTest.isKind.rawValue)
        case "ISMEMBEROFCLASS:": self = .custom(ClassTest.isMember.rawValue)
        case "UTI-CONFORMS-TO", "UTI-EQUALS": self = .custom(keyword)
        default: return nil
        }
    }
}
