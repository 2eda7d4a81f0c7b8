/// Reads the predicate format language, one word ahead, in time linear in the length of the format.
///
/// A parenthesis may open a predicate or an expression, and nothing before its end tells which. So one routine reads both, and whoever needs
/// one of the two checks what it got; nothing is ever read twice.
///
/// The parser keeps what is still open in ``frames`` and what is complete in ``operands`` (it is Dijkstra's shunting yard), and never calls
/// itself: a format from a stranger needs no more stack than one of ours, whatever thread reads it.
struct FormatParser {
    /// What has been read: a predicate, or an expression that may become part of one.
    enum Node {
        case predicate(PredicateTree)
        case expression(ExpressionTree)
    }

    /// A complete node, and the words it was read from.
    struct Operand {
        var node: Node
        /// How many levels the tree has, which is what ``PredicateLimits/nesting`` bounds.
        var height: Int
        /// The index of its first word.
        var start: Int
        /// The index of the word behind its last.
        var end: Int
    }

    let format: String
    var arguments: FormatArguments
    /// What still waits for its right side or its end, the innermost last.
    var frames: [Frame] = []
    /// What is complete, but not yet part of anything larger.
    var operands: [Operand] = []
    let tokens: [FormatToken]
    private(set) var index = 0
    private var openCount = 0
    private var moves = OperandMoves()

    init(format: String, arguments: [Any?]) throws {
        self.format = format
        self.arguments = FormatArguments(arguments)
        tokens = try FormatLexer.tokens(of: format)
    }

    /// Reads a whole format as a predicate.
    static func predicate(_ format: String, arguments: [Any?]) throws -> PredicateTree {
        var parser = try FormatParser(format: format, arguments: arguments)
        let operand = try parser.read()
        let tree = try parser.predicate(operand)
        try parser.finish()
        return tree
    }

    /// Reads a whole format as an expression.
    static func expression(_ format: String, arguments: [Any?]) throws -> ExpressionTree {
        var parser = try FormatParser(format: format, arguments: arguments)
        let operand = try parser.read()
        let tree = try parser.expression(operand)
        try parser.finish()
        return tree
    }

    private mutating func read() throws -> Operand {
        while true {
            while try !readOperand() {}
            while true {
                switch try readOperator() {
                case .operandComplete: continue
                case .finished: return operands.removeLast()
                case .operandNeeded: break
                }
                break
            }
        }
    }

    private func finish() throws {
        guard arguments.remaining == 0 else {
            throw failure(
                .arguments, "The format uses \(arguments.used) of \(arguments.count) arguments", at: token,
                expected: "as many placeholders as arguments")
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
        moves.step()
        return tokens[index]
    }

    /// Moves past the next word if it is this symbol.
    mutating func accept(_ symbol: String) -> Bool {
        guard token.isSymbol(symbol) else { return false }
        advance()
        return true
    }

    /// Adds a complete operand that began at a word and ends before the next.
    mutating func push(_ node: Node, height: Int = 1, from start: Int) throws {
        try checkHeight(height)
        operands.append(Operand(node: node, height: height, start: start, end: index))
        moves.count(operands, frames)
    }

    /// Begins something that has an end of its own.
    mutating func open(_ opening: Opening, at word: Int) throws {
        openCount += 1
        try checkHeight(openCount)
        frames.append(.open(opening, count: 1, at: word))
    }

    /// Ends what was begun last.
    mutating func removeOpenFrame() {
        openCount -= 1
        frames.removeLast()
    }

    // MARK: Errors

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

    func checkHeight(_ height: Int) throws {
        guard height <= PredicateLimits.nesting else {
            throw failure(
                .tooDeep, "The predicate nests deeper than \(PredicateLimits.nesting) levels", at: token,
                expected: "at most \(PredicateLimits.nesting) levels")
        }
    }

    /// The operand as a predicate, or an error at the place where a comparison would have made it one.
    func predicate(_ operand: Operand) throws -> PredicateTree {
        if case .predicate(let tree) = operand.node { return tree }
        throw unexpected(tokens[operand.end], expected: "a comparison operator")
    }

    /// The operand as an expression, or an error where it begins.
    func expression(_ operand: Operand) throws -> ExpressionTree {
        if case .expression(let tree) = operand.node { return tree }
        throw failure(.syntax, "Expected an expression, found a predicate", at: tokens[operand.start], expected: "an expression")
    }
}
