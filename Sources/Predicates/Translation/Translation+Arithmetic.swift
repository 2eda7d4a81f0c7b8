internal import Foundation

extension PredicateExpressions.Arithmetic: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        let operation: ExpressionTree.ArithmeticOperator =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            }
        return .expression(.arithmetic(operation, try translation.expression(lhs), try translation.expression(rhs)))
    }

    func sourceText(by translation: PredicateTranslation) -> String {
        let sign =
            switch op {
            case .add: "+"
            case .subtract: "-"
            case .multiply: "*"
            }
        return "(\(translation.sourceText(lhs)) \(sign) \(translation.sourceText(rhs)))"
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        switch try translation.expression(wrapped) {
        case .constant(.int64(let value)) where value != .min: .expression(.constant(.int64(-value)))
        case .constant(.double(let value)): .expression(.constant(.double(-value)))
        case let operand: .expression(.negated(operand))
        }
    }

    func sourceText(by translation: PredicateTranslation) -> String { "-\(translation.sourceText(wrapped))" }
}

extension PredicateExpressions.IntDivision: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(.arithmetic(.divide, try translation.expression(lhs), try translation.expression(rhs)))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(lhs)) / \(translation.sourceText(rhs)))" }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(.arithmetic(.divide, try translation.expression(lhs), try translation.expression(rhs)))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(lhs)) / \(translation.sourceText(rhs)))" }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression, SourceRepresentable {
    func translated(by translation: PredicateTranslation, negated: Bool) throws -> Translated {
        .expression(.function("modulus:by:", [try translation.expression(lhs), try translation.expression(rhs)]))
    }

    func sourceText(by translation: PredicateTranslation) -> String { "(\(translation.sourceText(lhs)) % \(translation.sourceText(rhs)))" }
}
