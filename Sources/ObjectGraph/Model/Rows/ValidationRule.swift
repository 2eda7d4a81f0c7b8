internal import Foundation
internal import Predicates

/// A validation predicate of a property, prepared for many objects.
///
/// Bounds and lengths are compared in the row; other predicates are evaluated, and compile themselves once.
// Immutable; the predicate evaluates under its own lock.
struct ValidationRule: @unchecked Sendable {
    private enum Test {
        case integers(ClosedRange<Int64>)
        case numbers(minimum: Double, maximum: Double, isOpen: Bool)
        case length(ClosedRange<Int>)
        case predicate
    }

    let predicate: NSPredicate
    /// The error code of a value that violates the rule.
    let code: Int
    /// The model's warning for such a value.
    let warning: String?
    private let test: Test

    init(_ predicate: NSPredicate, warning: Any?, for property: NSPropertyDescription) {
        self.predicate = predicate
        self.warning = warning as? String
        let bound = (property as? NSAttributeDescription).flatMap { Bound(predicate, $0) }
        test = bound?.test ?? .predicate
        code = (warning as? NSNumber)?.intValue ?? (warning as? Int) ?? bound?.code ?? NSManagedObjectValidationError
    }

    /// Returns whether the non-nil value in an attribute's slot satisfies the rule.
    func allows(_ row: Row, _ slot: RowLayout.Slot, _ attribute: NSAttributeDescription) throws -> Bool {
        let place = row.slots + slot.location.offset
        switch (test, slot.kind) {
        case (.integers(let range), .integer): return range.contains(place.load(as: Int64.self))
        case (.numbers(let minimum, let maximum, let isOpen), .double), (.numbers(let minimum, let maximum, let isOpen), .date):
            let number = place.load(as: Double.self)
            return isOpen ? minimum < number && number < maximum : minimum <= number && number <= maximum
        case (.length(let range), .string): return range.contains(row.text(at: slot).utf16.count)
        default: return try predicate.matches(row.any(at: slot, of: attribute))
        }
    }

    /// Returns whether a non-nil public value satisfies the rule.
    func allows(_ value: Any) throws -> Bool { try predicate.matches(value) }

    /// A predicate that sets one bound: `SELF >= 1`, `length <= 10`, `SELF MATCHES "…"`.
    private struct Bound {
        let test: Test
        let code: Int

        init?(_ predicate: NSPredicate, _ attribute: NSAttributeDescription) {
            guard case .comparison(let comparison)? = try? predicate.tree(), comparison.modifier == .direct else { return nil }
            if comparison.operator == .matches {
                guard comparison.left == .evaluatedObject else { return nil }
                (test, code) = (.predicate, NSValidationStringPatternMatchingError)
                return
            }
            guard let isMinimum = Self.isMinimum(comparison.operator) else { return nil }
            let isOpen = comparison.operator == .lessThan || comparison.operator == .greaterThan
            switch (comparison.left, attribute.attributeType) {
            case (.keyPath(["length"]), .stringAttributeType), (.navigation(.evaluatedObject, ["length"]), .stringAttributeType):
                guard case .constant(.int64(let number)) = comparison.right, let bound = Int(exactly: number), bound.magnitude < Int.max / 2
                else { return nil }
                test = .length(isMinimum ? bound + (isOpen ? 1 : 0)...Int.max : Int.min...bound - (isOpen ? 1 : 0))
                code = isMinimum ? NSValidationStringTooShortError : NSValidationStringTooLongError
            case (.evaluatedObject, .dateAttributeType):
                test =
                    Self.seconds(comparison.right).map {
                        .numbers(minimum: isMinimum ? $0 : -.infinity, maximum: isMinimum ? .infinity : $0, isOpen: isOpen)
                    } ?? .predicate
                code = isMinimum ? NSValidationDateTooSoonError : NSValidationDateTooLateError
            case (.evaluatedObject, .integer16AttributeType), (.evaluatedObject, .integer32AttributeType),
                (.evaluatedObject, .integer64AttributeType), (.evaluatedObject, .doubleAttributeType),
                (.evaluatedObject, .floatAttributeType),
                (.evaluatedObject, .decimalAttributeType):
                test = Self.numberTest(comparison.right, isMinimum, isOpen, attribute.attributeType)
                code = isMinimum ? NSValidationNumberTooSmallError : NSValidationNumberTooLargeError
            default: return nil
            }
        }

        private static func isMinimum(_ comparison: PredicateComparison.Operator) -> Bool? {
            switch comparison {
            case .greaterThan, .greaterThanOrEqual: true
            case .lessThan, .lessThanOrEqual: false
            default: nil
            }
        }

        private static func numberTest(_ side: ExpressionTree, _ isMinimum: Bool, _ isOpen: Bool, _ type: NSAttributeType) -> Test {
            switch (side, type) {
            case (.constant(.int64(let number)), .integer16AttributeType), (.constant(.int64(let number)), .integer32AttributeType),
                (.constant(.int64(let number)), .integer64AttributeType):
                if isMinimum { return isOpen && number == .max ? .predicate : .integers(number + (isOpen ? 1 : 0)...Int64.max) }
                return isOpen && number == .min ? .predicate : .integers(Int64.min...number - (isOpen ? 1 : 0))
            case (.constant(.int64(let whole)), .doubleAttributeType):
                guard let number = Double(exactly: whole) else { return .predicate }
                return .numbers(minimum: isMinimum ? number : -.infinity, maximum: isMinimum ? .infinity : number, isOpen: isOpen)
            case (.constant(.double(let number)), .doubleAttributeType):
                return .numbers(minimum: isMinimum ? number : -.infinity, maximum: isMinimum ? .infinity : number, isOpen: isOpen)
            default: return .predicate
            }
        }

        private static func seconds(_ side: ExpressionTree) -> Double? {
            switch side {
            case .constant(.date(let date)): date.timeIntervalSinceReferenceDate
            case .cast(.constant(.double(let seconds)), "NSDate"): seconds
            case .cast(.constant(.int64(let seconds)), "NSDate"): Double(seconds)
            default: nil
            }
        }
    }
}

/// A property with validation predicates.
struct ValidatedProperty: Sendable {
    let property: NSPropertyDescription
    let rules: [ValidationRule]

    init?(_ property: NSPropertyDescription) {
        guard !property.isTransient, !property.validationRules.isEmpty else { return nil }
        self.property = property
        rules = property.validationRules.map { ValidationRule($0.predicate, warning: $0.warning, for: property) }
    }
}

extension NSPropertyDescription {
    /// Returns the code of an error that a predicate without a warning has.
    package func usualCode(of predicate: NSPredicate) -> Int { ValidationRule(predicate, warning: nil, for: self).code }
}
