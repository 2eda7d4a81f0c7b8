import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// What a cache files of services whose references have identifiers in another form than rows.
@Suite("Identifiers in several forms, in a cache") struct CachedFormTests {
    /// The order in which a cache gets to know of references and of the rows that they name.
    enum Order: CaseIterable {
        case referencesFirst, rowsFirst, referencesInTheRunBefore
    }

    /// Opens a cache, as a run of the program does: nothing is known of forms yet.
    private static func open<Value>(
        _ url: URL, _ service: WebService, _ transport: ScriptedService, _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
        let model = Music.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options = WebClient.Options()
        options.retries = .never
        let backend = try WebBackend(service, model: model, transport: transport, options: options)
        let store = try coordinator.addCachedStore(backend, at: url, options: CachedStoreOptions(defaultPolicy: .cacheOnly))
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private static func read(_ entity: String, _ context: NSManagedObjectContext) throws {
        let request = fetch(entity)
        request.cachePolicy = .networkOnly
        _ = try context.fetch(request)
    }

    /// Files references and rows in an order, and looks whether they lead to each other, as the cache alone tells it.
    private static func check(_ order: Order, _ service: WebService, _ transport: ScriptedService) throws {
        let folder = try ScratchFolder("forms")
        defer { folder.remove() }
        let url = folder.file("forms.sqlite")
        func look(_ context: NSManagedObjectContext) throws {
            let band = try #require(try context.fetch(fetch("Band")).first)
            expect((band.value(forKey: "albums") as? Set<NSManagedObject>)?.count, equals: 1)
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect((album.value(forKey: "band") as? NSManagedObject)?.text("name"), equals: "Low")
            expect(try context.count(for: fetch("Album", "band.name == 'Low'")), equals: 1)
            expect(try context.count(for: fetch("Album", "band == %@", [band])), equals: 1)
            expect(try context.count(for: fetch("Band", "ANY albums.title == 'a'")), equals: 1)
            expect(try context.count(for: fetch("Band", "albums.@count == 0")), equals: 0)
        }
        switch order {
        case .referencesFirst:
            try open(url, service, transport) { context in
                try read("Album", context)
                try read("Band", context)
                try look(context)
            }
        case .referencesInTheRunBefore, .rowsFirst:
            try open(url, service, transport) { try read(order == .rowsFirst ? "Band" : "Album", $0) }
            try open(url, service, transport) { context in
                try read(order == .rowsFirst ? "Album" : "Band", context)
                try look(context)
            }
        }
        try open(url, service, transport) { try look($0) }
    }

    @Test(
        "References in another form than rows lead to them, whichever were filed first", arguments: IdentifierFormTests.forms,
        Order.allCases)
    func filed(_ forms: IdentifierFormTests.Forms, _ order: Order) throws {
        try Self.check(order, IdentifierFormTests.description(forms), IdentifierFormTests.service(forms))
    }

    /// Bands with identifiers of two parts, to which albums refer by address: nothing tells there that the second part is a number.
    private static let composite: (service: WebService, transport: ScriptedService) = {
        let ignored: Set<String> = ["releaseDate", "rating", "price", "isLive", "year", "kind", "tracks"]
        let service = WebService(
            base,
            resources: [
                WebResource(
                    "Band", identity: ["label", "number"], ignored: ["homepage"], calls: [.list(), .one("bands/{SELF.0}/{SELF.1}")],
                    isReadOnly: true),
                WebResource(
                    "Album", properties: ["band": PropertyMapping(path: "band", reference: .link(template: "bands/{SELF.0}/{SELF.1}"))],
                    ignored: ignored, isReadOnly: true),
            ])
        let transport = ScriptedService { request in
            let band = #"{"label": "reef", "number": 22, "name": "Low"}"#
            if request.path == "/albums" { return .json(#"[{"id": 1, "title": "a", "band": "/v1/bands/reef/22"}]"#) }
            return .json(request.path == "/bands" ? "[\(band)]" : band)
        }
        return (service, transport)
    }()

    @Test("So do references by addresses whose parts are numbers in rows", arguments: Order.allCases)
    func compositeFiled(_ order: Order) throws { try Self.check(order, Self.composite.service, Self.composite.transport) }

    @Test(
        "Without a cache a reference with a part in another form is an error that says which attribute tells the form",
        arguments: [true, false])
    func compositeUncached(rowsFirst: Bool) throws {
        let context = try Self.composite.service.context(Self.composite.transport)
        try context.performAndWait {
            if rowsFirst { expect(try context.fetch(fetch("Band")).count, equals: 1) }
            #expect {
                _ = try context.count(for: fetch("Album", "band.name == 'Low'"))
            } throws: { error in
                "\(error as NSError)".contains("an integer attribute") && "\(error as NSError)".contains("“Band”")
            }
        }
    }
}
