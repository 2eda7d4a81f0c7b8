import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import SQLiteStore
import TestSupport
import Testing

/// Real versions of models and real stores, migrated from each version to the next.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MaterialMigrationTests {
    private static var folder: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "") }

    /// The versioned models, each with its versions in order.
    private static func bundles() throws -> [(url: URL, versions: [String])] {
        let root = folder.appendingPathComponent("models")
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".momd") }.sorted().compactMap { path in
            let url = root.appendingPathComponent(path)
            let versions = try NSManagedObjectModel.versionNames(at: url).sorted {
                $0.compare($1, options: .numeric) == .orderedAscending
            }
            return versions.count > 1 ? (url, versions) : nil
        }
    }

    /// A version that random objects can be saved with.
    private static func model(_ url: URL, _ version: String) throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel(reading: url, version: version)
        for entity in model.entities {
            entity.managedObjectClassName = "NSManagedObject"
            for property in entity.declaredProperties {
                property.setValidationPredicates([], withValidationWarnings: [])
                if let attribute = property as? NSAttributeDescription { attribute.valueTransformerName = nil }
                guard let relationship = property as? NSRelationshipDescription else { continue }
                relationship.isOptional = true
                relationship.minCount = 0
                if relationship.isToMany { relationship.maxCount = 0 }
            }
        }
        return model
    }

    /// Fills a store of any model, a few objects of each entity.
    private static func fill(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, _ random: inout RandomVersions) throws {
        var objects: [(object: NSManagedObject, entity: NSEntityDescription)] = []
        for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
            for index in 0..<5 {
                let object = context.make(entity.name ?? "")
                for case let attribute as NSAttributeDescription in entity.properties
                where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
                    if index == 0, attribute.isOptional { continue }
                    let value: Any? =
                        switch attribute.type {
                        case .transformable: NSString(string: "transformed \(index)")
                        case .uuid: UUID()
                        case .uri: URL(string: "https://example.com/\(index)")
                        case .undefined, .objectID, .composite: nil
                        case .string: "\(entity.name ?? "").\(attribute.name) \(index)"
                        case .integer16, .integer32, .integer64: objects.count
                        case .float: Float(index) / 2
                        case let type: random.value(type)
                        }
                    if let value { object.setValue(value, forKey: attribute.name) }
                }
                objects.append((object, entity))
            }
        }
        for (object, entity) in objects {
            for case let relationship as NSRelationshipDescription in entity.properties where !relationship.isTransient {
                guard let destination = relationship.destinationEntity else { continue }
                let others = objects.filter { $0.entity.isKindOf(entity: destination) }.map(\.object)
                guard let one = others.randomElement(using: &random.generator) else { continue }
                if !relationship.isToMany {
                    object.setValue(one, forKey: relationship.name)
                } else {
                    object.setValue(
                        relationship.isOrdered ? NSOrderedSet(object: one) as Any : Set([one]) as Any, forKey: relationship.name)
                }
            }
        }
        try context.save()
    }

    /// The graph that a mapping is to make of another.
    private static func expected(_ graph: PlainGraph, _ mapping: InferredMapping) -> PlainGraph {
        var made = PlainGraph()
        let entities = Dictionary(
            mapping.entities.compactMap { entity in entity.destination == nil ? nil : entity.source?.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
        for (key, object) in graph.objects {
            guard let entity = entities[object.entity] else { continue }
            var new = PlainGraph.Object(entity: entity.destination?.name ?? "")
            for attribute in entity.attributes where attribute.destination.attributeType != .undefinedAttributeType {
                let fallback = PlainGraph.text(attribute.destination.defaultValue)
                var value = attribute.source.flatMap { object.values[$0.name] } ?? fallback
                if value == "nil", !attribute.destination.isOptional { value = fallback }
                new.values[attribute.destination.name] = value
            }
            for relationship in entity.relationships {
                guard let source = relationship.source else { continue }
                let kept = (object.related[source.name] ?? []).filter { key in
                    guard let after = graph.objects[key].flatMap({ entities[$0.entity]?.destination }),
                        let wanted = relationship.destination.destinationEntity
                    else { return false }
                    return after.isKindOf(entity: wanted)
                }
                let isOrdered = relationship.destination.isOrdered && relationship.destination.isToMany
                let wasOrdered = source.isOrdered && source.isToMany
                new.related[relationship.destination.name] =
                    isOrdered ? (wasOrdered ? kept : ["any order"] + kept.sorted()) : kept.sorted()
            }
            made.objects[key] = new
        }
        return made
    }

    @Test("Filled stores of real models are migrated from each version to the next, with all that is in them")
    func consecutivePairs() throws {
        var (pairs, inPlace) = (0, 0)
        var refused: [String] = []
        for (url, versions) in try Self.bundles() {
            for (old, new) in zip(versions, versions.dropFirst()) {
                pairs += 1
                let place = "\(url.lastPathComponent): \(old) to \(new)"
                let (before, after) = (try Self.model(url, old), try Self.model(url, new))
                let mapping: InferredMapping
                do { mapping = try InferredMapping.infer(from: before, to: after) } catch let error as NSError {
                    expect(error.code, equals: NSInferredMappingModelError, "\(place)")
                    refused.append("\(place): \(error.localizedFailureReason ?? "")")
                    continue
                }
                for copies in [false, true] {
                    var random = RandomVersions(seed: UInt64(pairs))
                    let store = try MigratedStore()
                    store.copies = copies
                    do {
                        let graph = try store.open(before) { context in
                            try Self.fill(context, before, &random)
                            context.reset()
                            return try PlainGraph(context, before) { before.entitiesByName[$0]?.rootEntity.name ?? "" }
                        }
                        if !copies, try store.estimate(before, after).isInPlace { inPlace += 1 }
                        try store.migrate(before, after, rules: MigrationRules(forbiddenRows: .repair))
                        let wrong = try store.open(after) { context in
                            let found = try PlainGraph(context, after) { name in
                                after.entitiesByName[name].flatMap { mapping.entity(to: $0)?.source?.rootEntity.name } ?? "new"
                            }
                            return differences(found, Self.expected(graph, mapping))
                        }
                        #expect(wrong.isEmpty, "\(place), copies \(copies): \(wrong.prefix(5))")
                    } catch {
                        Issue.record("\(place), copies \(copies): \((error as NSError).localizedDescription)")
                    }
                }
            }
        }
        print(
            "\(pairs) pairs of versions, \(inPlace) in place, \(refused.count) that cannot be inferred: \(refused.joined(separator: "\n"))")
        #expect(pairs > 50)
        // Attributes that become required without a default value.
        #expect(refused.count == 3 && refused.allSatisfy { $0.contains("no default value") })
    }

    @Test("Real stores are migrated to the later versions of their models")
    func realStores() throws {
        let bundles = try Self.bundles()
        let root = Self.folder.appendingPathComponent("stores")
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        var (stores, migrations) = (0, 0)
        for path in paths.sorted() where path.hasSuffix(".sqlite") || path.hasSuffix(".moody") {
            for (url, versions) in bundles {
                let metadata = try SQLiteStore.metadataForPersistentStore(with: root.appendingPathComponent(path))
                let own = try versions.firstIndex {
                    try NSManagedObjectModel(reading: url, version: $0).isConfiguration(
                        withName: nil, compatibleWithStoreMetadata: metadata)
                }
                guard let own else { continue }
                stores += 1
                for version in versions[(own + 1)...] {
                    let store = try MigratedStore()
                    for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: root.path + "/" + path + ending) {
                        try FileManager.default.copyItem(atPath: root.path + "/" + path + ending, toPath: store.url.path + ending)
                    }
                    let (old, new) = (try Self.model(url, versions[own]), try Self.model(url, version))
                    guard let mapping = try? InferredMapping.infer(from: old, to: new) else { continue }
                    do {
                        let rows = try store.estimate(old, new).rows
                        try store.migrate(old, new, rules: MigrationRules(forbiddenRows: .repair))
                        migrations += 1
                        try store.open(new) { context in
                            for entity in mapping.entities {
                                guard let name = entity.destination?.name, let count = rows[name] else { continue }
                                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                                request.includesSubentities = false
                                let found = try context.fetch(request)
                                expect(found.count, equals: count, "\(path) \(version) \(name)")
                                for object in found {
                                    for attribute in entity.attributes { _ = object.value(forKey: attribute.destination.name) }
                                }
                            }
                        }
                        let after = try SQLiteStore.metadataForPersistentStore(with: store.url)
                        expect(after[NSStoreUUIDKey] as? String, equals: metadata[NSStoreUUIDKey] as? String)
                    } catch { Issue.record("\(path) to \(version): \((error as NSError).localizedDescription)") }
                }
                break
            }
        }
        print("\(stores) real stores, \(migrations) migrations.")
        #expect(stores > 5)
    }
}
