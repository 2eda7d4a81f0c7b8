// `import CoreData` includes predicates and sort descriptors, as on Apple's platforms.
@_exported public import Foundation
@_exported public import Predicates

/// The expression class; the class of that name in Foundation on Linux is not usable.
///
/// A file that also imports Foundation resolves the ambiguity with `typealias NSExpression = ObjectGraph.NSExpression`.
public typealias NSExpression = Predicates.NSExpression

/// The usable comparison predicates; Foundation on Linux has a class of that name without any function.
///
/// A file that also imports Foundation resolves the ambiguity with `typealias NSComparisonPredicate = ObjectGraph.NSComparisonPredicate`.
public typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
