internal import Foundation
internal import Predicates

/// An option of an attribute declared in a class, in addition to its name, type and default: `@Attribute(.unique, .length(1...40))`.
///
/// The names are those of SwiftData if it has them, and otherwise those of Core Data's model editor.
public struct AttributeOption {
    let apply: (inout AttributeDraft) throws -> Void

    private init(_ apply: @escaping (inout AttributeDraft) throws -> Void) { self.apply = apply }

    private static func setting(_ change: @escaping (NSAttributeDescription) -> Void) -> AttributeOption {
        AttributeOption { $0.settings.append(change) }
    }

    // MARK: Presence

    /// Requires a value when the object is saved, regardless of the Swift type: `@Attribute(.required) var title: String`.
    public static var required: AttributeOption { AttributeOption { $0.statedOptional = false } }
    /// Allows nil when the object is saved, although the Swift type is not optional; nil is read as the type's zero. Xcode generates such
    /// scalar accessors for optional numbers.
    public static var optional: AttributeOption { AttributeOption { $0.statedOptional = true } }
    /// Adds a uniqueness constraint for the attribute.
    public static var unique: AttributeOption { AttributeOption { $0.isUnique = true } }

    // MARK: Storage

    /// Keeps the value in the context only; stores never receive it. `@Transient` is equivalent.
    public static var transient: AttributeOption { setting { $0.isTransient = true } }
    /// Allows a store to keep large values in external files.
    public static var externalStorage: AttributeOption { setting { $0.allowsExternalBinaryDataStorage = true } }
    /// Preserves the value of a deleted object in the history of a store.
    public static var preserveValueOnDeletion: AttributeOption { setting { $0.preservesValueInHistoryOnDeletion = true } }
    /// Allows CloudKit to encrypt the value. Preserved for model files; it has no effect here.
    public static var allowsCloudEncryption: AttributeOption { setting { $0.allowsCloudEncryption = true } }
    /// Includes the value in the system's search index. Preserved for model files; it has no effect here.
    public static var spotlight: AttributeOption { setting { $0.isIndexedBySpotlight = true } }
    /// Requests an index from stores that support them, as in models without fetch indexes; see `@ManagedObject(.index("title"))`.
    public static var indexed: AttributeOption { setting { $0.isIndexed = true } }

    /// Sets an attribute type other than that of the Swift type: `@Attribute(.type(.integer16)) var year: Int = 0`.
    public static func type(_ type: NSAttributeDescription.AttributeType) -> AttributeOption {
        AttributeOption { $0.type = NSAttributeType(rawValue: type.rawValue) }
    }

    /// Stores a value of any `Codable` type as JSON in binary data, which every store and tool can read.
    ///
    /// The value is decoded at each read and encoded at each write, and predicates cannot read its parts.
    public static var codable: AttributeOption { AttributeOption { $0.type = .binaryDataAttributeType } }

    /// Makes the attribute transformable: stores that write bytes convert its values, of any type, to data and back.
    ///
    /// - Parameter transformerName: The name of the transformer; nil for none, which only stores that keep values in memory support.
    public static func transformable(by transformerName: String?) -> AttributeOption {
        AttributeOption { draft in
            draft.type = .transformableAttributeType
            draft.settings.append { $0.valueTransformerName = transformerName }
        }
    }

    /// Sets the name of a transformer on an attribute of another type, as some model files contain it. It has no effect.
    public static func transformerName(_ name: String) -> AttributeOption { setting { $0.valueTransformerName = name } }

    /// Sets the class name of transformable values, for readers of the model.
    public static func valueClass(_ name: String) -> AttributeOption { setting { $0.attributeValueClassName = name } }

    /// Makes the attribute derived: its value is computed from others, `.derived(from: "tracks.@count")`. It may be nil, regardless of
    /// its Swift type. See ``NSDerivedAttributeDescription``.
    public static func derived(from expression: String) -> AttributeOption {
        AttributeOption { $0.derivation = try NSExpression(parsing: expression) }
    }

    // MARK: Validation

