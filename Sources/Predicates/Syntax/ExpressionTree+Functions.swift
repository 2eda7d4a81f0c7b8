extension ExpressionTree {
    /// Returns the expression for Apple's name of a function: arithmetic functions become operators.
    static func function(named name: String, _ arguments: [ExpressionTree]) -> ExpressionTree {
        if arguments.count == 2, let operation = ArithmeticOperator.allCases.first(where: { $0.functionName == name }) {
            return .arithmetic(operation, arguments[0], arguments[1])
        }
        switch (name, arguments.count) {
        case ("onesComplement:", 1): return .complement(arguments[0])
        case ("objectFrom:withIndex:", 2):
            if case .keyPath(let keys) = arguments[1], keys.count == 1, let selector = ElementIndex(selector: keys[0]) {
                return .element(arguments[0], selector)
            }
            return .element(arguments[0], .at(arguments[1]))
        case ("castObject:toType:", 2):
            if case .constant(.string(let type)) = arguments[1] { return .cast(arguments[0], type) }
        default: break
        }
        return .function(name, arguments)
    }
}

extension ExpressionTree.ArithmeticOperator {
    /// Apple's function name of the arithmetic operator.
    var functionName: String {
        switch self {
        case .add: "add:to:"
        case .subtract: "from:subtract:"
        case .multiply: "multiply:by:"
        case .divide: "divide:by:"
        case .power: "raise:toPower:"
        case .bitAnd: "bitwiseAnd:with:"
        case .bitOr: "bitwiseOr:with:"
        case .bitExclusiveOr: "bitwiseXor:with:"
        case .shiftLeft: "leftshift:by:"
        case .shiftRight: "rightshift:by:"
        }
    }
}

extension ExpressionTree.ElementIndex {
    /// Creates the index for one of the three keywords.
    init?(selector: String) {
        switch selector {
        case "FIRST": self = .first
        case "LAST": self = .last
        case "SIZE": self = .size
        default: return nil
        }
    }
}
