import CoreData
import Foundation
import ObjectGraph
import TestSupport

/// A directory that is gone with the test.
final class Pad {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("command") }

    func file(_ name: String) -> URL { scratch.file(name) }
    var store: URL { file("records.sqlite") }

    /// The names of all files below a directory, with their bytes.
    static func contents(of url: URL) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: url.path) {
            let file = url.appendingPathComponent(name)
            contents[name] = (try? Data(contentsOf: file)) ?? Data()
        }
        return contents
    }
}

/// Artists with albums, which have tracks in an order; some albums are live.
enum Records {
    static func model() -> NSManagedObjectModel {
        let artist = NSEntityDescription()
        artist.name = "Artist"
        let album = NSEntityDescription()
        album.name = "Album"
        let live = NSEntityDescription()
        live.name = "LiveAlbum"
        let track = NSEntityDescription()
        track.name = "Track"
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumArtist = NSRelationshipDescription(name: "artist", destination: artist)
        albums.inverse(to: albumArtist)
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        tracks.isOrdered = true
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)
        artist.properties = [NSAttributeDescription(name: "name", type: .string, isOptional: false), albums]
        artist.uniquenessConstraints = [["name"]]
        let cover = NSAttributeDescription(name: "cover", type: .binaryData)
        cover.allowsExternalBinaryDataStorage = true
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer32),
            NSAttributeDescription(name: "released", type: .date), NSAttributeDescription(name: "price", type: .decimal),
            NSAttributeDescription(name: "code", type: .uuid), cover, albumArtist, tracks,
        ]
        live.properties = [NSAttributeDescription(name: "venue", type: .string)]
        album.subentities = [live]
        track.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "seconds", type: .double), trackAlbum,
        ]
        return NSManagedObjectModel(entities: [artist, album, live, track])
    }

    /// Opens the store for writing.
    static func open(_ url: URL, type: String = NSSQLiteStoreType, tracked: Bool = false) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let options: [AnyHashable: Any] = tracked ? [NSPersistentHistoryTrackingKey: true] : [:]
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @discardableResult
    static func add(_ entity: String, _ values: [String: Any?], to context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// Saves two artists with three albums and four tracks.
    static func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let harmonia = add("Artist", ["name": "Harmonia"], to: context)
            let neu = add("Artist", ["name": "Neu!"], to: context)
            let deluxe = add(
                "Album",
                [
                    "title": "Deluxe", "year": 1975, "released": Date(timeIntervalSinceReferenceDate: -800_000_000.5),
                    "price": NSDecimalNumber(string: "12.30"), "artist": harmonia, "cover": Data([1, 2, 3]),
                ], to: context)
            add("LiveAlbum", ["title": "Live 1974", "year": 1974, "venue": "Griessem", "artist": harmonia], to: context)
            add("Album", ["title": nil, "year": 1972, "artist": neu], to: context)
            let titles = ["Deluxe (Immer wieder)", "Walky-Talky", "Monza", "Notre Dame"]
            let tracks = titles.enumerated().map { add("Track", ["title": $1, "seconds": 100.5 * Double($0)], to: context) }
            deluxe.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            try context.save()
        }
    }

    /// Makes a closed store.
    static func make(_ url: URL, type: String = NSSQLiteStoreType, tracked: Bool = false) throws {
        let context = try open(url, type: type, tracked: tracked)
        try fill(context)
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
    }
}
