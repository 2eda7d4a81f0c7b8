import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Objects of several backends") struct CombinedReadingTests {
    private func described(_ objects: [NSManagedObject]) -> [String] {
        objects.map { object in
            ["email", "name", "phone", "revenue"].map { object.value(forKey: $0).map { "\($0)" } ?? "-" }.joined(separator: " ")
        }
    }

    @Test("Rows with one identity are one object, and an object that one part has is one, too")
    func union() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let found = try context.fetch(fetchRequest("Contact", by: ["email"]))
            expect(
                described(found), equals: ["ann@a.example Ann +49 1 100", "bob@a.example Bob +44 2 -", "carl@a.example - - 7"])
            #expect(found[0].objectID.uriRepresentation().lastPathComponent.hasSuffix("ann@a.example"))
            expect(world.taken(), equals: ["book Contact find", "sales Contact find"])
            try expect(context.count(for: fetchRequest("Contact")), equals: 3)
            let second = try context.fetch(fetchRequest("Contact", by: ["-email"], limit: 1, offset: 1))
            expect(described(second), equals: ["bob@a.example Bob +44 2 -"])
        }
    }

    @Test("A predicate over one part's properties is asked of that part, and what the other has comes by one request for all objects")
    func pushedPredicate() throws {
        let world = try AddressWorld()
        world.book.put("Contact", 3, ["email": "dora@a.example", "name": "Dora", "phone": "+49 3"])
        let context = try world.context()
        try context.performAndWait {
            let request = fetchRequest("Contact", "phone BEGINSWITH '+49'", by: ["name"])
            let found = try context.fetch(request)
            expect(found.map { $0.value(forKey: "name") as? String }, equals: ["Ann", "Dora"])
            expect(world.taken(), equals: ["book Contact find"])
            expect(found.map { $0.value(forKey: "revenue") as? Int }, equals: [100, nil])
            // The one that sales does not have is looked for in the book: it might be gone from there, too.
            expect(world.taken(), equals: ["book Contact find", "sales Contact find"])
            try expect(described(context.fetch(fetchRequest("Contact", "revenue > 50"))), equals: ["ann@a.example Ann +49 1 100"])
        }
    }

    @Test(
        "What no part can say of all objects is finished in memory, never left out",
        arguments: [
            ("revenue == nil", ["bob@a.example"]), ("phone == nil", ["carl@a.example"]),
            ("NOT (revenue > 50)", ["carl@a.example"]),
            ("phone BEGINSWITH '+44' OR revenue < 50", ["bob@a.example", "carl@a.example"]),
            ("phone BEGINSWITH '+49' AND revenue == 100", ["ann@a.example"]),
            ("phone BEGINSWITH '+49' AND revenue == nil", []), ("name != 'Ann'", ["bob@a.example"]),
            ("email == 'carl@a.example'", ["carl@a.example"]),
            ("email IN {'carl@a.example', 'bob@a.example', 'nobody@a.example'}", ["bob@a.example", "carl@a.example"]),
            ("deals.@count > 0", ["ann@a.example", "carl@a.example"]), ("ANY deals.title == 'Piano'", ["ann@a.example"]),
        ]) func unpushedPredicate(format: String, expected: [String]) throws
    {
        let world = try AddressWorld()
        let context = try world.context()
        try expect(context.texts(fetchRequest("Contact", format, by: ["email"]), "email"), equals: expected)
        try expect(context.performAndWait { try context.count(for: fetchRequest("Contact", format)) }, equals: expected.count)
    }

    @Test("A relationship to a shared object leads to the one object, though the part calls it otherwise")
    func references() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let deals = try context.fetch(fetchRequest("Deal", by: ["title"]))
            let contacts = deals.map { $0.value(forKey: "contact") as? NSManagedObject }
            expect(contacts.map { $0?.value(forKey: "email") as? String }, equals: ["carl@a.example", "ann@a.example"])
            expect(contacts.map { $0?.value(forKey: "name") as? String }, equals: [nil, "Ann"])
            let ann = try #require(try context.fetch(fetchRequest("Contact", "name == 'Ann'")).first)
            #expect(ann === contacts[1])
            try expect(context.texts(fetchRequest("Deal", "contact == %@", [ann])), equals: ["Piano"])
            let bob = try #require(try context.fetch(fetchRequest("Contact", "name == 'Bob'")).first)
            expect((bob.value(forKey: "deals") as? Set<NSManagedObject>)?.isEmpty, equals: true)
            #expect(try context.fetch(fetchRequest("Deal", "contact == %@", [bob])).isEmpty)
        }
    }

    @Test("An object that every part has lost does not exist, and one that a part has lost stays with the rest")
    func deletedByOthers() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let found = try context.fetch(fetchRequest("Contact", by: ["email"]))
            world.sales.remove("Contact", 12)
            world.book.remove("Contact", 2)
            for object in found { context.refresh(object, mergeChanges: false) }
            expect(described([found[0], found[2]]), equals: ["ann@a.example Ann +49 1 -", "carl@a.example - - 7"])
            #expect(throws: (any Error).self) { try context.existingObject(with: found[1].objectID) }
        }
    }

    @Test("A row without an identity is reported and left out, as is the second of two with the same one in a part")
    func withoutIdentity() throws {
        let world = try AddressWorld()
        world.book.put("Contact", 4, ["name": "Nobody"])
        world.book.put("Contact", 5, ["email": "bob@a.example", "name": "Robert"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AddressWorld.model())
        let reported = Guarded<[String]>([])
        var options = RemoteStoreOptions()
        options.didFindUnreadable = { resource in reported.withValue { $0.append("\(resource)") } }
        try coordinator.addRemoteStore(world.backend, options: options)
        let names = try coordinator.context().texts(fetchRequest("Contact", by: ["email"]), "name")
        expect(names, equals: ["Ann", "Bob", "nil"])
        let all = reported.withValue { $0 }
        expect(all.count, equals: 2)
        #expect(all.contains { $0.contains("“email”") } && all.contains { $0.contains("the identity of 2") })
    }

    @Test("What a part changes reaches the object, and what one part removes is gone only where no other has it")
    func changes() async throws {
        let world = try AddressWorld(isFilled: false, identifiesAlike: true)
        #expect(!world.backend.hasChangeFeed)
        for (part, values) in [(world.book, ["name": "Ann"] as [String: ResourceValue]), (world.sales, ["revenue": 100])] {
            part.setChangeFeed()
            for email in ["ann@a.example", "bob@a.example"] { part.put("Contact", email, values.merging(["email": .init(email)]) { $1 }) }
        }
        #expect(world.backend.hasChangeFeed)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: AddressWorld.model())
        let store = try coordinator.addRemoteStore(world.backend)
        let context = coordinator.context()
        let first = try await coordinator.mergeRemoteChanges(of: store)
        #expect(first.isWhole && first.updatedObjectIDs.isEmpty)
        let found = try await context.perform {
            let found = try context.fetch(fetchRequest("Contact", by: ["email"]))
            expect(found.count, equals: 2)
            return QueueValue(found)
        }
        world.sales.change("Contact", "ann@a.example", ["revenue": 7])
        world.book.remove("Contact", "ann@a.example")
        for part in [world.book, world.sales] { part.remove("Contact", "bob@a.example") }
        world.sales.put("Contact", "carl@a.example", ["email": "carl@a.example", "revenue": 3])
        world.sales.put("Deal", 5, ["title": "Piano", "contact": .one("ann@a.example")])
        let changes = try await coordinator.mergeRemoteChanges(of: store, into: [context])
        func names(_ ids: [NSManagedObjectID]) -> [String] { ids.map { $0.uriRepresentation().lastPathComponent }.sorted() }
        #expect(names(changes.updatedObjectIDs).count == 1 && names(changes.deletedObjectIDs).count == 1)
        expect(names(changes.insertedObjectIDs).count, equals: 2)
        await context.perform {
            #expect(found.value[0].value(forKey: "name") == nil)
            expect(found.value[0].value(forKey: "revenue") as? Int, equals: 7)
        }
        world.book.expireChangeTokens()
        world.sales.change("Contact", "ann@a.example", ["revenue": 8])
        #expect(try await coordinator.mergeRemoteChanges(of: store, into: [context]).isWhole)
        await context.perform { expect(found.value[0].value(forKey: "revenue") as? Int, equals: 8) }
        #expect(!(try AddressWorld().backend.hasChangeFeed))
    }

    @Test("A value of every kind is read, saved and compared as the part has it") func kinds() throws {
        let thing = NSEntityDescription(name: "Thing")
        let values: [(String, NSAttributeDescription.AttributeType, ResourceValue, AnyHashable)] = [
            ("flag", .boolean, true, 1), ("small", .integer16, 12, Int16(12)), ("medium", .integer32, 70_000, Int32(70_000)),
            ("large", .integer64, .init(Int64.max), Int64.max), ("real", .double, 0.1, 0.1), ("single", .float, 0.5, Float(0.5)),
            ("exact", .decimal, .init(Decimal(string: "0.1")), Decimal(string: "0.1")!), ("text", .string, "Ą", "Ą"),
            ("moment", .date, .init(Date(timeIntervalSinceReferenceDate: 0.25)), Date(timeIntervalSinceReferenceDate: 0.25)),
            ("bytes", .binaryData, .init(Data([0, 255])), Data([0, 255])),
            ("link", .uri, .init(URL(string: "https://a.example")), URL(string: "https://a.example")!),
        ]
        thing.properties =
            values.map { NSAttributeDescription(name: $0.0, type: $0.1) } + [
                NSAttributeDescription(name: "number", type: .integer64), NSAttributeDescription(name: "other", type: .string),
            ]
        let model = NSManagedObjectModel(entities: [thing])
        let resource = Resource(
            "Thing",
            endpoints: [Endpoint("list", parameters: [Parameter("number", operators: .equality, maximumValues: 9)])], saving: .init())
        let (first, second) = (ScriptedBackend(model, [resource]), ScriptedBackend(model, [resource]))
        first.put("Thing", "a", Dictionary(values.map { ($0.0, $0.2) } + [("number", 1)]) { $1 })
        second.put("Thing", "b", ["number": 1, "other": "here"])
        let backend = try CombinedBackend(
            model, at: URL(string: "things:all")!,
            [
                .init("first", first, [.init("Thing", by: "number", Set(values.map(\.0)))]),
                .init("second", second, [.init("Thing", by: "number", ["other"])]),
            ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        let context = coordinator.context()
        try context.performAndWait {
            let object = try #require(try context.fetch(fetchRequest("Thing", "other == 'here'")).first)
            let copy = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            copy.setValue(2, forKey: "number")
            for (name, _, _, value) in values {
                let known = object.value(forKey: name)
                let shown = known.map { ($0 as? NSDecimalNumber)?.decimalValue ?? $0 } as? AnyHashable
                expect(shown.map { "\($0)" }, equals: "\(value)", "\(name)")
                copy.setValue(known, forKey: name)
            }
            try context.save()
            object.setValue("there", forKey: "other")
            try context.save()
        }
        let made = try #require(first.ids("Thing").last.flatMap { first.values("Thing", $0) })
        for (name, _, value, _) in values { expect(made[name], equals: value, "\(name)") }
        #expect(first.saves.count == 1 && second.saves.map { $0.map(\.values) } == [[["other": "there"]]])
    }

    @Test("A part that cannot be reached fails the fetch that needs it, and no other")
    func unreachable() throws {
        let world = try AddressWorld()
        world.sales.script { _ in .fail(ServiceFailure("sales is down")) }
        let context = try world.context()
        try expect(context.texts(fetchRequest("Contact", "phone BEGINSWITH '+'", by: ["name"]), "name"), equals: ["Ann", "Bob"])
        #expect(throws: ServiceFailure.self) { try context.texts(fetchRequest("Contact"), "name") }
    }

    @Test("A part with every object does all that it can do for the whole")
    func hasAll() throws {
        let model = AddressWorld.model()
        let world = try AddressWorld()
        let people = ScriptedBackend(
            model,
            [
                Resource(
                    "Contact",
                    endpoints: [
                        Endpoint(
                            "find", parameters: ["name", "phone", "email"].map { Parameter($0, operators: .all, maximumValues: 50) },
                            logic: .tree, sorting: .by("name"), paging: .pages(of: 2, takesLimit: true), counts: true),
                        Endpoint("read", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)]),
                    ])
            ])
        for (number, name) in ["Ann", "Bob", "Carl"].enumerated() {
            people.put(
                "Contact", ResourceID.string("\(name.lowercased())@a.example"),
                ["email": .init("\(name.lowercased())@a.example"), "name": .init(name), "phone": .init(number == 2 ? nil : "+\(number)")])
        }
        let backend = try CombinedBackend(
            model, at: URL(string: "contacts:all")!,
            [
                .init("people", people, [.init("Contact", by: "email", ["name", "phone"], identifiesAlike: true, hasAll: true)]),
                .init("sales", world.sales, [.init("Contact", by: "email", ["revenue", "deals"])]),
            ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addRemoteStore(backend)
        let context = coordinator.context()
        try context.performAndWait {
            try expect(context.count(for: fetchRequest("Contact", "NOT (phone == '+0')")), equals: 1)
            #expect(people.requests.count == 1 && world.sales.requests.isEmpty)
            let found = try context.fetch(fetchRequest("Contact", "phone == nil OR name == 'Ann'", by: ["name"]))
            expect(found.map { $0.value(forKey: "name") as? String }, equals: ["Ann", "Carl"])
            #expect(world.sales.requests.isEmpty)
            expect(found.map { $0.value(forKey: "revenue") as? Int }, equals: [100, 7])
            expect(world.sales.requests.count, equals: 1)
        }
    }

    @Test("A description that does not fit is an error that says what to do")
    func descriptions() throws {
        let model = AddressWorld.model()
        let saving = Resource.Saving()
        let book = ScriptedBackend(model, [AddressWorld.contacts(["name", "phone"], saving: saving)])
        let other = ScriptedBackend(model, [AddressWorld.contacts(["revenue"], saving: saving)])
        func message(_ first: CombinedBackend.Share?, _ second: CombinedBackend.Share?) -> String {
            do {
                let parts = [("book", book, first), ("other", other, second)]
                _ = try CombinedBackend(
                    model, at: URL(string: "x:y")!, parts.map { .init($0.0, $0.1, $0.2.map { [$0] } ?? []) })
                return ""
            } catch { return (error as NSError).code == NSPersistentStoreOpenError ? error.localizedDescription : "\(error)" }
        }
        let plain = CombinedBackend.Share("Contact", by: "email", ["name", "phone"])
        expect(message(plain, .init("Contact", by: "email", ["revenue"])), equals: "")
        let twice = message(plain, .init("Contact", by: "email", ["revenue", "phone"]))
        #expect(twice.contains("“phone” of “Contact” is in “book” and in “other”"))
        #expect(message(plain, .init("Contact", by: "email", ["turnover"])).contains("“turnover”"))
        #expect(message(plain, .init("Contact", by: "deals", ["revenue"])).contains("“deals” is not the identity"))
        #expect(message(plain, .init("Contact", by: "email", [])).contains("No part has “revenue”"))
        #expect(message(plain, nil).contains("“other” describes “Contact”, and has no share of it"))
        #expect(message(nil, nil).contains("described by “book” and by “other”"))
    }
}
