public import Foundation
public import ObjectGraph

/// The value of a function that a policy or a manager answers. It is a structure, so that a function whose value is nil differs from one that has no
/// answer.
public struct MigrationFunctionValue {
    /// The value of the function.
    public let value: Any?

    /// Creates the answer with a value.
    public init(_ value: Any?) { self.value = value }
}

/// Customizes how the objects of an entity mapping are migrated.
///
/// ``NSEntityMapping/entityMigrationPolicyClassName`` names the class. The manager makes one instance for each entity mapping and calls it on the
/// thread that migrates:
///
/// 1. for each entity mapping in order ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each source object, and
///    ``endInstanceCreation(forMapping:manager:)``;
/// 2. for each entity mapping ``createRelationships(forDestination:in:manager:)`` for each destination object that is associated with a source
///    object, and ``endRelationshipCreation(forMapping:manager:)``;
/// 3. for each entity mapping ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``; then everything is validated.
///
/// The objects are instances of `NSManagedObject`, whatever classes the models name, because a program has the classes of one version only. Objects
/// without changes become faults between two calls, except those that a policy looks for: once a policy has read `registeredObjects` or
/// `insertedObjects` of the destination context, up to 100,000 objects of mappings with policies are kept there with their values. If there are more,
/// the policy's call fails with an error that explains it. A fetch request finds any number. An error that a method throws ends the migration; it is
/// the cause of an error with code 134170.
///
/// Source: [NSEntityMigrationPolicy](https://developer.apple.com/documentation/coredata/nsentitymigrationpolicy).
open class NSEntityMigrationPolicy: NSObject {
    /// Creates a policy. It is required so that the manager can make it by the name of its class.
    public required override init() { super.init() }

    /// Called before the objects of an entity mapping are made.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes the destination objects of a source object.
    ///
    /// The standard policy inserts one object of the destination entity, sets its attributes by ``NSEntityMapping/attributeMappings``, and associates
    /// it with the source object. An override may call it, make other objects, or none.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.makeInstance(from: sInstance, in: mapping, by: self)
    }

    /// Called when all objects of an entity mapping are made.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Sets the relationships of a destination object.
    ///
    /// The standard policy sets them by ``NSEntityMapping/relationshipMappings``.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try manager.setRelationships(of: dInstance, in: mapping, by: self)
    }

    /// Called when the relationships of all objects of an entity mapping are set.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called before the migrated objects are validated by the rules of the model.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called when an entity mapping is finished.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    // MARK: Beyond Apple's

    /// Answers a function that value expressions call, `FUNCTION($entityPolicy, "convert:", $source.price)`.
    ///
    /// On Apple's platforms this is the method with that selector. Elsewhere there are no selectors, and an override returns the value for each name
    /// that it knows. The standard policy knows none.
    ///
    /// - Parameters:
    ///   - name: The name in the expression, including its colons.
    ///   - arguments: The values of the arguments.
    /// - Returns: The value; nil for a name that the policy does not know, which is reported as an error.
    open func function(named name: String, arguments: [Any?]) throws -> MigrationFunctionValue? { nil }

    /// Whether a migration that was killed may be resumed in the middle of its entity mappings, with a new instance of this policy.
    ///
    /// By default only a policy without stored properties may: the notes of others about earlier objects are lost. Otherwise the migration starts
    /// again. ``begin(_:with:)`` of a policy that overrides this is called again, with ``NSMigrationManager/isResuming`` true.
    open var canResume: Bool {
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror, current.subjectType != NSEntityMigrationPolicy.self {
            if !current.children.isEmpty { return false }
            mirror = current.superclassMirror
        }
        return true
    }
}
