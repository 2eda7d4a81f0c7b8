internal import Foundation

/// What the fields and numbers of compiled models mean, as far as models show that exist both as XML and compiled.
enum CompiledKeys {
    static let model: Set<String> = [
        "NSEntities", "NSConfigurations", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSLocalizationDictionary",
        "CDMCompilerXcodeVersion", "CDMCompilerToolVersion",
    ]
    /// A field of ours: the XML of a model of which the archive cannot say everything.
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

    /// The classes of values that a compiled model names for an attribute of whose class nothing was said.
    static let standardClasses: [NSAttributeType: String] = [
        .integer16AttributeType: "NSNumber", .integer32AttributeType: "NSNumber", .integer64AttributeType: "NSNumber",
        .decimalAttributeType: "NSDecimalNumber", .doubleAttributeType: "NSNumber", .floatAttributeType: "NSNumber",
        .stringAttributeType: "NSString", .booleanAttributeType: "NSNumber", .dateAttributeType: "NSDate",
        .binaryDataAttributeType: "NSData", .UUIDAttributeType: "NSUUID", .URIAttributeType: "NSURL",
    ]

    /// `NSFlagsKey`. No other bit is shown by a public model.
    static let preservesValueInHistory = 16

    // `NSFetchRequestFlags`. Public models show which bits a request of dictionaries (16) and of IDs (4) lacks, and which distinct results add
    // (1); the two that every request has are told apart by nothing.
    static let distinct = 1
    static let subentities = 2
    static let propertyValues = 4
    static let faults = 8
    static let pendingChanges = 16

    /// `_P`, which says once more what other fields say.
    enum Bits {
        static let every = 0x01
        /// Two bits that every public property has; none of those has validation predicates, so that is what they are taken for.
        static let noValidation = 0x30
        static let optional = 0x02
        static let readOnly = 0x04
        static let transient = 0x08
        static let noUserInfo = 0x40
        static let noHashModifier = 0x80
        static let ordered = 0x400
    }
}
