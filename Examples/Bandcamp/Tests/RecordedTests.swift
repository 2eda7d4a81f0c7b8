import Bandcamp
import CoreData
import ExampleSupport
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

@Suite("Bandcamp's own answers, where they are at hand", .enabled(if: RecordedAnswers.folder != nil)) struct RecordedTests {
    private static func body(_ name: String) throws -> Data {
        let folder = try #require(RecordedAnswers.folder).appendingPathComponent("sleepycat+bandcamp_api/spec/fixtures")
        return try Data(contentsOf: folder.appendingPathComponent("\(name).json"))
    }

    private static func object(_ name: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: body(name)) as? [String: Any])
    }

    /// A context over the recorded answers, by the paths that they were recorded for.
    private func context(_ names: [String: String]) throws -> NSManagedObjectContext {
        let transport = RecordedAnswers { url in
            let path = url.dropFirst("http://api.bandcamp.com/".count).prefix { $0 != "?" }
            return try names[String(path)].map { WebResponse(status: 200, body: Array(try Self.body($0))) }
        }
        let model = BandcampModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let address = try #require(URL(string: "http://api.bandcamp.com"))
        try coordinator.addRemoteStore(WebBackend(.bandcamp(at: address), model: model, transport: transport))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Compares what a fetch finds with resources as Foundation reads them, by the value of an attribute.
    private func compare(
        _ context: NSManagedObjectContext, _ entity: String, _ format: String, _ sent: [[String: Any]], by key: String
    ) throws {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: format)
            let found = try context.fetch(request)
            #expect(found.count == sent.count && !found.isEmpty)
            for object in found {
                let id = object.value(forKey: key) as? NSNumber
                let json = try #require(sent.first { ($0[key] as? NSNumber).map { n in n.isEqual(to: id ?? 0) } ?? false })
                #expect(object.differences(from: json) == [])
            }
        }
    }

    @Test("Bands of a search, and one by number") func bands() throws {
        let found = try #require(try Self.object("search")["results"] as? [[String: Any]])
        let names = Set(found.compactMap { $0["name"] as? String })
        let list = names.sorted().map { "'\($0)'" }.joined(separator: ",")
        try compare(context(["api/band/3/search": "search"]), "Band", "name IN {\(list)}", found, by: "band_id")
        let band = try Self.object("pitch_black_band")
        try compare(context(["api/band/3/info": "pitch_black_band"]), "Band", "band_id == \(band["band_id"] ?? 0)", [band], by: "band_id")
    }

    @Test("A discography, and an album with its tracks") func albums() throws {
        let albums = try #require(try Self.object("pitch_black_discography")["discography"] as? [[String: Any]])
        try compare(
            context(["api/band/3/discography": "pitch_black_discography"]), "Album", "band_id == 950934886",
            albums.filter { $0["album_id"] != nil }, by: "album_id")
        let album = try Self.object("remixes_and_rarities_album")
        let names = ["api/album/2/info": "remixes_and_rarities_album"]
        try compare(context(names), "Album", "album_id == \(album["album_id"] ?? 0)", [album], by: "album_id")
        let tracks = try #require(album["tracks"] as? [[String: Any]])
        try compare(context(names), "Track", "album_id == \(album["album_id"] ?? 0)", tracks, by: "track_id")
    }

    @Test("A track, and several") func tracks() throws {
        let track = try Self.object("a_new_day")
        try compare(context(["api/track/3/info": "a_new_day"]), "Track", "track_id == \(track["track_id"] ?? 0)", [track], by: "track_id")
        let several = try Self.object("tracks").values.compactMap { $0 as? [String: Any] }
        let ids = several.compactMap { $0["track_id"].map { "\($0)" } }.joined(separator: ",")
        try compare(context(["api/track/3/info": "tracks"]), "Track", "track_id IN {\(ids)}", several, by: "track_id")
    }

    @Test("What is unknown is not found") func unknown() throws {
        let context = try context([
            "api/band/3/info": "unknown_band", "api/band/3/search": "search_no_results",
            "api/band/3/discography": "unknown_band_discography",
        ])
        try context.performAndWait {
            for format in ["band_id == 1", "name == 'Nobody'"] {
                let request = NSFetchRequest<Band>(entityName: "Band")
                request.predicate = NSPredicate(format: format)
                let found = try context.fetch(request)
                #expect(found.isEmpty)
            }
        }
    }
}
