// `import CoreData` brings predicates and sort descriptors with it, as it does on Apple's platforms.
@_exported public import Foundation
@_exported public import Predicates

/// The expressions that can be used; Foundation on Linux has a class of that name that can do nothing.
///
/// A file that imports Foundation besides says which it means: `typealias NSExpression = CoreData.NSExpression`.
public typealias NSExpression = Predicates.NSExpression
