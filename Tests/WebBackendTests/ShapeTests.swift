import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Shapes of resources") struct ShapeTests {
    /// Issues of repositories, by people of two kinds.
    private static func model() -> NSManagedObjectModel {
        let repository = NSEntityDescription(name: "Repository")
        let issue = NSEntityDescription(name: "Issue")
        let actor = NSEntityDescription(name: "Actor")
        let bot = NSEntityDescription(name: "Bot")
        let issues = NSRelationshipDescription(name: "issues", destination: issue, toMany: true)
        let owner = NSRelationshipDescription(name: "repository", destination: repository)
        issues.inverse(to: owner)
        let author = NSRelationshipDescription(name: "author", destination: actor)
        let written = NSRelationshipDescription(name: "written", destination: issue, toMany: true)
        author.inverse(to: written)
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.isOptional = true
        place.elements = [NSAttributeDescription(name: "line", type: .integer64), NSAttributeDescription(name: "file", type: .string)]
        repository.properties = [NSAttributeDescription(name: "name", type: .string), issues]
        issue.properties = [
            NSAttributeDescription(name: "number", type: .integer64), NSAttributeDescription(name: "labels", type: .string),
            NSAttributeDescription(name: "raw", type: .string), NSAttributeDescription(name: "page", type: .uri),
            NSAttributeDescription(name: "closed", type: .date), place, owner, author,
        ]
        actor.properties = [NSAttributeDescription(name: "login", type: .string), written]
        bot.properties = [NSAttributeDescription(name: "version", type: .string)]
        actor.subentities = [bot]
        return NSManagedObjectModel(entities: [repository, issue, actor, bot])
    }

    private static let service = WebService(
        base,
        resources: [
            WebResource("Repository", calls: [WebCall("all", path: "repositories", returns: .map, items: "by_id")]),
            WebResource(
                "Issue", identity: ["@repository", "number"],
                properties: [
                    "labels": .at("labels", .joined(separator: ", ")), "raw": .at("extra", .json),
                    "page": .at("page", .relativeURL(base: base)),
                    "closed": .at("closed", .wrapped("at", constants: ["kind": "time"], .date(.secondsSince1970))),
                    "author": PropertyMapping(path: "user_url", reference: .link(template: "\(base)/people/{SELF}")),
                ],
                calls: [.list("repositories/{repository}/issues"), .one("repositories/{SELF.0}/issues/{SELF.1}")]),
            WebResource("Actor", path: "people", identifier: .string, kinds: .init("type", ["bot": "Bot"]), calls: [.one]),
        ])

    private func answer(_ request: WebRequest) -> WebResponse {
        switch request.path {
        case "/repositories": .json(#"{"by_id": {"larks": {"name": "Larks"}, "owls": {"name": "Owls"}}}"#)
        case "/repositories/larks/issues", "/repositories/owls/issues":
            .json(
                #"""
                [{"number": 1, "labels": ["bug", "fast"], "extra": {"a": [1, null]}, "page": "/p/1", "closed": {"kind": "time", "at": 86400},
                  "user_url": "\#(base)/people/a%20b", "place": {"line": 12, "file": "x.swift"}}]
                """#)
        case "/repositories/owls/issues/1":
            .json(#"{"number": 1, "labels": ["again"]}"#)
        case "/repositories/larks/issues/1": .json(#"{"number": 1, "place": {"line": 12, "file": "x.swift", "column": 3}}"#)
        case "/people/a%20b": .json(#"{"id": "a b", "type": "bot", "login": "ab", "version": "2"}"#)
        default: .json("{}", status: 404)
        }
    }

    @Test("Maps, composite identifiers, references by address, kinds and nested values are read") func shapes() throws {
        let transport = ScriptedService { self.answer($0) }
        let context = try Self.service.context(transport, Self.model())
        try context.performAndWait {
            let repositories = try context.fetch(fetch("Repository", by: ["name"]))
            expect(repositories.map { $0.text("name") }, equals: ["Larks", "Owls"])
            let first = try #require((repositories[0].value(forKey: "issues") as? Set<NSManagedObject>)?.first)
            let second = try #require((repositories[1].value(forKey: "issues") as? Set<NSManagedObject>)?.first)
            #expect(first.objectID != second.objectID)
            #expect(first.text("labels") == "bug, fast" && first.text("raw") == #"{"a":[1,null]}"#)
            expect(first.value(forKey: "page") as? URL, equals: URL(string: "\(base)/p/1"))
            expect(first.value(forKey: "closed") as? Date, equals: Date(timeIntervalSince1970: 86400))
            expect((first.value(forKey: "place") as? [String: Any])?["line"] as? Int64, equals: 12)
            expect(first.value(forKeyPath: "place.file") as? String, equals: "x.swift")
            let author = try #require(first.value(forKey: "author") as? NSManagedObject)
            expect(author.text("login"), equals: "ab")
            expect(author.entity.name, equals: "Bot")
            // A part of the identifier goes to each place of the path.
            context.refresh(second, mergeChanges: false)
            expect(second.text("labels"), equals: "again")
            expect(transport.targets.last, equals: "GET /repositories/owls/issues/1")
        }
    }

    @Test("What is read is written the same way") func written() throws {
        let transport = ScriptedService { request in
            var taken = request.json?.object ?? [:]
            taken["number"] = 1
            return request.method == .get ? self.answer(request) : .json(JSONValue.object(taken).description)
        }
        var service = Self.service
        service.style.saving?.conflicts = .none
        service.resources[1].saving = SavingStyle(update: .init(.patch, "repositories/{SELF.0}/issues/{SELF.1}"), conflicts: .none)
        let context = try service.context(transport, Self.model())
        try context.performAndWait {
            let repository = try #require(try context.fetch(fetch("Repository", by: ["name"])).first)
            let issue = try #require((repository.value(forKey: "issues") as? Set<NSManagedObject>)?.first)
            issue.setValue("slow, new", forKey: "labels")
            issue.setValue(#"{"b": 2}"#, forKey: "raw")
            issue.setValue(URL(string: "\(base)/p/2"), forKey: "page")
            issue.setValue(Date(timeIntervalSince1970: 1), forKey: "closed")
            issue.setValue(["line": Int64(13), "file": "y.swift"], forKey: "place")
            try context.save()
        }
        let patch = try #require(transport.requests.first { $0.method == .patch })
        expect(patch.path, equals: "/repositories/larks/issues/1")
        expect(patch.json?["labels"], equals: ["slow", "new"])
        expect(patch.json?["extra"], equals: ["b": 2])
        expect(patch.json?["page"]?.string, equals: "/p/2")
        expect(patch.json?["closed"], equals: ["kind": "time", "at": 1])
        expect(patch.json?["place"], equals: ["line": 13, "file": "y.swift", "column": 3])
    }
}
