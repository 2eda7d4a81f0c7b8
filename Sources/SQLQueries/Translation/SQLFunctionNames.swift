internal import Foundation
package import Predicates

/// What SQLite is told of the operations of predicates that functions of the store carry out.
package enum SQLFunctionNames {
    /// The comparisons by the numbers that `CoreDataCompare` is given.
    package static let comparisons: [PredicateComparison.Operator] = [
        .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual,
    ]
}

extension TextOrder {
    /// The collation of the order; nil for the order of bytes, which needs none.
    var collation: SQLFragment? {
        switch self {
        case .binary: nil
        case .caseInsensitive: " COLLATE CoreDataNoCase"
        case .localized: " COLLATE CoreDataLocalized"
        case .localizedCaseInsensitive: " COLLATE CoreDataLocalizedNoCase"
        case .localizedStandard: " COLLATE CoreDataFinder"
        }
    }
}
