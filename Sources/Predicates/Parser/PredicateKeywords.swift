/// The words that a key must not be mistaken for.
enum PredicateKeywords {
    /// Words that can never begin an expression.
    static let operators: Set<String> = comparisons.union(quantifiers).union(["AND", "OR", "NOT"])

    /// Words that compare two expressions.
    static let comparisons: Set<String> = [
        "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "UTI-CONFORMS-TO", "UTI-EQUALS",
    ]

    /// Words that say which elements of a collection must match.
    static let quantifiers: Set<String> = ["ANY", "ALL", "SOME", "NONE"]

    /// Every word that the printer must mark with a number sign when it is a key.
    static let reserved: Set<String> = operators.union([
        "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "SELF", "UNION", "INTERSECT", "MINUS", "FIRST",
        "LAST", "SIZE", "SUBQUERY", "TERNARY", "CAST", "FUNCTION", "FETCH", "ANYKEY",
    ])
}
