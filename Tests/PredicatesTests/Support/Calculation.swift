import Foundation
import Predicates

/// What operators and functions calculate, told plainly.
enum Calculation {
    typealias Operator = ExpressionTree.ArithmeticOperator

    private static func number(_ value: PropertyValue) -> PropertyValue {
        if case .bool(let flag) = value { return .int64(flag ? 1 : 0) }
        return value
    }

    static func real(_ value: PropertyValue) -> Double? {
        switch number(value) {
        case .int64(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        default: nil
        }
    }

    private static func exact(_ value: PropertyValue) -> Decimal? {
        switch number(value) {
        case .int64(let value): Decimal(value)
        case .decimal(let value): value
        default: nil
        }
    }

    static func combine(_ operation: Operator, _ first: PropertyValue, _ second: PropertyValue) throws -> PropertyValue {
        switch try combined(operation, first, second) {
        case .double(let result) where result.isNaN: return .null
        case .date(let result) where result.timeIntervalSinceReferenceDate.isNaN: return .null
        case let result: return result
        }
    }

    private static func combined(_ operation: Operator, _ first: PropertyValue, _ second: PropertyValue) throws -> PropertyValue {
        let (left, right) = (number(first), number(second))
        if left == .null || right == .null { return .null }
        if case .int64(let left) = left, case .int64(let right) = right { return integers(operation, left, right) }
        if case .date(let date) = left, case .date(let other) = right, operation == .subtract {
            return .double(date.timeIntervalSince(other))
        }
        if case .date(let date) = left, let seconds = real(right), operation == .add || operation == .subtract {
            return .date(date.addingTimeInterval(operation == .add ? seconds : -seconds))
        }
        if case .date(let date) = right, let seconds = real(left), operation == .add { return .date(date.addingTimeInterval(seconds)) }
        if let left = exact(left), let right = exact(right) {
            switch operation {
            case .add: return .decimal(left + right)
            case .subtract: return .decimal(left - right)
            case .multiply: return .decimal(left * right)
            case .divide: return right == 0 ? .null : .decimal(left / right)
            default: break
            }
        }
        guard let left = real(left), let right = real(right) else { throw TreeWalker.Refusal() }
        switch operation {
        case .add: return .double(left + right)
        case .subtract: return .double(left - right)
        case .multiply: return .double(left * right)
        case .divide: return right == 0 ? .null : .double(left / right)
        case .power: return .double(pow(left, right))
        default:
            guard let left = Int64(exactly: left), let right = Int64(exactly: right) else { throw TreeWalker.Refusal() }
            return integers(operation, left, right)
        }
    }

    private static func integers(_ operation: Operator, _ left: Int64, _ right: Int64) -> PropertyValue {
        switch operation {
        case .add: return left.addingReportingOverflow(right).overflow ? .double(Double(left) + Double(right)) : .int64(left + right)
        case .subtract:
            return left.subtractingReportingOverflow(right).overflow ? .double(Double(left) - Double(right)) : .int64(left - right)
        case .multiply:
            return left.multipliedReportingOverflow(by: right).overflow ? .double(Double(left) * Double(right)) : .int64(left * right)
        case .divide:
            if right == 0 { return .null }
            return left == .min && right == -1 ? .double(-Double(left)) : .int64(left / right)
        case .power:
            let result = pow(Double(left), Double(right))
            if abs(result) < 9_007_199_254_740_992, result == result.rounded() { return .int64(Int64(result)) }
            return .double(result)
        case .bitAnd: return .int64(left & right)
        case .bitOr: return .int64(left | right)
        case .bitExclusiveOr: return .int64(left ^ right)
        case .shiftLeft: return .int64(left << right)
        case .shiftRight: return .int64(left >> right)
        }
    }

    // MARK: Functions

    static func sum(_ values: [PropertyValue]) throws -> PropertyValue {
        try values.reduce(.int64(0)) { try combine(.add, $0, $1) }
    }

    static func extreme(_ values: [PropertyValue], _ direction: Int) throws -> PropertyValue {
        guard var result = values.first else { return .null }
        for value in values.dropFirst() {
            guard let order = Comparing.order(value, result, []) else { throw TreeWalker.Refusal() }
            if order.signum() == direction { result = value }
        }
        return result
    }

    static func function(
        _ name: String, _ arguments: [PropertyValue], leaves: ([PropertyValue]) throws -> [PropertyValue]
    ) throws -> PropertyValue {
        switch name {
        case "sum:", "count:", "min:", "max:", "average:", "median:", "stddev:", "mode:":
            return try statistic(name, leaves(arguments).filter { $0 != .null })
        case "modulus:by:":
            switch (number(arguments[0]), number(arguments[1])) {
            case (.null, _), (_, .null), (.int64, .int64(0)): return .null
            case (.int64(let left), .int64(let right)): return .int64(right == -1 ? 0 : left % right)
            case (let left, let right):
                guard let left = real(left), let right = real(right) else { throw TreeWalker.Refusal() }
                let result = fmod(left, right)
                return result.isNaN ? .null : .double(result)
            }
        default: break
        }
        let argument = number(arguments[0])
        if argument == .null { return .null }
        if case .string(let text) = argument {
            switch name {
            case "uppercase:": return .string(text.uppercased())
            case "lowercase:": return .string(text.lowercased())
            case "canonical:": return .string(Comparing.fold(text, [.caseInsensitive, .diacriticInsensitive]))
            case "length:": return .int64(Int64(text.utf16.count))
            default: throw TreeWalker.Refusal()
            }
        }
        if case .int64(let value) = argument {
            switch name {
            case "floor:", "ceiling:", "trunc:": return argument
            case "abs:" where value != .min: return .int64(abs(value))
            default: break
            }
        }
        guard let value = real(argument) else { throw TreeWalker.Refusal() }
        let functions: [String: (Double) -> Double] = [
            "floor:": { floor($0) }, "ceiling:": { ceil($0) }, "trunc:": { trunc($0) }, "abs:": { abs($0) }, "sqrt:": { sqrt($0) },
            "ln:": { log($0) }, "log:": { log10($0) }, "exp:": { exp($0) },
        ]
        guard let result = functions[name]?(value) else { throw TreeWalker.Refusal() }
        return result.isNaN ? .null : .double(result)
    }

    private static func statistic(_ name: String, _ values: [PropertyValue]) throws -> PropertyValue {
        let count = Double(values.count)
        switch name {
        case "sum:": return try sum(values)
        case "count:": return .int64(Int64(values.count))
        case "min:": return try extreme(values, -1)
        case "max:": return try extreme(values, 1)
        case _ where values.isEmpty: return .null
        case "average:":
            let total = try sum(values)
            if case .decimal = total { return try combine(.divide, total, .int64(Int64(values.count))) }
            return try combine(.divide, total, .double(count))
        case "mode:":
            func frequency(_ value: PropertyValue) -> Int { values.filter { Comparing.same($0, value, []) }.count }
            let most = values.map(frequency).max()
            return try extreme(values.filter { frequency($0) == most }, -1)
        default:
            let numbers = values.compactMap(real)
            if name == "median:" {
                let sorted = numbers.sorted()
                let middle = sorted.count / 2
                return .double(sorted.count % 2 == 0 ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle])
            }
            let mean = numbers.reduce(0, +) / count
            return .double(sqrt(numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count))
        }
    }

    static func cast(_ value: PropertyValue, _ type: String) throws -> PropertyValue {
        switch (type, number(value)) {
        case (_, .null): return .null
        case ("NSDate", .date), ("NSDecimalNumber", .decimal), ("NSString", .string): return value
        case ("NSDate", let number):
            guard let seconds = real(number) else { throw TreeWalker.Refusal() }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case ("NSNumber", .date(let date)): return .double(date.timeIntervalSinceReferenceDate)
        case ("NSNumber", .string(let text)): return Int64(text).map { .int64($0) } ?? Double(text).map { .double($0) } ?? .null
        case ("NSNumber", _): return value
        case ("NSDecimalNumber", .int64(let number)): return .decimal(Decimal(number))
        case ("NSDecimalNumber", .double(let number)): return Decimal(string: "\(number)").map { .decimal($0) } ?? .null
        case ("NSString", .int64(let number)): return .string("\(number)")
        case ("NSString", .double(let number)): return .string("\(number)")
        case ("NSString", .decimal(let number)): return .string("\(number)")
        default: throw TreeWalker.Refusal()
        }
    }
}
