/// Parses the predicate format language with one token of lookahead, in time linear in the length of the format.
///
/// A parenthesis may open a predicate or an expression, which is known only at its end. One routine therefore parses both, and the
/// context checks the result; nothing is parsed twice.
///
/// The parser keeps open constructs in ``frames`` and complete ones in ``operands`` (Dijkstra's shunting yard algorithm), and does not
/// recurse: an untrusted format needs no more stack than any other.
struct FormatParser {
    /// A parsed node: a predicate, or an expression that may become part of one.
    enum Node {
        case predicate(PredicateTree)
        case expression(ExpressionTree)
    }

    /// A complete node, and its tokens.
    struct Operand {
        var node: Node
        /// The height of the tree, which ``PredicateLimits/nesting`` limits.
        var height: Int
        /// The index of the first token.
        var start: Int
        /// The index after the last token.
        var end: Int
    }

    let format: String
    var arguments: FormatArguments
    /// The constructs that wait for their right side or end, the innermost last.
    var frames: [Frame] = []
    /// The complete operands that are not part of a larger one yet.
    var operands: [Operand] = []
    let tokens: [FormatToken]
    private(set) var index = 0
    private var openCount = 0
    private var moves = CopyDetector()

    init(format: String, arguments: [Any?]) throws {
        self.format = format
        self.arguments = FormatArguments(arguments)
        tokens = try FormatLexer.tokens(of: format)
    }

    /// Parses a format as a predicate.
    static func predicate(_ format: String, arguments: [Any?]) throws -> PredicateTree {
        var parser = try FormatParser(format: format, arguments: arguments)
        let operand = try parser.read()
        let tree = try parser.predicate(operand)
        try parser.finish()
        return tree
    }

    /// Parses a format as an expression.
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

    // MARK: Tokens

    /// The next token.
    var token: FormatToken { tokens[index] }

    /// The token after the next.
    var following: FormatToken { tokens[min(index + 1, tokens.count - 1)] }

    /// Consumes the next token and returns it.
    @discardableResult mutating func advance() -> FormatToken {
        defer { if index < tokens.count - 1 { index += 1 } }
        moves.step()
        return tokens[index]
    }

    /// Consumes the next token if it is this symbol.
    mutating func accept(_ symbol: String) -> Bool {
        guard token.isSymbol(symbol) else { return false }
        advance()
        return true
    }

    /// Pushes a complete operand with the index of its first token.
    mutating func push(_ node: Node, height: Int = 1, from start: Int) throws {
        try checkHeight(height)
        operands.append(Operand(node: node, height: height, start: start, end: index))
        moves.count(operands, frames)
    }

    /// Opens a construct with a closing token.
    mutating func open(_ opening: Opening, at word: Int) throws {
        openCount += 1
        try checkHeight(openCount)
        frames.append(.open(opening, count: 1, at: word))
    }

    /// Removes the innermost open frame.
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

    /// Returns the operand as a predicate; throws an error at the position where a comparison is missing.
    func predicate(_ operand: Operand) throws -> PredicateTree {
        if case .predicate(let tree) = operand.node { return tree }
        throw unexpected(tokens[operand.end], expected: "a comparison operator")
    }

    /// Returns the operand as an expression; throws an error at its start.
    func expression(_ operand: Operand) throws -> ExpressionTree {
        if case .expression(let tree) = operand.node { return tree }
        throw failure(.syntax, "Expected an expression, found a predicate", at: tokens[operand.start], expected: "an expression")
    }
}
