/// The keywords that a key must not be confused with.
enum PredicateKeywords {
    /// The keywords that never begin an expression.
    static let operators: Set<String> = comparisons.union(quantifiers).union(["AND", "OR", "NOT"])

    /// The comparison operators.
    static let comparisons: Set<String> = [
        "IN", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "UTI-CONFORMS-TO", "UTI-EQUALS",
    ]

    /// The quantifiers of collections.
    static let quantifiers: Set<String> = ["ANY", "ALL", "SOME", "NONE"]

    /// All keywords that the printer escapes with a number sign when they are keys.
    static let reserved: Set<String> = operators.union([
        "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "SELF", "UNION", "INTERSECT", "MINUS", "FIRST",
        "LAST", "SIZE", "SUBQUERY", "TERNARY", "CAST", "FUNCTION", "FETCH", "ANYKEY",
    ])
}
