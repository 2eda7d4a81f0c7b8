import CoreData
import TestSupport
import Testing

/// The model that a store was written with is found among several, also where the store has the hashes of Apple's framework, which this
/// framework does not compute.
struct StoreModelTests {
    private let pad: Scratchpad
    private let bundle: Bundle

    /// Makes a bundle with two versions of a model, which are told apart by an attribute.
    init() throws {
        pad = try Scratchpad()
        let folder = pad.url.appendingPathComponent("Notes.resources/Notes.xcdatamodeld")
        try Self.model(["title"], "1").write(toXCDataModel: folder.appendingPathComponent("Notes.xcdatamodel"))
        try Self.model(["title", "body"], "2").write(toXCDataModel: folder.appendingPathComponent("Notes 2.xcdatamodel"))
        try PropertyListSerialization.data(
            fromPropertyList: ["_XCCurrentVersionName": "Notes 2.xcdatamodel"], format: .xml, options: 0
        ).write(to: folder.appendingPathComponent(".xccurrentversion"))
        bundle = try #require(Bundle(path: folder.deletingLastPathComponent().path))
    }

    private static func model(_ attributes: [String], _ identifier: String) -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        let parts = NSRelationshipDescription(name: "parts", destination: note, toMany: true)
        let whole = NSRelationshipDescription(name: "whole", destination: note)
        parts.inverse(to: whole)
        note.properties = attributes.map { NSAttributeDescription(name: $0, type: .string) } + [parts, whole]
        let model = NSManagedObjectModel()
        model.entities = [note]
        model.versionIdentifiers = [identifier]
        return model
    }

    private var metadata: [String: Any] {
        get throws { try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store) }
    }

    /// Makes a store and gives it hashes of another algorithm.
    private func makeStore(_ attributes: [String], hashes: [String: Data]?, identifiers: [String] = []) throws {
        let coordinator = try pad.coordinator(Self.model(attributes, ""))
        try coordinator.remove(#require(coordinator.persistentStores.first))
        guard let hashes else { return }
        var metadata = try metadata
        metadata[NSStoreModelVersionHashesKey] = hashes
        metadata[NSStoreModelVersionIdentifiersKey] = identifiers
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: pad.store)
    }

    private func attributes(of model: NSManagedObjectModel?) -> Set<String>? {
        (model?.entitiesByName["Note"]?.attributesByName.keys).map { Set($0) }
    }

    @Test(
        "A store with Apple's hashes has the version of the model that equals the copy in the file",
        arguments: [["title"], ["title", "body"]])
    func copy(_ attributes: [String]) throws {
        let hashes = ["Note": Data(repeating: 7, count: 32)]
        try makeStore(attributes, hashes: hashes)
        let metadata = try metadata
        let found = try #require(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata))
        expect(self.attributes(of: found), equals: Set(attributes))
        expect(found.entityVersionHashesByName, equals: hashes)
        let versions = [Self.model(["title"], ""), Self.model(["title", "body"], "")]
        let compatible = versions.filter { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
        expect(compatible.map { self.attributes(of: $0) }, equals: [Set(attributes)])
        expect(self.attributes(of: NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata)), equals: Set(attributes))
        expect(self.attributes(of: try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: pad.store)), equals: Set(attributes))
        // It opens with the model, and the metadata of the open store tell the same.
        let store = try #require(try pad.coordinator(found).persistentStores.first)
        expect(store.metadata[NSStoreModelVersionHashesKey] as? [String: Data], equals: hashes)
        let reopened = try #require(try pad.coordinator(Self.model(attributes, "")).persistentStores.first)
        #expect(Self.model(attributes, "").isConfiguration(withName: nil, compatibleWithStoreMetadata: reopened.metadata))
    }

    @Test("What the copy tells is not written to the file")
    func notWritten() throws {
        try makeStore(["title"], hashes: ["Note": Data(repeating: 7, count: 32)])
        var metadata = try metadata
        let own = try #require(metadata.keys.first { ($0.hasPrefix("OpenCoreData")) })
        metadata["colour"] = "red"
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: pad.store)
        let context = try pad.context(Self.model(["title"], ""))
        try context.performAndWait {
            _ = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            try context.save()
        }
        let text = try #require(try pad.texts("SELECT hex(Z_PLIST) FROM Z_METADATA").first?.first ?? nil)
        let bytes = stride(from: 0, to: text.count, by: 2).map { offset in
            let start = text.index(text.startIndex, offsetBy: offset)
            return UInt8(text[start..<text.index(start, offsetBy: 2)], radix: 16) ?? 0
        }
        let written = try #require(try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any])
        #expect(written["colour"] as? String == "red" && written[own] == nil)
    }

    @Test("Where the file has no copy, the names of the entities decide, and then the version identifiers")
    func names() throws {
        try makeStore(["title"], hashes: ["Note": Data(repeating: 7, count: 32)])
        try pad.execute("DELETE FROM Z_MODELCACHE")
        let read = try metadata
        #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: read) == nil)
        var named = read
        named[NSStoreModelVersionIdentifiersKey] = ["1"]
        expect(attributes(of: NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: named)), equals: ["title"])
        let only = Self.model(["title"], "")
        expect(attributes(of: NSManagedObjectModel(byMerging: [only], forStoreMetadata: read)), equals: ["title"])
        // What only the names tell does not make a model compatible: the tables decide when the store is opened.
        #expect(!only.isConfiguration(withName: nil, compatibleWithStoreMetadata: read))
    }

    @Test("A store of another version that this framework has written has no model")
    func others() throws {
        try makeStore(["title", "date"], hashes: nil)
        let read = try metadata
        #expect(NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: read) == nil)
        #expect(NSManagedObjectModel(byMerging: [Self.model(["title"], "")], forStoreMetadata: read) == nil)
        #expect(read.keys.allSatisfy { !$0.hasPrefix("OpenCoreData") })
    }
}
