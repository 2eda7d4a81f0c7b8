import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Properties that stand within one object of a resource") struct NestedValueTests {
    private static let things: [String: JSONObject] = [
        "1": ["id": 1, "key": "a", "title": "one", "address": ["city": "Rome", "street": "Via", "zip": "001"]]
    ]
    private static let resource = WebResource("Thing", properties: ["city": "address.city", "street": "address.street"])

    private static func style(_ change: (inout ServiceStyle) -> Void = { _ in }) -> ServiceStyle {
        var style = ServiceStyle.plain
        style.saving = SavingStyle()
        change(&style)
        return style
    }

    private static func change(
        _ service: ThingService, _ style: ServiceStyle, _ values: [String: (any Sendable)?], isCached: Bool
    ) async throws {
        if isCached {
            let program = try Thing.Cached(service, style, resource)
            defer { program.folder.remove() }
            _ = try await program.edit(values)
            try await program.store.sendPending()
            try expect(program.store.pendingChanges().map(\.state), equals: [])
        } else {
            let context = try Thing.plain(service, style, resource)
            try context.performAndWait {
                let thing = try #require(try context.fetch(fetch("Thing")).first)
                for (name, value) in values { thing.setValue(value, forKey: name) }
                try context.save()
            }
        }
    }

    @Test(
        "What would stand within null, or behind the end of a list, is nil, and is asked for no further",
        arguments: [
            ("band.name", "null"), ("band.a.b", #"{"a": null}"#), ("band.names[0].text", "null"), ("band.names[0].text", #"{"names": []}"#),
            ("band.names[1]", #"{"names": ["a"]}"#), ("band.names[0].text", #"{"names": null}"#),
            ("band.names[0].text", #"{"names": [null]}"#),
        ])
    func nothing(path: String, parent: String) throws {
        let service = ScriptedService { request in
            request.path == "/albums" ? .json(#"[{"id": 1, "band": \#(parent)}, {"id": 2, "band": \#(parent)}]"#) : .json("", status: 404)
        }
        let title = PropertyMapping.at(JSONPath(path), isReadOnly: true)
        let context = try WebService(base, resources: [WebResource("Album", properties: ["title": title])]).context(service)
        try context.performAndWait {
            try expect(context.fetch(fetch("Album")).map { $0.value(forKey: "title") as? String }, equals: [nil, nil])
            // What a property could not tell is thrown here.
            try context.save()
            let untitled = fetch("Album")
            untitled.predicate = NSPredicate(format: "title == nil")
            try expect(context.count(for: untitled), equals: 2)
        }
        // The list for each of the two questions, and nothing else.
        #expect(service.requests.count <= 2, "\(service.targets)")
    }

    @Test("A change of one of them is sent with the others, whether the model has them or not", arguments: [false, true])
    func siblings(isCached: Bool) async throws {
        let service = ThingService(Self.things)
        try await Self.change(service, Self.style(), ["city": "Oslo"], isCached: isCached)
        expect(service.things["1"]?["address"], equals: ["city": "Oslo", "street": "Via", "zip": "001"])
        expect(service.changes.map(\.json), equals: [["address": ["city": "Oslo", "street": "Via", "zip": "001"]]])
    }

    @Test("A value that is taken away leaves the others", arguments: [false, true])
    func removed(isCached: Bool) async throws {
        let service = ThingService(Self.things)
        try await Self.change(service, Self.style(), ["city": nil], isCached: isCached)
        expect(service.things["1"]?["address"], equals: ["city": .null, "street": "Via", "zip": "001"])
    }

    @Test("What others have made of one of them since it was read is sent as it is there")
    func others() async throws {
        let service = ThingService(Self.things)
        let program = try Thing.Cached(service, Self.style(), Self.resource)
        defer { program.folder.remove() }
        _ = try await program.edit(["city": "Oslo"])
        service.meanwhile { $0.things["1"]?["address"] = ["city": "Rome", "street": "Corso", "zip": "002"] }
        _ = try await program.edit(["title": "two"])
        try await program.store.sendPending()
        expect(service.things["1"]?["address"], equals: ["city": "Oslo", "street": "Corso", "zip": "002"])
        #expect(try await program.shown("street") == ["Corso"])
    }

    @Test("A change of anything else reads nothing before, and a service that merges what it is sent gets what has changed")
    func requests() async throws {
        func targets(_ style: ServiceStyle, _ values: [String: (any Sendable)?]) async throws -> [String] {
            let service = ThingService(Self.things)
            try await Self.change(service, style, values, isCached: false)
            return service.targets
        }
        let style = Self.style { $0.saving?.conflicts = .none }
        #expect(try await targets(style, ["title": "two"]) == ["GET /things", "PATCH /things/1"])
        #expect(try await targets(style, ["city": "Oslo"]) == ["GET /things", "GET /things/1", "PATCH /things/1"])
        let merging = Self.style {
            $0.saving?.conflicts = .none
            $0.contentType = "application/merge-patch+json"
        }
        #expect(try await targets(merging, ["city": "Oslo"]) == ["GET /things", "PATCH /things/1"])
    }

    @Test("A composite attribute leaves what the model does not have of its object, too")
    func composite() async throws {
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = ["city", "street"].map { NSAttributeDescription(name: $0, type: .string) }
        let thing = NSEntityDescription(name: "Thing")
        thing.properties = [address]
        let model = NSManagedObjectModel(entities: [thing])
        let service = ThingService(Self.things)
        let context = try WebService(base, style: Self.style(), resources: [WebResource("Thing")]).context(service, model)
        try await context.perform {
            let thing = try #require(try context.fetch(fetch("Thing")).first)
            thing.setValue(["city": "Oslo", "street": "Via"], forKey: "address")
            try context.save()
        }
        expect(service.things["1"]?["address"], equals: ["city": "Oslo", "street": "Via", "zip": "001"])
    }

    @Test("A description without a call for one resource is refused where such a property is written")
    func notReadable() throws {
        func backend(_ style: ServiceStyle, readOnly: Bool = false) throws {
            let city = PropertyMapping.at("address.city", isReadOnly: readOnly)
            _ = try Thing.backend(
                ThingService(), style,
                WebResource("Thing", properties: ["city": city, "street": .at("street")], calls: [.list()]))
        }
        let error = #expect(throws: NSError.self) { try backend(Self.style()) }
        #expect(error?.localizedDescription.contains("address") ?? false, "\(String(describing: error))")
        try backend(Self.style { $0.contentType = "application/merge-patch+json" })
        try backend(Self.style(), readOnly: true)
    }
}
