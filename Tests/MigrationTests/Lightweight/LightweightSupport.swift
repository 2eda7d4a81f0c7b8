import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLiteStore
import TestSupport
import Testing

/// A store in a directory of its own, which is migrated without being opened.
final class MigratedStore {
    private let scratch: ScratchFolder
    var directory: URL { scratch.url }
    let url: URL
    /// Further options of migrations.
    var options: [AnyHashable: Any] = [:]

    init() throws {
        scratch = try ScratchFolder("migration")
        url = scratch.file("Store.sqlite")
    }

    /// Whether rows are copied, also where they could stay in place.
    var copies = false {
        didSet { options[SQLiteMigration.inPlaceLimitOption] = copies ? NSNumber(value: -1) : nil }
    }

    /// Makes a store with objects of a version.
    static func filled(
        _ copies: Bool, _ model: NSManagedObjectModel, _ fill: (NSManagedObjectContext) throws -> Void
    ) throws -> MigratedStore {
        let store = try MigratedStore()
        store.copies = copies
        try store.open(model) { context in
            try fill(context)
            try context.save()
        }
        return store
    }

    /// Opens the store with a version, and closes it afterwards.
    func open<Result>(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil, configuration: String? = nil,
        _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let result = try context.performAndWait { try body(context) }
        try coordinator.remove(store)
        return result
    }

    /// Migrates the store by the inferred mapping.
    func migrate(
        _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, rules: MigrationRules = MigrationRules(),
        permitsMissingValues: Bool = false, progress: Progress? = nil
    ) throws {
        let mapping = try InferredMapping.infer(from: source, to: destination, permitsMissingValues: permitsMissingValues)
        try SQLiteStore.migrateFiles(
            at: url, options: options, from: source, to: destination, by: mapping, rules: rules, progress: progress)
    }

    func estimate(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws -> MigrationEstimate {
        try SQLiteStore.migrationEstimate(
            at: url, options: options, from: source, to: destination,
            by: InferredMapping.infer(from: source, to: destination, permitsMissingValues: true))
    }

    /// The names of the files in the directory.
    var files: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() } }
}

/// Builds models in few words.
enum Version {
    static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType = .string, was: String? = nil, isOptional: Bool = true,
        defaultValue: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription(name: name, type: type, isOptional: isOptional, defaultValue: defaultValue)
        attribute.renamingIdentifier = was
        return attribute
    }

    static func entity(_ name: String, was: String? = nil, isAbstract: Bool = false, _ properties: [NSPropertyDescription] = [])
        -> NSEntityDescription
    {
        let entity = NSEntityDescription()
        entity.name = name
        entity.renamingIdentifier = was
        entity.isAbstract = isAbstract
        entity.properties = properties
        return entity
    }

    static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel { NSManagedObjectModel(entities: entities) }

    /// A relationship to an entity, with its inverse where there is one.
    static func relate(
        _ owner: NSEntityDescription, _ name: String, was: String? = nil, toMany: Bool = false, isOrdered: Bool = false,
        to destination: NSEntityDescription, _ inverseName: String? = nil, inverseWas: String? = nil, inverseToMany: Bool = false,
        inverseIsOrdered: Bool = false
    ) {
        let relationship = NSRelationshipDescription(name: name, destination: destination, toMany: toMany, isOrdered: isOrdered)
        relationship.renamingIdentifier = was
        owner.properties = owner.declaredProperties + [relationship]
        guard let inverseName else { return }
        let inverse = NSRelationshipDescription(
            name: inverseName, destination: owner, toMany: inverseToMany, isOrdered: inverseIsOrdered)
        inverse.renamingIdentifier = inverseWas
        destination.properties = destination.declaredProperties + [inverse]
        relationship.inverse(to: inverse)
    }
}

extension NSManagedObjectContext {
    @discardableResult func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func all(_ entity: String, by key: String = "name") throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try fetch(request)
    }

    /// The values of a key of all objects, in the order of another.
    func values(_ entity: String, _ key: String, by order: String = "name") throws -> [String] {
        try all(entity, by: order).map { $0.value(forKey: key).map { "\($0)" } ?? "nil" }
    }
}
