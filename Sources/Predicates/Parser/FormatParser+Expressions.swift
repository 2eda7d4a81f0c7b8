import Foundation

extension FormatParser {
    // MARK: Operators

    private enum BinaryOperator {
        case set(ExpressionTree.SetOperator)
        case arithmetic(ExpressionTree.ArithmeticOperator)

        var precedence: Int {
            switch self {
            case .set: 1
            case .arithmetic(.bitOr): 2
            case .arithmetic(.bitExclusiveOr): 3
            case .arithmetic(.bitAnd): 4
            case .arithmetic(.shiftLeft), .arithmetic(.shiftRight): 5
            case .arithmetic(.add), .arithmetic(.subtract): 6
            case .arithmetic(.multiply), .arithmetic(.divide): 7
            case .arithmetic(.power): 8
            }
        }
    }

    private func binaryOperator() -> BinaryOperator? {
        switch token.kind {
        case .symbol(let symbol): ExpressionTree.ArithmeticOperator(rawValue: symbol).map(BinaryOperator.arithmetic)
        case .identifier: keyword.flatMap(ExpressionTree.SetOperator.init(rawValue:)).map(BinaryOperator.set)
        default: nil
        }
    }

    /// Operators with two operands, from this precedence up, grouped from the left.
    mutating func binary(_ minimum: Int) throws -> Node {
        let start = token
        var node = try unary()
        var length = 0
        while let operation = binaryOperator(), operation.precedence >= minimum {
            // A long chain becomes a deep tree, as deep as if it had been written with parentheses.
            length += 1
            try checkDepth(length)
            let left = try expression(node, from: start)
            advance()
            let rightStart = token
            let rightNode = try nested { try $0.binary(operation.precedence + 1) }
            let right = try expression(rightNode, from: rightStart)
            switch operation {
            case .set(let operation): node = .expression(.setOperation(operation, left, right))
            case .arithmetic(let operation): node = .expression(.arithmetic(operation, left, right))
            }
        }
        return node
    }

    private mutating func unary() throws -> Node {
        let sign = token
        guard sign.kind == .symbol("-") || sign.kind == .symbol("+") || sign.kind == .symbol("~") else { return try postfix() }
        advance()
        let start = token
        let node = try nested { try $0.unary() }
        let operand = try expression(node, from: start)
        if sign.kind == .symbol("+") { return .expression(operand) }
        if sign.kind == .symbol("~") { return .expression(.complement(operand)) }
        switch operand {
        case .constant(.int64(let value)) where value != .min: return .expression(.constant(.int64(-value)))
        case .constant(.double(let value)): return .expression(.constant(.double(-value)))
        case .constant(.decimal(let value)):
            // The smallest integer is read as a number too large and then negated.
            let negative = Int64(exactly: NSDecimalNumber(decimal: -value)).map { PropertyValue.int64($0) } ?? .decimal(-value)
            return .expression(.constant(value == -Decimal(Int64.min) ? .int64(.min) : negative))
        default: return .expression(.negated(operand))
        }
    }

    // MARK: Key paths and elements

    private mutating func postfix() throws -> Node {
        let start = token
        var node = try primary()
        var length = 0
        while true {
            if accept(".") {
                let base = try expression(node, from: start)
                node = .expression(base.appending(try keys()))
            } else if token.kind == .symbol("["), case .expression(let base) = node {
                length += 1
                try checkDepth(length)
                node = .expression(.element(base, try elementIndex()))
            } else {
                return node
            }
        }
    }

    /// What may follow a dot.
    private mutating func keys() throws -> [String] {
        let word = advance()
        switch word.kind {
        case .identifier(let name), .escapedIdentifier(let name), .collectionOperator(let name): return [name]
        case .placeholder(.key), .placeholder(.value): return try arguments.keys(for: word, in: self)
        default: throw unexpected(word, expected: "a key")
        }
    }

    private mutating func elementIndex() throws -> ExpressionTree.ElementIndex {
        try expect("[")
        let selectors: [String: ExpressionTree.ElementIndex] = ["FIRST": .first, "LAST": .last, "SIZE": .size]
        if let keyword, let selector = selectors[keyword], following.kind == .symbol("]") {
            advance()
            advance()
            return selector
        }
        let index = try nestedExpression()
        try expect("]")
        return .at(index)
    }

    private mutating func nestedExpression() throws -> ExpressionTree {
        let start = token
        let node = try nested { try $0.binary(0) }
        return try expression(node, from: start)
    }

    // MARK: Operands

    private mutating func primary() throws -> Node {
        let word = advance()
        switch word.kind {
        case .literal(let value):
            return .expression(.constant(value))
        case .variable(let name):
            guard accept(":=") else { return .expression(.variable(name)) }
            return .expression(.assignment(name, try nestedExpression()))
        case .placeholder:
            return try arguments.node(for: word, in: self)
        case .escapedIdentifier(let name), .collectionOperator(let name):
            return .expression(.keyPath([name]))
        case .symbol("("):
            let node = try nested { try $0.disjunction() }
            try expect(")")
            return node
        case .symbol("{"):
            let elements = try list(until: "}")
            let constants = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            return .expression(constants.count == elements.count ? .constant(.array(constants)) : .aggregate(elements))
        case .identifier(let name):
            return try named(name, at: word)
        case .symbol, .end:
            throw unexpected(word, expected: "an expression")
        }
    }

