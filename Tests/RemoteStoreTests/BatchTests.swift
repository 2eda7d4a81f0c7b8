import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Batch requests") struct BatchTests {
    private static let byYear = [
        Parameter("year", operators: .order), Parameter("band", maximumValues: 2), Parameter("SELF", maximumValues: 2),
    ]

    private func backend(
        _ bulk: Resource.Saving.Bulk?, people: Resource.Saving.Bulk? = nil, identity: Resource.Saving.Identity = .assignedByBackend
    ) -> ScriptedBackend {
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)])
        let backend = ScriptedBackend(
            Shop.model(),
            [
                Resource("Band", endpoints: [Endpoint("all"), byID], saving: .init()),
                Resource(
                    "Album", endpoints: [Endpoint("all", freshness: .seconds(3600)), byID],
                    saving: .init(identity: identity, maximumChanges: 2, bulk: bulk)),
                Resource("Person", endpoints: [Endpoint("all")], saving: .init(bulk: people)),
            ])
        backend.setVersions(.numbers)
        for (id, year) in [(1, 1965), (2, 1969), (3, 1970), (4, 1993)] {
            backend.put(
                "Album", id,
                ["title": .value(.string("Album \(id)")), "year": .value(.int64(Int64(year))), "rating": 1.0, "band": .one(id < 3 ? 7 : 8)])
        }
        return backend
    }

    private func update(_ format: String?, _ values: [AnyHashable: Any]) -> NSBatchUpdateRequest {
        let request = NSBatchUpdateRequest(entityName: "Album")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.propertiesToUpdate = values
        return request
    }

    @Test("An update is one call with the predicate as filters, and tells what its result type asks for")
    func updates() throws {
        let call = Endpoint("updateWhere", parameters: Self.byYear)
        let backend = backend(.init(update: call, results: [.identifiers]))
        let context = try backend.context()
        try context.performAndWait {
            // A kept answer of everything, which the update outdates.
            let albums = try context.fetch(fetchRequest("Album", by: ["year"]))
            expect(albums.count, equals: 4)
            let request = update("year < 1970 AND year > 1960", ["rating": 5, "notes": NSNull()])
            expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Bool, equals: true)
            #expect(backend.bulkRequests.count == 1 && backend.saves.isEmpty)
            expect(backend.bulkRequests[0].target.filters.count, equals: 2)
            expect(backend.bulkRequests[0].values, equals: ["rating": 5.0, "notes": .value(.null)])
            request.resultType = .updatedObjectsCountResultType
            expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int, equals: 2)
            request.resultType = .updatedObjectIDsResultType
            let ids = try #require((try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID])
            expect(Set(ids.map { $0.uriRepresentation().lastPathComponent }), equals: ["p1", "p2"])
            // Contexts follow by the IDs, as with every store.
            let album = albums[0]
            #expect(ids.contains(album.objectID))
            expect(album.value(forKey: "rating") as? Double, equals: 1)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
            expect(album.value(forKey: "rating") as? Double, equals: 5)
            try expect(context.count(for: fetchRequest("Album", "rating == 5")), equals: 2)
        }
    }

    @Test("A deletion takes predicate, order and limit, and the identifiers of objects in as many calls as they need")
    func deletions() throws {
        let call = Endpoint("deleteWhere", parameters: Self.byYear, sorting: .by("year"), paging: Paging(takesLimit: true))
        let backend = backend(.init(delete: call, results: [.identifiers]))
        let context = try backend.context()
        try context.performAndWait {
            let albums = try context.fetch(fetchRequest("Album", by: ["year"]))
            let oldest = NSBatchDeleteRequest(fetchRequest: fetchRequest("Album", by: ["year"], limit: 1))
            oldest.resultType = .resultTypeObjectIDs
            let ids = try #require((try context.execute(oldest) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID])
            #expect(ids == [albums[0].objectID] && backend.ids("Album").count == 3)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
            try expect(context.fetch(fetchRequest("Album")).count, equals: 3)
            // Two identifiers a call.
            let byID = NSBatchDeleteRequest(objectIDs: albums.dropFirst().map(\.objectID))
            byID.resultType = .resultTypeCount
            expect((try context.execute(byID) as? NSBatchDeleteResult)?.result as? Int, equals: 3)
            #expect(backend.bulkRequests.count == 3 && backend.ids("Album").isEmpty)
            // What cannot match is asked of nobody.
            let none = NSBatchDeleteRequest(fetchRequest: fetchRequest("Album", "FALSEPREDICATE"))
            none.resultType = .resultTypeCount
            expect((try context.execute(none) as? NSBatchDeleteResult)?.result as? Int, equals: 0)
            expect(backend.bulkRequests.count, equals: 3)
        }
    }

    @Test("An insert is sent as new resources, as many in a call as the backend takes", arguments: [false, true])
    func inserts(hasOwnIdentifiers: Bool) throws {
        let backend = backend(.init(inserts: true), identity: hasOwnIdentifiers ? .newUUID : .assignedByBackend)
        let context = try backend.context()
        try context.performAndWait {
            let rows = (0..<5).map { ["title": "New \($0)", "year": 2000 + $0] as [String: Any] }
            let request = NSBatchInsertRequest(entityName: "Album", objects: rows)
            request.resultType = .objectIDs
            let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            #expect(ids.count == 5 && backend.saves.map(\.count) == [2, 2, 1])
            expect(ids.map { context.object(with: $0).value(forKey: "title") as? String }, equals: (0..<5).map { "New \($0)" })
            try expect(context.count(for: fetchRequest("Album", "year >= 2000")), equals: 5)
        }
    }

    @Test("What a call cannot do exactly is refused before anything is sent, and the error names the clause")
    func refusals() throws {
        let call = Endpoint("where", parameters: Self.byYear)
        let backend = backend(.init(update: call, delete: call, results: [.count]))
        let context = try backend.context()
        func refusal(_ request: NSPersistentStoreRequest) throws -> String {
            let error = try #require(failure { try context.performAndWait { _ = try context.execute(request) } })
            expect(error.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            #expect(error.localizedDescription.contains("Batch"))
            return "\(error.localizedDescription) \(error.localizedFailureReason ?? "") \(error.localizedRecoverySuggestion ?? "")"
        }
        #expect(try refusal(update("title == 'A' AND year == 1969", ["notes": "x"])).contains("title"))
        #expect(try refusal(update("band.name == 'A'", ["notes": "x"])).contains("name"))
        #expect(try refusal(update("year == 1969", ["year": NSExpression(format: "year + 1")])).contains("“year”"))
        let ids = update("year == 1969", ["notes": "x"])
        ids.resultType = .updatedObjectIDsResultType
        #expect(try refusal(ids).contains("result type"))
        #expect(try refusal(NSBatchDeleteRequest(fetchRequest: fetchRequest("Album", by: ["year"], limit: 1))).contains("year"))
        #expect(try refusal(NSBatchDeleteRequest(fetchRequest: fetchRequest("Album", limit: 1))).contains("limit 1"))
        // By name: entities and kinds of request for which nothing is declared.
        #expect(try refusal(NSBatchInsertRequest(entityName: "Album", objects: [["title": "A"]])).contains("Album"))
        #expect(try refusal(NSBatchDeleteRequest(fetchRequest: fetchRequest("Band"))).contains("NSBatchDeleteRequest of “Band”"))
        #expect(try refusal(NSBatchDeleteRequest(fetchRequest: fetchRequest("Track"))).contains("Track"))
        #expect(backend.bulkRequests.isEmpty && backend.saves.isEmpty && backend.ids("Album").count == 4)
    }

    @Test("A call that does not reach the kinds that are asked for, or reaches more, is refused")
    func kinds() throws {
        for reachesAll in [false, true] {
            let call = Endpoint("where", parameters: [Parameter("name")], includesSubentities: reachesAll)
            let backend = backend(nil, people: .init(delete: call))
            backend.put("Person", 1, ["name": "A"])
            backend.put("Singer", 2, ["name": "A"])
            let context = try backend.context()
            try context.performAndWait {
                let request = fetchRequest("Person", "name == 'A'")
                request.includesSubentities = !reachesAll
                #expect(failure { try context.execute(NSBatchDeleteRequest(fetchRequest: request)) } != nil)
                #expect(backend.bulkRequests.isEmpty)
                request.includesSubentities = reachesAll
                try context.execute(NSBatchDeleteRequest(fetchRequest: request))
                #expect(backend.ids("Person").isEmpty && backend.ids("Singer").count == (reachesAll ? 0 : 1))
            }
        }
    }

    @Test("An error before anything was done is the backend's; after that, or with a lost answer, it says what was done")
    func failures() throws {
        let call = Endpoint("where", parameters: Self.byYear)
        let backend = backend(.init(inserts: true, delete: call))
        let context = try backend.context()
        let ids = try context.performAndWait { try context.fetch(fetchRequest("Album")).map(\.objectID) }
        let delete = NSBatchDeleteRequest(objectIDs: ids)
        let insert = NSBatchInsertRequest(entityName: "Album", objects: (0..<4).map { ["title": "\($0)"] })
        func error(_ request: NSPersistentStoreRequest) -> NSError? {
            failure { try context.performAndWait { _ = try context.execute(request) } }
        }
        backend.scriptSaves { _ in .fail(ServiceFailure("offline")) }
        expect(error(delete)?.domain.contains("ServiceFailure"), equals: true)
        expect(error(insert)?.domain.contains("ServiceFailure"), equals: true)
        backend.scriptSaves { _ in .loseAnswer(ServiceFailure("gone")) }
        expect(error(delete)?.code, equals: NSPersistentStoreIncompleteSaveError)
        // It was not sent again by itself.
        #expect(backend.bulkRequests.count == 2 && backend.ids("Album").count == 2)
        backend.scriptSaves { changes in changes.first?.values["title"] == "2" ? .fail(ServiceFailure("full")) : .answer }
        let partial = try #require(error(insert))
        expect(partial.code, equals: NSPersistentStoreIncompleteSaveError)
        expect((partial.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObjectID])?.count, equals: 2)
        expect(backend.ids("Album").count, equals: 4)
    }

    @Test("A description that does not fit the model is refused when the store is added")
    func descriptions() throws {
        let backend = backend(.init(delete: Endpoint("where", parameters: [Parameter("yeer")])))
        expect(failure { _ = try backend.context() }?.localizedFailureReason?.contains("yeer"), equals: true)
    }
}
