import CoreData
import Foundation
import Platform
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import Predicates

/// A store without objects that migrates its own file: a property list with its metadata, a copy of its model, and a line for each migration.
///
/// It shows which ways are taken, without what another store would do on them.
final class PaperStore: NSPersistentStore, @unchecked Sendable {
    static let type = "Paper"

    /// Registers the class.
    static let registered: Void = NSPersistentStoreCoordinator.registerStoreClass(PaperStore.self, forStoreType: type)

    /// Called before a file is migrated, with its place; what it throws, the migration throws.
    static let willMigrate = LockedBox<[String: @Sendable (Progress?) throws -> Void]>([:])

    private static func read(_ url: URL) throws -> [String: Any] {
        try #require(PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any])
    }

    private static func write(_ list: [String: Any], _ url: URL) throws {
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(to: url, options: .atomic)
    }

    private static func list(of model: NSManagedObjectModel, _ entities: [NSEntityDescription]) throws -> [String: Any] {
        let hashes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name ?? "", $0.versionHash) })
        return [
            "metadata": [
                NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString, NSStoreModelVersionHashesKey: hashes,
                NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0.base as? String },
            ] as [String: Any],
            "model": try model.compiledModel(), "migrations": [String](), "settings": [String](),
        ]
    }

    /// The migrations that a file has seen, such as “Person(age,name) -> Person(name)”.
    static func migrations(of url: URL) throws -> [String] { try #require(read(url)["migrations"] as? [String]) }

    /// The rules of these migrations.
    static func settings(of url: URL) throws -> [String] { try #require(read(url)["settings"] as? [String]) }

    /// Removes the copy of the model from a file.
    static func forgetModel(at url: URL) throws {
        var list = try read(url)
        list["model"] = nil
        try write(list, url)
    }

    /// A model in one line.
    static func line(_ model: NSManagedObjectModel) -> String {
        model.entities.sorted { $0.name ?? "" < $1.name ?? "" }.map { entity in
            "\(entity.name ?? "")(\(entity.properties.map(\.name).sorted().joined(separator: ",")))"
        }.joined(separator: " ")
    }

    override func loadMetadata() throws {
        let (url, coordinator) = (try #require(url), try #require(persistentStoreCoordinator))
        if !FileManager.default.fileExists(atPath: url.path) {
            let model = coordinator.managedObjectModel
            let isWhole = configurationName == NSPersistentStore.defaultConfiguration
            let entities = try #require(model.entities(forConfigurationName: isWhole ? nil : configurationName))
            try Self.write(Self.list(of: model, entities), url)
        }
        metadata = try Self.metadataForPersistentStore(with: url)
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try #require(read(url)["metadata"] as? [String: Any])
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var list = try read(url)
        list["metadata"] = metadata
        try write(list, url)
    }
}

extension PaperStore: StoreInterface {
    struct NoObjects: Error {}
    func answer(_ query: StoreQuery, for caller: StoreCaller) throws -> StoreAnswer { .ids([]) }
    func rows(for ids: [NSManagedObjectID], for caller: StoreCaller) throws -> [Row] { [] }
    func related(
        by relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], for caller: StoreCaller
    ) throws -> [NSManagedObjectID: [NSManagedObjectID]] { [:] }
    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] { throw NoObjects() }
    func save(_ changes: StoreChangeSet, for caller: StoreCaller) throws -> SaveOutcome { throw NoObjects() }
}

extension PaperStore: ModelMigratingStore {
    func copyFiles(to url: URL, options: [AnyHashable: Any]?) throws { throw NoObjects() }
    static func replaceFiles(
        at destination: URL, options: [AnyHashable: Any]?, from source: URL, sourceOptions: [AnyHashable: Any]?
    ) throws { try write(read(source), destination) }
    static func destroyFiles(at url: URL, options: [AnyHashable: Any]?) throws { throw NoObjects() }

    static func migrateFiles(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping, rules: MigrationRules, progress: Progress?
    ) throws {
        try willMigrate.withLock { $0[url.path] }?(progress)
        var list = try read(url)
        var (new, metadata) = (try self.list(of: destination, destination.entities), try metadataForPersistentStore(with: url))
        let fresh = try #require(new["metadata"] as? [String: Any])
        metadata[NSStoreModelVersionHashesKey] = fresh[NSStoreModelVersionHashesKey]
        metadata[NSStoreModelVersionIdentifiersKey] = fresh[NSStoreModelVersionIdentifiersKey]
        new["metadata"] = metadata
        new["migrations"] = try migrations(of: url) + ["\(line(source)) -> \(line(destination))"]
        new["settings"] = try settings(of: url) + ["\(rules.forbiddenRows) \(rules.deferred)"]
        list = new
        try write(list, url)
    }

    static func migrationEstimate(
        at url: URL, options: [AnyHashable: Any]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        by mapping: InferredMapping
    ) throws -> MigrationEstimate {
        let missing = mapping.entities.contains { entity in
            entity.attributes.contains { !$0.destination.isOptional && $0.destination.defaultValue == nil }
        }
        let uri = try #require(URL(string: "x-coredata://paper/Person/p1"))
        let row = MigrationEstimate.ForbiddenRow(uri: uri, entity: "Person", properties: ["name"], violatesConstraint: false)
        return MigrationEstimate(
            isInPlace: true, rows: ["Person": 3], deletedRows: [:], bytes: 512, forbiddenCount: missing ? 1 : 0,
            forbidden: missing ? [row] : [])
    }

    static func keptModel(at url: URL, options: [AnyHashable: Any]?) throws -> NSManagedObjectModel? {
        try (read(url)["model"] as? Data).map { try NSManagedObjectModel(compiledModel: $0) }
    }

    static func hasDeferredMigration(at url: URL, options: [AnyHashable: Any]?) throws -> Bool { false }
    static func continueDeferredMigration(at url: URL, options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws -> Bool { false }
}
