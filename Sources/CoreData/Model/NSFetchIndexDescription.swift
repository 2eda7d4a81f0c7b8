public import Foundation

/// Describes an index that stores with indexes should keep, over one property or several.
///
/// SQLite stores make the index of properties when they are created. One with a predicate, over an expression or as an R-tree is kept, read and
/// written, but not made, which the log says; fetches find the same without it.
///
/// Source: [NSFetchIndexDescription](https://developer.apple.com/documentation/coredata/nsfetchindexdescription).
// Unsynchronized while being built; its entity's model freezes before it is shared.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The name of the index.
    open var name: String { willSet { requireMutable() } }
    /// What is indexed, the first element first.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { requireMutable() }
        didSet {
            for element in oldValue where element.indexDescription === self { element.indexDescription = nil }
            for element in elements { element.indexDescription = self }
        }
    }
    /// The entity that has the index, nil while none does.
    open internal(set) var entity: NSEntityDescription? {
        get { owner }
        set { owner = newValue }
    }
    // The entity clears it when it goes. A weak reference would make every count of the entity's references slow, and each of its objects
    // counts one.
    @exclusivity(unchecked) private final unowned(unsafe) var owner: NSEntityDescription?
    /// Which objects are in the index; nil for all.
    open var partialIndexPredicate: NSPredicate? { willSet { requireMutable() } }

    /// Makes an index.
    ///
    /// - Parameters:
    ///   - name: its name.
    ///   - elements: what is indexed; nil for nothing yet.
    public required init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        for element in self.elements { element.indexDescription = self }
    }

    final func requireMutable() { entity?.requireMutable() }

    /// An index like this one that belongs to no entity; its elements name properties as this one's do.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init(name: name, elements: elements.map { $0.copy() as! NSFetchIndexElementDescription })
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }
}
