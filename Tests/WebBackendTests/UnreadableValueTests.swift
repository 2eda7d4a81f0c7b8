import CoreData
import Foundation
import Logging
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Values that their attributes cannot hold, and resources without an identifier: what one of them is may not hide what the others are.
@Suite("What a service writes otherwise than its description says") struct UnreadableValueTests {
    private static let sixtyNine = #""year": 1969"#

    /// A context over a service, with a cache between or without.
    private func context(
        _ transport: some Transport, isCached: Bool, _ resource: WebResource = WebResource("Album", calls: [.list(), .one]),
        policy: CachePolicy = .cacheFirst(maximumAge: 3600)
    ) throws -> NSManagedObjectContext {
        let service = WebService(base, resources: [resource])
        guard isCached else { return try service.context(transport) }
        let model = Music.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var client = WebClient.Options()
        client.retries = .never
        try coordinator.addCachedStore(
            WebBackend(service, model: model, transport: transport, options: client), at: nil,
            options: CachedStoreOptions(defaultPolicy: policy))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A service with one odd album of three; each can be asked for by itself, too.
    private func service(_ odd: Mutexed<String>) -> ScriptedService {
        ScriptedService { request in
            let albums = [
                #"{"id": 1, "title": "one", \#(Self.sixtyNine), "isLive": true}"#, #"{"id": 2, "title": "two", \#(odd.withValue { $0 })}"#,
                #"{"id": 3, "title": "three", "year": 1971, "isLive": false}"#,
            ]
            guard let last = request.path.split(separator: "/").last.flatMap({ Int($0) }) else {
                return .json("[\(albums.joined(separator: ","))]")
            }
            return .json(albums[last - 1])
        }
    }

    @Test("A value that cannot be read is an error of its object alone, whatever reads it", arguments: [false, true])
    func ownError(isCached: Bool) async throws {
        let odd = Mutexed(#""year": "soon", "isLive": true"#)
        let service = service(odd)
        let context = try context(service, isCached: isCached)
        try await context.perform {
            let albums = try context.fetch(fetch("Album", by: ["title"]))
            expect(albums.compactMap { $0.text("title") }, equals: ["one", "three", "two"])
            expect(try context.count(for: fetch("Album")), equals: 3)
            let album = albums[2]
            // It carries its error before the value is read.
            let error = try #require(album.faultError)
            for part in ["year", "Album", "2", "soon"] {
                #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
            }
            expect((error as NSError).domain, equals: NSCocoaErrorDomain)
            #expect(albums[0].faultError == nil && albums[1].faultError == nil)
            // Nobody has read it as nil yet: there is nothing that a save could be wrong about.
            expect(album.value(forKey: "isLive") as? Bool, equals: true)
            try context.save()

            let asked = service.requests.count
            #expect(albums.map { $0.value(forKey: "year") as? Int64 } == [1969, 1971, nil])
            #expect(throws: NSError.self) { try album.fulfillFault() }
            #expect(throws: NSError.self) { try context.existingObject(with: album.objectID) }
            try albums[0].fulfillFault()
            expect(service.requests.count, equals: asked, "it is not asked for again")
            #expect(throws: NSError.self) { try context.save() }
            try context.save()
            expect(try context.fetch(fetch("Album")).count, equals: 3)
        }
        let found = try await context.fetchAsynchronously(fetch("Album", "title == 'two'"))
        await #expect(throws: NSError.self) { try await context.load(found, "year") }
        try await context.perform {
            // Mended, it is read again after a refresh.
            odd.withValue { $0 = #""year": 1970, "isLive": true"# }
            let album = try #require(found.first)
            context.refresh(album, mergeChanges: false)
            expect(album.value(forKey: "year") as? Int64, equals: 1970)
            #expect(album.faultError == nil)
            try album.fulfillFault()
            _ = try context.existingObject(with: album.objectID)
            try context.save()
        }
    }

    @Test("A value that is written over is no error any more", arguments: [false, true]) func written(isCached: Bool) throws {
        let context = try context(service(Mutexed(#""year": "soon", "isLive": true"#)), isCached: isCached)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album", "title == 'two'")).first)
            #expect(album.value(forKey: "year") == nil && album.faultError != nil)
            album.setValue(1972, forKey: "year")
            #expect(album.faultError == nil)
            expect(album.value(forKey: "year") as? Int64, equals: 1972)
        }
    }

    @Test("A fetch that must compare or order what cannot be read says so, and finds nothing wrong", arguments: [false, true])
    func evaluation(isCached: Bool) throws {
        let context = try context(service(Mutexed(#""year": "soon""#)), isCached: isCached, policy: .networkOnly)
        try context.performAndWait {
            for request in [fetch("Album", "year > 1960"), fetch("Album", "year == nil"), fetch("Album", by: ["year"])] {
                let error = #expect(throws: NSError.self) { try context.fetch(request) }
                expect(error?.localizedDescription.contains("year"), equals: true, "\(String(describing: error))")
            }
            expect(try context.fetch(fetch("Album", "title != 'x'")).count, equals: 3)
        }
    }

    @Test(
        "Each kind of value that cannot be read is its own error, and none is nil",
        arguments: [
            ("releaseDate", #""01.03.2026""#), ("releaseDate", "12345"), ("isLive", #""maybe""#), ("isLive", "2"), ("rating", #""high""#),
            ("price", "true"), ("title", "5"), ("year", "1.5"), ("year", "18446744073709551615"), ("band", "[]"),
            ("band", #"{"name": "x"}"#),
        ])
    func kinds(property: String, json: String) throws {
        let service = ScriptedService { _ in .json(#"[{"id": 1, "\#(property)": \#(json)}, {"id": 2, "\#(property)": null}]"#) }
        let context = try WebService(base, resources: [WebResource("Album", calls: [.list()])]).context(service)
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album"))
            expect(albums.count, equals: 2)
            let odd = try #require(albums.first { $0.objectID.uriRepresentation().lastPathComponent == "p1" })
            #expect(odd.value(forKey: property) == nil)
            let error = try #require(odd.faultError, "\(property) \(json)")
            #expect(error.localizedDescription.contains(property), "\(error.localizedDescription)")
            #expect(throws: NSError.self) { try context.save() }
        }
    }

    @Test("Where nothing can be read of a property, all objects are there, with an error each; 0 and 1 are Booleans")
    func allOfThem() throws {
        let rows = (1...300).map {
            #"{"id": \#($0), "title": "t", "isLive": \#(["0", "1", #""0""#, #""1""#][$0 % 4]), "releaseDate": "1.3.2026"}"#
        }
        let service = ScriptedService { _ in .json("[\(rows.joined(separator: ","))]") }
        let context = try WebService(base, resources: [WebResource("Album")]).context(service)
        try context.performAndWait {
            let albums = try context.fetch(fetch("Album"))
            expect(albums.count, equals: 300)
            expect(albums.count { $0.value(forKey: "isLive") as? Bool == true }, equals: 150)
            expect(albums.count { $0.value(forKey: "isLive") as? Bool == false }, equals: 150)
            expect(albums.count { $0.value(forKey: "releaseDate") == nil && $0.faultError != nil }, equals: 300)
            expect(service.requests.count, equals: 1)
        }
    }

    // MARK: Identity

    @Test("Resources without an identifier fail the fetch, with their number, the reason and a sample", arguments: [false, true])
    func withoutIdentity(isCached: Bool) throws {
        let service = ScriptedService { _ in .json(#"[{"uid": "a", "title": "x"}, {"id": 2, "title": "y"}, {"uid": "c", "title": "z"}]"#) }
        let context = try context(service, isCached: isCached)
        context.performAndWait {
            for _ in 0..<2 {
                let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
                let text = error?.localizedDescription ?? ""
                for part in ["2 of its 3", "no identifier at id", #""uid": "a""#, "identity"] { #expect(text.contains(part), "\(text)") }
                #expect(throws: NSError.self) { try context.count(for: fetch("Album")) }
            }
        }
    }

    @Test("A description may allow it: then they are left out and reported, or fail whatever cannot be read")
    func allowed() throws {
        let service = ScriptedService { _ in .json(#"[{"id": 1, "title": 5}, {"title": "no"}, {"id": 3, "title": "three"}]"#) }
        let found = Mutexed<[String]>([])
        func titles(_ policy: Resource.UnreadablePolicy) throws -> [String?] {
            let model = Music.model()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let description = WebService(base, resources: [WebResource("Album", calls: [.list()], unreadable: policy)])
            try coordinator.addRemoteStore(
                WebBackend(description, model: model, transport: service),
                options: RemoteStoreOptions(didFindUnreadable: { note in found.withValue { $0.append("\(note)") } }))
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait { try context.fetch(fetch("Album")).map { $0.text("title") } }
        }
        expect(try titles(.reported), equals: ["three"])
        expect(found.withValue { $0.count }, equals: 2)
        #expect(throws: NSError.self) { try titles(.refused) }
        #expect(throws: NSError.self) { try titles(.ownError) }
        let file = try WebService(
            json: Data(#"{"address": "\#(base)", "resources": [{"entity": "Album", "unreadable": "reported"}]}"#.utf8))
        expect(file.resources.first?.unreadable, equals: .reported)
    }

    @Test("A wrong path to the resources within the elements of a list is no empty list") func wrongElement() throws {
        var style = ServiceStyle.plain
        style.envelope.element = "_source"
        let service = ScriptedService { _ in .json(#"[{"source": {"id": 1}}, {"source": {"id": 2}}]"#) }
        let context = try WebService(base, style: style, resources: [WebResource("Album", calls: [.list()])]).context(service)
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album")) }
            expect(error?.localizedDescription.contains("_source"), equals: true, "\(String(describing: error))")
        }
    }

    @Test("Identifiers are numbers up to 2⁶⁴−1: they are read, asked for and written as such") func largeIdentifiers() throws {
        let (large, other) = ("18446744073709551615", "9223372036854775808")
        let band = Mutexed(other)
        let service = ScriptedService { request in
            if request.method == .patch {
                band.withValue { $0 = request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"band":null}"# ? "null" : other }
                return .json("{}")
            }
            if request.path.hasPrefix("/bands") { return .json(#"{"id": \#(other), "name": "b"}"#) }
            let album = #"{"id": \#(large), "title": "x", "band": \#(band.withValue { $0 })}"#
            return .json(request.path == "/albums" ? "[\(album)]" : album)
        }
        let description = WebService(
            base, resources: [WebResource("Band", identifier: .integer), WebResource("Album", identifier: .integer)])
        let context = try description.context(service)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            let band = try #require(album.value(forKey: "band") as? NSManagedObject)
            expect(band.text("name"), equals: "b")
            context.refresh(album, mergeChanges: false)
            expect(album.text("title"), equals: "x")
            #expect(service.targets.contains("GET /bands/\(other)") && service.targets.contains("GET /albums/\(large)"))
            album.setValue(nil, forKey: "band")
            try context.save()
            album.setValue(band, forKey: "band")
            try context.save()
            expect(service.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }, equals: #"{"band":\#(other)}"#)
        }
    }

    // MARK: The log

    @Test("The log has a line for each cause, however many rows share it and whoever reads them") func log() async {
        await #expect(processExitsWith: .success) {
            let kept = KeptLines()
            LoggingSystem.bootstrap { _ in KeptLinesHandler(kept: kept) }
            let rows = (1...2000).map { #"{"id": \#($0), "year": "soon", "releaseDate": "1.3.2026"}"# }
            let service = ScriptedService { _ in .json("[\(rows.joined(separator: ","))]") }
            let context = try WebService(base, resources: [WebResource("Album", calls: [.list()])]).context(service)
            try context.performAndWait {
                for _ in 0..<2 {
                    for album in try context.fetch(fetch("Album")) {
                        _ = album.value(forKey: "year")
                        _ = album.value(forKey: "releaseDate")
                    }
                }
            }
            let lines = kept.lines.withLock { $0 }
            expect(lines.count, equals: 2, "\(lines.prefix(5))")
            for line in lines { #expect(line.contains("2000"), "\(line)") }
        }
    }
}

/// Gathers the errors and warnings that are logged.
final class KeptLines: Sendable {
    let lines = Synchronization.Mutex<[String]>([])
}

struct KeptLinesHandler: LogHandler {
    let kept: KeptLines
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { kept.lines.withLock { $0.append("\(event.level): \(event.message)") } }
}
