import CoreData
import Foundation
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph

/// An atomic store in a property list, which keeps the version hashes that it was written with.
private final class ListFileStore: NSAtomicStore {
    static let type = "ListFile"
    static let registered: Void = NSPersistentStoreCoordinator.registerStoreClass(ListFileStore.self, forStoreType: type)

    private static func read(_ url: URL) throws -> [String: Any] {
        try #require(PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any])
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try #require(read(url)["metadata"] as? [String: Any])
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var list = try read(url)
        list["metadata"] = metadata
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: url)
    }

    override func loadMetadata() throws {
        if let url, FileManager.default.fileExists(atPath: url.path) {
            metadata = try Self.metadataForPersistentStore(with: url)
        } else {
            let model = try #require(persistentStoreCoordinator?.managedObjectModel)
            metadata = [
                NSStoreTypeKey: Self.type, NSStoreUUIDKey: UUID().uuidString, NSStoreModelVersionHashesKey: model.entityVersionHashesByName,
            ]
        }
    }

    override func load() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return }
        let rows = try #require(Self.read(url)["rows"] as? [[String: Any]])
        let entity = try #require(persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"])
        addCacheNodes(
            Set(
                rows.map { row in
                    let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: row["id"] as? String ?? ""))
                    for (key, value) in row where key != "id" { node.setValue(value, forKey: key) }
                    return node
                }))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    override func save() throws {
        let rows = cacheNodes().map { node in
            var row: [String: Any] = ["id": referenceObject(for: node.objectID)]
            for name in node.objectID.entity.attributesByName.keys { row[name] = node.value(forKey: name) }
            return row
        }
        let list: [String: Any] = ["metadata": metadata ?? [:], "rows": rows]
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: try #require(url))
    }
}

/// Atomic stores of other versions that are opened: a migration manager writes them anew.
struct OldAtomicStoreTests {
    private let shop: Workshop
    private var url: URL { shop.store }

    init() throws {
        shop = try Workshop()
        ListFileStore.registered
    }

    private func names(_ key: String, in coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).compactMap { $0.value(forKey: key) as? String }
                .sorted()
        }
    }

    private func fill(_ bundle: URL) throws {
        let coordinator = try NSManagedObjectModel(reading: bundle, version: "People").opening(url, type: ListFileStore.type)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for name in ["Ada", "Grace"] {
                NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(name, forKey: "name")
            }
            try context.save()
        }
    }

    @Test func theVersionHashesInItsMetadataDecideAndAManagerWritesItAnew() throws {
        let bundle = try shop.bundle([People.model("name", "#age"), People.model("fullName<name", "email")])
        try fill(bundle)
        let uuid = try ListFileStore.metadataForPersistentStore(with: url)[NSStoreUUIDKey] as? String
        let current = try NSManagedObjectModel(reading: bundle)
        expect(
            openingFailure { try current.opening(url, type: ListFileStore.type) }?.code,
            equals: NSPersistentStoreIncompatibleVersionHashError)
        let coordinator = try current.migrating(url, type: ListFileStore.type)
        try expect(names("fullName", in: coordinator), equals: ["Ada", "Grace"])
        expect(coordinator.persistentStores[0].identifier, equals: uuid)
        try expect(shop.bytes().count, equals: 1)
        try expect(names("fullName", in: current.migrating(url, type: ListFileStore.type)), equals: ["Ada", "Grace"])
        // The first version is older now.
        let older = try NSManagedObjectModel(modelContents: NSManagedObjectModel(reading: bundle, version: "People").xcdatamodelContents())
        expect(openingFailure { try older.migrating(url, type: ListFileStore.type) }?.code, equals: StoreNewerThanModelError)
    }

    @Test func itKeepsNoModelSoThatAnUnknownVersionIsAnError() throws {
        let bundle = try shop.bundle([People.model("name", "#age")])
        try fill(bundle)
        let error = try #require(openingFailure { try People.model("name", "email").migrating(url, type: ListFileStore.type) })
        expect(error.code, equals: NSMigrationMissingSourceModelError)
    }

    @Test func aPlanSaysThatObjectsAreMadeAnew() throws {
        let bundle = try shop.bundle([People.model("name", "#age"), People.model("name")])
        try fill(bundle)
        let description = NSPersistentStoreDescription(url: url)
        description.type = ListFileStore.type
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(reading: bundle)).migrationPlan(
            for: description)
        expect(plan.steps.map(\.way), equals: [.inferredMapping])
        #expect(plan.rows == nil && plan.bytes == nil)
    }
}
