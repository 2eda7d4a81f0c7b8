public import Foundation

/// The kinds of index structure.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// A sorted tree.
    case binary = 0
    /// A tree of rectangles, for ranges of numbers.
    case rTree = 1
}

/// Describes an element of an index: a property or an expression.
///
/// Source: [NSFetchIndexElementDescription](https://developer.apple.com/documentation/coredata/nsfetchindexelementdescription).
// See NSFetchIndexDescription.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The kind of index structure.
    open var collationType: NSFetchIndexElementType { willSet { requireMutable() } }
    /// Whether the order is ascending. The default is true.
    open var isAscending: Bool = true { willSet { requireMutable() } }
    /// The index of the element; nil if it does not belong to one.
    open package(set) weak var indexDescription: NSFetchIndexDescription?

    /// An expression, or a property without an entity; properties of the entity are found by name, so that copies of a model are
    /// consistent.
    private let own: NSPropertyDescription?
    /// The name of the property.
    public let propertyName: String?

    /// The indexed property, or an ``NSExpressionDescription``.
    open var property: NSPropertyDescription? {
        if own is NSExpressionDescription { return own }
        guard let entity = indexDescription?.entity, let propertyName else { return own }
        return entity.propertiesByName[propertyName] ?? own
    }

    /// Creates an element.
    ///
    /// - Parameters:
    ///   - property: A property of the index's entity, or an ``NSExpressionDescription``.
    ///   - collationType: The kind of index structure.
    public required init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        own = property
        propertyName = property.name
        self.collationType = collationType
    }

    /// Creates an element for the property called `name` of the index's future entity.
    package init(propertyName name: String, collationType: NSFetchIndexElementType) {
        own = nil
        propertyName = name
        self.collationType = collationType
    }

    final func requireMutable() { indexDescription?.requireMutable() }

    /// Returns a copy of the element without an index.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy =
            if let expression = own as? NSExpressionDescription {
                NSFetchIndexElementDescription(property: expression, collationType: collationType)
            } else {
                NSFetchIndexElementDescription(propertyName: propertyName ?? "", collationType: collationType)
            }
        copy.isAscending = isAscending
        return copy
    }
}
