import CoreData
import Foundation
import JSONReading
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Answers to a batch") struct BatchOrderTests {
    private static let resource = WebResource("Thing", ignored: ["city", "street"])
    private static var style: ServiceStyle {
        var style = ServiceStyle.plain
        style.saving = SavingStyle(batch: .requests(.init(path: "batch")))
        return style
    }

    /// A service that makes the things of a batch, and answers in an order of its own.
    ///
    /// - Parameter alter: What it makes of each thing before it keeps it.
    private static func service(
        _ order: @escaping @Sendable ([JSONValue]) -> [JSONValue], alter: @escaping @Sendable (inout JSONObject) -> Void = { _ in }
    ) -> ThingService {
        ThingService { request, state in
            let requests = request.json?["requests"]?.array ?? []
            let answers = requests.map { one -> JSONValue in
                let id = state.things.count + 1
                var thing = one["body"]?.object ?? JSONObject()
                thing["id"] = .integer(Int64(id))
                alter(&thing)
                state.things["\(id)"] = thing
                return ["status": 201, "body": .object(thing)]
            }
            return .json(JSONValue.object(["responses": .array(order(answers))]).description)
        }
    }

    @Test("in another order than the requests gives no resource the identifier of another one: it is an error that says so")
    func anotherOrder() throws {
        let context = try Thing.plain(Self.service { $0.reversed() }, Self.style, Self.resource)
        context.performAndWait {
            for number in 1...4 {
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                thing.setValue("t\(number)", forKey: "title")
                thing.setValue(number, forKey: "n")
            }
            let error = #expect(throws: NSError.self) { try context.save() }
            let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? error.map { [$0] } ?? []
            #expect(details.contains { "\($0)".contains("in the order of the requests") }, "\(String(describing: error))")
        }
    }

    @Test("with values of the service's own are taken: they are those of no other resource of the batch")
    func alteredValues() throws {
        let service = Self.service({ $0 }, alter: { thing in if (thing["n"]?.integer ?? 0) > 2 { thing["n"] = 2 } })
        let context = try Thing.plain(service, Self.style, Self.resource)
        try context.performAndWait {
            let things = (1...4).map { number in
                let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
                thing.setValue("t\(number)", forKey: "title")
                thing.setValue(number, forKey: "n")
                return thing
            }
            try context.save()
            expect(things.map { $0.value(forKey: "n") as? Int }, equals: [1, 2, 2, 2])
        }
    }

    @Test("that have the new version of a change in a header, and no body, are followed by a read: the service may have another value")
    func versionAlone() throws {
        let service = ThingService(["1": ["id": 1, "key": "a", "title": "one", "n": 1]]) { request, state in
            guard request.method == .patch else { return nil }
            _ = ThingService.change(request, &state)
            if (state.things["1"]?["n"]?.integer ?? 0) > 100 { state.things["1"]?["n"] = 100 }
            return WebResponse(status: 204, headers: ["ETag": "\"2\""])
        }
        var style = ServiceStyle.plain
        style.version = .eTag
        style.saving = SavingStyle()
        let context = try Thing.plain(service, style, Self.resource)
        try context.performAndWait {
            let thing = try #require(try context.fetch(fetch("Thing")).first)
            thing.setValue(777, forKey: "n")
            try context.save()
            expect(thing.value(forKey: "n") as? Int, equals: 100)
        }
    }
}
