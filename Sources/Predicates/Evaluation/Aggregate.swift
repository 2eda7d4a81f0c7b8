import Foundation

/// The collection operators of key paths, apart from `@count`.
enum Aggregate: String {
    case sum = "@sum"
    case average = "@avg"
    case minimum = "@min"
    case maximum = "@max"
    case union = "@unionOfObjects"
    case distinctUnion = "@distinctUnionOfObjects"
    case unionOfArrays = "@unionOfArrays"
    case distinctUnionOfArrays = "@distinctUnionOfArrays"
    case unionOfSets = "@unionOfSets"
    case distinctUnionOfSets = "@distinctUnionOfSets"

    /// Whether the result is a collection.
    var isCollection: Bool {
        switch self {
        case .sum, .average, .minimum, .maximum: false
        default: true
        }
    }

    /// Whether equal values count once.
    var isDistinct: Bool {
        switch self {
        case .distinctUnion, .distinctUnionOfArrays, .distinctUnionOfSets: true
        default: false
        }
    }

    /// Returns the result for values, ignoring nil like key-value coding: the sum of no values is 0, other results are nil.
    func value(of values: [PropertyValue], clause: String) throws -> PropertyValue {
        let values = values.filter { !$0.isNull }
        switch self {
        case .sum: return try Aggregate.total(values, clause: clause)
        case .average:
            if values.isEmpty { return .null }
            let total = try Aggregate.total(values, clause: clause)
            if case .decimal = total { return try Arithmetic.combine(.divide, total, .int64(Int64(values.count)), clause: clause) }
            return try Arithmetic.combine(.divide, total, .double(Double(values.count)), clause: clause)
        case .minimum: return try Aggregate.extreme(values, .orderedAscending, clause: clause)
        case .maximum: return try Aggregate.extreme(values, .orderedDescending, clause: clause)
        default: return .array(values)
        }
    }

    static func total(_ values: [PropertyValue], clause: String) throws -> PropertyValue {
        try values.reduce(.int64(0)) { try Arithmetic.combine(.add, $0, $1, clause: clause) }
    }

    static func extreme(_ values: [PropertyValue], _ wanted: ComparisonResult, clause: String) throws -> PropertyValue {
        guard var result = values.first else { return .null }
        for value in values.dropFirst() {
            guard let order = value.order(to: result) else {
                throw InvalidPredicateError(
                    kind: .unsupported, message: "\(value.typeName) and \(result.typeName) have no order, in the clause \(clause)")
            }
            if order == wanted { result = value }
        }
        return result
    }
}