    private mutating func named(_ name: String, at word: FormatToken) throws -> Node {
        switch name.uppercased() {
        case "TRUEPREDICATE": return .predicate(.true)
        case "FALSEPREDICATE": return .predicate(.false)
        case "TRUE", "YES": return .expression(.constant(.bool(true)))
        case "FALSE", "NO": return .expression(.constant(.bool(false)))
        case "NULL", "NIL": return .expression(.constant(.null))
        case "SELF": return .expression(.evaluatedObject)
        case let keyword where PredicateKeywords.operators.contains(keyword):
            throw unexpected(word, expected: "an expression")
        default: break
        }
        // A selector such as add:to: is one name.
        var function = name
        while token.kind == .symbol(":") {
            advance()
            function += ":"
            guard case .identifier(let part) = token.kind else { break }
            function += part
            advance()
        }
        if accept("(") { return .expression(try call(function, at: word)) }
        guard function == name else { throw unexpected(token, expected: "\"(\"") }
        return .expression(.keyPath([name]))
    }

    private mutating func list(until symbol: String) throws -> [ExpressionTree] {
        var elements: [ExpressionTree] = []
        if accept(symbol) { return elements }
        repeat { elements.append(try nestedExpression()) } while accept(",")
        try expect(symbol)
        return elements
    }

    // MARK: Calls

    private mutating func call(_ name: String, at word: FormatToken) throws -> ExpressionTree {
        switch name.uppercased() {
        case "SUBQUERY": return try subquery()
        case "TERNARY": return try conditional()
        case "CAST": return try cast()
        case "FUNCTION": return try method(at: word)
        case "FETCH": throw failure(.unsupported, "A fetch cannot be part of a predicate", at: word)
        default: return .function(name, try list(until: ")"))
        }
    }

    private mutating func subquery() throws -> ExpressionTree {
        let collection = try nestedExpression()
        try expect(",")
        let word = advance()
        guard case .variable(let name) = word.kind else { throw unexpected(word, expected: "a variable such as $element") }
        try expect(",")
        let condition = try nestedPredicate()
        try expect(")")
        return .subquery(collection, variable: name, condition)
    }

    private mutating func conditional() throws -> ExpressionTree {
        let condition = try nestedPredicate()
        try expect(",")
        let value = try nestedExpression()
        try expect(",")
        let otherwise = try nestedExpression()
        try expect(")")
        return .conditional(condition, value, otherwise)
    }

    private mutating func nestedPredicate() throws -> PredicateTree {
        let start = token
        let node = try nested { try $0.disjunction() }
        return try predicate(node, from: start)
    }

    private mutating func cast() throws -> ExpressionTree {
        let value = try nestedExpression()
        try expect(",")
        let word = token
        guard case .constant(.string(let type)) = try nestedExpression() else { throw unexpected(word, expected: "the name of a class") }
        try expect(")")
        // A constant that has no literal of its own is printed as a cast, and read back as the constant.
        if case .constant(let constant) = value, let converted = constant.literal(ofClass: type) { return .constant(converted) }
        return .cast(value, type)
    }

    private mutating func method(at word: FormatToken) throws -> ExpressionTree {
        let parts = try list(until: ")")
        guard parts.count >= 2, case .constant(.string(let name)) = parts[1] else {
            throw failure(
                .syntax, "FUNCTION needs an operand and the name of a method", at: word, expected: "FUNCTION(operand, 'name:', …)")
        }
        return .method(parts[0], name, Array(parts.dropFirst(2)))
    }
}

/// The words that a key must not be mistaken for.
enum PredicateKeywords {
    /// Words that can never begin an expression.
    static let operators: Set<String> = comparisons.union(["AND", "OR", "NOT", "ANY", "ALL", "SOME", "NONE"])

    /// Words that compare two expressions.
    static let comparisons: Set<String> = ["IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN"]

    /// Every word that the printer must mark with a number sign when it is a key.
    static let reserved: Set<String> = operators.union([
        "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "SELF", "UNION", "INTERSECT", "MINUS", "FIRST",
        "LAST", "SIZE", "SUBQUERY", "TERNARY", "CAST", "FUNCTION", "FETCH", "ANYKEY",
    ])
}

extension ExpressionTree {
    /// The key path that goes on from this expression.
    func appending(_ keys: [String]) -> ExpressionTree {
        switch self {
        case .evaluatedObject: .keyPath(keys)
        case .keyPath(let before): .keyPath(before + keys)
        case .navigation(let base, let before): .navigation(base, before + keys)
        default: .navigation(self, keys)
        }
    }
}
