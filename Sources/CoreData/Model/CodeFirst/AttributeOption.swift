internal import Foundation
internal import Predicates

/// What an attribute of a class that declares its own entity is, beside its name, type and default: `@Attribute(.unique, .length(1...40))`.
///
/// The names are those of SwiftData where it has them, and those of Core Data's model editor otherwise.
public struct AttributeOption {
    let apply: (inout AttributeDraft) throws -> Void

    private init(_ apply: @escaping (inout AttributeDraft) throws -> Void) { self.apply = apply }

    private static func setting(_ change: @escaping (NSAttributeDescription) -> Void) -> AttributeOption {
        AttributeOption { $0.settings.append(change) }
    }

    // MARK: Presence

    /// It must have a value when it is saved, whatever its Swift type says: `@Attribute(.required) var title: String`.
    public static var required: AttributeOption { AttributeOption { $0.statedOptional = false } }
    /// It may be nil when it is saved although its Swift type is not optional; nil reads as the type's zero. It is what Xcode makes of an
    /// optional number with a scalar accessor.
    public static var optional: AttributeOption { AttributeOption { $0.statedOptional = true } }
    /// No two objects of the entity may have the same value.
    public static var unique: AttributeOption { AttributeOption { $0.isUnique = true } }

    // MARK: Storage

    /// It lives in the context only and is never handed to a store. `@Transient` says the same.
    public static var transient: AttributeOption { setting { $0.isTransient = true } }
    /// A store may keep large values in a file beside its own.
    public static var externalStorage: AttributeOption { setting { $0.allowsExternalBinaryDataStorage = true } }
    /// The history of a store keeps the value of a deleted object.
    public static var preserveValueOnDeletion: AttributeOption { setting { $0.preservesValueInHistoryOnDeletion = true } }
    /// CloudKit may encrypt the value. Kept for model files; nothing here acts on it.
    public static var allowsCloudEncryption: AttributeOption { setting { $0.allowsCloudEncryption = true } }
    /// The value is part of the system's search index. Kept for model files; nothing here acts on it.
    public static var spotlight: AttributeOption { setting { $0.isIndexedBySpotlight = true } }
    /// Stores that keep indexes should index it, as models said before they had fetch indexes; see `@ManagedObject(.index("title"))`.
    public static var indexed: AttributeOption { setting { $0.isIndexed = true } }

    /// The model's type, where it is another than that of the Swift type: `@Attribute(.type(.integer16)) var year: Int = 0`.
    public static func type(_ type: NSAttributeDescription.AttributeType) -> AttributeOption {
        AttributeOption { $0.type = NSAttributeType(rawValue: type.rawValue) }
    }

    /// A value of any `Codable` type, kept as binary data that holds its JSON: what every store and every tool can read.
    ///
    /// It is decoded at each read and encoded at each write, and predicates cannot look into it.
    public static var codable: AttributeOption { AttributeOption { $0.type = .binaryDataAttributeType } }

    /// A transformable attribute: a value of any type, which stores that write bytes turn into data and back.
    ///
    /// - Parameter transformerName: the name of the transformer; nil for none, which only stores that keep values as they are can serve.
    public static func transformable(by transformerName: String?) -> AttributeOption {
        AttributeOption { draft in
            draft.type = .transformableAttributeType
            draft.settings.append { $0.valueTransformerName = transformerName }
        }
    }

    /// The name of a transformer on an attribute of another type, as some model files have it. Nothing acts on it.
    public static func transformerName(_ name: String) -> AttributeOption { setting { $0.valueTransformerName = name } }

    /// The name of the class of transformable values, for readers of the model.
    public static func valueClass(_ name: String) -> AttributeOption { setting { $0.attributeValueClassName = name } }

    /// A derived attribute: its value follows from others, `.derived(from: "tracks.@count")`. It may be nil, whatever its
    /// Swift type says. See ``NSDerivedAttributeDescription``.
    public static func derived(from expression: String) -> AttributeOption {
        AttributeOption { $0.derivation = try NSExpression(parsing: expression) }
    }

    // MARK: Validation

