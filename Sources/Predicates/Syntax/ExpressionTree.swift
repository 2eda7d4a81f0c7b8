/// An expression: a side of a comparison, or a value for a fetch to compute.
///
/// The tree is a value and may be shared between threads. ``ExpressionTree/description`` prints it in the format language.
public indirect enum ExpressionTree: Hashable, Sendable {
    /// A value. A literal collection of constants, `{1, 2}`, is one constant array.
    case constant(PropertyValue)
    /// A constant and its number in a query to a store, which keeps one translation for all queries that differ only in their constants. It means the
    /// same as the constant.
    case numberedConstant(PropertyValue, number: Int)
    /// The thing the predicate is evaluated with: `SELF`.
    case evaluatedObject
    /// A variable, without its dollar sign.
    case variable(String)
    /// A key path from the evaluated object, with one element for each key. Collection operators keep their sign: `tracks.@count` is
    /// `["tracks", "@count"]`.
    case keyPath([String])
    /// A key path from the value of another expression.
    case navigation(ExpressionTree, [String])
    /// A collection whose elements are not all constants.
    case aggregate([ExpressionTree])
    /// A binary arithmetic operation.
    case arithmetic(ArithmeticOperator, ExpressionTree, ExpressionTree)
    /// The negation of a number that is not a constant.
    case negated(ExpressionTree)
    /// The bitwise complement of an integer: `~`.
    case complement(ExpressionTree)
    /// A function by name: `sum(…)`, `now()`.
    case function(String, [ExpressionTree])
    /// A method of an operand: `FUNCTION(operand, 'name:', …)`.
    case method(ExpressionTree, String, [ExpressionTree])
    /// An element, or the size, of a collection: `names[0]`, `names[FIRST]`, `names[SIZE]`.
    case element(ExpressionTree, ElementIndex)
    /// The elements of a collection that match: `SUBQUERY(collection, $variable, predicate)`.
    case subquery(ExpressionTree, variable: String, PredicateTree)
    /// A combination of two collections: `a UNION b`.
    case setOperation(SetOperator, ExpressionTree, ExpressionTree)
    /// One of two values: `TERNARY(predicate, value, otherwise)`.
    case conditional(PredicateTree, ExpressionTree, ExpressionTree)
    /// A converted value: `CAST(value, 'NSDate')`.
    case cast(ExpressionTree, String)
    /// An assignment to a variable: `$name := value`. It can be parsed and printed; compiling it is an error.
    case assignment(String, ExpressionTree)
    /// Any key of the evaluated object: `ANYKEY`. It can be parsed and printed; compiling it is an error.
    case anyKey
    /// The results of a fetch request, or their number: `FETCH(request, context, countOnly)`. The host evaluates it with
    /// ``PredicateSchema/fetch(_:context:countOnly:)``.
    case fetch(ExpressionTree, context: ExpressionTree, countOnly: Bool)
    /// A value that a block computes from the values of the arguments.
    case block(ExpressionBlock, [ExpressionTree])

    /// The arithmetic operators.
    public enum ArithmeticOperator: String, Hashable, Sendable, CaseIterable {
        /// Addition; a date plus a number of seconds is a date.
        case add = "+"
        /// Subtraction; a date minus a date is a number of seconds.
        case subtract = "-"
        /// Multiplication.
        case multiply = "*"
        /// Division; truncating between two integers, as in SQL. Division by zero is nil.
        case divide = "/"
        /// Exponentiation.
        case power = "**"
        /// Bitwise AND.
        case bitAnd = "&"
        /// Bitwise OR.
        case bitOr = "|"
        /// Bitwise exclusive OR.
        case bitExclusiveOr = "^"
        /// Left shift.
        case shiftLeft = "<<"
        /// Right shift.
        case shiftRight = ">>"
    }

    /// The set operators.
    public enum SetOperator: String, Hashable, Sendable, CaseIterable {
        /// The elements of either collection.
        case union = "UNION"
        /// The elements of both collections.
        case intersect = "INTERSECT"
        /// The elements of the left collection that are not in the right one.
        case minus = "MINUS"
    }

    /// The index of an element.
    public enum ElementIndex: Hashable, Sendable {
        /// The element at a computed index, or for a computed key.
        case at(ExpressionTree)
        /// The first element.
        case first
        /// The last element.
        case last
        /// The number of elements.
        case size
    }

    /// Returns the expression for a key path.
    ///
    /// - Parameter keyPath: Keys joined by dots, such as `band.name`; `SELF` or an empty string is the evaluated object.
    /// - Returns: The expression.
    public static func path(_ keyPath: String) -> ExpressionTree {
        var keys = keyPath.split(separator: ".").map(String.init)
        if keys.first?.uppercased() == "SELF" { keys.removeFirst() }
        return keys.isEmpty ? .evaluatedObject : .keyPath(keys)
    }
}
