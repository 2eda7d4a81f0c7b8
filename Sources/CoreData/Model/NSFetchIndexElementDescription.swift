public import Foundation

/// How a store keeps an element of an index.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// As a sorted tree.
    case binary = 0
    /// As a tree of rectangles, for ranges of numbers.
    case rTree = 1
}

/// Describes a property of an index, or an expression that it indexes.
///
/// Source: [NSFetchIndexElementDescription](https://developer.apple.com/documentation/coredata/nsfetchindexelementdescription).
// See NSFetchIndexDescription.
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    /// How the store keeps the element.
    open var collationType: NSFetchIndexElementType { willSet { requireMutable() } }
    /// Whether the smallest value comes first. True unless set.
    open var isAscending: Bool = true { willSet { requireMutable() } }
    /// The index, nil while it belongs to none.
    open internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// An expression or a property of no entity; a property of the entity is found by its name, so that copies of a model stay whole.
    private let own: NSPropertyDescription?
    /// The name of the property.
    public let propertyName: String?

    /// The property that is indexed, or an ``NSExpressionDescription``.
    open var property: NSPropertyDescription? {
        if own is NSExpressionDescription { return own }
        guard let entity = indexDescription?.entity, let propertyName else { return own }
        return entity.propertiesByName[propertyName] ?? own
    }

    /// Makes an element.
    ///
    /// - Parameters:
    ///   - property: a property of the entity that has the index, or an ``NSExpressionDescription``.
    ///   - collationType: how the store keeps it.
    public required init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        own = property
        propertyName = property.name
        self.collationType = collationType
    }

    /// An element for the property called `name`, wherever it belongs later.
    init(propertyName name: String, collationType: NSFetchIndexElementType) {
        own = nil
        propertyName = name
        self.collationType = collationType
    }

    final func requireMutable() { indexDescription?.requireMutable() }

    /// An element like this one that belongs to no index.
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
