import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// A program with albums in two versions, whose cache has pending changes when the second version comes.
private final class TwoVersions {
    enum Newer: CaseIterable {
        /// Entity, attributes and relationship are called otherwise, and there is a further attribute that is required.
        case renamed
        /// As before, and an attribute has become a relationship, which no mapping can be inferred for.
        case remade
        /// Without the tags.
        case withoutTags
    }

    private let folder: ScratchFolder
    var place: URL { folder.file("cache.sqlite") }
    private(set) var backend: ScriptedBackend!
    private(set) var store: CachedStore!
    private(set) var context: NSManagedObjectContext!

    init() throws { folder = try ScratchFolder("cache") }

    private static func model(_ newer: Newer?) -> NSManagedObjectModel {
        let isRenamed = newer == .renamed || newer == .remade
        let album = NSEntityDescription(name: isRenamed ? "Record" : "Album")
        let tag = NSEntityDescription(name: "Tag")
        let title = NSAttributeDescription(name: isRenamed ? "name" : "title", type: .string)
        let label = NSAttributeDescription(name: "label", type: .string, isOptional: false, defaultValue: "unknown")
        let tags = NSRelationshipDescription(name: isRenamed ? "marks" : "tags", destination: tag, toMany: true)
        if isRenamed {
            album.renamingIdentifier = "Album"
            title.renamingIdentifier = "title"
            tags.renamingIdentifier = "tags"
        }
        album.properties = [title, NSAttributeDescription(name: "year", type: .integer64)] + (isRenamed ? [label] : [])
        let artist = NSAttributeDescription(name: "artist", type: .string)
        tag.properties = [NSAttributeDescription(name: "name", type: .string)]
        switch newer {
        case .remade:
            let person = NSEntityDescription(name: "Person")
            person.properties = [NSAttributeDescription(name: "name", type: .string)]
            album.properties += [NSRelationshipDescription(name: "artist", destination: person, toMany: false), tags]
            return NSManagedObjectModel(entities: [album, tag, person])
        case .withoutTags:
            album.properties += [artist]
            return NSManagedObjectModel(entities: [album])
        default:
            album.properties += [artist, tags]
            return NSManagedObjectModel(entities: [album, tag])
        }
    }

    func open(_ newer: Newer?) throws {
        let model = Self.model(newer)
        let isRenamed = newer == .renamed || newer == .remade
        let tags = isRenamed ? "marks" : "tags"
        let resources = model.entities.map { entity in
            let hasTags = entity.relationshipsByName[tags] != nil
            let embeddings = hasTags ? [Endpoint.Embedding(tags, isAlwaysThere: true)] : []
            let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)], embeddings: embeddings)
            return Resource(
                entity.name ?? "", endpoints: [Endpoint("all", embeddings: embeddings), byID],
                saving: .init(lists: hasTags ? [tags] : [], isIdempotent: true))
        }
        backend = ScriptedBackend(model, resources)
        for number in 1...3 {
            var values: [String: ResourceValue] = [isRenamed ? "name" : "title": .init("base \(number)"), "year": 1]
            if newer != .withoutTags { values[tags] = .many([ResourceReference(.integer(1))]) }
            if isRenamed { values["label"] = "Apple" }
            backend.put(isRenamed ? "Record" : "Album", number, values)
        }
        if newer != .withoutTags { for number in 1...2 { backend.put("Tag", number, ["name": .init("tag \(number)")]) } }
        var options = CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 1e12), clock: ManualClock())
        options.sendsAutomatically = false
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addCachedStore(backend, at: place, options: options)
        context = coordinator.context()
    }

    func close() throws { try context.persistentStoreCoordinator?.remove(store) }

    /// An edit of the first album, the deletion of the second one, another tag of the third one, and a new one with a tag and a new tag.
    func edit() throws {
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
            let tags = try context.fetch(fetchRequest("Tag", by: ["name"]))
            for album in albums { _ = album.mutableSetValue(forKey: "tags").count }
            albums[0].setValue("edited", forKey: "title")
            context.delete(albums[1])
            albums[2].mutableSetValue(forKey: "tags").add(tags[1])
            let new = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            new.setValue("new", forKey: "title")
            new.setValue("somebody", forKey: "artist")
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("new tag", forKey: "name")
            new.mutableSetValue(forKey: "tags").addObjects(from: [tags[1], tag])
            tags[0].setValue("other tag", forKey: "name")
            try context.save()
        }
    }
}

