import CoreData
import TestSupport
import Testing

@Suite("A fetch") struct FetchTests {
    /// Five saved albums, of the years 2000 to 2004.
    private func withAlbums(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try withMusic { context in
            for number in 0..<5 {
                let album = Album(context: context)
                album.title = "Album \(number)"
                album.year = Int16(2000 + number)
            }
            try context.save()
            try body(context)
        }
    }

    private func request(_ format: String? = nil) -> NSFetchRequest<Album> {
        let request = NSFetchRequest<Album>(entityName: "Album")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
        return request
    }

    @Test("It gives objects, IDs, dictionaries or a count, and they agree")
    func resultTypes() throws {
        try withAlbums { context in
            let objects = try context.fetch(request("year > 2001"))
            expect(objects.map(\.title), equals: ["Album 2", "Album 3", "Album 4"])

            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
            ids.predicate = NSPredicate(format: "year > 2001")
            ids.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
            ids.resultType = .managedObjectIDResultType
            try expect(context.fetch(ids), equals: objects.map(\.objectID))

            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Album")
            dictionaries.predicate = NSPredicate(format: "year > 2001")
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["title"]
            let found = try context.fetch(dictionaries)
            expect(found.map { $0["title"] as? String }, equals: objects.map(\.title))
            expect(found.map(\.count), equals: [1, 1, 1])

            let count = NSFetchRequest<NSNumber>(entityName: "Album")
            count.predicate = NSPredicate(format: "year > 2001")
            count.resultType = .countResultType
            try expect(context.fetch(count).map(\.intValue), equals: [3])
            try expect(context.count(for: request("year > 2001")), equals: 3)
        }
    }

