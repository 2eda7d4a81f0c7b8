import CoreData
import Foundation

/// A structure beside the classes, with names that Foundation has too.
public struct Filter {
    public var left: NSExpression

    public init(_ key: KeyPath<Album, Int16>) { left = NSExpression(forKeyPath: key) }

    public func predicate(_ year: Int) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: left, rightExpression: NSExpression(forConstantValue: year), modifier: .direct, type: .equalTo, options: [])
    }
}
