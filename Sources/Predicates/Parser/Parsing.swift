extension PredicateTree {
    /// Reads a predicate format string.
    ///
    /// - Parameters:
    ///   - format: The format, as for `NSPredicate(format:)`.
    ///   - arguments: What `%@`, `%K` and the other placeholders stand for, in order.
    /// - Throws: ``InvalidPredicateError`` when the format is not in the language, nests too deeply, or uses more or fewer arguments than there are.
    public init(parsing format: String, _ arguments: Any?...) throws {
        self = try FormatParser.predicate(format, arguments: arguments)
    }

    /// Reads a predicate format string with its arguments in an array.
    ///
    /// - Parameters:
    ///   - format: The format, as for `NSPredicate(format:)`.
    ///   - argumentArray: What `%@`, `%K` and the other placeholders stand for, in order.
    /// - Throws: ``InvalidPredicateError``, as ``init(parsing:_:)`` does.
    public init(parsing format: String, argumentArray: [Any?]) throws {
        self = try FormatParser.predicate(format, arguments: argumentArray)
    }
}

extension ExpressionTree {
    /// Reads an expression in the format language, such as `tracks.@sum.length / 60`.
    ///
    /// - Parameters:
    ///   - format: The expression.
    ///   - arguments: What `%@`, `%K` and the other placeholders stand for, in order.
    /// - Throws: ``InvalidPredicateError`` when it is not in the language, nests too deeply, or uses more or fewer arguments than there are.
    public init(parsing format: String, _ arguments: Any?...) throws {
        self = try FormatParser.expression(format, arguments: arguments)
    }

    /// Reads an expression in the format language with its arguments in an array.
    ///
    /// - Parameters:
    ///   - format: The expression.
    ///   - argumentArray: What `%@`, `%K` and the other placeholders stand for, in order.
    /// - Throws: ``InvalidPredicateError``, as ``init(parsing:_:)`` does.
    public init(parsing format: String, argumentArray: [Any?]) throws {
        self = try FormatParser.expression(format, arguments: argumentArray)
    }
}