    /// Rejects values outside of the bounds, also for dates: `.range(0...5)`.
    public static func range<Bound>(_ bounds: ClosedRange<Bound>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound), (.lessThanOrEqual, bounds.upperBound)])
    }
    /// Rejects values below the bound: `.range(0...)`.
    public static func range<Bound>(_ bounds: PartialRangeFrom<Bound>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound)])
    }
    /// Rejects values above the bound: `.range(...5)`.
    public static func range<Bound>(_ bounds: PartialRangeThrough<Bound>) -> AttributeOption {
        rules([(.lessThanOrEqual, bounds.upperBound)])
    }
    /// Rejects strings that are shorter or longer: `.length(1...200)`.
    public static func length(_ bounds: ClosedRange<Int>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound), (.lessThanOrEqual, bounds.upperBound)], ofLength: true)
    }
    /// Rejects strings that are shorter: `.length(1...)`.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound)], ofLength: true)
    }
    /// Rejects strings that are longer: `.length(...200)`.
    public static func length(_ bounds: PartialRangeThrough<Int>) -> AttributeOption {
        rules([(.lessThanOrEqual, bounds.upperBound)], ofLength: true)
    }
    /// Rejects strings that the regular expression does not match as a whole.
    public static func matching(_ pattern: String) -> AttributeOption {
        AttributeOption { draft in
            draft.rules.append { _ in
                (NSPredicate(tree: .compare(.evaluatedObject, .matches, .constant(.string(pattern)))), nil)
            }
        }
    }
    /// Rejects values that do not satisfy a predicate: `.validated("SELF != 13", "Thirteen brings bad luck.")`.
    ///
    /// - Parameters:
    ///   - format: A predicate of the value, which is `SELF`.
    ///   - warning: The message of the error.
    public static func validated(_ format: String, _ warning: String? = nil) -> AttributeOption {
        AttributeOption { draft in
            let predicate = try NSPredicate(parsing: format)
            draft.rules.append { _ in (predicate, warning) }
        }
    }
    /// Works like ``validated(_:_:)-(String,String?)``, with the code of the error.
    public static func validated(_ format: String, code: Int) -> AttributeOption {
        AttributeOption { draft in
            let predicate = try NSPredicate(parsing: format)
            draft.rules.append { _ in (predicate, code) }
        }
    }

    private static func rules(_ bounds: [(PredicateComparison.Operator, Any)], ofLength: Bool = false) -> AttributeOption {
        AttributeOption { draft in
            for (operation, bound) in bounds {
                draft.rules.append { type in
                    let left: ExpressionTree = ofLength ? .keyPath(["length"]) : .evaluatedObject
                    guard ofLength == (type == .stringAttributeType) else {
                        throw DeclarationMistake(
                            ofLength ? "Only text has a length: write .range(…)." : "Text has no range: write .length(…) or .matching(…).")
                    }
                    let boundType: NSAttributeType = ofLength ? .integer64AttributeType : type
                    guard let value = AttributeText.normal(bound, type: boundType), let constant = try? PropertyValue(any: value) else {
                        throw DeclarationMistake("The bound \(bound) is none of the attribute's type: write one that is.")
                    }
                    return (NSPredicate(tree: .compare(left, operation, .constant(constant))), nil)
                }
            }
        }
    }
}

/// An option of a relationship declared in a class, in addition to its name and type: `@Relationship(.required)`.
public struct RelationshipOption {
    let isSymmetric: Bool
    let apply: (NSRelationshipDescription) -> Void

    private init(isSymmetric: Bool = false, _ apply: @escaping (NSRelationshipDescription) -> Void = { _ in }) {
        self.isSymmetric = isSymmetric
        self.apply = apply
    }

    /// Makes the relationship its own inverse. `@Relationship(.symmetric) var friends: Set<Person>`.
    public static var symmetric: RelationshipOption { RelationshipOption(isSymmetric: true) }

    /// Requires an object when the owner is saved, regardless of the Swift type.
    public static var required: RelationshipOption { RelationshipOption { $0.isOptional = false } }
    /// Allows the relationship to be empty when the owner is saved, regardless of the Swift type.
    public static var optional: RelationshipOption { RelationshipOption { $0.isOptional = true } }
    /// Keeps the relationship in the context only; stores never receive it.
    public static var transient: RelationshipOption { RelationshipOption { $0.isTransient = true } }
    /// Includes the relationship in the system's search index. Preserved for model files; it has no effect here.
    public static var spotlight: RelationshipOption { RelationshipOption { $0.isIndexedBySpotlight = true } }
    /// Requests an index from stores that support them, as in models without fetch indexes.
    public static var indexed: RelationshipOption { RelationshipOption { $0.isIndexed = true } }
    /// Sets the minimum and maximum number of objects that a save accepts; 0 as the maximum means no limit. `.count(1...99)`.
    public static func count(_ bounds: ClosedRange<Int>) -> RelationshipOption {
        RelationshipOption {
            $0.minCount = bounds.lowerBound
            $0.maxCount = bounds.upperBound
        }
    }
    /// Sets the minimum number of objects that a save accepts: `.count(1...)`.
    public static func count(_ bounds: PartialRangeFrom<Int>) -> RelationshipOption {
        RelationshipOption { $0.minCount = bounds.lowerBound }
    }
}

extension NSDeleteRule {
    /// Changes nothing; the application keeps the graph consistent. Short for ``noActionDeleteRule``.
    public static var noAction: NSDeleteRule { .noActionDeleteRule }
    /// Removes the deleted object from the inverse relationship. Short for ``nullifyDeleteRule``.
    public static var nullify: NSDeleteRule { .nullifyDeleteRule }
    /// Deletes the related objects too. Short for ``cascadeDeleteRule``.
    public static var cascade: NSDeleteRule { .cascadeDeleteRule }
    /// Makes the save fail while there are related objects. Short for ``denyDeleteRule``.
    public static var deny: NSDeleteRule { .denyDeleteRule }
}

/// The combined options of an attribute.
struct AttributeDraft {
    var type: NSAttributeType?
    /// Whether the Swift type is optional.
    let isOptionalType: Bool
    /// The optionality that an option sets.
    var statedOptional: Bool?
    var isUnique = false
    var derivation: NSExpression?
    var settings: [(NSAttributeDescription) -> Void] = []
    /// Optional also for a derived attribute, which the program does not set.
    var isOptional: Bool { statedOptional ?? (isOptionalType || derivation != nil) }
    var rules: [(NSAttributeType) throws -> (predicate: NSPredicate, warning: Any?)] = []
}

/// An invalid declaration, without its place.
struct DeclarationMistake: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
