extension PredicateTree {
    /// Parses a predicate format string.
    ///
    /// - Parameters:
    ///   - format: The format, as for `NSPredicate(format:)`.
    ///   - arguments: The arguments of `%@`, `%K` and other placeholders, in order.
    /// - Throws: ``InvalidPredicateError`` when the format is invalid, nests too deeply, or has too few or too many arguments.
    public init(parsing format: String, _ arguments: Any?...) throws {
        self = try FormatParser.predicate(format, arguments: arguments)
    }

    /// Parses a predicate format string with its arguments in an array.
    ///
    /// - Parameters:
    ///   - format: The format, as for `NSPredicate(format:)`.
    ///   - argumentArray: The arguments of `%@`, `%K` and other placeholders, in order.
    /// - Throws: The ``InvalidPredicateError`` of ``init(parsing:_:)``.
    public init(parsing format: String, argumentArray: [Any?]) throws {
        self = try FormatParser.predicate(format, arguments: argumentArray)
    }
}

extension ExpressionTree {
    /// Parses an expression in the format language, such as `tracks.@sum.length / 60`.
    ///
    /// - Parameters:
    ///   - format: The expression.
    ///   - arguments: The arguments of `%@`, `%K` and other placeholders, in order.
    /// - Throws: ``InvalidPredicateError`` when the expression is invalid, nests too deeply, or has too few or too many arguments.
    public init(parsing format: String, _ arguments: Any?...) throws {
        self = try FormatParser.expression(format, arguments: arguments)
    }

    /// Parses an expression in the format language with its arguments in an array.
    ///
    /// - Parameters:
    ///   - format: The expression.
    ///   - argumentArray: The arguments of `%@`, `%K` and other placeholders, in order.
    /// - Throws: The ``InvalidPredicateError`` of ``init(parsing:_:)``.
    public init(parsing format: String, argumentArray: [Any?]) throws {
        self = try FormatParser.expression(format, arguments: argumentArray)
    }
}
