internal import Foundation

/// Describes an attribute that is made of others: its value is a dictionary with theirs by name.
///
/// Objects and stores keep the dictionary as it was set: what its elements allow is not checked. A key path such as `location.latitude` leads
/// into it, in predicates, sort descriptors and `value(forKeyPath:)`; a value that is not of the element's type is an error of the fetch.
///
/// Source: [NSCompositeAttributeDescription](https://developer.apple.com/documentation/coredata/nscompositeattributedescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The attributes it is made of, which may be composite as well.
    open var elements: [NSAttributeDescription] = [] { willSet { requireMutable() } }

    /// Makes a composite attribute without elements.
    public required init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    override func copyFields(to copy: NSPropertyDescription) {
        super.copyFields(to: copy)
        guard let copy = copy as? NSCompositeAttributeDescription else { return }
        copy.elements = elements.map { $0.copy() as! NSAttributeDescription }
    }
}
