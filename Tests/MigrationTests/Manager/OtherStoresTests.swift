import CoreData
import Foundation
import TestSupport
import Testing

@Suite struct OtherStoresTests {
    @Test("An atomic store is migrated into another one, whose file is there when it is complete")
    func atomic() throws {
        NSPersistentStoreCoordinator.registerStoreClass(LineStore.self, forStoreType: LineStore.type)
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let first = NSMigrationManager(sourceModel: LibraryVersions.old(), destinationModel: LibraryVersions.old())
        let same = try NSMappingModel.inferredMappingModel(forSourceModel: LibraryVersions.old(), destinationModel: LibraryVersions.old())
        let lines = folder.url.appendingPathComponent("old.lines")
        try first.migrateStore(
            from: folder.old, sourceType: NSSQLiteStoreType, with: same, toDestinationURL: lines, destinationType: LineStore.type)
        let new = folder.url.appendingPathComponent("new.lines")
        try NSMigrationManager.library().migrateStore(
            from: lines, sourceType: LineStore.type, with: LibraryVersions.mapping(), toDestinationURL: new, destinationType: LineStore.type
        )
        try expect(LibraryVersions.lines(at: new, type: LineStore.type), equals: LibraryVersions.expected())
        try expect(
            FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted(), equals: ["new.lines", "old.lines", "old.sqlite"])
    }

    @Test("An atomic store that breaks a rule leaves no file")
    func atomicFailure() throws {
        NSPersistentStoreCoordinator.registerStoreClass(LineStore.self, forStoreType: LineStore.type)
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old)
        let mapping = LibraryVersions.mapping()
        mapping.entityMappings[1].attributeMappings?[0].valueExpression = nil
        let new = folder.url.appendingPathComponent("new.lines")
        let error = migrationFailure {
            try NSMigrationManager.library().migrateStore(
                from: folder.old, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: new, destinationType: LineStore.type)
        }
        expect(error?.code, equals: NSMigrationError)
        expect(error?.userInfo["property"] as? String, equals: "title")
        try expect(FileManager.default.contentsOfDirectory(atPath: folder.url.path), equals: ["old.sqlite"])
    }
}

/// An atomic store in a property list.
final class LineStore: NSAtomicStore {
    static let type = "LineStore"

    private func contents() throws -> [String: [String: Any]] {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return [:] }
        return try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: [String: Any]] ?? [:]
    }

    override func loadMetadata() throws {
        metadata = try contents()["metadata"] ?? [NSStoreUUIDKey: UUID().uuidString]
        metadata[NSStoreTypeKey] = Self.type
    }

    override func load() throws {
        let contents = try contents()
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for key in contents.keys {
            let parts = key.split(separator: " ").map(String.init)
            guard parts.count == 2, let entity = model.entitiesByName[parts[0]] else { continue }
            nodes[key] = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: parts[1]))
        }
        for (key, node) in nodes {
            for (name, value) in contents[key] ?? [:] {
                guard let keys = value as? [String] else {
                    node.setValue(value, forKey: name)
                    continue
                }
                let related = keys.compactMap { nodes[$0] }
                if node.objectID.entity.relationshipsByName[name]?.isToMany == true {
                    node.setValue(related, forKey: name)
                } else {
                    node.setValue(related.first, forKey: name)
                }
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    private func key(_ id: NSManagedObjectID) -> String { "\(id.entity.name ?? "?") \(referenceObject(for: id))" }

    override func save() throws {
        var contents: [String: [String: Any]] = ["metadata": metadata ?? [:]]
        for node in cacheNodes() {
            var values: [String: Any] = [:]
            for property in node.objectID.entity.properties {
                let value = node.value(forKey: property.name)
                switch value {
                case let node as NSAtomicStoreCacheNode: values[property.name] = [key(node.objectID)]
                case let id as NSManagedObjectID: values[property.name] = [key(id)]
                case let ids as [NSManagedObjectID]: values[property.name] = ids.map(key)
                case let nodes as [NSAtomicStoreCacheNode]: values[property.name] = nodes.map { key($0.objectID) }
                case is NSNull: break
                default: values[property.name] = value
                }
            }
            contents[key(node.objectID)] = values
        }
        guard let url else { return }
        try PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0).write(to: url)
    }
}
