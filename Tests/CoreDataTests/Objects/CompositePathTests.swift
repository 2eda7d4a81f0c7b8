import CoreData
import TestSupport
import Testing

/// Key paths that lead into composite attributes.
@Suite("A key path into a composite attribute") struct CompositePathTests {
    private static func model() -> NSManagedObjectModel {
        let address = NSCompositeAttributeDescription(name: "address", type: .composite)
        address.elements = [
            NSAttributeDescription(name: "street", type: .string), NSAttributeDescription(name: "number", type: .integer32),
        ]
        let place = NSCompositeAttributeDescription(name: "place", type: .composite)
        let elements: [(String, NSAttributeDescription.AttributeType)] = [
            ("latitude", .double), ("isOpen", .boolean), ("since", .date), ("rent", .decimal), ("key", .uuid), ("page", .uri),
        ]
        place.elements = elements.map { NSAttributeDescription(name: $0.0, type: $0.1) } + [address]
        let shop = NSEntityDescription(name: "Shop", properties: [NSAttributeDescription(name: "name", type: .string), place])
        let visit = NSEntityDescription(name: "Visit", properties: [NSAttributeDescription(name: "name", type: .string)])
        let shops = NSRelationshipDescription(name: "shops", destination: shop, toMany: true)
        let visits = NSRelationshipDescription(name: "visits", destination: visit, toMany: true)
        let first = NSRelationshipDescription(name: "first", destination: shop)
        shops.inverse(to: visits)
        visit.properties += [shops, first]
        shop.properties += [visits]
        return NSManagedObjectModel(entities: [shop, visit])
    }

    private static let key = UUID()
    private static var values: [String: [String: Any]] {
        [
            "a": [
                "latitude": 52.5, "isOpen": true, "since": Date(timeIntervalSinceReferenceDate: 10), "rent": Decimal(7) / 4, "key": key,
                "page": URL(string: "https://a.example")!, "address": ["street": "Weg", "number": 3] as [String: Any],
            ],
            "b": ["latitude": -3.0, "isOpen": false, "address": ["street": "allee"]], "c": ["latitude": 10.25],
        ]
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        for name in ["a", "b", "c", "d"] { _ = context.insert("Shop", ["name": name, "place": values[name] ?? NSNull()]) }
        let shops = try context.all("Shop")
        for shop in shops {
            let visit = context.insert("Visit", ["name": shop.value(forKey: "name") ?? "", "first": shop])
            visit.setValue(
                Set(shops.filter { "\($0.value(forKey: "name") ?? "")" <= "\(shop.value(forKey: "name") ?? "")" }), forKey: "shops")
        }
    }

