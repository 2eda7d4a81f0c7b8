import CoreData
import Foundation
import Predicates
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Which endpoints a fetch uses, and what is left to memory.
@Suite("Plans") struct PlanTests {
    private func backend(_ endpoints: Endpoint..., bands: [Endpoint] = [Endpoint("all")]) -> ScriptedBackend {
        let model = Shop.model()
        let backend = ScriptedBackend(model, [Resource("Album", endpoints: endpoints), Resource("Band", endpoints: bands)])
        for band in 1...3 { backend.put("Band", band, ["name": .value(.string("Band \(band)"))]) }
        for number in 0..<40 {
            backend.put(
                "Album", number,
                [
                    "title": .value(.string(number % 2 == 0 ? "Album \(number)" : "álbum \(number)")),
                    "year": number % 10 == 9 ? nil : .value(.int64(Int64(1960 + number))),
                    "rating": .value(.double(Double(number) / 4)), "isLive": .value(.bool(number % 5 == 0)),
                    "band": .one(.init(.integer(Int64(number % 3 + 1)))),
                ])
        }
        return backend
    }

    /// Checks a fetch against one that is finished in memory, and returns its plan.
    private func plan(_ backend: ScriptedBackend, _ request: NSFetchRequest<NSManagedObject>) throws -> FetchPlan {
        let context = try backend.context()
        let plan = try context.plan(request)
        let reference = self.backend(Endpoint("all"))
        let expected = try reference.context().texts(request)
        let found = try context.texts(request)
        let isSorted = !(request.sortDescriptors?.isEmpty ?? true)
        expect((isSorted ? found : found.sorted()), equals: (isSorted ? expected : expected.sorted()), "\(plan)")
        return plan
    }

    @Test("The cheapest endpoint that can answer is asked")
    func cheapest() throws {
        let backend = backend(
            Endpoint("all"), Endpoint("ofBand", parameters: [Parameter("band", isRequired: true)], cost: .init(expectedRows: 10)),
            Endpoint("info", parameters: [Parameter("SELF", isRequired: true)]))
        let context = try backend.context()
        let band = try context.performAndWait { try context.fetch(fetchRequest("Band"))[0].objectID }
        let album = try context.performAndWait { try context.fetch(fetchRequest("Album"))[0].objectID }
        try expect(context.plan(fetchRequest("Album", "band == %@", [band])).requests.map(\.endpoint), equals: ["ofBand"])
        try expect(context.plan(fetchRequest("Album", "SELF == %@", [album])).requests.map(\.endpoint), equals: ["info"])
        try expect(context.plan(fetchRequest("Album", "year > 1970")).requests.map(\.endpoint), equals: ["all"])
        try expect(
            context.plan(fetchRequest("Album", "band == %@ AND SELF == %@", [band, album])).requests.map(\.endpoint), equals: ["info"])
    }

    @Test("Where no endpoint can answer, the error names the clause and what each endpoint needs")
    func unanswerable() throws {
        let backend = backend(
            Endpoint("search", parameters: [Parameter("title", operators: [.beginsWith], isRequired: true)]),
            Endpoint("info", parameters: [Parameter("SELF", isRequired: true)]))
        let context = try backend.context()
        let error = try #require(failure { _ = try context.texts(fetchRequest("Album", "year == 1969")) })
        expect(error.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
        for part in ["Album", "year == 1969", "search", "title by BEGINSWITH", "info", "SELF by =="] {
            #expect(error.localizedDescription.contains(part), "\(part) in \(error.localizedDescription)")
        }
        #expect(backend.requests.isEmpty)
    }

    @Test("Comparisons are pushed down by their normal form: turned, without NOT, ranges as pairs, alternatives as IN")
    func normalForm() throws {
        let year = Parameter("year", operators: Set.order.union([.isIn, .notEqual]), maximumValues: 10)
        let backend = backend(Endpoint("search", parameters: [year, Parameter("isLive")]))
        let cases: [(String, [String])] = [
            ("1970 < year", ["year > 1970"]), ("NOT year < 1970", ["year >= 1970"]),
            ("NOT (year < 1970 OR isLive == YES)", ["year >= 1970"]),
            ("year BETWEEN {1970, 1975}", ["year >= 1970", "year <= 1975"]), ("year == 1961 OR year == 1962", ["year IN {1961, 1962}"]),
            ("year IN {1961}", ["year == 1961"]), ("NOT NOT year == 1961", ["year == 1961"]), ("NOT year == 1961", ["year != 1961"]),
            ("year == 1961 OR (year IN {1962, 1961} OR 1963 == year)", ["year IN {1961, 1962, 1963}"]),
            ("isLive == YES AND year > 1980 AND year <= 1990", ["year > 1980", "year <= 1990", "isLive == TRUE"]),
        ]
        for (format, filters) in cases {
            let plan = try plan(backend, fetchRequest("Album", format))
            expect(Set(plan.requests[0].filters.map(\.description)), equals: Set(filters), "\(format): \(plan)")
        }
        #expect(try plan(backend, fetchRequest("Album", "year BETWEEN {1970, 1975}")).predicateInMemory == nil)
        #expect(try plan(backend, fetchRequest("Album", "year IN {}")).requests.isEmpty)
        #expect(
            try self.backend(Endpoint("byTag", parameters: [Parameter("ANY tags")])).context().texts(
                fetchRequest("Album", "ANY tags IN {}")
            ).isEmpty)
    }

