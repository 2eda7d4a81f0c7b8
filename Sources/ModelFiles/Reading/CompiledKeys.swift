internal import Foundation
internal import ObjectGraph

/// The fields and numbers of compiled models, as far as they are known from models that exist both as XML and compiled.
enum CompiledKeys {
    static let model: Set<String> = [
        "NSEntities", "NSConfigurations", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSLocalizationDictionary",
        "CDMCompilerXcodeVersion", "CDMCompilerToolVersion",
    ]
    /// A field of this framework: the XML of a model that the archive cannot represent completely.
    static let contents = "OpenCoreData.contents"
    static let entity: Set<String> = [
        "NSEntityName", "NSClassNameForEntity", "NSUserInfo", "NSSubentities", "NSSuperentity", "NSVersionHashModifier", "NSProperties",
        "NSRenamingIdentifier", "NSManagedObjectModel", "NSIsAbstract", "NSUniqueTuples", "NSFetchIndexDescriptions", "NSCompoundIndexes",
        "NSCoreSpotlightDisplayNameExpression",
    ]
    private static let property: Set<String> = [
        "NSPropertyName", "NSEntity", "NSIsOptional", "NSIsTransient", "NSIsIndexed", "NSIsReadOnly", "NSRenamingIdentifier",
        "NSVersionHashModifier", "NSUserInfo", "NSValidationPredicates", "NSValidationWarnings", "_P",
    ]
    static let attribute = property.union([
        "NSAttributeType", "NSDefaultValue", "NSAttributeValueClassName", "NSValueTransformerName", "NSFlagsKey", "NSDerivationExpression",
        "NSFilteringPredicate",
    ])
    static let relationship = property.union([
        "NSDestinationEntity", "NSDeleteRule", "NSInverseRelationship", "_NSInverseRelationshipName", "_NSDestinationEntityName",
        "NSMaxCount",
        "NSMinCount", "NSIsOrdered",
    ])
    static let fetchedProperty = property.union(["NSFetchRequest", "_NSFetchRequestEntityName"])
    static let index: Set<String> = ["NSIndexName", "NSPartialIndexPredicate", "NSIndexElements", "NSEntity"]
    static let indexElement: Set<String> = ["NSPropertyName", "NSFetchIndexElementType", "NSFetchIndexDescription", "NSAscending"]
    static let request: Set<String> = [
        "NSEntity", "NSPredicate", "NSFetchLimit", "NSFetchOffset", "NSBatchSize", "NSResultType", "NSHasFetchRequestFlags",
        "NSFetchRequestFlags", "NSAllocationType", "NSSortDescriptors", "NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate",
        "NSRelationshipKeyPathsForPrefetching",
    ]

    /// `NSFlagsKey`. No other bit occurs in public models.
    static let preservesValueInHistory = 16

    // `NSFetchRequestFlags`. Public models show the bits that requests for dictionaries (16) and IDs (4) lack, and the bit of distinct
    // results (1); the two bits that every request has cannot be distinguished.
    static let distinct = 1
    static let subentities = 2
    static let propertyValues = 4
    static let faults = 8
    static let pendingChanges = 16

    /// `_P`, which repeats information of other fields.
    enum Bits {
        static let every = 0x01
        /// Two bits that every public property has; none of these has validation predicates, so the bits are assumed to mean that.
        static let noValidation = 0x30
        static let optional = 0x02
        static let readOnly = 0x04
        static let transient = 0x08
        static let noUserInfo = 0x40
        static let noHashModifier = 0x80
        static let ordered = 0x400
    }
}
