public import Foundation
public import Predicates

/// The kinds of entity mapping.
public enum NSEntityMappingType: UInt, Sendable {
    /// The kind is not stated: the entities, the property mappings and the policy decide what happens.
    case undefinedEntityMappingType = 0
    /// The policy of the mapping makes the objects.
    case customEntityMappingType = 1
    /// The destination entity is new: there are no source objects.
    case addEntityMappingType = 2
    /// The source entity is removed: its objects are not migrated.
    case removeEntityMappingType = 3
    /// The objects are migrated unchanged.
    case copyEntityMappingType = 4
    /// The objects are migrated with other properties.
    case transformEntityMappingType = 5
}

/// Describes how the objects of a destination entity are made from those of a source entity.
///
/// Source: [NSEntityMapping](https://developer.apple.com/documentation/coredata/nsentitymapping).
open class NSEntityMapping: NSObject, NSCopying {
    /// The name, by which expressions and policies find the mapping; `SongToSong` by default.
    open var name: String! {
        get { givenName ?? Self.standardName(from: sourceEntityName, to: destinationEntityName) }
        set { givenName = newValue }
    }
    private var givenName: String?

    /// The kind of mapping.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The name of the source entity; nil if the destination entity is new.
    open var sourceEntityName: String?
    /// The version hash of the source entity; nil if it is unknown.
    open var sourceEntityVersionHash: Data?
    /// The name of the destination entity; nil if the source entity is removed.
    open var destinationEntityName: String?
    /// The version hash of the destination entity; nil if it is unknown.
    open var destinationEntityVersionHash: Data?
    /// The mappings of the attributes. An attribute without one keeps its default value; without any, a mapping of the kind
    /// ``NSEntityMappingType/copyEntityMappingType`` maps all attributes of the same names.
    open var attributeMappings: [NSPropertyMapping]?
    /// The mappings of the relationships; as for ``attributeMappings``.
    open var relationshipMappings: [NSPropertyMapping]?
    /// The expression for the source objects: a `FETCH`, or anything whose value is a collection of objects. Nil for all objects of the source
    /// entity itself, without those of its subentities.
    open var sourceExpression: Predicates.NSExpression?
    /// Information of the program.
    open var userInfo: [AnyHashable: Any]?
    /// The name of the class of the ``NSEntityMigrationPolicy``, with or without its module; nil for the standard policy.
    open var entityMigrationPolicyClassName: String?

    /// Creates a mapping without entities.
    public required override init() { super.init() }

    /// Returns the name of a mapping without a name of its own.
    static func standardName(from source: String?, to destination: String?) -> String? {
        if let source, let destination { return "\(source)To\(destination)" }
        return destination.map { "IEM_Add_\($0)" } ?? source.map { "IEM_Remove_\($0)" }
    }

    /// The mappings of all properties.
    final var propertyMappings: [NSPropertyMapping] { (attributeMappings ?? []) + (relationshipMappings ?? []) }

    /// Returns a copy, with copies of the property mappings.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = Swift.type(of: self).init()
        copy.givenName = givenName
        copy.mappingType = mappingType
        copy.sourceEntityName = sourceEntityName
        copy.sourceEntityVersionHash = sourceEntityVersionHash
        copy.destinationEntityName = destinationEntityName
        copy.destinationEntityVersionHash = destinationEntityVersionHash
        copy.attributeMappings = attributeMappings?.map { $0.copy() as! NSPropertyMapping }
        copy.relationshipMappings = relationshipMappings?.map { $0.copy() as! NSPropertyMapping }
        copy.sourceExpression = sourceExpression
        copy.userInfo = userInfo
        copy.entityMigrationPolicyClassName = entityMigrationPolicyClassName
        return copy
    }

    /// Returns whether both map the same entities in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        return self === other
            || name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
                && destinationEntityName == other.destinationEntityName && sourceEntityVersionHash == other.sourceEntityVersionHash
                && destinationEntityVersionHash == other.destinationEntityVersionHash && attributeMappings == other.attributeMappings
                && relationshipMappings == other.relationshipMappings && sourceExpression == other.sourceExpression
                && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
                && MappingInformation.equal(userInfo, other.userInfo)
    }

    /// The hash value, which is the same for equal mappings.
    open override var hash: Int { name.hashValue }

    /// The name and the entities.
    open override var description: String {
        "\(name ?? "?"): \(sourceEntityName ?? "nothing") to \(destinationEntityName ?? "nothing")"
    }
}
