import Foundation

extension FormatParser {
    /// Completes all frames above a precedence, back to the last construct with a closing token.
    mutating func reduce(whileAbove precedence: Int) throws {
        while let frame = frames.last, let own = frame.precedence, own > precedence {
            frames.removeLast()
            try complete(frame)
        }
    }

    private mutating func complete(_ frame: Frame) throws {
        switch frame {
        case .junction(let isAnd, let count): try completeJunction(isAnd: isAnd, count: count)
        case .not:
            let operand = operands.removeLast()
            try push(.predicate(.not(try predicate(operand))), height: operand.height + 1, from: operand.start)
        case .quantifier(let keyword, let word): try completeQuantifier(keyword, at: word)
        case .comparison(let operation, let options, let isNegated):
            try completeComparison(operation, options, isNegated: isNegated)
        case .assignment(let name):
            let operand = operands.removeLast()
            try push(.expression(.assignment(name, try expression(operand))), height: operand.height + 1, from: operand.start)
        case .binary(let operation): try completeBinary(operation)
        case .sign(let sign): try completeSign(sign)
        case .open: break
        }
    }

    private mutating func completeJunction(isAnd: Bool, count: Int) throws {
        let parts = removeParts(count)
        let trees = try parts.map { try predicate($0) }
        let height = parts.reduce(0) { max($0, $1.height) } + 1
        let start = parts.first?.start ?? 0
        try push(.predicate(isAnd ? .and(trees) : .or(trees)), height: height, from: start)
    }

    private mutating func completeQuantifier(_ keyword: String, at word: Int) throws {
        let operand = operands.removeLast()
        guard case .comparison(var comparison) = try predicate(operand), comparison.modifier == .direct else {
            throw failure(.syntax, "\(keyword) must stand before a comparison", at: tokens[word], expected: "a comparison")
        }
        comparison.modifier = keyword == "ALL" ? .all : .any
        // NONE has no modifier: it is NOT ANY.
        let isNone = keyword == "NONE"
        try push(
            .predicate(isNone ? .not(.comparison(comparison)) : .comparison(comparison)), height: operand.height + (isNone ? 1 : 0),
            from: word)
    }

    private mutating func completeComparison(
        _ operation: PredicateComparison.Operator, _ options: PredicateComparison.Options, isNegated: Bool
    ) throws {
        let right = operands.removeLast()
        let left = operands.removeLast()
        let comparison = PredicateComparison(
            left: try expression(left), operator: operation, right: try expression(right), options: options)
        try push(
            .predicate(isNegated ? .not(.comparison(comparison)) : .comparison(comparison)),
            height: max(left.height, right.height) + (isNegated ? 2 : 1), from: left.start)
    }

    private mutating func completeBinary(_ operation: BinaryOperator) throws {
        let right = operands.removeLast()
        let left = operands.removeLast()
        let first = try expression(left)
        let second = try expression(right)
        let tree: ExpressionTree =
            switch operation {
            case .set(let operation): .setOperation(operation, first, second)
            case .arithmetic(let operation): .arithmetic(operation, first, second)
            }
        try push(.expression(tree), height: max(left.height, right.height) + 1, from: left.start)
    }

    private mutating func completeSign(_ sign: Sign) throws {
        let operand = operands.removeLast()
        let tree = try expression(operand)
        switch (sign, tree) {
        case (.plus, _): operands.append(operand)
        case (.complement, _): try push(.expression(.complement(tree)), height: operand.height + 1, from: operand.start)
        case (.minus, .constant(let value)) where value.negative != nil:
            try push(.expression(.constant(value.negative ?? value)), from: operand.start)
        case (.minus, _): try push(.expression(.negated(tree)), height: operand.height + 1, from: operand.start)
        }
    }

    // MARK: Brackets and calls

    /// Completes a construct at its closing token.
    mutating func complete(_ opening: Opening, count: Int, from word: Int) throws {
        switch opening {
        case .parenthesis:
            operands[operands.count - 1].start = word
            operands[operands.count - 1].end = index
        case .index:
            let position = operands.removeLast()
            let base = operands.removeLast()
            try push(
                .expression(.element(try expression(base), .at(try expression(position)))), height: max(base.height, position.height) + 1,
                from: base.start)
        case .collection:
            // Removed before the call: as its argument, it would copy all operands.
            let parts = removeParts(count)
            let (elements, height) = try expressions(parts)
            let constants = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            try push(
                .expression(constants.count == elements.count ? .constant(.array(constants)) : .aggregate(elements)), height: height + 1,
                from: word)
        case .call(let name):
            try pushCall(name, removeParts(count), from: word)
        }
    }

