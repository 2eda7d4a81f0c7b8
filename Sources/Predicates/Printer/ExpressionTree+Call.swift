extension ExpressionTree {
    /// The expression as a call, as in Apple's representation: arithmetic, elements and casts are functions there.
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
