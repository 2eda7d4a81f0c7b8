internal import Foundation

/// Describes an attribute composed of others: its value is a dictionary of their values by name.
///
/// Objects and stores keep the dictionary as it was set: the values are not validated against the elements. A key path such as
/// `location.latitude` reads an element in predicates, sort descriptors and `value(forKeyPath:)`; a value of another type than the
/// element's is an error of the fetch.
///
/// Source: [NSCompositeAttributeDescription](https://developer.apple.com/documentation/coredata/nscompositeattributedescription).
// See NSPropertyDescription: immutable once its model is in use.
open class NSCompositeAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The attributes of the composite, which may be composites too.
    open var elements: [NSAttributeDescription] = [] { willSet { willEditHash() } }

    /// Creates a composite attribute without elements.
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
