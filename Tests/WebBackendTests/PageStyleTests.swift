import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Lists in every style of pages, some of which contradict their description, and some of which move while they are read.
@Suite("Styles of pages") struct PageStyleTests {
    /// How the next page is found.
    enum Form: CaseIterable { case numbers, numbersWithNext, offsets, cursors, headerCursors, addresses, links }

    /// What is wrong with the pages of a list.
    enum Fault: CaseIterable {
        case none
        /// What should say whether there is another page says neither.
        case oddHasMore
        /// Each page says that there is another one, and the last one does not name it.
        case missingNext
        /// What should name the next page is true.
        case oddNext
        /// What should be the number of all resources is a word, or less than nothing.
        case oddTotal
        /// Each page tells of more resources than there are.
        case largeTotal
        /// Each page tells of fewer resources than there are: as many as it has itself.
        case totalOfPage
        /// Pages have fewer resources than were asked for.
        case shortPages
        /// Resources go while the pages are read.
        case deletions
        /// Resources go with each page of every reading.
        case endlessDeletions

        /// Whether every list with the fault is an error.
        var isError: Bool {
            switch self {
            case .oddHasMore, .missingNext, .oddNext, .oddTotal, .largeTotal: true
            case .none, .totalOfPage, .shortPages, .deletions, .endlessDeletions: false
            }
        }
    }

    /// A list as a service has it, and as its description says that it has.
    private struct List {
        let form: Form
        let fault: Fault
        let count: Int
        let size: Int
        let first: Int
        let takesSize: Bool
        let tellsMore: Bool
        let tellsTotal: Bool
        let word: String

        init(_ form: Form, _ fault: Fault, _ random: inout SeededGenerator) {
            (self.form, self.fault) = (form, fault)
            size = 2 + random.below(5)
            count = (fault.isError || fault == .totalOfPage ? 1 : 0) + random.below(24)
            first = random.below(2)
            takesSize = random.chance(0.5)
            tellsMore = fault == .oddHasMore || fault == .missingNext || random.chance(0.4)
            tellsTotal = [.oddTotal, .largeTotal, .totalOfPage].contains(fault) || random.chance(0.4)
            word = ["many", "-1", "3.5"][random.below(3)]
        }

        var next: AnswerPart? {
            switch form {
            case .numbers, .offsets: nil
            case .numbersWithNext, .cursors, .addresses: .body("meta.next")
            case .headerCursors: .header("X-Next")
            case .links: .link("next")
            }
        }

        /// Whether the fault can be made in this form.
        var isPossible: Bool {
            switch fault {
            case .missingNext: next != nil
            case .oddNext: if case .body? = next { true } else { false }
            // Where pages say themselves which one follows, their number does not matter until the end.
            case .none, .oddHasMore, .oddTotal, .largeTotal, .totalOfPage, .shortPages, .deletions, .endlessDeletions: true
            }
        }

        var paging: PagingStyle {
            let pageForm: PagingStyle.Form =
                switch form {
                case .numbers, .numbersWithNext: .number("page", first: first)
                case .offsets: .offset("skip")
                case .cursors, .headerCursors: .cursor("cursor")
                case .addresses, .links: .address
                }
            return PagingStyle(
                pageForm, sizeParameter: takesSize ? "size" : nil, size: size, next: next, hasMore: tellsMore ? .body("meta.more") : nil,
                total: tellsTotal ? .body("meta.total") : nil)
        }

