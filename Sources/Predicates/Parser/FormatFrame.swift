extension FormatParser {
    /// Something that has begun and waits for its right side or its end.
    enum Frame {
        /// `a AND b` or `a OR b`, with so many parts.
        case junction(isAnd: Bool, count: Int)
        /// `NOT`
        case not
        /// `ANY` and its like, and the index of the word.
        case quantifier(String, at: Int)
        /// A comparison; `a NOT IN b` says what `NOT a IN b` says.
        case comparison(PredicateComparison.Operator, PredicateComparison.Options, isNegated: Bool)
        /// `$name :=`
        case assignment(String)
        /// An operator between two expressions.
        case binary(BinaryOperator)
        /// A sign before an expression.
        case sign(Sign)
        /// Something with an end of its own, with so many parts begun, and the index of its first word.
        case open(Opening, count: Int, at: Int)

        /// How tightly the frame binds what comes next; nil for what has an end of its own.
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

    /// How tightly operators bind, loosely first.
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

    /// What has an end of its own.
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

        /// Whether commas part it.
        var hasParts: Bool {
            switch self {
            case .parenthesis, .index: false
            case .collection, .call: true
            }
        }
    }

    /// What may stand before an expression.
    enum Sign: String {
        case minus = "-"
        case plus = "+"
        case complement = "~"
    }

    /// What may stand between two expressions.
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