extension NSMutableSet {
    fileprivate func addObjects(from objects: [NSManagedObject]) { for object in objects { add(object) } }
}

@Suite("Pending changes of a cache of another version") struct CarriedChangesTests {
    @Test(
        "New, changed and deleted objects and lists reach the backend by their new names, in a file that is migrated or made anew",
        arguments: [TwoVersions.Newer.renamed, .remade])
    fileprivate func carried(_ newer: TwoVersions.Newer) async throws {
        let world = try TwoVersions()
        try world.open(nil)
        try world.edit()
        try expect(world.store.pendingCount(), equals: 6)
        try world.close()
        try world.open(newer)
        try expect(world.store.pendingCount(), equals: 6)
        #expect(try world.store.strandedChanges().isEmpty)
        let request = fetchRequest("Record", "name IN {'edited', 'new'}", by: ["name"])
        request.cachePolicy = .cacheOnly
        try expect(world.context.texts(request, "name"), equals: ["edited", "new"])
        try await world.store.sendPending()
        let left = try world.store.pendingChanges()
        #expect(left.isEmpty, "\(left)")
        expect(world.backend.ids("Record").count, equals: 3)
        expect(world.backend.values("Record", 1)?["name"], equals: "edited")
        #expect(world.backend.values("Record", 2) == nil)
        expect(world.backend.values("Record", 3)?["name"], equals: "base 3")
        expect(world.backend.values("Tag", 1)?["name"], equals: "other tag")
        func tags(_ id: ResourceID) -> Set<ResourceID> {
            guard case .many(let tags)? = world.backend.values("Record", id)?["marks"] else { return [] }
            return Set(tags.map(\.id))
        }
        expect(tags(3), equals: [1, 2])
        let new = try #require(world.backend.ids("Record").first { world.backend.values("Record", $0)?["name"] == "new" })
        let newTag = try #require(world.backend.ids("Tag").first { world.backend.values("Tag", $0)?["name"] == "new tag" })
        expect(tags(new), equals: [2, newTag])
        if newer == .renamed { expect(world.backend.values("Record", new)?["label"], equals: "unknown") }
        let names = try FileManager.default.contentsOfDirectory(atPath: world.place.deletingLastPathComponent().path)
        #expect(names.allSatisfy { !$0.contains("-new") }, "\(names)")
        // What was thrown away is read again.
        try expect(world.context.texts(fetchRequest("Record", by: ["name"]), "name"), equals: ["base 3", "edited", "new"])
        try world.close()
    }

    @Test("Changes of an entity that is gone are set aside with their values until they are dropped; all others are sent")
    fileprivate func stranded() async throws {
        let world = try TwoVersions()
        try world.open(nil)
        try world.edit()
        try world.close()
        try world.open(.withoutTags)
        #expect(try world.store.pendingCount() == 3 || world.store.pendingCount() == 4)
        let stranded = try world.store.strandedChanges()
        expect(stranded.map(\.entity), equals: ["Tag", "Tag"])
        expect(Set(stranded.map { $0.values["name"]?.string }), equals: ["new tag", "other tag"])
        expect(stranded.first { $0.kind == .update }?.resourceID, equals: 1)
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.backend.values("Album", 1)?["title"], equals: "edited")
        expect(world.backend.ids("Album").count, equals: 3)
        // Nobody signs out without having decided about them.
        await #expect(throws: NSError.self) { try await world.store.signOut() }
        for change in stranded { try world.store.drop(change) }
        #expect(try world.store.strandedChanges().isEmpty)
        try await world.store.signOut()
    }
}