        /// Answers for a page.
        ///
        /// - Parameter ids: What there is.
        func answer(_ request: WebRequest, _ ids: [Int]) -> WebResponse {
            let asked = request.query("size").flatMap { Int($0) } ?? size
            let length = fault == .shortPages ? max(1, asked - 1) : asked
            let start: Int =
                switch form {
                case .numbers, .numbersWithNext: ((request.query("page").flatMap { Int($0) } ?? first) - first) * length
                case .offsets: request.query("skip").flatMap { Int($0) } ?? 0
                case .cursors, .headerCursors: request.query("cursor").flatMap { Int($0.dropFirst()) } ?? 0
                case .addresses, .links: request.query("from").flatMap { Int($0) } ?? 0
                }
            let page = ids.dropFirst(start).prefix(length)
            let end = start + page.count
            let hasMore = end < ids.count
            var headers: WebHeaders = [:]
            var meta: [String] = []
            let size = takesSize ? "&size=\(asked)" : ""
            switch form {
            case .numbers, .offsets: break
            case .numbersWithNext: meta.append(#""next": \#(hasMore ? "\(start / max(1, length) + first + 1)" : "null")"#)
            case .cursors: meta.append(#""next": \#(hasMore ? "\"c\(end)\"" : "null")"#)
            case .headerCursors: if hasMore { headers["X-Next"] = "c\(end)" }
            case .addresses: meta.append(#""next": \#(hasMore ? "\"\(base)/albums?from=\(end)\(size)\"" : "false")"#)
            case .links: if hasMore { headers["Link"] = "<\(base)/albums?from=\(end)\(size)>; rel=\"next\"" }
            }
            if fault == .oddNext { meta = [#""next": true"#] }
            if tellsMore {
                meta.append(#""more": \#(fault == .oddHasMore ? "\"perhaps\"" : fault == .missingNext ? "true" : "\(hasMore)")"#)
            }
            if tellsTotal {
                let total =
                    switch fault {
                    case .oddTotal: "\"\(word)\""
                    case .largeTotal: "\(ids.count + 3)"
                    case .totalOfPage: "\(page.count)"
                    default: "\(ids.count)"
                    }
                meta.append(#""total": \#(total)"#)
            }
            let items = page.map { #"{"id": \#($0), "title": "\#($0)"}"# }.joined(separator: ", ")
            return .json(#"{"items": [\#(items)], "meta": {\#(meta.joined(separator: ", "))}}"#, headers: headers)
        }
    }

    @Test("A list is whole, or an error, or its plan says what it may lack", arguments: Form.allCases, Fault.allCases)
    func random(form: Form, fault: Fault) throws {
        let seed = TestSeed.current(for: "Styles of pages")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 0.05, atLeast: 5) {
            let list = List(form, fault, &random)
            guard list.isPossible else { return }
            let place = "seed \(seed), round \(round), \(form), \(fault): \(list)"
            let there = Mutexed(Array(0..<list.count))
            let gone = Mutexed(fault == .deletions ? 1 + random.below(2) : fault == .endlessDeletions ? 1000 : 0)
            let place0 = random.below(3)
            let service = ScriptedService { request in
                let ids = there.withValue { $0 }
                let answer = list.answer(request, ids)
                // After the first pages something goes that was there already.
                if gone.withValue({ $0 > 0 }), ids.count > list.size, request.target.contains(where: { $0 == "=" }) || place0 == 0 {
                    gone.withValue { $0 -= 1 }
                    there.withValue { _ = $0.removeFirst() }
                }
                return answer
            }
            var style = ServiceStyle.plain
            style.envelope.items = "items"
            style.paging = list.paging
            let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(service)
            let outcome = try context.performAndWait { () -> (found: Set<Int>, error: String?, plan: FetchPlan) in
                do {
                    let titles = try context.fetch(fetch("Album")).compactMap { $0.text("title") }
                    return (Set(titles.compactMap { Int($0) }), nil, try fetch("Album").explain(in: context))
                } catch { return ([], (error as NSError).localizedDescription, try fetch("Album").explain(in: context)) }
            }
            if let text = outcome.error {
                #expect(fault != .none && fault != .deletions, "\(place): \(text)")
                #expect(text.contains("description") || text.contains("names none") || text.contains("has told of"), "\(place): \(text)")
                continue
            }
            #expect(!fault.isError, "\(place): \(outcome.found) is taken for all")
            let lost = Set(there.withValue { $0 }).subtracting(outcome.found)
            if lost.isEmpty { continue }
            let plan = "\(outcome.plan)"
            #expect(fault != .none && plan.contains("beware"), "\(place): \(lost) are lost, without a word in \(plan)")
        }
    }

    @Test("Pages that move, and a last page that is only guessed, are said by the plan; those that tell are not")
    func caveats() throws {
        let styles: [(PagingStyle, [String])] = [
            (.pages("page", of: 10), ["move", "taken for the last"]), (.offsets(of: 10), ["taken for the last"]),
            (.pages("page", of: 10, total: .body("total")), []), (.following(.body("next"), of: 10), []),
            (.following(.link("next"), of: 10, stability: .offsets), ["move"]), (.none, []),
        ]
        for (paging, words) in styles {
            var style = ServiceStyle.plain
            style.envelope.items = "items"
            style.paging = paging
            let context = try WebService(base, style: style, resources: [WebResource("Album")]).context(
                ScriptedService { _ in .json(#"{"items": []}"#) })
            let plan = try context.performAndWait { try fetch("Album").explain(in: context) }
            expect(plan.caveats.count, equals: words.count, "\(plan)")
            for word in words { #expect(plan.caveats.contains { $0.contains(word) }, "\(plan)") }
        }
    }

    @Test("The next page is followed by a link in a list, by its relation", arguments: [true, false]) func linksInLists(isFHIR: Bool) throws
    {
        let (relation, address) = isFHIR ? ("relation", "url") : ("rel", "href")
        let transport = ScriptedService { request in
            let isFirst = request.query("page") == nil
            let next = isFirst ? #", {"\#(relation)": "next", "\#(address)": "/v1/albums?page=2"}"# : ""
            return .json(
                #"{"links": [{"\#(relation)": "self", "\#(address)": "/v1/albums"}\#(next)], "items": [{"id": \#(isFirst ? 1 : 2)}]}"#)
        }
        let list = isFHIR ? #"{"name": "next", "relation": "relation", "address": "url"}"# : #"{"name": "next"}"#
        let service = try WebService(
            json: Data(
                #"""
                {"address": "\#(base)", "style": {"envelope": {"items": "items"}, "paging": {"next": {"linkInList": \#(list)}}},
                 "resources": ["Album"]}
                """#.utf8))
        let context = try service.context(transport)
        try context.performAndWait { expect(try context.fetch(fetch("Album")).count, equals: 2) }
        expect(transport.targets, equals: ["GET /albums", "GET /albums?page=2"])
    }

    @Test("A descending order has a parameter of its own where the description names one") func descendingParameter() throws {
        let transport = ScriptedService { _ in .json("[]") }
        let service = try WebService(
            json: Data(
                #"""
                {"address": "\#(base)", "style": {"sorting": {"parameter": "_sort", "descendingParameter": "_sort_desc"}},
                 "resources": [{"entity": "Album", "calls": [{"list": "albums", "sorting": ["year", "title"]}]}]}
                """#.utf8))
        let context = try service.context(transport)
        try context.performAndWait {
            for keys in [["year"], ["-year"], ["year", "title"]] { _ = try context.fetch(fetch("Album", by: keys)) }
        }
        expect(transport.targets, equals: ["GET /albums?_sort=year", "GET /albums?_sort_desc=year", "GET /albums"])
    }
}
