import CoreData
import TestSupport
import Testing

@Suite("A fetch with a predicate and sort descriptors of Swift") struct TranslatedFetchTests {
    /// Albums of three bands, one without a band.
    private func fill(_ context: NSManagedObjectContext) throws {
        for number in 0..<24 {
            let album = Album(context: context)
            album.title = ["Dawn Chorus", "dusk", "Ágætis", "LP5", "noon", "Zoo"][number % 6]
            album.year = Int16(1990 + number % 7)
            album.rating = number % 4 == 0 ? nil : Double(number % 5)
            for index in 0..<(number % 3) {
                let tag = Tag(context: context)
                tag.label = index == 0 ? "new" : nil
                album.tags.insert(tag)
            }
        }
        let albums = try context.all(Album.self)
        for (index, name) in ["Autechre", "Boards", "Clark"].enumerated() {
            let band = Band(context: context)
            band.name = name
            band.founded = index == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(index))
            for (number, album) in albums.enumerated() where number % 4 == index { album.band = band }
        }
        try context.save()
    }

    /// Checks that a fetch, in the store and over unsaved objects, finds what Foundation's own evaluation finds.
    private func check(
        _ predicate: Predicate<Album>, _ format: String, in context: NSManagedObjectContext, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let request = NSFetchRequest<Album>(entityName: "Album")
        request.predicate = NSPredicate(predicate)
        expect(request.predicate?.formatString, equals: format, sourceLocation: location)
        let all = try context.all(Album.self)
        let expected = Set(try all.filter { try predicate.evaluate($0) }.map(\.objectID))
        #expect(!expected.isEmpty && expected.count < all.count, "The albums do not tell the answers apart.", sourceLocation: location)
        expect(Set(try context.fetch(request).map(\.objectID)), equals: expected, sourceLocation: location)
        try expect(context.count(for: request), equals: expected.count, sourceLocation: location)
        expect(Set(try all.filtered(matching: request.predicate!).map(\.objectID)), equals: expected, sourceLocation: location)
    }

    private func checkAll(in context: NSManagedObjectContext) throws {
        try check(#Predicate { $0.year > 1993 && $0.title != "noon" }, "year > 1993 AND title != \"noon\"", in: context)
        try check(#Predicate { $0.title.localizedStandardContains("AW") }, "title CONTAINS[cdl] \"AW\"", in: context)
        try check(#Predicate { $0.rating != 3 }, "rating != 3.0 OR rating == nil", in: context)
        try check(#Predicate { !($0.rating == 3) }, "rating != 3.0 OR rating == nil", in: context)
        try check(#Predicate { ($0.rating ?? 4) > 2 }, "TERNARY(rating != nil, rating, 4.0) > 2.0", in: context)
        try check(#Predicate { $0.band == nil }, "band == nil", in: context)
        try check(#Predicate { $0.band?.name == "Clark" }, "band.name == \"Clark\"", in: context)
        try check(#Predicate { $0.band?.founded == nil }, "band.founded == nil", in: context)
        try check(
            #Predicate { $0.band?.name.starts(with: "B") ?? false }, "band != nil AND band.name BEGINSWITH \"B\"", in: context)
        try check(
            #Predicate { $0.tags.contains { $0.label == "new" } }, "SUBQUERY(tags, $element1, $element1.label == \"new\").@count > 0",
            in: context)
        try check(
            #Predicate { $0.tags.allSatisfy { $0.label == "new" } },
            "SUBQUERY(tags, $element1, $element1.label != \"new\" OR $element1.label == nil).@count == 0", in: context)
        try check(
            #Predicate { $0.tags.filter { $0.label == nil }.count == 1 }, "SUBQUERY(tags, $element1, $element1.label == nil).@count == 1",
            in: context)
        try check(#Predicate { $0.tags.isEmpty }, "tags.@count == 0", in: context)
        try check(#Predicate { $0.tags.count > 1 }, "tags.@count > 1", in: context)
        try check(
            #Predicate { album in album.band?.albums.contains { $0.year > album.year } ?? false },
            "band != nil AND SUBQUERY(band.albums, $element1, $element1.year > year).@count > 0", in: context)
        let years: Set<Int16> = [1991, 1992]
        try check(#Predicate { years.contains($0.year) }, "year IN {1991, 1992}", in: context)
    }

    @Test("finds in the store, and among unsaved objects, what the predicate itself finds")
    func differential() throws {
        try withMusic { context in
            try fill(context)
            try checkAll(in: context)
            // Unsaved changes are looked at by the context itself.
            for album in try context.all(Album.self) { album.year += 0 }
            let added = Album(context: context)
            added.title = "Dawn"
            try checkAll(in: context)
        }
    }

    @Test("finds objects by a captured ID")
    func identifiers() throws {
        try withMusic { context in
            try fill(context)
            let band = try #require(try context.all(Band.self).first)
            let id = band.objectID
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.predicate = try NSPredicate(parsing: "band == %@", band)
            let expected = try context.fetch(request).map(\.title).sorted()
            request.predicate = NSPredicate(tree: .compare(.keyPath(["band"]), .equal, .constant(try PropertyValue(any: id))))
            try expect(context.fetch(request).map(\.title).sorted(), equals: expected)
            try expect(KeyPathNames.path(of: \Album.band?.objectID), equals: "band")
        }
    }

    @Test("sorts by key paths in every store, saved or not")
    func sorting() throws {
        try withMusic { context in
            try fill(context)
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.sortDescriptors = [
                NSSortDescriptor(keyPath: \Album.band?.name, ascending: false), NSSortDescriptor(SortDescriptor(\Album.year)),
                NSSortDescriptor(keyPath: \Album.title, ascending: true),
            ]
            let names = NSFetchRequest<Album>(entityName: "Album")
            names.sortDescriptors = [
                NSSortDescriptor(key: "band.name", ascending: false), NSSortDescriptor(key: "year", ascending: true),
                NSSortDescriptor(key: "title", ascending: true),
            ]
            func order(_ request: NSFetchRequest<Album>) throws -> [String] {
                try context.fetch(request).map { "\($0.band?.name ?? "-") \($0.year) \($0.title)" }
            }
            try expect(order(request), equals: order(names))
            Album(context: context).title = "Unsaved"
            try expect(order(request), equals: order(names))
            try expect(
                order(request),
                equals: context.all(Album.self).sorted(using: names.sortDescriptors!).map {
                    "\($0.band?.name ?? "-") \($0.year) \($0.title)"
                })
        }
    }

    @Test("sorts by key paths in an atomic store")
    func atomic() throws {
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.typeName)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(
            ofType: ListStore.typeName, configurationName: nil, at: nil, options: ["disk": FakeDisk()])
        let context = Music.context(coordinator)
        try context.performAndWait {
            try fill(context)
            let request = NSFetchRequest(
                predicate: #Predicate<Album> { $0.year > 1991 }, sortBy: [SortDescriptor(\.title), SortDescriptor(\.year, order: .reverse)])
            let found = try context.fetch(request).map { "\($0.title) \($0.year)" }
            let all = try context.all(Album.self).filter { $0.year > 1991 }
            let expected = all.sorted { ($0.title, -$0.year) < ($1.title, -$1.year) }.map { "\($0.title) \($0.year)" }
            expect(found, equals: expected)
            let descriptors = [
                NSSortDescriptor(keyPath: \Album.title, ascending: true), NSSortDescriptor(keyPath: \Album.year, ascending: false),
            ]
            request.sortDescriptors = descriptors
            try expect(context.fetch(request).map { "\($0.title) \($0.year)" }, equals: expected)
        }
    }

    @Test("asks for the entity of its class when it is made from a predicate")
    func convenience() throws {
        try withMusic { context in
            try fill(context)
            try expect(context.fetch(NSFetchRequest<Band>(predicate: #Predicate<Band> { $0.name == "Clark" })).count, equals: 1)
            let sorted = try context.fetch(NSFetchRequest<Band>(sortBy: [SortDescriptor(\.name, order: .reverse)]))
            expect(sorted.map(\.name), equals: ["Clark", "Boards", "Autechre"])
        }
    }

    @Test("fails with an error that shows what has no translation, and never fetches everything")
    func untranslatable() throws {
        try withMusic { context in
            try fill(context)
            let request = NSFetchRequest(predicate: #Predicate<Album> { $0.title.first == nil })
            #expect(request.predicate != nil)
            let error = #expect(throws: InvalidPredicateError.self) { try context.fetch(request) }
            expect(error?.message.contains("`$0.title.first`"), equals: true)
            #expect(throws: InvalidPredicateError.self) { try context.count(for: request) }
        }
    }

    @Test("fails with an error when it is sorted by a key path that names no property")
    func unsortable() throws {
        try withMusic { context in
            try fill(context)
            let request = NSFetchRequest<Album>(entityName: "Album")
            for descriptor in [
                NSSortDescriptor(keyPath: \Album.title.count, ascending: true),
                NSSortDescriptor(keyPath: \Album.isFault.description, ascending: true),
            ] {
                request.sortDescriptors = [descriptor]
                let error = #expect(throws: InvalidPredicateError.self) { try context.fetch(request) }
                expect(error?.kind, equals: .unknownKeyPath)
            }
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Album.tags, ascending: true)]
            #expect(throws: InvalidPredicateError.self) { try context.fetch(request) }
        }
    }
}
