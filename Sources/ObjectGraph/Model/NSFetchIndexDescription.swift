public import Foundation

/// Describes an index over one or more properties, for stores that support indexes.
///
/// SQLite stores create indexes of properties when they are created. An index with a predicate, over an expression or as an R-tree is
/// read and written, but not created, which is logged; fetches return the same results without it.
///
/// Source: [NSFetchIndexDescription](https://developer.apple.com/documentation/coredata/nsfetchindexdescription).
// Unsynchronized while being built; its entity's model freezes before it is shared.
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The name of the index.
    open var name: String { willSet { requireMutable() } }
    /// The elements of the index, the most significant first.
    open var elements: [NSFetchIndexElementDescription] {
        willSet { requireMutable() }
        didSet {
            for element in oldValue where element.indexDescription === self { element.indexDescription = nil }
            for element in elements { element.indexDescription = self }
        }
    }
    /// The entity of the index; nil if it does not belong to one.
    open package(set) var entity: NSEntityDescription? {
        get { owner }
        set { owner = newValue }
    }
    // Cleared by the entity when it is deallocated. A weak reference would slow down reference counting of the entity, which each of its
    // objects does once.
    @exclusivity(unchecked) private final unowned(unsafe) var owner: NSEntityDescription?
    /// The predicate of the indexed objects; nil for all.
    open var partialIndexPredicate: NSPredicate? { willSet { requireMutable() } }

    /// Creates an index.
    ///
    /// - Parameters:
    ///   - name: The name of the index.
    ///   - elements: The elements; nil for none yet.
    public required init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
        super.init()
        for element in self.elements { element.indexDescription = self }
    }

    final func requireMutable() { entity?.requireMutable() }

    /// Returns a copy of the index without an entity; its elements refer to properties by name.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init(name: name, elements: elements.map { $0.copy() as! NSFetchIndexElementDescription })
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }
}
