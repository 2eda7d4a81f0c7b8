internal import Foundation
public import Predicates

/// Describes an attribute whose value is computed from others: `albums.@count`, `canonical:(title)`, `now()`.
///
/// Stores created by Apple's framework maintain such values by triggers. The expression is preserved, read and written; the stores of
/// this package do not compute it yet, so the attribute has the value that is set.
///
/// Source: [NSDerivedAttributeDescription](https://developer.apple.com/documentation/coredata/nsderivedattributedescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The expression of the value.
    open var derivationExpression: NSExpression? { willSet { requireMutable() } }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSDerivedAttributeDescription else { return }
        copy.derivationExpression = derivationExpression
    }
}
