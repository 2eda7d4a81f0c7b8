/// An expression: what stands on either side of a comparison, and what a fetch can be asked to compute.
///
/// The tree is a value, safe to share between threads. ``ExpressionTree/description`` prints it as it is written in a format string.
public indirect enum ExpressionTree: Hashable, Sendable {
    /// A value. Written collections of constants, `{1, 2}`, are one constant array.
    case constant(PropertyValue)
    /// A constant and its number among those of a question to a store, which keeps one translation for all questions that differ in nothing
    /// but constants. It means what the constant does.
    case numberedConstant(PropertyValue, number: Int)
    /// The thing the predicate is evaluated with: `SELF`.
    case evaluatedObject
    /// A variable, without its dollar sign.
    case variable(String)
    /// A key path from the evaluated object, one key an element. Collection operators keep their sign: `tracks.@count` is
    /// `["tracks", "@count"]`.
    case keyPath([String])
    /// A key path from the value of another expression.
    case navigation(ExpressionTree, [String])
    /// A collection in which not every element is a constant.
    case aggregate([ExpressionTree])
    /// A calculation with two operands.
    case arithmetic(ArithmeticOperator, ExpressionTree, ExpressionTree)
    /// The negative of a number that is no constant.
    case negated(ExpressionTree)
    /// The complement of an integer's bits: `~`.
    case complement(ExpressionTree)
    /// A function known by name: `sum(…)`, `now()`.
    case function(String, [ExpressionTree])
    /// A method called on an operand: `FUNCTION(operand, 'name:', …)`.
    case method(ExpressionTree, String, [ExpressionTree])
    /// An element, or the size, of a collection: `names[0]`, `names[FIRST]`, `names[SIZE]`.
    case element(ExpressionTree, ElementIndex)
    /// Those elements of a collection that match: `SUBQUERY(collection, $variable, predicate)`.
    case subquery(ExpressionTree, variable: String, PredicateTree)
    /// Two collections combined: `a UNION b`.
    case setOperation(SetOperator, ExpressionTree, ExpressionTree)
    /// One of two values: `TERNARY(predicate, value, otherwise)`.
    case conditional(PredicateTree, ExpressionTree, ExpressionTree)
    /// A value converted: `CAST(value, 'NSDate')`.
    case cast(ExpressionTree, String)
    /// A variable given a value: `$name := value`. It can be held and printed; compiling it is an error.
    case assignment(String, ExpressionTree)
    /// Any of the evaluated object's keys: `ANYKEY`. It can be held and printed; compiling it is an error.
    case anyKey
    /// What a fetch request finds, or how much: `FETCH(request, context, countOnly)`. The host evaluates it, through
    /// ``PredicateSchema/fetch(_:context:countOnly:)``.
    case fetch(ExpressionTree, context: ExpressionTree, countOnly: Bool)
    /// A value that only its own code can compute, from the values of the arguments.
    case block(ExpressionBlock, [ExpressionTree])

    /// How two numbers are combined.
    public enum ArithmeticOperator: String, Hashable, Sendable, CaseIterable {
        /// Addition; a date plus a number of seconds is a date.
        case add = "+"
        /// Subtraction; a date minus a date is a number of seconds.
        case subtract = "-"
        /// Multiplication.
        case multiply = "*"
        /// Division, truncating between two integers as SQL does. Division by zero is nil.
        case divide = "/"
        /// The power of a number.
        case power = "**"
        /// Bits set in both.
        case bitAnd = "&"
        /// Bits set in either.
        case bitOr = "|"
        /// Bits set in exactly one.
        case bitExclusiveOr = "^"
        /// Bits moved up.
        case shiftLeft = "<<"
        /// Bits moved down.
        case shiftRight = ">>"
    }

    /// How two collections are combined.
    public enum SetOperator: String, Hashable, Sendable, CaseIterable {
        /// The elements of either.
        case union = "UNION"
        /// The elements of both.
        case intersect = "INTERSECT"
        /// The elements of the left that are not in the right.
        case minus = "MINUS"
    }

    /// Which element of a collection is meant.
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

    /// A key path from its dotted form.
    ///
    /// - Parameter keyPath: Keys joined by dots, such as `band.name`; `SELF` or an empty text is the evaluated object.
    /// - Returns: The expression.
    public static func path(_ keyPath: String) -> ExpressionTree {
        var keys = keyPath.split(separator: ".").map(String.init)
        if keys.first?.uppercased() == "SELF" { keys.removeFirst() }
        return keys.isEmpty ? .evaluatedObject : .keyPath(keys)
    }
}
