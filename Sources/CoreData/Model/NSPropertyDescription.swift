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

    /// The predicates that a value must satisfy to be saved; nil satisfies them all. Each is evaluated with the value: `SELF >= 1`,
    /// `length >= 3`, `SELF MATCHES "[a-z]+"`.
    open var validationPredicates: [NSPredicate] { validationRules.map(\.predicate) }
    /// What goes with the predicates: for each, the text of its error, or a number that is the error's code.
    open var validationWarnings: [Any] { validationRules.map { $0.warning ?? "" } }
    final var validationRules: [(predicate: NSPredicate, warning: Any?)] = [] { willSet { requireMutable() } }

    /// Sets the predicates that a value must satisfy to be saved, and what goes with them.
    ///
    /// - Parameters:
    ///   - validationPredicates: the predicates; nil for none.
    ///   - validationWarnings: for each predicate, the text of the error of a value that breaks it, or a number that is the error's code. Where
    ///     there is none, the code tells a bound of a number or a date, a length and a regular expression from anything else (1550).
    open func setValidationPredicates(_ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [Any]?) {
        let warnings = validationWarnings ?? []
        validationRules = (validationPredicates ?? []).enumerated().map { index, predicate in
            // An empty text is what `validationWarnings` gives for none.
            (predicate, index < warnings.count && warnings[index] as? String != "" ? warnings[index] : nil)
        }
    }

    /// Text that goes into the ``versionHash``, to mark a version whose difference the model does not show.
    open var versionHashModifier: String? { willSet { requireMutable() } }
    /// Whether the property is part of the system's search index. Kept for model files; nothing here acts on it.
    open var isIndexedBySpotlight: Bool = false { willSet { requireMutable() } }
    /// What a model file says of the property beyond what descriptions hold, such as `usesScalarValueType` and `syncable`: the names and values
    /// of XML attributes. Kept and written back; nothing here acts on them.
    open var modelFileAttributes: [String: String] = [:] { willSet { requireMutable() } }
    /// Elements of a model file that this version does not know; written back.
    final var unknownElements: [XMLElement] = []

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
        copy.validationRules = validationRules
        copy.versionHashModifier = versionHashModifier
        copy.isIndexedBySpotlight = isIndexedBySpotlight
        copy.modelFileAttributes = modelFileAttributes
        copy.unknownElements = unknownElements
    }

    /// The name of the property, with that of its entity.
    open override var description: String { "\(entity?.name ?? "?").\(name)" }
}
