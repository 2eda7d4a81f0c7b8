internal import Foundation
internal import ObjectGraph
internal import Predicates

/// Converts delete rules to and from their spelling in model files.
enum RelationshipText {
    static let rules: [(name: String, rule: NSDeleteRule)] = [
        ("No Action", .noActionDeleteRule), ("Nullify", .nullifyDeleteRule), ("Cascade", .cascadeDeleteRule), ("Deny", .denyDeleteRule),
    ]
}

extension RequestText {

    static func read(_ fields: inout ModelFields, into request: NSFetchRequest<any NSFetchRequestResult>) throws {
        if let type = try fields.count("resultType") {
            guard [0, 1, 2, 4].contains(type) else { throw fields.malformed("There is no resultType \(type).") }
            request.resultType = NSFetchRequestResultType(rawValue: UInt(type))
        }
        setDefaults(of: request)
        request.fetchLimit = try fields.count("fetchLimit") ?? 0
        request.fetchOffset = try fields.count("fetchOffset") ?? 0
        if let size = try fields.count("fetchBatchSize") { request.fetchBatchSize = size }
        for (name, path) in flags {
            if let value = try fields.optionalFlag(name) { request[keyPath: path] = value }
        }
    }
}

/// Converts bounds, lengths and patterns in model files to and from validation predicates.
enum ValidationText {
    /// The fields of bounds. Bounds that do not fit the attribute's type are left in the fields, and have no effect.
    static let bounds = ["minValueString", "maxValueString", "minDateTimeInterval", "maxDateTimeInterval"]

    static func predicates(_ fields: inout ModelFields, type: NSAttributeType) throws -> [NSPredicate] {
        var predicates: [NSPredicate] = []
        let left: ExpressionTree = type == .stringAttributeType ? .keyPath(["length"]) : .evaluatedObject
        for (text, interval, operation) in [
            ("minValueString", "minDateTimeInterval", PredicateComparison.Operator.greaterThanOrEqual),
            ("maxValueString", "maxDateTimeInterval", .lessThanOrEqual),
        ] {
            if let bound = fields.text(text) {
                let boundType: NSAttributeType = type == .stringAttributeType ? .integer64AttributeType : type
                if let value = AttributeText.value(bound, type: boundType), let constant = try? PropertyValue(any: value) {
                    predicates.append(NSPredicate(tree: .compare(left, operation, .constant(constant))))
                } else {
                    fields.keep(text, bound)
                }
            }
            if type == .dateAttributeType, let seconds = try fields.number(interval) {
                let constant = PropertyValue.date(Date(timeIntervalSinceReferenceDate: seconds))
                predicates.append(NSPredicate(tree: .compare(left, operation, .constant(constant))))
            }
        }
        if let pattern = fields.text("regularExpressionString") {
            predicates.append(NSPredicate(tree: .compare(.evaluatedObject, .matches, .constant(.string(pattern)))))
        }
        return predicates
    }

    /// Returns the XML attribute for a validation predicate; nil if there is none.
    static func attribute(for predicate: NSPredicate, type: NSAttributeType) -> (name: String, value: String)? {
        guard case .comparison(let comparison) = try? predicate.tree(), comparison.modifier == .direct, comparison.options == [],
            let value = constant(comparison.right)
        else { return nil }
        switch (comparison.left, comparison.operator) {
        case (.evaluatedObject, .matches): return (value as? String).map { ("regularExpressionString", $0) }
        case (.keyPath(["length"]), .greaterThanOrEqual), (.keyPath(["length"]), .lessThanOrEqual),
            // As Apple's compiler writes it.
            (.navigation(.evaluatedObject, ["length"]), .greaterThanOrEqual), (.navigation(.evaluatedObject, ["length"]), .lessThanOrEqual):
            guard type == .stringAttributeType, let text = AttributeText.text(value, type: .integer64AttributeType) else { return nil }
            return (comparison.operator == .lessThanOrEqual ? "maxValueString" : "minValueString", text)
        case (.evaluatedObject, .greaterThanOrEqual), (.evaluatedObject, .lessThanOrEqual):
            guard type != .stringAttributeType, let text = AttributeText.text(value, type: type) else { return nil }
            let bound = comparison.operator == .lessThanOrEqual ? "max" : "min"
            return (bound + (type == .dateAttributeType ? "DateTimeInterval" : "ValueString"), text)
        default: return nil
        }
    }

    private static func constant(_ side: ExpressionTree) -> Any? {
        switch side {
        case .constant(let value): value.any
        case .cast(.constant(let seconds), "NSDate"):
            (seconds.any as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        default: nil
        }
    }
}