    private mutating func removeParts(_ count: Int) -> [Operand] {
        // One by one: a slice would share the storage of all operands, so that removing it would copy them.
        var parts: [Operand] = []
        parts.reserveCapacity(count)
        for _ in 0..<count { parts.append(operands.removeLast()) }
        parts.reverse()
        WorkCount.step(count)
        return parts
    }

    private func expressions(_ parts: [Operand]) throws -> ([ExpressionTree], height: Int) {
        (try parts.map { try expression($0) }, parts.reduce(0) { max($0, $1.height) })
    }

    /// Pushes a call with its arguments.
    mutating func pushCall(_ name: String, _ parts: [Operand], from word: Int) throws {
        let height = parts.reduce(0) { max($0, $1.height) } + 1
        let tree: ExpressionTree =
            switch name.uppercased() {
            case "SUBQUERY": try subquery(parts, at: word)
            case "TERNARY": try conditional(parts, at: word)
            case "CAST": try cast(parts, at: word)
            case "FUNCTION": try method(parts, at: word)
            case "FETCH": try fetch(parts, at: word)
            default: .function(name, try expressions(parts).0)
            }
        try push(.expression(tree), height: height, from: word)
    }

    private func check(_ parts: [Operand], _ count: Int, form: String, at word: Int) throws {
        guard parts.count == count else {
            throw failure(
                .syntax, "\(tokens[word].uppercasedName) needs \(count) parts, found \(parts.count)", at: tokens[word], expected: form)
        }
    }

    private func subquery(_ parts: [Operand], at word: Int) throws -> ExpressionTree {
        if parts.count > 1 {
            guard case .expression(.variable) = parts[1].node else {
                throw unexpected(tokens[parts[1].start], expected: "a variable such as $element")
            }
        }
        try check(parts, 3, form: "SUBQUERY(collection, $variable, predicate)", at: word)
        guard case .variable(let name) = try expression(parts[1]) else {
            throw unexpected(tokens[parts[1].start], expected: "a variable such as $element")
        }
        return .subquery(try expression(parts[0]), variable: name, try predicate(parts[2]))
    }

    private func conditional(_ parts: [Operand], at word: Int) throws -> ExpressionTree {
        try check(parts, 3, form: "TERNARY(predicate, value, otherwise)", at: word)
        return .conditional(try predicate(parts[0]), try expression(parts[1]), try expression(parts[2]))
    }

    private func cast(_ parts: [Operand], at word: Int) throws -> ExpressionTree {
        try check(parts, 2, form: "CAST(value, 'class')", at: word)
        let value = try expression(parts[0])
        guard case .constant(.string(let type)) = try expression(parts[1]) else {
            throw unexpected(tokens[parts[1].start], expected: "the name of a class")
        }
        // A constant without a literal is printed as a cast, and parsed as the constant.
        if case .constant(let constant) = value, let converted = constant.literal(ofClass: type) { return .constant(converted) }
        return .cast(value, type)
    }

    private func method(_ parts: [Operand], at word: Int) throws -> ExpressionTree {
        let (arguments, _) = try expressions(parts)
        guard arguments.count >= 2, case .constant(.string(let name)) = arguments[1] else {
            throw failure(
                .syntax, "FUNCTION needs an operand and the name of a method", at: tokens[word], expected: "FUNCTION(operand, 'name:', …)")
        }
        return .method(arguments[0], name, Array(arguments.dropFirst(2)))
    }

    private func fetch(_ parts: [Operand], at word: Int) throws -> ExpressionTree {
        try check(parts, 3, form: "FETCH(request, context, countOnly)", at: word)
        let countOnly: Bool
        switch try expression(parts[2]) {
        case .constant(.bool(let flag)): countOnly = flag
        case .constant(.int64(let number)) where number == 0 || number == 1: countOnly = number == 1
        default: throw unexpected(tokens[parts[2].start], expected: "YES or NO")
        }
        return .fetch(try expression(parts[0]), context: try expression(parts[1]), countOnly: countOnly)
    }
}

extension PropertyValue {
    /// The negated number, if a constant can hold it.
    fileprivate var negative: PropertyValue? {
        switch self {
        case .int64(let value): return value == .min ? nil : .int64(-value)
        case .double(let value): return .double(-value)
        case .decimal(let value):
            // The smallest integer is parsed as a number that is too large, and then negated.
            if value == -Decimal(Int64.min) { return .int64(.min) }
            return .decimal(-value)
        default: return nil
        }
    }
}
