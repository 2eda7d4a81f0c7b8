import CoreData
import Foundation
import JSONReading
import RemoteStore
import Synchronization
import TestSupport
import Testing
import WebBackend
import WebTransport

/// A service of items that are replaced whole, by the tag that the read of one tells and lists do not.
private final class WholeItems: Transport {
    struct State {
        var item: JSONObject = [
            "id": 1, "key": "A", "title": "first", "n": 1, "list": ["id": 5, "name": "inbox"], "watchers": [5, 6, 7],
        ]
        var version = 1
        var puts: [WebRequest] = []
    }
    private let state = Mutex(State())

    /// Lets another client change the item.
    func meanwhile(_ change: (inout JSONObject) -> Void) {
        state.withLock { state in
            change(&state.item)
            state.version += 1
        }
    }

    var item: JSONObject { state.withLock { $0.item } }
    var puts: [WebRequest] { state.withLock { $0.puts } }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        state.withLock { state in
            let tag = "\"\(state.version)\""
            switch (request.method, request.path) {
            case (.get, "/items"): return .json("[\(JSONValue.object(state.item))]")
            case (.get, "/items/1"): return .json(JSONValue.object(state.item).description, headers: ["ETag": tag])
            case (.get, "/lists"):
                let lists = (5...9).map { #"{"id": \#($0), "name": "list \#($0)"}"# }
                return .json("[\(lists.joined(separator: ", "))]")
            case (.put, "/items/1"): return replace(request.headers["If-Match"], request.json?.object ?? [:], request, &state)
            case (.post, "/batch"):
                let parts = request.json?["requests"]?.array ?? []
                let answers = parts.map { part -> JSONValue in
                    let answer = replace(part["headers"]?["If-Match"]?.string, part["body"]?.object ?? [:], request, &state)
                    return ["status": .integer(Int64(answer.status)), "body": .null]
                }
                return .json(JSONValue.object(["responses": .array(answers)]).description)
            default: return .json("{}", status: 404)
            }
        }
    }

    private func replace(_ known: String?, _ item: JSONObject, _ request: WebRequest, _ state: inout State) -> WebResponse {
        state.puts.append(request)
        if let known, known != "\"\(state.version)\"" { return .json("{}", status: 412) }
        var item = item
        // A service that knows its lists by their identifiers.
        if let list = item["list"]?.integer { item["list"] = ["id": .integer(list), "name": "list"] }
        item["id"] = 1
        state.item = item
        state.version += 1
        return WebResponse(status: 204, headers: ["ETag": "\"\(state.version)\""])
    }
}

@Suite("Resources that are replaced whole") struct WholeResourceTests {
    private static func model(isOrdered: Bool) -> NSManagedObjectModel {
        let (item, list) = (NSEntityDescription(name: "Item"), NSEntityDescription(name: "List"))
        let watchers = NSRelationshipDescription(name: "watchers", destination: list, toMany: true)
        watchers.isOrdered = isOrdered
        item.properties = [
            NSAttributeDescription(name: "key", type: .string), NSAttributeDescription(name: "title", type: .string),
            NSAttributeDescription(name: "n", type: .integer64), NSRelationshipDescription(name: "list", destination: list), watchers,
        ]
        list.properties = [NSAttributeDescription(name: "name", type: .string)]
        return NSManagedObjectModel(entities: [item, list])
    }

    private static let item = WebResource("Item", properties: ["watchers": "watchers"])

    private enum Kind: CaseIterable { case preconditions, none, batch }

    private static func backend(_ items: WholeItems, _ kind: Kind, isOrdered: Bool = false) throws -> WebBackend {
        var style = ServiceStyle.plain
        if kind != .none { style.version = .eTag }
        var saving = SavingStyle(
            update: .init(.put, "{path}/{SELF}", answer: .nothing), replacesWholeResources: true,
            precondition: kind == .none ? .none : .ifMatch, conflicts: kind == .none ? .none : .byReading)
        if kind == .batch { saving.batch = .requests(.init(path: "/batch", hasWholePaths: false)) }
        style.saving = saving
        var options = WebClient.Options()
        options.retries = .never
        return try WebBackend(
            WebService(base, style: style, resources: [Self.item, WebResource("List")]), model: model(isOrdered: isOrdered),
            transport: items, options: options)
    }

