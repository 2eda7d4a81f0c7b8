import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Where the pages of a list end") struct PageEndTests {
    private func titles(_ paging: PagingStyle, _ service: ScriptedService, failure: JSONPath? = nil) throws -> [String] {
        var style = ServiceStyle.plain
        style.errors.flag = failure
        style.envelope.items = "items"
        style.paging = paging
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(service)
        return try context.performAndWait { try context.fetch(fetch("Album")).compactMap { $0.text("title") }.sorted() }
    }

    private static func page(_ numbers: some Sequence<Int>, _ rest: String) -> WebResponse {
        let items = numbers.map { #"{"id": \#($0), "title": "\#($0)"}"# }.joined(separator: ", ")
        return .json(#"{"items": [\#(items)]\#(rest)}"#)
    }

    private static let byCursor = PagingStyle.following(.body("next"), parameter: "cursor", of: 2)

    @Test("A page without resources that names another one is not the last") func emptyPage() throws {
        let service = ScriptedService { request in
            if request.target.contains("c2") { return Self.page([3, 4], #", "next": null"#) }
            return request.target.contains("c1") ? Self.page([], #", "next": "c2""#) : Self.page([1, 2], #", "next": "c1""#)
        }
        expect(try titles(Self.byCursor, service), equals: ["1", "2", "3", "4"])
    }

    @Test("A service that names the cursor that it was asked with has come to its end, and one that names new ones where it says so")
    func namedAtTheEnd() throws {
        let same = ScriptedService { $0.target.contains("c1") ? Self.page([], #", "next": "c1""#) : Self.page([1, 2], #", "next": "c1""#) }
        expect(try titles(Self.byCursor, same), equals: ["1", "2"])
        expect(same.requests.count, equals: 2)
        let new = ScriptedService { $0.target.contains("c1") ? Self.page([], #", "next": "c7""#) : Self.page([1, 2], #", "next": "c1""#) }
        var paging = Self.byCursor
        paging.endsEmpty = true
        expect(try titles(paging, new), equals: ["1", "2"])
        expect(new.requests.count, equals: 2)
    }

    /// What services answer behind the last page of a list.
    enum BehindTheLast: CaseIterable, Sendable {
        case nothing, lastAgain, notFound, badRequest, failureWithSuccess
    }

    /// A service that has so many resources, and gives at most so many at a time.
    private static func capped(_ most: Int, _ count: Int, _ behind: BehindTheLast) -> ScriptedService {
        ScriptedService { request in
            let size = min(most, Int(request.query("per_page") ?? request.query("limit") ?? "3") ?? 3)
            let page = request.query("page").flatMap { Int($0) }.map { ($0 - 1) * size }
            let start = request.query("offset").flatMap { Int($0) } ?? page ?? 0
            if start < count || start == 0 { return Self.page((0..<count).dropFirst(start).prefix(size), "") }
            switch behind {
            case .nothing: return Self.page([Int](), "")
            case .lastAgain: return Self.page((0..<count).dropFirst((count - 1) / size * size), "")
            case .notFound: return .json(#"{"message": "Invalid page."}"#, status: 404)
            case .badRequest: return .json(#"{"message": "There is no such page."}"#, status: 400)
            case .failureWithSuccess: return .json(#"{"error": "There is no such page."}"#)
            }
        }
    }

    @Test(
        "Where nothing tells the last page, a list is whole, whatever the service gives at a time, and answers behind its last page",
        arguments: [PagingStyle.pages(size: "per_page", of: 3), .offsets(of: 3), PagingStyle(.number("page", first: 1), size: 3)],
        BehindTheLast.allCases)
    func guessedEnds(_ paging: PagingStyle, _ behind: BehindTheLast) throws {
        for count in 0...7 {
            for most in 1...3 {
                // Behind a later page, a refusal or the same page may be for a limit to what can be read, and is an error.
                let isRefused = [.lastAgain, .badRequest, .failureWithSuccess].contains(behind)
                let refusesLater = isRefused && (count > most || count == most && most == 3) && count % most == 0
                do {
                    let titles = try titles(paging, Self.capped(most, count, behind), failure: "error")
                    expect(titles, equals: (0..<count).map(String.init), "\(count) by \(most), \(behind)")
                } catch {
                    #expect(refusesLater, "\(count) by \(most), \(behind): \(error)")
                }
            }
        }
    }

    @Test("A short page is the last one without asking where the description says so, or a larger one has come") func shortPages() throws {
        let service = Self.capped(3, 5, .nothing)
        expect(try titles(.pages("page", of: 3), service).count, equals: 5)
        expect(service.targets, equals: ["GET /albums?page=1", "GET /albums?page=2"])
        var stated = PagingStyle.pages("page", of: 3)
        stated.endsShort = true
        let small = Self.capped(3, 2, .nothing)
        expect(try titles(stated, small).count, equals: 2)
        expect(small.targets, equals: ["GET /albums?page=1"])
    }

    /// A service that tells the number of all, and gives at most so many at a time.
    private static func counted(_ most: Int, _ count: Int, items: @escaping @Sendable (_ page: Int, _ size: Int) -> [Int])
        -> ScriptedService
    {
        ScriptedService { request in
            let size = min(most, Int(request.query("limit") ?? "10") ?? 10)
            return Self.page(items(Int(request.query("page") ?? "1") ?? 1, size), ", \"total\": \(count)")
        }
    }

    private static let byNumber = PagingStyle.pages(size: "limit", of: 10, total: .body("total"))

    @Test("A list whose number of resources is told is whole, whatever the service gives at a time") func cappedWithTotal() throws {
        for count in [0, 1, 3, 6, 7, 10, 20, 23] {
            for most in [1, 2, 3, 7, 10] {
                let service = Self.counted(most, count) { Array((0..<count).dropFirst(($0 - 1) * $1).prefix($1)) }
                expect(try titles(Self.byNumber, service), equals: (0..<count).map(String.init).sorted(), "\(count) by \(most)")
            }
        }
    }

    @Test(
        "A list that has fewer resources than it is told to have is an error: the page's parameter is not known, or its numbers begin elsewhere",
        arguments: [11, 19, 20, 23, 30, 40], [false, true])
    func toldAndNotCome(count: Int, startsElsewhere: Bool) throws {
        let service = Self.counted(10, count) { page, size in
            Array((0..<count).dropFirst(startsElsewhere ? max(0, page - 1) * size : 0).prefix(size))
        }
        var paging = Self.byNumber
        if startsElsewhere { paging.form = .number("page", first: 0) }
        // Where a further page is asked for anyway, all have come.
        do { expect(try titles(paging, service).count, equals: count) } catch {
            expect((error as NSError).code, equals: NSPersistentStoreOperationError, "\(error)")
        }
        #expect(service.requests.count < 20)
    }

    @Test("A list in whose order equal ones change their places at each request is whole or an error, and one that has some twice is whole")
    func tiesAndDoubles() throws {
        var random = SeededGenerator(seed: TestSeed.current(for: "Ties"))
        let orders = (0..<200).map { _ in (0..<45).shuffled(using: &random) }
        let asked = Mutexed(0)
        let service = Self.counted(10, 45) { page, size in
            let order = asked.withValue { value in
                value += 1
                return orders[value % orders.count]
            }
            return Array(order.dropFirst((page - 1) * size).prefix(size))
        }
        do { expect(try titles(Self.byNumber, service).count, equals: 45) } catch {
            #expect((error as NSError).localizedDescription.contains("not whole"), "\(error)")
        }
        let playlist = (0..<30).map { $0 % 17 }
        let doubles = Self.counted(10, 30) { Array(playlist.dropFirst(($0 - 1) * $1).prefix($1)) }
        expect(try titles(Self.byNumber, doubles).count, equals: 17)
    }

    /// What a service tells as the number of all resources.
    enum Total: CaseIterable, Sendable {
        /// How many are left from the page on.
        case left
        /// At most twenty.
        case upToTwenty
        /// How many the page has.
        case ofThePage
    }

    @Test(
        "A list is whole or an error, where the total tells how many are left, stops at a number, or counts the page",
        arguments: Total.allCases)
    func otherTotals(_ told: Total) throws {
        var offsets = PagingStyle.offsets(of: 10)
        offsets.total = .body("total")
        for paging in [Self.byNumber, offsets] {
            for count in 0...64 {
                let service = ScriptedService { request in
                    let start = Int(request.query("offset") ?? "") ?? ((Int(request.query("page") ?? "1") ?? 1) - 1) * 10
                    let items = (0..<count).dropFirst(start).prefix(Int(request.query("limit") ?? "10") ?? 10)
                    let total =
                        switch told {
                        case .left: max(0, count - start)
                        case .upToTwenty: min(20, count)
                        case .ofThePage: items.count
                        }
                    return Self.page(items, ", \"total\": \(total)")
                }
                do { expect(try titles(paging, service).count, equals: count, "\(count), \(told)") } catch {
                    #expect(told != .left && count > 10, "\(count), \(told): \(error)")
                }
                #expect(service.requests.count < 30, "\(count), \(told): \(service.targets)")
            }
        }
    }

    @Test(
        "An address of the next page that forgets the filter is an error where it brings what does not match, and none where it has a token for it",
        arguments: [false, true])
    func forgottenFilters(hasToken: Bool) throws {
        var style = ServiceStyle.plain
        style.envelope.items = "items"
        style.filters = FilterStyle(.parameters, [.equal: "{name}={value}"])
        style.paging = .following(.body("next"), of: 2)
        let service = ScriptedService { request in
            let isFiltered = request.query("year") != nil || hasToken
            let start = Int(request.query("after") ?? "0") ?? 0
            let all = (0..<12).filter { !isFiltered || $0 % 3 == 0 }
            let items = all.dropFirst(start).prefix(2).map { #"{"id": \#($0), "title": "\#($0)", "year": \#($0 % 3)}"# }
            let next = start + 2 < all.count ? "\"/albums?after=\(start + 2)\"" : "null"
            return .json("{\"items\": [\(items.joined(separator: ","))], \"next\": \(next)}")
        }
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(service)
        try context.performAndWait {
            if hasToken {
                expect(try context.fetch(fetch("Album", "year == 0")).count, equals: 4)
            } else {
                let error = #expect(throws: NSError.self) { try context.fetch(fetch("Album", "year == 0")) }
                #expect(error.map { "\($0)" }?.contains("no “year”") ?? false, "\(String(describing: error))")
            }
        }
    }

    @Test(
        "An address of the next page that forgets a comparison or the order is an error where it brings what contradicts it",
        arguments: [("year > 0", false), ("year >= 1", false), ("year < 2", false), (nil, true)])
    func forgottenComparisons(predicate: String?, isSorted: Bool) throws {
        var style = ServiceStyle.plain
        style.envelope.items = "items"
        style.filters = FilterStyle(
            .parameters,
            [
                .greaterThan: "{name}_gt={value}", .greaterThanOrEqual: "{name}_gte={value}", .lessThan: "{name}_lt={value}",
            ])
        style.sorting = SortStyle("sort", sortsNilFirst: true)
        style.paging = .following(.body("next"), of: 4)
        let service = ScriptedService { request in
            var years = (0..<24).map { ($0 * 7) % 3 }
            if let least = request.query("year_gt").flatMap({ Int($0) }) { years.removeAll { $0 <= least } }
            if let least = request.query("year_gte").flatMap({ Int($0) }) { years.removeAll { $0 < least } }
            if let most = request.query("year_lt").flatMap({ Int($0) }) { years.removeAll { $0 >= most } }
            if request.query("sort") != nil { years.sort(by: >) }
            let start = Int(request.query("after") ?? "0") ?? 0
            let items = years.enumerated().dropFirst(start).prefix(4).map { #"{"id": \#($0), "title": "\#($0)", "year": \#($1)}"# }
            let next = start + 4 < years.count ? "\"/albums?after=\(start + 4)\"" : "null"
            return .json("{\"items\": [\(items.joined(separator: ","))], \"next\": \(next)}")
        }
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(service)
        context.performAndWait {
            let request = predicate.map { fetch("Album", $0) } ?? fetch("Album")
            if isSorted {
                request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
                request.fetchLimit = 12
            }
            let error = #expect(throws: NSError.self) { try context.fetch(request) }
            #expect(error.map { "\($0)" }?.contains("The address of the page") ?? false, "\(String(describing: error))")
        }
    }

    @Test("A page without a total leaves the total that was told before: a list that ends there is not whole") func forgottenTotal() throws
    {
        var offsets = PagingStyle.offsets(of: 10)
        offsets.total = .body("total")
        for paging in [Self.byNumber, offsets] {
            let service = ScriptedService { request in
                let start = Int(request.query("offset") ?? "") ?? ((Int(request.query("page") ?? "1") ?? 1) - 1) * 10
                return start == 0 ? Self.page(0..<10, ", \"total\": 40") : Self.page([Int](), "")
            }
            #expect(throws: NSError.self) { try titles(paging, service) }
        }
    }

    @Test("A service that names a new cursor behind each page is an error that says how the description tells the end") func newForEver() {
        let service = ScriptedService { request in
            let number = request.query("cursor").flatMap { Int($0.dropFirst()) } ?? 0
            return Self.page(number < 2 ? [number] : [], ", \"next\": \"c\(number + 1)\"")
        }
        let error = #expect(throws: NSError.self) { try titles(Self.byCursor, service) }
        #expect(error.map { "\($0)" }?.contains("endsEmpty: true") ?? false, "\(String(describing: error))")
    }

    @Test("Offsets go on behind an empty page, where the answer names the next one or says that there is one", arguments: [true, false])
    func offsetsBehindEmptyPages(isNamed: Bool) throws {
        let visible = Set(Array(1...10) + Array(31...40))
        let service = ScriptedService { request in
            let start = Int(request.query("offset") ?? "0") ?? 0
            let end = start + 10
            let next = end < 40 ? "\(end)" : "null"
            return Self.page((1...40).dropFirst(start).prefix(10).filter(visible.contains), ", \"next\": \(next), \"more\": \(end < 40)")
        }
        var paging = PagingStyle.offsets(of: 10)
        if isNamed { paging.next = .body("next") } else { paging.hasMore = .body("more") }
        expect(try titles(paging, service).count, equals: 20)
    }

    @Test("An offset that leads beyond all numbers, or back, does no harm", arguments: ["9223372036854775807", "-1", "0", "1e300"])
    func oddOffsets(named: String) throws {
        let service = ScriptedService { request in
            let start = Int(request.query("offset") ?? "0") ?? 0
            return start < 3 ? Self.page([start + 1], ", \"next\": \(named)") : Self.page([Int](), ", \"next\": null")
        }
        var style = ServiceStyle.plain
        style.envelope.items = "items"
        style.paging = PagingStyle(.offset("offset"), sizeParameter: "limit", size: 10, next: .body("next"))
        let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(service)
        try context.performAndWait {
            expect(try context.fetch(fetch("Album")).count, equals: 3)
            let far = fetch("Album")
            far.fetchOffset = .max
            expect(try context.fetch(far).count, equals: 0)
        }
        #expect(service.requests.count < 10)
    }

    @Test("Null is an empty list") func nullForEmpty() throws {
        expect(try titles(Self.byNumber, ScriptedService { _ in .json(#"{"items": null, "total": 0}"#) }), equals: [])
    }

    @Test("A service that does not know the parameter of the page, and has more than it gives, is an error") func unknownParameter() throws
    {
        let service = ScriptedService { _ in Self.page(1...3, "") }
        let error = #expect(throws: NSError.self) { try titles(.pages("page", of: 3), service) }
        #expect(error?.code == NSPersistentStoreOperationError)
    }

    /// A service that tells 3 as its number, whatever there is, and says in which sense.
    private static func estimating(_ relation: String, _ count: Int) -> ScriptedService {
        ScriptedService { request in
            let skipped = request.query("offset").flatMap { Int($0) } ?? 0
            return Self.page((1...count).dropFirst(skipped).prefix(2), #", "total": {"value": 3, "relation": "\#(relation)"}"#)
        }
    }

    @Test(
        "A total that may be more ends no list, and is no count: the error tells both; where the answer says that it is exact, it is both")
    func estimatedTotal() throws {
        var paging = PagingStyle.offsets(of: 2, total: .body("total.value"))
        paging.exactTotal = AnswerMark(.body("total.relation"), is: "eq")
        expect(try titles(paging, Self.estimating("gte", 7)), equals: ["1", "2", "3", "4", "5", "6", "7"])
        let exact = Self.estimating("eq", 3)
        expect(try titles(paging, exact), equals: ["1", "2", "3"])
        expect(exact.requests.count, equals: 2)
        var style = ServiceStyle.plain
        style.envelope.items = "items"
        style.paging = paging
        let service = WebService(base, style: style, resources: [WebResource("Album")])
        let context = try service.context(Self.estimating("gte", 7))
        context.performAndWait {
            let error = #expect(throws: NSError.self) { try context.count(for: fetch("Album")) }
            let text = error?.localizedDescription ?? ""
            #expect(text.contains("“3”") && text.contains("“gte”") && text.contains("“total.relation” of the body"), "\(text)")
        }
        let counted = try service.context(Self.estimating("eq", 3))
        try counted.performAndWait { try expect(counted.count(for: fetch("Album")), equals: 3) }
    }

    @Test(
        "A page that says that there are others, and names none where the description says, is an error that names both places",
        arguments: [
            PagingStyle(.cursor("cursor"), next: .body("nextCursor"), hasMore: .body("more")),
            PagingStyle(.address, next: .link("next"), hasMore: .body("more")),
            PagingStyle(.number("page", first: 1), next: .body("nextPage"), hasMore: .body("more")),
            PagingStyle(.offset("skip"), next: .header("X-Next"), hasMore: .body("more")),
        ])
    func contradiction(_ paging: PagingStyle) throws {
        let service = ScriptedService { _ in Self.page([1, 2], #", "more": true"#) }
        do {
            let found = try titles(paging, service)
            Issue.record("\(found) is taken for all")
        } catch {
            let (text, next) = (error.localizedDescription, try #require(paging.next).description)
            #expect(text.contains("“more” of the body") && text.contains(next), "\(text)")
        }
    }

    @Test("A total that the first page alone tells counts for the others", arguments: [true, false]) func totalOfTheFirst(byOffset: Bool)
        throws
    {
        // The service gives fewer than it is asked for.
        let service = ScriptedService { request in
            let start = byOffset ? Int(request.query("skip") ?? "0") ?? 0 : ((Int(request.query("page") ?? "1") ?? 1) - 1) * 10
            let end = min(start + (byOffset ? 4 : 10), 25)
            return Self.page(start < end ? Array(start..<end) : [], start == 0 ? #", "count": 25"# : "")
        }
        let form = byOffset ? PagingStyle.Form.offset("skip") : .number("page", first: 1)
        let paging = PagingStyle(form, sizeParameter: "top", size: 10, total: .body("count"), totalParameter: "count=true")
        expect(try titles(paging, service), equals: (0..<25).map { "\($0)" }.sorted())
    }

    @Test("Pages of any length, also none, are read to the last") func random() throws {
        let seed = TestSeed.current(for: "Ends of pages")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let lengths = (0..<(1 + random.below(8))).map { _ in random.chance(0.4) ? 0 : 1 + random.below(3) }
            let tellsMore = random.chance(0.5)
            let service = ScriptedService { request in
                let number = request.target.split(separator: "cursor=").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
                let start = lengths[..<number].reduce(0, +)
                let isLast = number == lengths.count - 1
                let next = isLast ? "null" : #""\#(number + 1)""#
                return Self.page(start..<(start + lengths[number]), #", "next": \#(next)"# + (tellsMore ? #", "more": \#(!isLast)"# : ""))
            }
            var paging = Self.byCursor
            if tellsMore { paging.hasMore = .body("more") }
            let count = lengths.reduce(0, +)
            expect(try titles(paging, service), equals: (0..<count).map { "\($0)" }.sorted(), "seed \(seed): \(lengths)")
        }
    }
}
