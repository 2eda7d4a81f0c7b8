import CoreData
import Foundation
import TestSupport
import Testing

/// XML stores of Apple's framework.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct XMLMaterialTests {
    private static var files: [URL] {
        let root = URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "")
        var found: [URL] = []
        for case let url as URL in FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil) ?? .init() {
            if url.pathExtension == "paw" || url.lastPathComponent == "xcmapping.xml" { found.append(url) }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// The superentities, which a file does not tell.
    private static let superentities = [
        "LMRequest": "LMRequestTreeItem", "LMRequestGroup": "LMRequestTreeItem", "XDDevAttributeMapping": "XDDevPropertyMapping",
        "XDDevRelationshipMapping": "XDDevPropertyMapping",
    ]

    /// Drafts the model of a file from what is in it.
    private static func model(of text: String) throws -> NSManagedObjectModel {
        var entities: [String: NSEntityDescription] = [:]
        let hashes = text.prefix(upTo: try #require(text.range(of: "</databaseInfo>")).lowerBound)
        for match in hashes.matches(of: /<key>((LM|XD)[A-Za-z]*)<\/key>/) {
            entities[match.1.uppercased()] = NSEntityDescription(name: String(match.1))
        }
        var properties: [String: [String: NSPropertyDescription]] = [:]
        for object in text.matches(of: /<object type="([A-Z]*)" id="z[0-9]*">(?s:(.*?))<\/object>/) {
            let entity = String(object.1)
            for match in object.2.matches(of: /<attribute name="([a-z]*)" type="([a-z0-9]*)">/)
            where properties[entity]?[String(match.1)] == nil {
                let types: [Substring: NSAttributeDescription.AttributeType] = [
                    "string": .string, "bool": .boolean, "int16": .integer16, "int64": .integer64, "binary": .binaryData,
                ]
                let type = try #require(types[match.2])
                properties[entity, default: [:]][String(match.1)] = NSAttributeDescription(name: String(match.1), type: type)
            }
            for match in object.2.matches(of: /<relationship name="([a-z]*)" type="([0-9])\/([0-9])" destination="([A-Z]*)"/)
            where properties[entity]?[String(match.1)] == nil {
                let relationship = NSRelationshipDescription(
                    name: String(match.1), destination: try #require(entities[String(match.4)]), toMany: match.3 == "0")
                relationship.minCount = Int(match.2) ?? 0
                properties[entity, default: [:]][String(match.1)] = relationship
            }
        }
        let names = superentities
        for (child, parent) in names {
            guard let entity = entities[child.uppercased()], let root = entities[parent.uppercased()] else { continue }
            root.subentities.append(entity)
            for shared in ["name", "order", "parent", "children", "entitymapping"] {
                if let property = properties[child.uppercased()]?.removeValue(forKey: shared),
                    properties[parent.uppercased()]?[shared] == nil
                {
                    properties[parent.uppercased(), default: [:]][shared] = property
                }
            }
        }
        for (name, entity) in entities { entity.properties = properties[name]?.values.sorted { $0.name < $1.name } ?? [] }
        return NSManagedObjectModel(entities: entities.values.sorted { ($0.name ?? "") < ($1.name ?? "") })
    }

    @Test func filesOfApplesFrameworkComeBackByteForByte() throws {
        let files = Self.files
        print("filesOfApplesFrameworkComeBackByteForByte: \(files.count) files")
        #expect(files.count >= 5)
        for file in files {
            let folder = try Folder()
            let copy = folder.file("Store.xml")
            let original = try Data(contentsOf: file)
            try original.write(to: copy)
            let text = String(decoding: original, as: UTF8.self)
            let context = try Library.open(
                .xml, copy, Self.model(of: text), options: [NSIgnorePersistentStoreVersioningOption: NSNumber(value: true)])
            try context.run { (context: NSManagedObjectContext) throws in
                let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
                try expect(Data(contentsOf: copy), equals: original)
                // The header is written anew.
                var metadata = try #require(store.metadata)
                let before = metadata
                metadata["note"] = "x"
                context.persistentStoreCoordinator?.setMetadata(metadata, for: store)
                try context.save()
                #expect(String(decoding: try Data(contentsOf: copy), as: UTF8.self).contains("<key>note</key>"))
                context.persistentStoreCoordinator?.setMetadata(before, for: store)
                try context.save()
                try expect(Data(contentsOf: copy), equals: original, "\(file.lastPathComponent): the header")
                // Each object is written anew.
                let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
                let objects = try entities.filter { $0.superentity == nil }.flatMap { try context.all($0.name ?? "") }
                let count = objects.count
                let values = try objects.map { object in
                    let names = object.entity.attributesByName
                    let key = names["name"] == nil ? try #require(names.keys.min()) : "name"
                    let value = object.value(forKey: key)
                    object.setValue(names[key]?.attributeType == .stringAttributeType ? "other" : nil, forKey: key)
                    return (key, value)
                }
                try context.save()
                for (object, (key, value)) in zip(objects, values) { object.setValue(value, forKey: key) }
                try context.save()
                let after = String(decoding: try Data(contentsOf: copy), as: UTF8.self)
                let (old, new) = (text.components(separatedBy: "<object "), after.components(separatedBy: "<object "))
                #expect(old.count == new.count && old.count == count + 1)
                // Apple's framework wrote a few objects with their attributes in another order, after they had been edited.
                let differing = zip(old, new).filter { $0 != $1 }
                #expect(differing.count * 8 <= count, "\(file.lastPathComponent): \(differing.count) of \(count)")
                for (first, second) in differing {
                    expect(first.components(separatedBy: "\n").sorted(), equals: second.components(separatedBy: "\n").sorted())
                }
            }
        }
    }
}
