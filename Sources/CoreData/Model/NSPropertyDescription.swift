public import Foundation

/// What attributes and relationships of an entity have in common.
///
/// Descriptions may be changed until a coordinator uses their model; changing one afterwards stops the program with a message
/// (on Apple's platforms it raises an exception). A frozen description may be read from any thread.
///
/// Source: [NSPropertyDescription](https://developer.apple.com/documentation/coredata/nspropertydescription).
// Unsynchronized while being built; immutable from `freeze()` on, which happens before a model is shared.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The entity that declares the property, nil while it belongs to none.
    open internal(set) var entity: NSEntityDescription? {
        get { owner }
        set { owner = newValue }
    }
    /// Cleared by the entity when it goes or gives the property up. A weak reference would make every retain of the entity slow.
    @exclusivity(unchecked) private final unowned(unsafe) var owner: NSEntityDescription?

    /// The name of the property, the key under which its value is read and written.
    open var name: String = "" { willSet { requireMutable() } }
    /// Whether the property may be nil when its object is saved. True unless set.
    open var isOptional: Bool = true { willSet { requireMutable() } }
    /// Whether the value lives in the context only and is never handed to a store. False unless set.
    open var isTransient: Bool = false { willSet { requireMutable() } }
    /// Whether stores that keep indexes should index the property.
    open var isIndexed: Bool = false { willSet { requireMutable() } }
    /// Free information about the property.
    open var userInfo: [AnyHashable: Any]? = [:] { willSet { requireMutable() } }
    /// The name the property had in an earlier version of the model.
    open var renamingIdentifier: String? { willSet { requireMutable() } }

    final var isFrozen = false
    /// The place of the property among the properties of the entity that declares it and of all its subentities.
    final var slotIndex = -1

    /// Makes a property without a name.
    public required override init() { super.init() }

    final func requireMutable() {
        precondition(
            !isFrozen,
            "The property “\(name)” of “\(entity?.name ?? "?")” cannot be changed: its model is in use by a coordinator. Change a copy of the model."
        )
    }

    /// A property like this one that belongs to no entity and may be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copyFields(to: copy)
        return copy
    }

    func copyFields(to copy: NSPropertyDescription) {
        copy.name = name
        copy.isOptional = isOptional
        copy.isTransient = isTransient
        copy.isIndexed = isIndexed
        copy.userInfo = userInfo
        copy.renamingIdentifier = renamingIdentifier
    }

    /// The name of the property, with that of its entity.
    open override var description: String { "\(entity?.name ?? "?").\(name)" }
}
