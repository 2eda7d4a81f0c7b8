import Foundation

/// Arithmetic on values: integers stay integers as in SQL, an integer overflow continues as a binary number, and nil produces nil.
enum Arithmetic {
    static func combine(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: PropertyValue, _ right: PropertyValue, clause: String
    ) throws -> PropertyValue {
        switch (left.asNumber, right.asNumber) {
        case (.null, _), (_, .null): return .null
        case (.int64(let left), .int64(let right)): return integers(operation, left, right)
        case (.date(let date), let other) where other.isNumber && (operation == .add || operation == .subtract):
            guard let seconds = other.double else { break }
            return seconds.isNaN ? .null : .date(date.addingTimeInterval(operation == .add ? seconds : -seconds))
        case (let other, .date(let date)) where other.isNumber && operation == .add:
            guard let seconds = other.double else { break }
            return seconds.isNaN ? .null : .date(date.addingTimeInterval(seconds))
        case (.date(let left), .date(let right)) where operation == .subtract:
            return real(left.timeIntervalSince(right))
        case (.decimal(let left), .int64(let right)): return try decimals(operation, left, Decimal(right), clause)
        case (.int64(let left), .decimal(let right)): return try decimals(operation, Decimal(left), right, clause)
        case (.decimal(let left), .decimal(let right)): return try decimals(operation, left, right, clause)
        case (let first, let second):
            if let left = first.double, let right = second.double { return try doubles(operation, left, right, clause) }
        }
        throw InvalidPredicateError(
            kind: .unsupported,
            message: "\(operation.rawValue) cannot combine \(left.typeName) and \(right.typeName), in the clause \(clause)")
    }

    /// Returns the result of a calculation; NaN becomes nil, as in SQL.
    private static func real(_ result: Double) -> PropertyValue { result.isNaN ? .null : .double(result) }

    private static func integers(_ operation: ExpressionTree.ArithmeticOperator, _ left: Int64, _ right: Int64) -> PropertyValue {
        func checked(_ result: (partialValue: Int64, overflow: Bool), _ otherwise: Double) -> PropertyValue {
            result.overflow ? .double(otherwise) : .int64(result.partialValue)
        }
        switch operation {
        case .add: return checked(left.addingReportingOverflow(right), Double(left) + Double(right))
        case .subtract: return checked(left.subtractingReportingOverflow(right), Double(left) - Double(right))
        case .multiply: return checked(left.multipliedReportingOverflow(by: right), Double(left) * Double(right))
        case .divide: return right == 0 ? .null : checked(left.dividedReportingOverflow(by: right), Double(left) / Double(right))
        case .power:
            let result = pow(Double(left), Double(right))
            if result.isNaN { return .null }
            // Bounded: a fraction, of which each has its opposite.
            return abs(result) < 0x1p53 ? Int64(exactly: result).map(PropertyValue.int64) ?? .double(result) : .double(result)
        case .bitAnd: return .int64(left & right)
        case .bitOr: return .int64(left | right)
        case .bitExclusiveOr: return .int64(left ^ right)
        case .shiftLeft: return .int64(left << right)
        case .shiftRight: return .int64(left >> right)
        }
    }

    private static func decimals(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: Decimal, _ right: Decimal, _ clause: String
    ) throws -> PropertyValue {
        switch operation {
        case .add: return .decimal(left + right)
        case .subtract: return .decimal(left - right)
        case .multiply: return .decimal(left * right)
        case .divide: return right.isZero ? .null : .decimal(left / right)
        default:
            return try doubles(operation, NSDecimalNumber(decimal: left).doubleValue, NSDecimalNumber(decimal: right).doubleValue, clause)
        }
    }

    private static func doubles(
        _ operation: ExpressionTree.ArithmeticOperator, _ left: Double, _ right: Double, _ clause: String
    ) throws -> PropertyValue {
        switch operation {
        case .add: return real(left + right)
        case .subtract: return real(left - right)
        case .multiply: return real(left * right)
        case .divide: return right == 0 ? .null : real(left / right)
        case .power: return real(pow(left, right))
        case .bitAnd, .bitOr, .bitExclusiveOr, .shiftLeft, .shiftRight:
            if let left = Int64(exactly: left), let right = Int64(exactly: right) { return integers(operation, left, right) }
            throw InvalidPredicateError(
                kind: .unsupported, message: "\(operation.rawValue) needs integers, in the clause \(clause)")
        }
    }
}

extension PropertyValue {
    /// The value as a number: a Boolean as an integer.
    var asNumber: PropertyValue {
        if case .bool(let value) = self { return .int64(value ? 1 : 0) }
        return self
    }

    /// The value as a binary number, rounded if needed.
    var double: Double? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .int64(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        default: nil
        }
    }
}
