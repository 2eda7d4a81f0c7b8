internal import Foundation
public import Predicates

/// A column of a dictionary fetch that is computed: an expression, the name of its value in the dictionaries, and its type.
///
/// It is no part of an entity; put it into a fetch request's ``NSFetchRequest/propertiesToFetch``. The functions `sum:`, `count:`, `min:`,
/// `max:`, `average:`, `median:`, `mode:` and `stddev:`, and the key paths `@sum.key`, `@count` and so on, are taken over the objects of a
/// group, or over all where the request does not group.
///
/// Source: [NSExpressionDescription](https://developer.apple.com/documentation/coredata/nsexpressiondescription).
// See NSPropertyDescription: what a request holds is used by one thread at a time.
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// What is computed.
    open var expression: NSExpression?
    /// The type of the value in the dictionaries; undefined leaves it as it was computed.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSExpressionDescription else { return }
        copy.expression = expression
        copy.expressionResultType = expressionResultType
    }
}
