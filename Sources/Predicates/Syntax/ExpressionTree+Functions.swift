extension ExpressionTree {
    /// A function by Apple's name for it: calculations become what their operators make.
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

    /// The expression as Apple holds it, when that is a call: calculations, elements and casts are functions there.
    var asCall: (name: String, arguments: [ExpressionTree])? {
        switch self {
        case .function(let name, let arguments): (name, arguments)
        case .method(_, let name, let arguments): (name, arguments)
        case .arithmetic(let operation, let left, let right): (operation.functionName, [left, right])
        case .negated(let operand): (ArithmeticOperator.subtract.functionName, [.constant(.int64(0)), operand])
        case .complement(let operand): ("onesComplement:", [operand])
        case .element(let collection, .at(let index)): ("objectFrom:withIndex:", [collection, index])
        case .element(let collection, let selector): ("objectFrom:withIndex:", [collection, .keyPath([selector.description])])
        case .cast(let value, let type): ("castObject:toType:", [value, .constant(.string(type))])
        default: nil
        }
    }
}

extension ExpressionTree.ArithmeticOperator {
    /// Apple's name for the calculation as a function.
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
    /// One of the three words that stand for an index.
    init?(selector: String) {
        switch selector {
        case "FIRST": self = .first
        case "LAST": self = .last
        case "SIZE": self = .size
        default: return nil
        }
    }
}
