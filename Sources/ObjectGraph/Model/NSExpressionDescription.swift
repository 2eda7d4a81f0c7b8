internal import Foundation
public import Predicates

/// Describes a computed column of a dictionary fetch: an expression, its key in the dictionaries, and its type.
///
/// It does not belong to an entity; add it to a fetch request's ``NSFetchRequest/propertiesToFetch``. The functions `sum:`, `count:`, `min:`, `max:`,
/// `average:`, `median:`, `mode:` and `stddev:`, and key paths such as `@sum.key` and `@count`, aggregate the objects of a group, or all objects if
/// the request does not group.
///
/// Source: [NSExpressionDescription](https://developer.apple.com/documentation/coredata/nsexpressiondescription).
// See NSPropertyDescription: the properties of a request are used by one thread at a time.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// The expression to compute.
    open var expression: NSExpression?
    /// The type of the value in the dictionaries; undefined for the computed type.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType
    /// The type of the value in the dictionaries; undefined for the computed type.
    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(expressionResultType) }
        set { expressionResultType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
    }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSExpressionDescription else { return }
        copy.expression = expression
        copy.expressionResultType = expressionResultType
    }
}