    /// Runs `body` over unsaved objects, over the in-memory store, and over SQLite.
    private static func everywhere(_ body: (NSManagedObjectContext, String) throws -> Void) throws {
        let pad = try Scratchpad()
        for form in ["pending", "memory", "SQLite"] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
            try coordinator.addPersistentStore(
                ofType: form == "SQLite" ? NSSQLiteStoreType : NSInMemoryStoreType, configurationName: nil,
                at: form == "SQLite" ? pad.store : nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                try fill(context)
                if form != "pending" {
                    try context.save()
                    context.reset()
                }
                try body(context, form)
            }
        }
    }

    private static func names(_ entity: String, _ format: String, in context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
    }

    @Test("finds the same among unsaved objects, in memory and in SQLite") func predicates() throws {
        let shops: [(String, [String])] = [
            ("place.latitude > 5", ["a", "c"]), ("place.latitude == nil", ["d"]), ("place == nil", ["d"]),
            ("place != nil", ["a", "b", "c"]),
            ("place.isOpen == YES", ["a"]), ("place.isOpen == NO", ["b"]), ("place.isOpen == nil", ["c", "d"]),
            ("place.address.street BEGINSWITH[c] \"A\"", ["b"]), ("place.address.number + 1 == 4", ["a"]),
            ("place.address == nil", ["c", "d"]), ("place.address.number == nil", ["b", "c", "d"]),
            ("place.rent == 1.75", ["a"]), ("place.rent > 1.5 AND place.latitude / 2 > 26", ["a"]),
            ("place.since < CAST(11, \"NSDate\")", ["a"]), ("place.latitude IN {-3, 10.25}", ["b", "c"]),
            ("place.latitude BETWEEN {-4, 11}", ["b", "c"]), ("place.address.street.length == 3", ["a"]),
        ]
        let visits: [(String, [String])] = [
            ("first.place.latitude < 11", ["b", "c"]), ("ANY shops.place.latitude < 0", ["b", "c", "d"]),
            ("ANY shops.place.address.street == \"Weg\"", ["a", "b", "c", "d"]),
            ("SUBQUERY(shops, $s, $s.place.latitude > 5).@count == 2", ["c", "d"]),
        ]
        try Self.everywhere { context, form in
            for (entity, cases) in [("Shop", shops), ("Visit", visits)] {
                for (format, expected) in cases {
                    let found = try Self.names(entity, format, in: context)
                    expect(found, equals: expected, "\(form): \(format)")
                }
            }
        }
    }

    @Test("finds by UUIDs and URLs, and sorts") func constantsAndOrder() throws {
        try Self.everywhere { context, form in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Shop")
            let page = try #require(URL(string: "https://a.example"))
            request.predicate = NSPredicate(format: "place.key == %@ AND place.page == %@", Self.key as NSUUID, page as NSURL)
            let found = try context.fetch(request).map { $0.value(forKey: "name") as? String }
            expect(found, equals: ["a"], "\(form)")
            request.predicate = nil
            request.sortDescriptors = [NSSortDescriptor(key: "place.latitude", ascending: false)]
            let sorted = try context.fetch(request).map { $0.value(forKey: "name") as? String }
            expect(sorted, equals: ["a", "c", "b", "d"], "\(form)")
        }
    }

    @Test("to an element that the model does not have is an error that names it") func unknown() throws {
        try Self.everywhere { context, form in
            let error = try #require(failure { _ = try Self.names("Shop", "place.longitude > 3", in: context) })
            let text = "\(error) \(error.localizedDescription) \(error.localizedFailureReason ?? "")"
            #expect(text.contains("longitude") && text.contains("Shop.place"), "\(form): \(text)")
        }
    }

    @Test("over a value of another type is an error that names the element") func wrongType() throws {
        try Self.everywhere { context, form in
            _ = context.insert("Shop", ["name": "e", "place": ["latitude": "north"]])
            if form != "pending" { try context.save() }
            context.reset()
            if form == "pending" { _ = context.insert("Shop", ["name": "e", "place": ["latitude": "north"]]) }
            let error = try #require(failure { _ = try Self.names("Shop", "place.latitude > 3", in: context) }, "\(form)")
            let text = "\(error) \(error.localizedDescription) \(error.localizedFailureReason ?? "")"
            #expect(text.contains("latitude") && text.contains("north"), "\(form): \(text)")
        }
    }

    @Test("reads and sets one element by key-value coding") func keyValueCoding() throws {
        try Self.everywhere { context, form in
            for shop in try context.all("Shop") {
                let name = try #require(shop.value(forKey: "name") as? String)
                let before = shop.value(forKey: "place") as? [String: Any]
                expect(
                    shop.value(forKeyPath: "place.latitude") as? Double, equals: ["a": 52.5, "b": -3, "c": 10.25][name], "\(form): \(name)")
                shop.setValue("Platz", forKeyPath: "place.address.street")
                expect(shop.value(forKeyPath: "place.address.street") as? String, equals: "Platz")
                expect(shop.value(forKeyPath: "place.address.number") as? Int, equals: (name == "a" ? 3 : nil))
                expect((shop.value(forKey: "place") as? [String: Any])?["latitude"] as? Double, equals: before?["latitude"] as? Double)
                shop.setValue(nil, forKeyPath: "place.address.street")
                #expect(shop.value(forKeyPath: "place.address.street") == nil)
            }
            try context.save()
            context.reset()
            let visit = try #require(try context.all("Visit").first { $0.value(forKey: "name") as? String == "a" })
            expect(visit.value(forKeyPath: "first.place.latitude") as? Double, equals: 52.5, "\(form)")
            visit.setValue(1.5, forKeyPath: "first.place.latitude")
            expect((visit.value(forKeyPath: "shops.place.latitude") as? Set<Double>), equals: [1.5], "\(form)")
        }
    }
}
