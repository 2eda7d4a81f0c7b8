extension FormatParser {
    /// A construct that waits for its right side or its end.
    enum Frame {
        /// `a AND b` or `a OR b`, with the number of parts.
        case junction(isAnd: Bool, count: Int)
        /// `NOT`
        case not
        /// A quantifier such as `ANY`, and the index of its token.
        case quantifier(String, at: Int)
        /// A comparison; `a NOT IN b` is equivalent to `NOT a IN b`.
        case comparison(PredicateComparison.Operator, PredicateComparison.Options, isNegated: Bool)
        /// `$name :=`
        case assignment(String)
        /// An operator between two expressions.
        case binary(BinaryOperator)
        /// A sign before an expression.
        case sign(Sign)
        /// A construct with a closing token, with the number of parts begun, and the index of its first token.
        case open(Opening, count: Int, at: Int)

        /// The precedence of the frame; nil for a construct with a closing token.
        var precedence: Int? {
            switch self {
            case .junction(isAnd: false, _): Precedence.or
            case .junction(isAnd: true, _): Precedence.and
            case .not: Precedence.not
            case .quantifier: Precedence.quantifier
            case .comparison: Precedence.comparison
            case .assignment: Precedence.assignment
            case .binary(let operation): operation.precedence
            case .sign: Precedence.sign
            case .open: nil
            }
        }
    }

    /// The precedences of operators, the lowest first.
    enum Precedence {
        static let or = 1
        static let and = 2
        static let not = 3
        static let quantifier = 4
        static let comparison = 5
        static let assignment = 6
        static let set = 7
        static let bitOr = 8
        static let bitExclusiveOr = 9
        static let bitAnd = 10
        static let shift = 11
        static let add = 12
        static let multiply = 13
        static let power = 14
        static let sign = 15
    }

    /// The constructs with a closing token.
    enum Opening {
        case parenthesis
        case collection
        case index
        case call(String)

        var end: String {
            switch self {
            case .parenthesis, .call: ")"
            case .collection: "}"
            case .index: "]"
            }
        }

        /// Whether commas separate its parts.
        var hasParts: Bool {
            switch self {
            case .parenthesis, .index: false
            case .collection, .call: true
            }
        }
    }

    /// The prefix operators of expressions.
    enum Sign: String {
        case minus = "-"
        case plus = "+"
        case complement = "~"
    }

    /// The binary operators of expressions.
    enum BinaryOperator {
        case set(ExpressionTree.SetOperator)
        case arithmetic(ExpressionTree.ArithmeticOperator)

        var precedence: Int {
            switch self {
            case .set: Precedence.set
            case .arithmetic(.bitOr): Precedence.bitOr
            case .arithmetic(.bitExclusiveOr): Precedence.bitExclusiveOr
            case .arithmetic(.bitAnd): Precedence.bitAnd
            case .arithmetic(.shiftLeft), .arithmetic(.shiftRight): Precedence.shift
            case .arithmetic(.add), .arithmetic(.subtract): Precedence.add
            case .arithmetic(.multiply), .arithmetic(.divide): Precedence.multiply
            case .arithmetic(.power): Precedence.power
            }
        }
    }
}