    private static func plain(_ items: WholeItems, _ kind: Kind = .preconditions, isOrdered: Bool = false) throws -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(isOrdered: isOrdered))
        try coordinator.addRemoteStore(backend(items, kind, isOrdered: isOrdered))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// What others do between the read and the save.
    private static func others(_ item: inout JSONObject) {
        item["title"] = "others"
        item["list"] = ["id": 8, "name": "others"]
        item["watchers"] = [6, 7, 9]
        item["unknown"] = [1, 2]
    }

    private static func checkMerged(_ items: WholeItems, _ comment: Comment) {
        let item = items.item
        expect(item["n"], equals: 31, comment)
        expect(item["title"], equals: "others", comment)
        expect(item["list"]?["id"], equals: 8, comment)
        expect(item["watchers"], equals: [6, 7, 9], comment)
        expect(item["unknown"], equals: [1, 2], comment)
        expect(items.puts.count, equals: 1, comment)
    }

    @Test("A plain save replaces what this program has changed, and nothing that others have", arguments: [false, true])
    private func plainSave(conflicts: Bool) throws {
        let items = WholeItems()
        let context = try Self.plain(items, conflicts ? .preconditions : .none)
        try context.performAndWait {
            let item = try #require(try context.fetch(fetch("Item")).first)
            item.setValue(31, forKey: "n")
            items.meanwhile(Self.others)
            try context.save()
            // What was written is what is shown, also of what others have changed.
            expect(item.text("title"), equals: "others")
            expect(item.value(forKey: "n") as? Int, equals: 31)
        }
        Self.checkMerged(items, "\(conflicts)")
    }

    @Test("The outbox replaces what this program has changed, and nothing that others have, also within a batch", arguments: [0, 1, 2])
    private func outbox(number: Int) async throws {
        let kind = Kind.allCases[number]
        let items = WholeItems()
        let folder = try ScratchFolder("whole")
        defer { folder.remove() }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(isOrdered: false))
        var cache = CachedStoreOptions()
        cache.sendsAutomatically = false
        let store = try coordinator.addCachedStore(Self.backend(items, kind), at: folder.file("items.sqlite"), options: cache)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.automaticallyMergesChangesFromParent = true
        let request = fetch("Item")
        request.cachePolicy = .networkOnly
        try await context.perform {
            let item = try #require(try context.fetch(request).first)
            item.setValue(31, forKey: "n")
            try context.save()
        }
        items.meanwhile(Self.others)
        try await store.sendPending()
        try expect(store.pendingChanges().map(\.state), equals: [])
        Self.checkMerged(items, "\(kind)")
        let known = fetch("Item")
        known.cachePolicy = .cacheOnly
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = coordinator
        let title = try await other.perform { try other.fetch(known).first?.text("title") }
        expect(title, equals: "others")
    }

    @Test("What others have made of the same value is a conflict, and nothing is replaced")
    func conflict() throws {
        let items = WholeItems()
        let context = try Self.plain(items)
        context.performAndWait {
            let error = #expect(throws: NSError.self) {
                let item = try #require(try context.fetch(fetch("Item")).first)
                item.setValue(31, forKey: "n")
                items.meanwhile { $0["n"] = 99 }
                try context.save()
            }
            expect(error?.code, equals: NSManagedObjectMergeError)
        }
        expect(items.puts.count, equals: 0)
    }

    @Test(
        "A list that was changed is merged with what others have made of it, an ordered one in the order that was set",
        arguments: [false, true])
    func lists(isOrdered: Bool) throws {
        let items = WholeItems()
        let context = try Self.plain(items, isOrdered: isOrdered)
        try context.performAndWait {
            let item = try #require(try context.fetch(fetch("Item")).first)
            let lists = try context.fetch(fetch("List", by: ["name"]))
            // 5, 6, 7 become 8, 7, 6: five goes, and eight comes.
            let mine = [lists[3], lists[2], lists[1]]
            if isOrdered {
                item.setValue(NSOrderedSet(array: mine), forKey: "watchers")
            } else {
                item.setValue(NSSet(array: mine), forKey: "watchers")
            }
            // Others take six out, and add nine.
            items.meanwhile { $0["watchers"] = [5, 7, 9] }
            try context.save()
        }
        let found = items.item["watchers"]?.array?.compactMap(\.integer) ?? []
        expect(isOrdered ? found : found.sorted(), equals: isOrdered ? [8, 7, 9] : [7, 8, 9])
    }
}
