internal import CoreData
import Testing

@testable import Catalogue
@testable import Library

struct KeptClassesTests {
    private let context: NSManagedObjectContext

    init() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.make())
        // Some transformable values here could not be archived, as a SQLite store would.
        container.persistentStoreDescriptions.first?.type = NSInMemoryStoreType
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        context = container.newBackgroundContext()
    }

    @Test("Properties of an open class are read and written, also through key paths and in a subclass that overrides one")
    func inPlace() throws {
        try context.performAndWait {
            let band = Band(context: context)
            band.name = "Ebb"
            band.nickname = "Tides"
            band.members = 4
            band[keyPath: \.members] += 1
            band.genre = .folk
            band.secondGenre = .rock
            band.origin = Artist.Origin(city: "Oslo")
            band.visit()
            band.visit()
            let artist: Artist = band
            #expect(artist.nickname == "The Tides")
            #expect(band.members == 5)
            #expect(band.genre == .folk && band.secondGenre == .rock)
            #expect(band.origin?.city == "Oslo")
            #expect(band.visits == 2)
            band.secondGenre = nil
            band.nickname = nil
            #expect(band.secondGenre == nil && band.nickname == nil)
            band.setValue(99, forKey: "secondGenre")
            #expect(band.secondGenre == nil, "what is stored is not a case")
            band.setValue(nil, forKey: "secondGenre")
            #expect(try KeyPathNames.path(of: \Artist.genre) == "genre")
            #expect(try KeyPathNames.path(of: \Artist.secondGenre) == "secondGenre")
            try context.save()
            context.reset()
            let request = NSFetchRequest<Artist>(entityName: "Band")
            request.predicate = NSPredicate(format: "genre == %d AND members == 5", Artist.Genre.folk.rawValue)
            let found = try context.fetch(request)
            #expect(found.map(\.name) == ["Ebb"])
            #expect(found.first is Band)
            #expect(NSSortDescriptor(keyPath: \Artist.name, ascending: true).key == "name")
        }
    }

    @Test("A primitive property reads and sets what is stored under the property behind it")
    func primitive() {
        context.performAndWait {
            let artist = Artist(context: context)
            artist.name = "before"
            #expect(artist.storedName == "before")
            artist.storedName = "after"
            #expect(artist.name == "after")
        }
    }

    @Test("To-many relationships are sets of either kind, and methods change them and their inverses")
    func toMany() {
        context.performAndWait {
            let artist = Artist(context: context)
            let labels = (0..<3).map { index in
                let label = Label(context: context)
                label.title = "label \(index)"
                label.secret = index
                return label
            }
            artist.addToLabels(labels[0])
            artist.labels.formUnion(labels)
            #expect(Set(artist.labels.map(\.secret)) == [0, 1, 2])
            #expect(labels[1].artists == NSSet(object: artist))
            artist.removeFromLabels([labels[0], labels[1]])
            #expect(artist.labels == [labels[2]])
            labels[0].artists = NSSet(object: artist)
            #expect(artist.labels == [labels[0], labels[2]])
        }
    }

    @Test("Every type that an attribute can have keeps its value over a save")
    func types() throws {
        try context.performAndWait {
            let specimen = Specimen(context: context)
            let identifier = UUID()
            let address = try #require(URL(string: "https://example.org/a"))
            specimen.flag = true
            specimen.small = -7
            specimen.middle = 70_000
            specimen.large = .max
            specimen.number = 12
            specimen.real = 0.5
            specimen.float = 0.25
            specimen.text = "text"
            specimen.date = Date(timeIntervalSinceReferenceDate: 77)
            specimen.data = Data([1, 2])
            specimen.identifier = identifier
            specimen.address = address
            specimen.decimal = 12.5
            specimen.optionalText = "text"
            specimen.boxedNumber = 1.5
            specimen.boxedDecimal = NSDecimalNumber(string: "0.1")
            specimen.boxedText = "boxed"
            specimen.boxedDate = NSDate(timeIntervalSinceReferenceDate: 78)
            specimen.boxedData = NSData(data: Data([3]))
            specimen.boxedIdentifier = NSUUID(uuidString: identifier.uuidString)
            specimen.boxedAddress = NSURL(string: "https://example.org/b")
            specimen.words = ["a", "b"]
            specimen.counts = ["a": 1]
            specimen.list = NSArray(array: [1, "x"])
            specimen.table = NSDictionary(dictionary: ["k": 2])
            specimen.object = NSNumber(value: 9)
            specimen.anything = "anything"
            specimen.style = Style(width: 3)
            try context.save()
            context.reset()

            let found = try #require(try context.fetch(NSFetchRequest<Specimen>(entityName: "Specimen")).first)
            #expect(found.flag && found.small == -7 && found.middle == 70_000 && found.large == .max && found.number == 12)
            #expect(found.real == 0.5 && found.float == 0.25 && found.text == "text")
            #expect(found.date == Date(timeIntervalSinceReferenceDate: 77) && found.data == Data([1, 2]))
            #expect(found.identifier == identifier && found.address == address && found.decimal == 12.5)
            #expect(found.optionalText == "text" && found.optionalDate == nil)
            #expect(found.boxedNumber == 1.5 && found.boxedDecimal == NSDecimalNumber(string: "0.1") && found.boxedText == "boxed")
            #expect(found.boxedDate == NSDate(timeIntervalSinceReferenceDate: 78) && found.boxedData == NSData(data: Data([3])))
            #expect(found.boxedIdentifier?.uuidString == identifier.uuidString)
            #expect(found.boxedAddress?.absoluteString == "https://example.org/b")
            #expect(found.words == ["a", "b"] && found.counts == ["a": 1])
            #expect(found.list == NSArray(array: [1, "x"]) && found.table == NSDictionary(dictionary: ["k": 2]))
            #expect(found.object == NSNumber(value: 9) && found.anything as? String == "anything" && found.style == Style(width: 3))
            #expect(found.matches == [found])
        }
    }

    @Test("A class of an excluded folder is found by the name that @objc gives it")
    func objectiveCName() throws {
        try context.performAndWait {
            let album = Album(context: context)
            album.title = "Low Water"
            album.rating = 5
            album.format = .disc
            album.artist = Artist(context: context)
            album.artist?.name = "Ebb"
            #expect(album.shoutedTitle == "LOW WATER")
            try context.save()
            context.reset()
            let request: NSFetchRequest<Album> = Album.fetchRequest()
            request.predicate = NSPredicate(format: "%K == %@", Album.artistNameKey, "Ebb")
            let found = try #require(try context.fetch(request).first)
            #expect(found.format == .disc && found.rating == 5)
            #expect(found.id == found.objectID)
        }
    }

    @Test("The methods that Xcode generates for an ordered relationship do what they say")
    func ordered() {
        context.performAndWait {
            let album = Album(context: context)
            let tracks = (0..<5).map { index in
                let track = Track(context: context)
                track.title = "\(index)"
                track.seconds += 10
                return track
            }
            let titles = { (album.tracks?.array as? [Track] ?? []).map(\.title).joined() }
            album.addToTracks(tracks[0])
            album.insertIntoTracks(tracks[1], at: 0)
            album.addToTracks(NSOrderedSet(array: [tracks[2], tracks[3]]))
            #expect(titles() == "1023")
            album.removeFromTracks(at: 1)
            #expect(titles() == "123" && tracks[0].album == nil)
            album.replaceTracks(at: 0, with: tracks[4])
            #expect(titles() == "423" && tracks[4].album === album)
            album.insertIntoTracks([tracks[0], tracks[1]], at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)))
            #expect(titles() == "40123")
            album.replaceTracks(at: NSIndexSet(index: 0), with: [tracks[4]])
            album.removeFromTracks(at: NSIndexSet(index: 4))
            album.removeFromTracks(tracks[0])
            album.removeFromTracks(NSOrderedSet(array: [tracks[1]]))
            #expect(titles() == "42")
        }
    }

    @Test("A class beside the folder has properties of its types and of other modules' types, and a module extends classes of another")
    func acrossModules() {
        context.performAndWait {
            let review = Review(context: context)
            review.verdict = .bad
            review.artist = Artist(context: context)
            review.album = Album(context: context)
            review.artist?.name = "Ebb"
            review.album?.title = "Low Water"
            #expect(review.value(forKey: "verdict") as? String == "bad")
            #expect(review.verdict == .bad && review.artist?.name == "Ebb" && review.album?.title == "Low Water")
            #expect(review.tell("quiet") == "quiet!")
            review.verdict = .good
            review.turn()
            #expect(review.verdict == .bad)
            review.turn()
            #expect(review.value(forKey: "verdict") == nil)
            let label = Label(context: context)
            label.address = URL(string: "https://example.org")
            #expect(label.address?.host() == "example.org")
        }
    }

    @Test("Messages and the debugger show the original file and line")
    func place() {
        context.performAndWait {
            let (file, line) = Track(context: context).whereThisStands()
            #expect(file == "Library/Track.swift")
            #expect(line == 10)
        }
    }
}