    @Test("What only widens is compared again in memory, and the limit with it")
    func wider() throws {
        let backend = backend(
            Endpoint(
                "search",
                parameters: [Parameter("title", operators: [.equal, .contains], text: [.caseInsensitive, .diacriticInsensitive])],
                paging: .pages(of: 5, takesLimit: true)))
        let plan = try plan(backend, fetchRequest("Album", "title CONTAINS 'lbum 1'", by: ["title"], limit: 3))
        expect(plan.requests[0].filters.count, equals: 1)
        #expect(plan.predicateInMemory != nil && plan.pagesInMemory)
        #expect(try self.plan(backend, fetchRequest("Album", "title CONTAINS[cd] 'ALB'")).predicateInMemory == nil)
        #expect(try self.plan(backend, fetchRequest("Album", "title ==[c] 'album 2'")).predicateInMemory != nil)
        // A service that regards case finds less.
        let strict = self.backend(Endpoint("search", parameters: [Parameter("title", operators: [.contains])]))
        #expect(try self.plan(strict, fetchRequest("Album", "title CONTAINS[c] 'ALBUM'")).requests[0].filters.isEmpty)
    }

    @Test("Order, limit and offset are pushed down where everything else is")
    func pages() throws {
        let backend = backend(
            Endpoint(
                "search", parameters: [Parameter("isLive")], sorting: .by("year", "title"),
                paging: .pages(of: 7, takesLimit: true, takesOffset: true)))
        let whole = try plan(backend, fetchRequest("Album", "isLive == NO", by: ["-year", "title"], limit: 5, offset: 3))
        #expect(whole.requests[0].limit == 5 && whole.requests[0].offset == 3 && whole.requests[0].sorts.count == 2)
        #expect(whole.isExactForTests)
        let long = try plan(backend, fetchRequest("Album", "isLive == NO", by: ["year"], limit: 20))
        expect(long.requests[0].limit, equals: 20)
        let unsorted = try plan(backend, fetchRequest("Album", by: ["rating"], limit: 5))
        #expect(unsorted.sortsInMemory == ["rating"] && unsorted.requests[0].limit == nil)
        let localized = fetchRequest("Album")
        localized.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true, textOrder: .caseInsensitive)]
        try expect(plan(backend, localized).sortsInMemory, equals: ["title"])
    }

    @Test("Pages are read only until there are enough results, if the order is the backend's")
    func earlyEnd() throws {
        let backend = backend(Endpoint("list", sorting: .by("year"), paging: .pages(of: 5)))
        let context = try backend.context()
        let request = fetchRequest("Album", "isLive == YES", by: ["-year"], limit: 2)
        try backend.expectRequests(atMost: 3) { _ = try context.texts(request) }
        backend.forgetRequests()
        request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: true)]
        _ = try context.texts(request)
        expect(backend.requests.count, equals: 8)
    }

    @Test("Values beyond what a parameter takes are split, and single values asked one by one")
    func splits() throws {
        let years = (1960..<1990).map(String.init).joined(separator: ", ")
        let many = backend(Endpoint("search", parameters: [Parameter("year", isRequired: true, maximumValues: 10)]))
        try expect(plan(many, fetchRequest("Album", "year IN {\(years)}", by: ["title"])).requests.count, equals: 3)
        let one = backend(Endpoint("search", parameters: [Parameter("year", isRequired: true)]))
        try expect(plan(one, fetchRequest("Album", "year IN {1960, 1961}", by: ["title"])).requests.count, equals: 2)
        try expect(plan(one, fetchRequest("Album", "year == 1960 OR (year == 1961 AND isLive == NO)")).requests.count, equals: 2)
    }

    @Test("Alternatives are asked each by itself, and an object that several find comes once")
    func alternatives() throws {
        let backend = backend(
            Endpoint("byYear", parameters: [Parameter("year", isRequired: true)]),
            Endpoint("byTitle", parameters: [Parameter("title", operators: [.beginsWith], isRequired: true)]))
        let plan = try plan(
            backend, fetchRequest("Album", "year == 1962 OR title BEGINSWITH 'Album 2' OR (year == 1963 AND rating > 3)", by: ["title"]))
        expect(plan.requests.map(\.endpoint), equals: ["byYear", "byTitle", "byYear"])
        expect(plan.sortsInMemory, equals: ["title"])
    }

    @Test("An endpoint that takes trees gets the whole predicate as far as it can express it")
    func trees() throws {
        let backend = backend(
            Endpoint(
                "query",
                parameters: [
                    Parameter("year", operators: .all), Parameter("isLive"), Parameter("title", operators: .all, maximumValues: 5),
                    Parameter("band.name"),
                ], logic: .tree, sorting: .by("year"), paging: .pages(of: 10, takesLimit: true)))
        let format = "(year > 1970 AND NOT title BEGINSWITH 'á') OR (isLive == YES AND band.name == 'Band 1')"
        let whole = try plan(backend, fetchRequest("Album", format, by: ["year"], limit: 4))
        #expect(whole.predicateInMemory == nil && whole.requests[0].limit == 4)
        let part = try plan(backend, fetchRequest("Album", "year > 1970 AND rating > 5"))
        expect(part.requests[0].predicate, equals: .compare(.keyPath(["year"]), .greaterThan, .constant(.int64(1970))))
        expect("\(try #require(part.predicateInMemory))", equals: "rating > 5")
    }

    @Test("Counts and functions over attributes are the backend's where it can")
    func counts() throws {
        let backend = backend(
            Endpoint(
                "search", parameters: [Parameter("isLive")], paging: .pages(of: 10), counts: true,
                aggregates: [.init(.sum, of: "year"), .init(.maximum, of: "rating")]))
        let context = try backend.context()
        try context.performAndWait {
            let live = try context.count(for: fetchRequest("Album", "isLive == YES"))
            expect(live, equals: 8)
            #expect(backend.requests.count == 1 && backend.requests[0].wantsCount)
            let rated = try context.count(for: fetchRequest("Album", "isLive == YES AND rating > 5"))
            expect(rated, equals: 3)
            backend.forgetRequests()
            let request = NSFetchRequest<NSDictionary>(entityName: "Album")
            request.resultType = .dictionaryResultType
            func column(_ name: String, _ format: String) -> NSExpressionDescription {
                let column = NSExpressionDescription()
                column.name = name
                column.expression = NSExpression(format: format)
                return column
            }
            request.propertiesToFetch = [column("years", "sum(year)"), column("best", "max(rating)")]
            request.predicate = NSPredicate(format: "isLive == YES")
            let result = try context.fetch(request)[0]
            expect(result["best"] as? Double, equals: 8.75)
            #expect(backend.requests.count == 1 && backend.requests[0].aggregates.count == 2)
            request.propertiesToFetch = [column("years", "sum(year)"), column("average", "average(rating)")]
            let other = try context.fetch(request)[0]
            expect(other["years"] as? Int, equals: result["years"] as? Int)
        }
    }

    @Test("Groups are the backend's where it can, conditions for them are not")
    func groups() throws {
        let backend = backend(
            Endpoint(
                "search", parameters: [Parameter("year", operators: .order)], paging: .pages(of: 10),
                aggregates: [.init(.count, of: "title"), .init(.maximum, of: "rating")], groups: ["isLive"]))
        let context = try backend.context()
        let request = NSFetchRequest<NSDictionary>(entityName: "Album")
        request.resultType = .dictionaryResultType
        func column(_ name: String, _ format: String) -> NSExpressionDescription {
            let column = NSExpressionDescription()
            column.name = name
            column.expression = NSExpression(format: format)
            return column
        }
        request.propertiesToFetch = ["isLive", column("albums", "count(title)"), column("best", "max(rating)")]
        request.propertiesToGroupBy = ["isLive"]
        request.sortDescriptors = [NSSortDescriptor(key: "albums", ascending: false)]
        request.predicate = NSPredicate(format: "year >= 1960")
        try context.performAndWait {
            let plan = try request.explain(in: context)
            #expect("\(plan)".contains("the backend groups") && "\(plan)".contains("grouped by isLive"), "\(plan)")
            let found = try context.fetch(request)
            expect(backend.requests.count, equals: 1)
            let expected = try self.backend(Endpoint("all")).context().performAndWaitForTests { try $0.fetch(request) }
            expect(found, equals: expected)
            request.havingPredicate = NSPredicate(format: "max(rating) > 9")
            #expect(try !request.explain(in: context).isAggregatedByBackend)
            let some = try context.fetch(request)
            #expect(some == (try self.backend(Endpoint("all")).context().performAndWaitForTests { try $0.fetch(request) }))
        }
    }

    @Test("Too much that is read in vain is an error that names the clause")
    func budget() throws {
        let backend = backend(Endpoint("list", paging: .pages(of: 5)))
        let model = Shop.model()
        let context = try backend.context(model, RemoteStoreOptions(maximumRows: 20))
        let error = try #require(failure { _ = try context.texts(fetchRequest("Album", "rating > 9 AND year != 3")) })
        expect(error.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
        #expect(error.localizedDescription.contains("rating > 9"))
        expect(backend.requests.count, equals: 5)
        // What is a result is not in vain.
        try expect(context.texts(fetchRequest("Album")).count, equals: 40)
        let few = try backend.context(Shop.model(), RemoteStoreOptions(maximumRequests: 2))
        expect(
            failure { _ = try few.texts(fetchRequest("Album", by: ["rating"], limit: 1)) }?.localizedDescription.contains("sort by rating"),
            equals: true)
    }

    @Test("Constants that a parameter would change are compared in memory")
    func constants() throws {
        let backend = backend(Endpoint("search", parameters: [Parameter("year", operators: .all), Parameter("title", operators: .all)]))
        for format in ["year > 1965.5", "title == 5", "year == '1965'", "title BEGINSWITH ''", "year IN {1960, nil}", "year + 1 == 1961"] {
            let plan = try plan(backend, fetchRequest("Album", format))
            #expect(plan.requests.allSatisfy { $0.filters.isEmpty } || format.contains("IN"), "\(format): \(plan)")
        }
        try expect(plan(backend, fetchRequest("Album", "year > 1965.0")).requests[0].filters.map(\.description), equals: ["year > 1965"])
        try expect(plan(backend, fetchRequest("Album", "year == nil")).requests[0].filters.isEmpty, equals: false)
    }

    @Test("The plan reads as text")
    func text() throws {
        let backend = backend(Endpoint("search", parameters: [Parameter("isLive")], paging: .pages(of: 10)))
        let plan = try backend.context().plan(fetchRequest("Album", "isLive == YES AND band.name == 'Band 1'", by: ["year"], limit: 3))
        for part in ["ask Album.search(isLive == TRUE)", "in memory: where band.name == \"Band 1\"", "load band", "sort by year", "limit"] {
            #expect("\(plan)".contains(part), "\(plan)")
        }
        #expect(backend.requests.isEmpty)
    }
}

extension NSManagedObjectContext {
    fileprivate func performAndWaitForTests<Result>(_ body: (NSManagedObjectContext) throws -> Result) rethrows -> Result {
        try performAndWait { try body(self) }
    }
}

extension FetchPlan {
    /// Whether nothing is left to memory.
    var isExactForTests: Bool { predicateInMemory == nil && sortsInMemory.isEmpty && !pagesInMemory }
}
