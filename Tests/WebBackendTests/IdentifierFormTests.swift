import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Services whose references have identifiers in another form than rows: text for numbers, UUIDs in other letters.
@Suite("Identifiers in several forms") struct IdentifierFormTests {
    struct Forms: Sendable, CustomTestStringConvertible {
        let row: String
        let reference: String
        let key: String
        var style = ReferenceStyle.identifier
        let cure: WebResource.IdentifierKind
        var testDescription: String { "\(reference) for \(row)" }
    }

    private static let small = "7d9f7f0e-3b0c-4c55-9a86-0c6d1f0f5e21"

    static let forms = [
        Forms(row: "2", reference: #""2""#, key: "2", cure: .integer),
        Forms(row: #""2""#, reference: "2", key: "2", cure: .string),
        Forms(row: #""\#(small.uppercased())""#, reference: #""\#(small)""#, key: small, cure: .uuid),
        Forms(row: #""\#(small)""#, reference: #""\#(small.uppercased())""#, key: small.uppercased(), cure: .uuid),
        Forms(row: "2", reference: #""/bands/2/""#, key: "2", style: .link(template: nil), cure: .integer),
        Forms(row: "2", reference: #""/bands/2/""#, key: "2", style: .link(template: "/bands/{SELF}/"), cure: .integer),
    ]

    static func service(_ forms: Forms) -> ScriptedService {
        let band = #"{"id": \#(forms.row), "name": "Low"}"#
        return ScriptedService { request in
            if request.path.hasPrefix("/albums") { return .json(#"[{"id": 1, "title": "a", "band": \#(forms.reference)}]"#) }
            if request.query("id") != nil { return .json("[\(band)]") }
            return .json(request.path == "/bands" ? "[\(band)]" : band)
        }
    }

    static func description(
        _ forms: Forms, identifier: WebResource.IdentifierKind? = nil, filters: FilterStyle = FilterStyle(.none, [:])
    ) -> WebService {
        var style = ServiceStyle.plain
        style.references = forms.style
        style.filters = filters
        style.saving = nil
        let ignored: Set<String> = ["releaseDate", "rating", "price", "isLive", "year", "kind"]
        return WebService(
            base, style: style,
            resources: [
                WebResource("Band", identifier: identifier, ignored: ["homepage"]),
                WebResource("Album", ignored: ignored.union(["tracks"])),
            ])
    }

    private static func message<Value>(_ body: () throws -> Value) -> String {
        do {
            let found = try body()
            return "no error, but \(found)"
        } catch { return "\(error as NSError)" }
    }

    /// Whether an error names entity, both forms and the cure.
    private static func check(_ message: String, _ forms: Forms, _ location: SourceLocation = #_sourceLocation) {
        #expect(
            message.contains("“Band”") && message.contains("identifier: \(forms.cure.rawValue)") && message.contains(forms.key),
            "\(message)",
            sourceLocation: location)
    }

    @Test(
        "The destination of a reference in another form is an error that names both forms and the cure, and is not gone", arguments: forms)
    func fault(_ forms: Forms) throws {
        for filters in [FilterStyle(.none, [:]), FilterStyle(.parameters, [.isIn: "{name}={values}"], identifier: "id")] {
            let context = try Self.description(forms, filters: filters).context(Self.service(forms))
            try context.performAndWait {
                let album = try #require(try context.fetch(fetch("Album")).first)
                let id = try #require((album.value(forKey: "band") as? NSManagedObject)?.objectID)
                for _ in 0..<2 { Self.check(Self.message { try context.existingObject(with: id) }, forms) }
            }
        }
    }

    @Test("A predicate over references in another form is an error, and counts none", arguments: forms, [false, true])
    func predicates(_ forms: Forms, bandsFirst: Bool) throws {
        let context = try Self.description(forms).context(Self.service(forms))
        try context.performAndWait {
            if bandsFirst { expect(try context.fetch(fetch("Band")).count, equals: 1) }
            Self.check(Self.message { try context.count(for: fetch("Album", "band.name == 'Low'")) }, forms)
            guard bandsFirst else { return }
            let band = try #require(try context.fetch(fetch("Band")).first)
            Self.check(Self.message { try context.count(for: fetch("Album", "band == %@", [band])) }, forms)
            Self.check(Self.message { try context.count(for: fetch("Band", "ANY albums.title == 'a'")) }, forms)
        }
    }

    @Test("With the cure that the error names, references lead to their rows", arguments: forms) func cured(_ forms: Forms) throws {
        let context = try Self.description(forms, identifier: forms.cure).context(Self.service(forms))
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect((album.value(forKey: "band") as? NSManagedObject)?.text("name"), equals: "Low")
            expect(try context.count(for: fetch("Album", "band.name == 'Low'")), equals: 1)
            expect(try context.count(for: fetch("Band", "ANY albums.title == 'a'")), equals: 1)
        }
    }

    @Test("Verifying names the cure", arguments: forms) func verified(_ forms: Forms) async throws {
        var options = WebClient.Options()
        options.retries = .never
        let backend = try WebBackend(
            Self.description(forms), model: Music.model(), transport: Self.service(forms), options: options)
        let found = try await backend.verify(sample: 10).findings
        #expect(found.contains { $0.asked == "band" && $0.advice.contains("identifier: \(forms.cure.rawValue)") }, "\(found)")
    }

    @Test("References have the form that the attribute at the place of the identifier tells", arguments: [true, false])
    func attribute(isNumber: Bool) throws {
        let model = Music.model()
        model.entitiesByName["Band"]?.properties.append(NSAttributeDescription(name: "number", type: isNumber ? .integer64 : .string))
        let forms = Self.forms[isNumber ? 0 : 1]
        var description = Self.description(forms)
        description.resources[0].properties["number"] = "id"
        let context = try description.context(Self.service(forms), model)
        try context.performAndWait {
            let album = try #require(try context.fetch(fetch("Album")).first)
            expect((album.value(forKey: "band") as? NSManagedObject)?.text("name"), equals: "Low")
            let band = try #require(try context.fetch(fetch("Band")).first)
            // Rows keep the form that they have had.
            #expect(band.objectID.uriRepresentation().absoluteString.hasSuffix(isNumber ? "/p2" : "/p%32"), "\(band.objectID)")
        }
    }

    @Test(
        "An answer to a new object that tells its identifier in another form than lists is an error, whichever comes first",
        arguments: [true, false])
    func saved(listFirst: Bool) throws {
        let service = ScriptedService { request in
            request.method == .post ? .json(#"{"id": "2", "name": "Low"}"#, status: 201) : .json(#"[{"id": 2, "name": "Low"}]"#)
        }
        let context = try WebService(base, resources: [WebResource("Band", ignored: ["homepage"])]).context(service)
        try context.performAndWait {
            if listFirst { expect(try context.fetch(fetch("Band")).count, equals: 1) }
            NSEntityDescription.insertNewObject(forEntityName: "Band", into: context).setValue("Low", forKey: "name")
            if listFirst {
                Self.check(Self.message { try context.save() }, Self.forms[0])
            } else {
                try context.save()
                Self.check(Self.message { try context.fetch(fetch("Band")).count }, Self.forms[0])
            }
        }
    }

    @Test("A service that has rows of several forms, and references of each, is read as it is") func mixed() throws {
        let service = ScriptedService { request in
            switch request.path {
            case "/bands": .json(#"[{"id": 1, "name": "a"}, {"id": "2", "name": "b"}]"#)
            case "/bands/1": .json(#"{"id": 1, "name": "a"}"#)
            case "/bands/2": .json(#"{"id": "2", "name": "b"}"#)
            default: .json(#"[{"id": 1, "band": 1, "title": "x"}, {"id": 2, "band": "2", "title": "y"}]"#)
            }
        }
        let context = try Self.description(Self.forms[0]).context(service)
        try context.performAndWait {
            _ = try context.fetch(fetch("Band"))
            expect(
                try context.fetch(fetch("Album", by: ["title"])).map { ($0.value(forKey: "band") as? NSManagedObject)?.text("name") },
                equals: ["a", "b"])
        }
    }

    @Test("New resources that are identified by a UUID have identifiers that are UUIDs") func identifiedByUUID() throws {
        let entity = NSEntityDescription(name: "Note")
        entity.properties = [NSAttributeDescription(name: "key", type: .uuid)]
        let model = NSManagedObjectModel(entities: [entity])
        func description(_ kind: WebResource.IdentifierKind?) -> WebService {
            WebService(
                base,
                resources: [WebResource("Note", identity: ["key"], identifier: kind, saving: SavingStyle(identity: .attribute("key")))])
        }
        #expect(Self.message { try description(nil).context(ScriptedService { _ in .json("[]") }, model) }.contains("identifier: uuid"))
        _ = try description(.uuid).context(ScriptedService { _ in .json("[]") }, model)
    }
}
