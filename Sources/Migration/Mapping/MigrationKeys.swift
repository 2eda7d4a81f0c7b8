// The names of the variables of value expressions: `$manager`, `$source` and so on.

/// The variable of a value expression that is the migration manager.
public let NSMigrationManagerKey = "manager"
/// The variable of a value expression that is the source object.
public let NSMigrationSourceObjectKey = "source"
/// The variable of a value expression that is the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// The variable of a value expression that is the entity mapping.
public let NSMigrationEntityMappingKey = "entityMapping"
/// The variable of a value expression that is the property mapping.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// The variable of a value expression that is the migration policy.
public let NSMigrationEntityPolicyKey = "entityPolicy"
