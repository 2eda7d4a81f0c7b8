// `import CoreData` brings everything: the object graph, model files, the SQLite store, and predicates and sort descriptors, as it does on Apple's
// platforms.
@_exported public import ArchiveStores
@_exported public import Foundation
@_exported public import Migration
@_exported public import ModelFiles
@_exported public import ObjectGraph
@_exported public import Predicates
@_exported public import SQLiteStore

/// The expressions that can be used; Foundation on Linux has a class of that name that can do nothing.
///
/// A file that imports Foundation besides says which it means: `typealias NSExpression = CoreData.NSExpression`.
public typealias NSExpression = Predicates.NSExpression

/// The comparisons that can be used; Foundation on Linux has a class of that name that can do nothing.
///
/// A file that imports Foundation besides says which it means: `typealias NSComparisonPredicate = CoreData.NSComparisonPredicate`.
public typealias NSComparisonPredicate = Predicates.NSComparisonPredicate