    @Test("A fetch that asks with the wrong type of result is an error, not a crash")
    func wrongResultType() throws {
        try withAlbums { context in
            let bands = NSFetchRequest<Band>(entityName: "Album")
            expect(failure { _ = try context.fetch(bands) }?.localizedDescription.contains("Album"), equals: true)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
            #expect(failure { _ = try context.fetch(ids) } != nil)
            let anything = try context.fetch(NSFetchRequest<any NSFetchRequestResult>(entityName: "Album"))
            expect(anything.count, equals: 5)
            let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))
            expect(objects.count, equals: 5)
        }
    }

    @Test("A limit gives that many, pages are disjoint and in order, an offset works alone")
    func pages() throws {
        try withAlbums { context in
            for pending in [false, true] {
                if pending { Album(context: context).year = 2005 }
                let total = pending ? 6 : 5
                var titles: [Int16] = []
                for page in 0..<4 {
                    let request = request()
                    request.fetchLimit = 2
                    request.fetchOffset = page * 2
                    let albums = try context.fetch(request)
                    expect(albums.count, equals: max(0, min(2, total - page * 2)))
                    try expect(context.count(for: request), equals: albums.count)
                    titles += albums.map(\.year)
                }
                expect(titles, equals: (0..<total).map { Int16(2000 + $0) })
                let rest = request()
                rest.fetchOffset = 3
                try expect(context.fetch(rest).map(\.year), equals: (3..<total).map { Int16(2000 + $0) })
                rest.fetchOffset = 100
                #expect(try context.fetch(rest).isEmpty)
                try expect(context.count(for: rest), equals: 0)
            }
        }
    }

    @Test("Several sort descriptors count in their order")
    func sorting() throws {
        try withAlbums { context in
            let extra = Album(context: context)
            extra.title = "Album 9"
            extra.year = 2003
            let request = NSFetchRequest<Album>(entityName: "Album")
            request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false), NSSortDescriptor(key: "title", ascending: false)]
            let expected = ["Album 4", "Album 9", "Album 3", "Album 2", "Album 1", "Album 0"]
            try expect(context.fetch(request).map(\.title), equals: expected)
            try context.save()
            try expect(context.fetch(request).map(\.title), equals: expected)
        }
    }

    @Test("It shows what is inserted, edited and deleted here, and the count does too")
    func pendingChanges() throws {
        try withAlbums { context in
            let albums = try context.fetch(request())
            let new = Album(context: context)
            new.year = 2010
            albums[0].year = 2011
            albums[4].year = 1990
            context.delete(albums[3])
            let request = request("year > 2001")
            let found = try context.fetch(request)
            expect(found, equals: [albums[2], new, albums[0]])
            try expect(context.count(for: request), equals: 3)
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Album")
            ids.predicate = request.predicate
            ids.sortDescriptors = request.sortDescriptors
            ids.resultType = .managedObjectIDResultType
            try expect(context.fetch(ids), equals: found.map(\.objectID))
            let count = NSFetchRequest<NSNumber>(entityName: "Album")
            count.predicate = request.predicate
            count.resultType = .countResultType
            try expect(context.fetch(count), equals: [3])
        }
    }

    @Test("It leaves out what is pending where that is asked")
    func withoutPendingChanges() throws {
        try withAlbums { context in
            let albums = try context.fetch(request())
            Album(context: context).year = 2010
            albums[4].year = 1990
            context.delete(albums[3])
            let request = request("year > 2001")
            request.includesPendingChanges = false
            try expect(context.fetch(request), equals: [albums[2], albums[3], albums[4]])
            try expect(context.count(for: request), equals: 3)
        }
    }

    @Test("A limit counts after what is pending has been worked in")
    func limitWithPendingChanges() throws {
        try withAlbums { context in
            let albums = try context.fetch(request())
            context.delete(albums[0])
            albums[1].year = 2020
            let new = Album(context: context)
            new.year = 1999
            let request = request()
            request.fetchLimit = 2
            try expect(context.fetch(request), equals: [new, albums[2]])
            request.fetchOffset = 1
            try expect(context.fetch(request), equals: [albums[2], albums[3]])
            try expect(context.count(for: request), equals: 2)
        }
    }

    @Test("A predicate over a relationship sees unsaved changes of the related objects where the object itself changed")
    func relationshipPredicate() throws {
        try withMusic { context in
            let band = try context.saveBand("Low", albums: ["Trust"])
            let other = Band(context: context)
            other.name = "High"
            let album = try #require(band.albums.first)
            album.band = other
            try expect(context.all(Album.self, "band.name == 'High'"), equals: [album])
            #expect(try context.all(Album.self, "band.name == 'Low'").isEmpty)
            try expect(context.all(Band.self, "ANY albums.title == 'Trust'"), equals: [other])
            try expect(context.all(Band.self, "albums.@count == 0"), equals: [band])
        }
    }

    @Test("Objects and IDs are constants of predicates, unsaved ones too")
    func objectsInPredicates() throws {
        try withMusic { context in
            let low = try context.saveBand("Low", albums: ["Trust"])
            let new = Band(context: context)
            new.name = "New"
            let album = Album(context: context)
            album.band = new
            func titles(_ predicate: NSPredicate) throws -> Set<String> {
                let request = NSFetchRequest<Album>(entityName: "Album")
                request.predicate = predicate
                return Set(try context.fetch(request).map(\.title))
            }
            try expect(titles(NSPredicate(format: "band == %@", low)), equals: ["Trust"])
            try expect(titles(NSPredicate(format: "band == %@", low.objectID)), equals: ["Trust"])
            try expect(titles(NSPredicate(format: "band == %@", new)), equals: ["Untitled"])
            try expect(titles(NSPredicate(format: "SELF == %@", album)), equals: ["Untitled"])
            let temporary = new.objectID
            try context.save()
            try expect(titles(NSPredicate(format: "band == %@", temporary)), equals: ["Untitled"])
        }
    }

    @Test("Subentities are included as their own class unless told otherwise")
    func subentities() throws {
        try withMusic { context in
            for pending in [true, false] {
                if pending {
                    context.insert("Band", ["name": "Low"]).setValue(nil, forKey: "founded")
                    _ = context.insert("Duo", ["name": "Duo", "second": "Two"])
                } else {
                    try context.save()
                }
                let request = NSFetchRequest<Band>(entityName: "Band")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                try expect(context.fetch(request).map(\.entity.name), equals: ["Duo", "Band"])
                try expect(context.count(for: request), equals: 2)
                request.includesSubentities = false
                try expect(context.fetch(request).map(\.name), equals: ["Low"])
                try expect(context.count(for: request), equals: 1)
                try expect(context.all("Duo").count, equals: 1)
            }
        }
    }

    @Test("Distinct dictionaries come once, and page afterwards")
    func distinct() throws {
        try withAlbums { context in
            for album in try context.fetch(request()) { album.year = album.year < 2003 ? 2000 : 2003 }
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Album")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["year"]
            request.returnsDistinctResults = true
            request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
            try expect(context.fetch(request).map { $0["year"] as? Int }, equals: [2000, 2003])
            request.fetchOffset = 1
            try expect(context.fetch(request).map { $0["year"] as? Int }, equals: [2003])
        }
    }

    @Test("An unknown entity, key or format is an error that names it")
    func errors() throws {
        try withAlbums { context in
            let entity = try #require(failure { _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Albumm")) })
            #expect(entity.localizedDescription.contains("Albumm"))
            let key = try #require(failure { _ = try context.fetch(request("colour == 'red'")) })
            #expect(key.localizedDescription.contains("colour"))
            let sort = NSFetchRequest<Album>(entityName: "Album")
            sort.sortDescriptors = [NSSortDescriptor(key: "colour", ascending: true)]
            expect(failure { _ = try context.fetch(sort) }?.localizedDescription.contains("colour"), equals: true)
            #expect(failure { _ = try context.fetch(request("year = = 3")) } != nil)
            #expect(failure { _ = try context.count(for: request("year = = 3")) } != nil)
            _ = Album(context: context)
            #expect(failure { _ = try context.fetch(request("colour == 'red'")) } != nil)
            #expect(failure { _ = try context.fetch(NSFetchRequest<NSManagedObject>()) } != nil)
            let bare = NSManagedObjectContext(.privateQueue)
            bare.performAndWait { #expect(failure { _ = try bare.fetch(request()) } != nil) }
        }
    }

    @Test("A request is left as it was, and can be used again in another context")
    func reuse() throws {
        try withTwoContexts { first, second in
            try first.performAndWait { _ = try first.saveBand("Low", albums: ["Trust"]) }
            let request = request("year == 2001")
            request.fetchLimit = 1
            let ids = try [first, second].map { context in
                try context.performAndWait { () -> NSManagedObjectID? in
                    Album(context: context).year = 2001
                    return try context.fetch(request).first?.objectID
                }
            }
            #expect(ids.allSatisfy { $0 != nil })
            expect(request.fetchLimit, equals: 1)
            expect(request.fetchOffset, equals: 0)
        }
    }

    @Test("A request executes itself on the queue of a context, and nowhere else")
    func execute() throws {
        try withAlbums { _ in
            let albums = try request().execute()
            expect(albums.count, equals: 5)
        }
        #expect(failure { _ = try request().execute() } != nil)
    }

    @Test("Several stores of one coordinator answer as one")
    func severalStores() throws {
        let coordinator = try Music.coordinator()
        let other = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = Music.context(coordinator)
        try context.performAndWait {
            for number in 0..<6 {
                let album = Album(context: context)
                album.year = Int16(number)
                if number % 2 == 0 { context.assign(album, to: other) }
            }
            try context.save()
            let request = request()
            try expect(context.fetch(request).map(\.year), equals: [0, 1, 2, 3, 4, 5])
            request.fetchOffset = 1
            request.fetchLimit = 3
            try expect(context.fetch(request).map(\.year), equals: [1, 2, 3])
            try expect(context.count(for: request), equals: 3)
            let one = NSFetchRequest<Album>(entityName: "Album")
            one.affectedStores = [other]
            expect(Set(try context.fetch(one).map(\.year)), equals: [0, 2, 4])
            #expect(try context.fetch(one).allSatisfy { $0.objectID.persistentStore === other })
        }
    }

    @Test("A sort goes over to-one relationships and by the size of a to-many one, saved or not; a path over many is an error")
    func sortPaths() throws {
        try withMusic { context in
            try context.saveBand("B", albums: ["1"])
            try context.saveBand("A", albums: ["2", "3"])
            try context.saveBand("C")
            for isPending in [false, true] {
                if isPending { Album(context: context).band = try context.all(Band.self, "name == 'C'").first }
                try expect(context.all(Album.self, by: "band.name").compactMap { $0.band?.name }.first, equals: "A")
                let bySize = NSFetchRequest<Band>(entityName: "Band")
                bySize.sortDescriptors = [
                    NSSortDescriptor(key: "albums.@count", ascending: false), NSSortDescriptor(key: "name", ascending: true),
                ]
                let names = try context.fetch(bySize).map(\.name)
                expect(names, equals: ["A", "B", "C"])
            }
            let error = failure { _ = try context.all(Band.self, by: "albums.title") }
            expect(error.map { "\($0)" }?.contains("to-many"), equals: true)
        }
    }
}
