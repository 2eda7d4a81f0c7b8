internal import Foundation
public import Predicates

/// Describes an attribute whose value follows from others: `albums.@count`, `canonical:(title)`, `now()`.
///
/// Stores made by Apple's framework keep such values by triggers. The expression is kept, read and written; no store of this package
/// computes it yet, so that the attribute holds what is set.
///
/// Source: [NSDerivedAttributeDescription](https://developer.apple.com/documentation/coredata/nsderivedattributedescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// What the value follows from.
    open var derivationExpression: NSExpression? { willSet { requireMutable() } }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSDerivedAttributeDescription else { return }
        copy.derivationExpression = derivationExpression
    }
}
