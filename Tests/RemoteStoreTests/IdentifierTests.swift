import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Identifiers") struct IdentifierTests {
    private static let all: [ResourceID] = [
        7, -1, "seven", "7", "(", "~", "~(x", "", "ü/ /?#%", "e\u{301}", .uuid(UUID()), .composite([1, "a;b", .composite([2]), ")"]),
        .composite([]), .composite(["\u{301};", 3]), .string(UUID().uuidString), "(i1;)",
    ]

    @Test("Every form survives as the URI of an object ID, also for another coordinator")
    func uris() throws {
        let model = Shop.model()
        let backend = ScriptedBackend(model, [Resource("Tag", endpoints: [Endpoint("all")])])
        for (index, id) in Self.all.enumerated() { backend.put("Tag", id, ["label": .value(.string("\(index)"))]) }
        let context = try backend.context(model)
        let uris = try context.performAndWait {
            let tags = try context.fetch(fetchRequest("Tag"))
            return Dictionary(
                uniqueKeysWithValues: tags.map { ($0.value(forKey: "label") as? String ?? "", $0.objectID.uriRepresentation()) })
        }
        expect(Set(uris.values).count, equals: Self.all.count)
        let other = try backend.context(Shop.model())
        for (label, uri) in uris {
            let found = try other.performAndWait { () throws -> String? in
                let id = try #require(other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
                return try other.existingObject(with: id).value(forKey: "label") as? String
            }
            expect(found, equals: label)
        }
    }

    @Test("Identifiers that differ by case, or that are canonically equal, are objects of their own, also when one of them is gone")
    func twins() throws {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let backend = ScriptedBackend(Shop.model(), [Resource("Tag", endpoints: [Endpoint("all"), byID])])
        let ids: [ResourceID] = ["\u{e9}", "e\u{301}", "Ab", "aB"]
        for (index, id) in ids.enumerated() { backend.put("Tag", id, ["label": .value(.string("\(index)"))]) }
        let context = try backend.context(Shop.model())
        try context.performAndWait {
            let tags = try context.fetch(fetchRequest("Tag"))
            let byLabel = Dictionary(uniqueKeysWithValues: tags.map { ($0.value(forKey: "label") as? String ?? "", $0) })
            expect(byLabel.count, equals: 4)
            context.refreshAllObjects()
            let batch: NSFetchRequest<NSManagedObject> = fetchRequest("Tag")
            batch.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [tags])
            batch.returnsObjectsAsFaults = false
            try expect(Set(context.fetch(batch).map { $0.value(forKey: "label") as? String }), equals: ["0", "1", "2", "3"])
            backend.remove("Tag", ids[3])
            context.refreshAllObjects()
            // Faults of one fetch are read together: the one that is gone is asked for beside the one that is alike.
            let labels = try (0..<3).map { try #require(byLabel["\($0)"]).value(forKey: "label") as? String }
            expect(labels, equals: ["0", "1", "2"])
            let id = try #require(byLabel["3"]).objectID
            let error = try #require(failure { _ = try context.existingObject(with: id) })
            expect(error.code, equals: NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test("Values are made of optionals, and changes by hand for tests of a backend")
    func madeByHand() {
        let day: Date? = nil
        #expect(ResourceValue(day) == nil && ResourceValue("x" as String?) == "x" && ResourceValue(7 as Int?) == 7)
        let change = BackendChange(.update, "Album", id: 1, ["title": .init("Help!")], lists: ["tags": .init(added: [2])])
        #expect(change.changedProperties == ["title", "tags"] && change.id == 1 && change.values["title"]?.string == "Help!")
    }

    @Test("Values of other types identify resources")
    func ownTypes() {
        struct Slug: ResourceIdentifier {
            var text: String
            init(text: String) { self.text = text }
            init?(resourceID: ResourceID) {
                guard let text: String = resourceID.as() else { return nil }
                self.init(text: text)
            }
            var resourceID: ResourceID { .string(text) }
        }
        expect(ResourceID(Slug(text: "abbey-road")), equals: "abbey-road")
        expect(ResourceID("abbey-road").as(Slug.self)?.text, equals: "abbey-road")
        #expect(ResourceID(5).as(Slug.self) == nil)
        expect(ResourceID(5).as(Int.self), equals: 5)
    }

    @Test("A description that does not fit the model is an error that names the property")
    func wrongDescriptions() throws {
        let cases: [(Resource, String)] = [
            (Resource("Nope", endpoints: []), "Nope"),
            (Resource("Album", endpoints: [Endpoint("all", parameters: [Parameter("nope")])]), "nope"),
            (Resource("Album", endpoints: [Endpoint("all", sorting: .by("band.nope"))]), "band.nope"),
            (Resource("Album", endpoints: [Endpoint("all", embeddings: [.init("nope")])]), "nope"),
            (Resource("Album", endpoints: [Endpoint("all"), Endpoint("all")]), "all"),
            (Resource("Album", endpoints: [], saving: .init(identity: .attribute("nope"))), "nope"),
        ]
        for (resource, name) in cases {
            let model = Shop.model()
            let error = try #require(failure { _ = try ScriptedBackend(model, [resource]).context(model) })
            expect(error.code, equals: NSPersistentStoreOpenError)
            #expect(error.localizedDescription.contains(name))
        }
    }
}
