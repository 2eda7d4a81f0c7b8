#if Macros
import CoreDataMacros
import Testing

/// Objects of classes that declare their entities, in the in-memory store.
struct DeclaredObjectTests {
    /// One for all tests: which entity a class has is asked of the models that are loaded.
    private static let model = Result { try NSManagedObjectModel(for: Album.self, Leaf.self) }

    private func with<Answer>(_ body: (NSManagedObjectContext) throws -> Answer) throws -> Answer {
        let container = NSPersistentContainer(name: "Music", managedObjectModel: try Self.model.get())
        container.persistentStoreDescriptions.first?.type = NSInMemoryStoreType
        var opening: (any Error)?
        container.loadPersistentStores { opening = $1 }
        if let opening { throw opening }
        let context = container.newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    private func album(_ title: String, in context: NSManagedObjectContext) -> Album {
        let band = Band(context: context)
        band.name = "Boards"
        let album = Album(context: context)
        album.title = title
        album.band = band
        return album
    }

    @Test func aNewObjectHasTheDefaultsOfItsClass() throws {
        try with { context in
            let album = Album(context: context)
            #expect(album.title == "Untitled")
            #expect(album.year == 2000)
            #expect(album.genre == .folk)
            #expect(album.mood == nil)
            #expect(album.reviews == [])
            #expect(album.plays == 0)
            #expect(album.added == Date(timeIntervalSinceReferenceDate: 0))
            #expect(album.tracks == [])
            #expect(album.cache == 7)
        }
    }

    @Test func valuesOfEveryKindAreSavedAndReadBack() throws {
        try with { context in
            let album = album("Low Water", in: context)
            album.genre = .rock
            album.mood = .folk
            album.price = 12
            album.reviews = [Review(text: "fine", stars: 4)]
            album.best = album.reviews[0]
            album.tags = ["live"]
            album.cover = Data([1, 2])
            album.shop = Address(city: "Gent", number: 7, genre: .rock)
            album.isPlaying = true
            album.player = 42
            try context.save()
            context.reset()
            let read = try #require(try context.fetch(Album.fetchRequest()).first)
            #expect(read !== album)
            #expect(read.title == "Low Water")
            #expect(read.genre == .rock)
            #expect(read.mood == .folk)
            #expect(read.price == 12)
            #expect(read.reviews == [Review(text: "fine", stars: 4)])
            #expect(read.best?.stars == 4)
            #expect(read.tags == ["live"])
            #expect(read.cover == Data([1, 2]))
            #expect(read.value(forKey: "image") as? Data == Data([1, 2]))
            #expect(read.shop == Address(city: "Gent", number: 7, genre: .rock))
            #expect(!read.isPlaying)
            #expect(read.player == nil)
            #expect(read.band?.name == "Boards")
        }
    }

    @Test func theMethodsOfAToManyRelationshipKeepTheInverse() throws {
        try with { context in
            let album = album("Ebb", in: context)
            let tracks = ["a", "b", "c", "d"].map { name in
                let track = Track(context: context)
                track.name = name
                return track
            }
            album.addToTracks([tracks[0], tracks[2]])
            album.insertIntoTracks(tracks[1], at: 1)
            #expect(album.tracks == [tracks[0], tracks[1], tracks[2]])
            #expect(tracks[1].album === album)
            album.replaceTracks(at: 0, with: tracks[3])
            #expect(album.tracks.map(\.name) == ["d", "b", "c"])
            #expect(tracks[0].album == nil)
            album.removeFromTracks(at: 1)
            album.removeFromTracks(tracks[2])
            #expect(album.tracks == [tracks[3]])
            album.tracks = [tracks[2], tracks[1]]
            #expect(tracks.map { $0.album === album } == [false, true, true, false])
            album.addToSingles(Set(tracks))
            album.removeFromSingles(tracks[0])
            #expect(album.singles == Set(tracks[1...]))
            #expect(tracks[0].singleOf == nil)
        }
    }

    @Test func whatTheClassForbidsIsNotSaved() throws {
        try with { context in
            let album = album("Ebb", in: context)
            func code(_ change: () -> Void) -> Int {
                change()
                do { try context.save() } catch { return (error as NSError).code }
                return 0
            }
            #expect(code { album.title = "" } == CocoaError.Code.validationStringTooShort.rawValue)
            #expect(
                code {
                    album.title = "Ebb"; album.year = 1800
                } == CocoaError.Code.validationNumberTooSmall.rawValue)
            #expect(
                code {
                    album.year = 1999; album.band?.name = "boards"
                } == CocoaError.Code.validationStringPatternMatching.rawValue)
            #expect(
                code {
                    album.band?.name = "Boards"; album.band = nil
                } == CocoaError.Code.validationMissingMandatoryProperty.rawValue)
            #expect(
                code {
                    album.band = Band(context: context); album.band?.name = "B"
                } == 0)
        }
    }

    @Test func predicatesAndSortDescriptorsNameDeclaredProperties() throws {
        try with { context in
            for (number, title) in ["c", "a", "b"].enumerated() {
                let album = album(title, in: context)
                album.year = 1990 + number
                album.genre = number == 1 ? .rock : .folk
            }
            try context.save()
            let request = NSFetchRequest(predicate: #Predicate<Album> { $0.year > 1990 }, sortBy: [SortDescriptor(\.title)])
            #expect(try context.fetch(request).map(\.title) == ["a", "b"])
            let rock: NSFetchRequest<Album> = Album.fetchRequest()
            rock.predicate = NSPredicate(format: "genre == %@", Genre.rock)
            #expect(try context.fetch(rock).map(\.title) == ["a"])
            rock.predicate = NSPredicate(format: "band.name == 'Boards'")
            rock.sortDescriptors = [
                NSSortDescriptor(keyPath: \Album.band?.name, ascending: true), NSSortDescriptor(keyPath: \Album.year, ascending: false),
            ]
            #expect(try context.fetch(rock).map(\.title) == ["b", "a", "c"])
            #expect(try KeyPathNames.path(of: \Album.cover) == "image")
            #expect(try KeyPathNames.path(of: \Album.best) == "best")
            #expect(try KeyPathNames.path(of: \Album.reviews) == "reviews")
            #expect(try KeyPathNames.path(of: \Album.tracks) == "tracks")
            #expect(try KeyPathNames.path(of: \Album.tags) == "tags")
            #expect(try KeyPathNames.path(of: \Album.shop) == "shop")
        }
    }

    @Test func aFetchedPropertyFindsItsObjects() throws {
        try with { context in
            let one = album("a", in: context)
            let other = album("b", in: context)
            album("c", in: context).year = 1950
            try context.save()
            #expect(Set(one.sameYear) == [one, other])
        }
    }

    @Test func dataThatDoesNotDecodeIsAnErrorOfReading() throws {
        try with { context in
            let album = album("a", in: context)
            album.setValue(Data("{".utf8), forKey: "best")
            #expect(album.best == nil)
            let error = #expect(throws: NSError.self) { try context.throwPendingFaultError() }
            #expect(error?.localizedDescription.contains("“Record.best” cannot be read. It holds data that is not JSON of Review.") == true)
        }
    }

    @Test func aValueThatDoesNotEncodeIsRefused() throws {
        try with { context in
            let album = album("a", in: context)
            album.setCodableValue(Double.nan, "best")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.localizedDescription.contains("best") == true)
        }
    }

    @Test func objectsAreIdentifiedByTheirObjectID() throws {
        try with { context in
            let leaf = Leaf(context: context)
            leaf.name = "leaf"
            leaf.rename()
            let node = Node(context: context)
            leaf.parent = node
            #expect(node.children == [leaf])
            #expect(leaf.id == leaf.objectID)
            try context.save()
            #expect(try context.fetch(Node.fetchRequest()).map(\.name).sorted() == ["", "leaf!"])
            #expect(try context.fetch(Leaf.fetchRequest()).map(\.name) == ["leaf!"])
        }
    }

    @Test func aValueForARequiredAttributeIsAskedForBySaving() throws {
        try with { context in
            let band = Band(context: context)
            #expect(band.name == "")
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == CocoaError.Code.validationMissingMandatoryProperty.rawValue)
        }
    }
}
#endif
