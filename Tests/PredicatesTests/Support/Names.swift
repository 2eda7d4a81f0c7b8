import Predicates

// Foundation on Linux has classes of these names that can do nothing; a file that imports both modules must say which it means.
typealias NSExpression = Predicates.NSExpression
typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
