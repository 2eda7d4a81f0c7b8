public import Foundation
internal import Predicates
package import PropertyLists

/// The base class of attribute, relationship and fetched property descriptions.
///
/// Descriptions are mutable until a coordinator uses their model; changing one afterwards stops the program with a message, where Apple's
/// framework raises an exception. An immutable description may be read on any thread.
///
/// Source: [NSPropertyDescription](https://developer.apple.com/documentation/coredata/nspropertydescription).
// Unsynchronized while being built; immutable from `freeze()` on, which happens before a model is shared.
open class NSPropertyDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The entity that declares the property; nil if it does not belong to one.
    open package(set) var entity: NSEntityDescription! {
        get { owner }
        set { owner = newValue }
    }
    /// Cleared by the entity when it is deallocated or removes the property. A weak reference would slow down every retain of the
    /// entity.
    @exclusivity(unchecked) private final unowned(unsafe) var owner: NSEntityDescription?

    /// The name of the property, which is its key.
    open var name: String = "" { willSet { willEditHash() } }
    /// Whether the property may be nil when its object is saved. The default is true.
    open var isOptional: Bool = true { willSet { willEditHash() } }
    /// Whether the value is kept in the context only and never stored. The default is false.
    open var isTransient: Bool = false { willSet { willEditHash() } }
    /// Whether stores that support indexes should index the property.
    open var isIndexed: Bool = false { willSet { requireMutable() } }
    /// Custom information about the property. It may also be set while the model is in use, on any thread: no version depends on it.
    open var userInfo: [AnyHashable: Any]? {
        get { information.values }
        set { information.values = newValue }
    }
    final let information = DescriptionInformation()
    /// The name of the property in an earlier version of the model.
    open var renamingIdentifier: String? { willSet { requireMutable() } }

    /// The predicates that a value must satisfy to be saved; nil satisfies all of them. Each is evaluated with the value: `SELF >= 1`,
    /// `length >= 3`, `SELF MATCHES "[a-z]+"`.
    open var validationPredicates: [NSPredicate] { validationRules.map(\.predicate) }
    /// The warnings of the predicates: for each, the message of its error, or a number that is the error's code.
    open var validationWarnings: [Any] { validationRules.map { $0.warning ?? "" } }
    package final var validationRules: [(predicate: NSPredicate, warning: Any?)] = [] { willSet { requireMutable() } }

    /// Sets the predicates that a value must satisfy to be saved, and their warnings.
    ///
    /// - Parameters:
    ///   - validationPredicates: The predicates; nil for none.
    ///   - validationWarnings: For each predicate, the message of the error of a value that violates it, or a number that is the error's
    ///     code. Without a warning, the code distinguishes bounds of numbers and dates, lengths and regular expressions from other
    ///     predicates (1550).
    open func setValidationPredicates(_ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [Any]?) {
        let warnings = validationWarnings ?? []
        validationRules = (validationPredicates ?? []).enumerated().map { index, predicate in
            // `validationWarnings` returns an empty string for none.
            (predicate, index < warnings.count && warnings[index] as? String != "" ? warnings[index] : nil)
        }
    }

    /// A string that is included in the ``versionHash``, to distinguish versions that do not differ otherwise.
    open var versionHashModifier: String? { willSet { willEditHash() } }
    /// Whether the property is part of the system's search index. Preserved for model files; it has no effect here.
    open var isIndexedBySpotlight: Bool = false { willSet { requireMutable() } }
    /// Data of a model file that descriptions do not have, such as `usesScalarValueType` and `syncable`: names and values of XML
    /// attributes. Preserved when the model is written; it has no effect here.
    open var modelFileAttributes: [String: String] = [:] { willSet { requireMutable() } }
    /// The unknown elements of a model file, preserved when the model is written.
    package final var unknownElements: [XMLElement] = []

    final var isFrozen = false
    /// The number of edits of the property that affect version hashes.
    final var hashEdits = 0
    /// The index of the property among the properties of its entity and of all subentities.
    package final var slotIndex = -1

    /// Creates a property without a name.
    public required override init() { super.init() }

    final func requireMutable() {
        stopProgram(
            unless: !isFrozen,
            "The property “\(name)” of “\(entity?.name ?? "?")” cannot be changed: its model is in use by a coordinator. Change a copy of the model."
        )
    }

    /// Returns a mutable copy of the property without an entity.
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

    /// A description of the names of the entity and the property.
    open override var description: String { "\(entity?.name ?? "?").\(name)" }
}