    /// Values outside the bounds are not saved: `.range(0...5)`, also of dates.
    public static func range<Bound>(_ bounds: ClosedRange<Bound>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound), (.lessThanOrEqual, bounds.upperBound)])
    }
    /// Values below the bound are not saved: `.range(0...)`.
    public static func range<Bound>(_ bounds: PartialRangeFrom<Bound>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound)])
    }
    /// Values above the bound are not saved: `.range(...5)`.
    public static func range<Bound>(_ bounds: PartialRangeThrough<Bound>) -> AttributeOption {
        rules([(.lessThanOrEqual, bounds.upperBound)])
    }
    /// Text that is shorter or longer is not saved: `.length(1...200)`.
    public static func length(_ bounds: ClosedRange<Int>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound), (.lessThanOrEqual, bounds.upperBound)], ofLength: true)
    }
    /// Text that is shorter is not saved: `.length(1...)`.
    public static func length(_ bounds: PartialRangeFrom<Int>) -> AttributeOption {
        rules([(.greaterThanOrEqual, bounds.lowerBound)], ofLength: true)
    }
    /// Text that is longer is not saved: `.length(...200)`.
    public static func length(_ bounds: PartialRangeThrough<Int>) -> AttributeOption {
        rules([(.lessThanOrEqual, bounds.upperBound)], ofLength: true)
    }
    /// Text that the regular expression does not match as a whole is not saved.
    public static func matching(_ pattern: String) -> AttributeOption {
        AttributeOption { draft in
            draft.rules.append { _ in
                (NSPredicate(tree: .compare(.evaluatedObject, .matches, .constant(.string(pattern)))), nil)
            }
        }
    }
    /// Values that do not satisfy the predicate are not saved: `.validated("SELF != 13", "Thirteen brings bad luck.")`.
    ///
    /// - Parameters:
    ///   - format: a predicate over the value, which is `SELF`.
    ///   - warning: the text of the error.
    public static func validated(_ format: String, _ warning: String? = nil) -> AttributeOption {
        AttributeOption { draft in
            let predicate = try NSPredicate(parsing: format)
            draft.rules.append { _ in (predicate, warning) }
        }
    }
    /// As ``validated(_:_:)-(String,String?)``, with the code of the error.
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

/// What a relationship of a class that declares its own entity is, beside its name and type: `@Relationship(.required)`.
public struct RelationshipOption {
    let isSymmetric: Bool
    let apply: (NSRelationshipDescription) -> Void

    private init(isSymmetric: Bool = false, _ apply: @escaping (NSRelationshipDescription) -> Void = { _ in }) {
        self.isSymmetric = isSymmetric
        self.apply = apply
    }

    /// It is its own inverse: whom it leads to, leads back by it. `@Relationship(.symmetric) var friends: Set<Person>`.
    public static var symmetric: RelationshipOption { RelationshipOption(isSymmetric: true) }

    /// There must be an object when it is saved, whatever its Swift type says.
    public static var required: RelationshipOption { RelationshipOption { $0.isOptional = false } }
    /// It may be empty when it is saved, whatever its Swift type says.
    public static var optional: RelationshipOption { RelationshipOption { $0.isOptional = true } }
    /// It lives in the context only and is never handed to a store.
    public static var transient: RelationshipOption { RelationshipOption { $0.isTransient = true } }
    /// It is part of the system's search index. Kept for model files; nothing here acts on it.
    public static var spotlight: RelationshipOption { RelationshipOption { $0.isIndexedBySpotlight = true } }
    /// Stores that keep indexes should index it, as models said before they had fetch indexes.
    public static var indexed: RelationshipOption { RelationshipOption { $0.isIndexed = true } }
    /// The smallest and largest number of objects that a save accepts; 0 as the largest means no limit. `.count(1...99)`.
    public static func count(_ bounds: ClosedRange<Int>) -> RelationshipOption {
        RelationshipOption {
            $0.minCount = bounds.lowerBound
            $0.maxCount = bounds.upperBound
        }
    }
    /// The smallest number of objects that a save accepts: `.count(1...)`.
    public static func count(_ bounds: PartialRangeFrom<Int>) -> RelationshipOption {
        RelationshipOption { $0.minCount = bounds.lowerBound }
    }
}

extension NSDeleteRule {
    /// Nothing; the application keeps the graph whole by itself. Short for ``noActionDeleteRule``.
    public static var noAction: NSDeleteRule { .noActionDeleteRule }
    /// The inverse is set to nil, or loses the deleted object. Short for ``nullifyDeleteRule``.
    public static var nullify: NSDeleteRule { .nullifyDeleteRule }
    /// The related objects are deleted too. Short for ``cascadeDeleteRule``.
    public static var cascade: NSDeleteRule { .cascadeDeleteRule }
    /// The delete fails at save while there are related objects. Short for ``denyDeleteRule``.
    public static var deny: NSDeleteRule { .denyDeleteRule }
}

/// What the options of an attribute add up to.
struct AttributeDraft {
    var type: NSAttributeType?
    /// Whether the Swift type is optional.
    let isOptionalType: Bool
    /// What an option says.
    var statedOptional: Bool?
    var isUnique = false
    var derivation: NSExpression?
    var settings: [(NSAttributeDescription) -> Void] = []
    /// The program does not set what is derived.
    var isOptional: Bool { statedOptional ?? (isOptionalType || derivation != nil) }
    var rules: [(NSAttributeType) throws -> (predicate: NSPredicate, warning: Any?)] = []
}

/// Something about a declaration that makes no model, without its place.
struct DeclarationMistake: Error {
    let text: String
    init(_ text: String) { self.text = text }
}
