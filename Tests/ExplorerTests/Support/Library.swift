import CSQLite
import CoreData
import Foundation
import ObjectGraph
import TestSupport

/// A directory that is gone with the test.
final class Folder {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }

    init() throws { scratch = try ScratchFolder("explorer") }

    var store: URL { url.appendingPathComponent("library.sqlite") }

    /// The names of all files, with their bytes.
    func contents() throws -> [String: Data] {
        try FileManager.default.subpathsOfDirectory(atPath: url.path).reduce(into: [:]) { result, name in
            result[name] = (try? Data(contentsOf: url.appendingPathComponent(name))) ?? Data()
        }
    }
}

/// Artists with albums, which have tracks in an order.
enum Library {
    static func model() -> NSManagedObjectModel {
        let (artist, album, track) = (
            NSEntityDescription(name: "Artist"), NSEntityDescription(name: "Album"), NSEntityDescription(name: "Track")
        )
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let albumArtist = NSRelationshipDescription(name: "artist", destination: artist)
        albums.inverse(to: albumArtist)
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        tracks.isOrdered = true
        let trackAlbum = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: trackAlbum)
        artist.properties = [
            NSAttributeDescription(name: "name", type: .string, isOptional: false), NSAttributeDescription(name: "site", type: .uri),
            NSAttributeDescription(name: "note", type: .string), albums,
        ]
        let year = NSAttributeDescription(name: "year", type: .integer32)
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), year, NSAttributeDescription(name: "released", type: .date),
            NSAttributeDescription(name: "price", type: .decimal), NSAttributeDescription(name: "code", type: .uuid),
            NSAttributeDescription(name: "isLive", type: .boolean), NSAttributeDescription(name: "cover", type: .binaryData),
            NSAttributeDescription(name: "info", type: .string), albumArtist, tracks,
        ]
        track.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "seconds", type: .double), trackAlbum,
        ]
        return NSManagedObjectModel(entities: [artist, album, track])
    }

    /// Opens a store for writing.
    static func open(_ url: URL, type: String = NSSQLiteStoreType, tracked: Bool = false) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let options: [AnyHashable: Any] = tracked ? [NSPersistentHistoryTrackingKey: true] : [:]
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "tests"
        return context
    }

    @discardableResult static func add(_ entity: String, _ values: [String: Any], to context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// A picture of 8 by 8 points, in one colour.
    static let picture = Data(
        base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGNgCI3AioaWBAAbWDMBlkKe2QAAAABJRU5ErkJggg==")!

    static func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let harmonia = add(
                "Artist", ["name": "Harmonia", "site": URL(string: "https://example.org/harmonia")!, "note": "Forst, by the Weser"],
                to: context)
            let neu = add("Artist", ["name": "Neu!"], to: context)
            let deluxe = add(
                "Album",
                [
                    "title": "Deluxe", "year": 1975, "released": Date(timeIntervalSinceReferenceDate: -800_000_000.5),
                    "price": NSDecimalNumber(string: "12.30"), "artist": harmonia, "cover": picture, "isLive": false,
                    "code": UUID(uuidString: "0B5F3D4C-6D0B-4F6A-8C0E-5D1A2B3C4D5E")!,
                    "info": #"{"label": "Brain", "formats": ["LP", "CD"], "catalogue": {"number": 1073, "country": "DE"}}"#,
                ], to: context)
            add("Album", ["title": "Live 1974", "year": 1974, "isLive": true, "artist": harmonia], to: context)
            add("Album", ["title": "Neu! 75", "year": 1975, "artist": neu, "price": NSDecimalNumber(string: "9.90")], to: context)
            let titles = ["Deluxe (Immer wieder)", "Walky-Talky", "Monza", "Notre Dame"]
            let tracks = titles.enumerated().map { add("Track", ["title": $1, "seconds": 100.5 * Double($0 + 1)], to: context) }
            deluxe.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            try context.save()
        }
    }

    static func close(_ context: NSManagedObjectContext) throws {
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] { try context.persistentStoreCoordinator?.remove(store) }
    }

    /// Makes a closed store with two artists, three albums and four tracks.
    static func make(_ url: URL, type: String = NSSQLiteStoreType, tracked: Bool = false) throws {
        let context = try open(url, type: type, tracked: tracked)
        try fill(context)
        try close(context)
    }

    /// Adds tracks to the first album of a closed store, in order, without objects.
    static func addTracks(_ count: Int, to url: URL) throws {
        var database: OpaquePointer?
        guard sqlite3_open(url.path, &database) == SQLITE_OK else { throw HTTP.Failure(description: "SQLite does not open \(url.path).") }
        defer { sqlite3_close(database) }
        let sql = """
            BEGIN;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO ZTRACK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSECONDS, ZALBUM, Z_FOK_ALBUM)
            SELECT (SELECT MAX(Z_PK) FROM ZTRACK) + i, (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Track'), 1,
                printf('Track %07d', i), i % 600, (SELECT MIN(Z_PK) FROM ZALBUM WHERE ZTITLE = 'Deluxe'), 1000000 + i * 10 FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT MAX(Z_PK) FROM ZTRACK) WHERE Z_NAME = 'Track';
            COMMIT;
            """
        var message: UnsafeMutablePointer<CChar>?
        guard sqlite3_exec(database, sql, nil, nil, &message) == SQLITE_OK else {
            throw HTTP.Failure(description: message.map { String(cString: $0) } ?? "SQLite fails.")
        }
    }
}
