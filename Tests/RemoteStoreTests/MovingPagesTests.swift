import CoreData
import Foundation
import PredicateCases
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Pages that are read while others insert and delete.
@Suite("Moving pages") struct MovingPagesTests {
    /// How a backend goes on to the next page.
    enum Kind: CaseIterable {
        /// After a number of resources that the request names.
        case offsets
        /// By a token, with the number of all resources.
        case totals
        /// By a token that survives changes.
        case cursors

        func paging(_ size: Int) -> Paging {
            switch self {
            case .offsets: .pages(of: size, takesLimit: true, takesOffset: true)
            case .totals: .pages(of: size)
            case .cursors: .pages(of: size, stability: .cursors)
            }
        }
    }

    @Test("What is there all the while is found once, and in order", arguments: Kind.allCases)
    func randomChanges(kind: Kind) throws {
        let seed = TestSeed.current(for: "Moving pages")
        var random = SeededGenerator(seed: seed)
        for round in TestRounds(seconds: 1, atLeast: 10) {
            guard try run(kind, &random, "seed \(seed), round \(round)") else { return }
        }
    }

    private func run(_ kind: Kind, _ random: inout SeededGenerator, _ place: String) throws -> Bool {
        let count = Int.random(in: 0...50, using: &random)
        let paging = kind.paging(Int.random(in: 2...9, using: &random))
        let endpoints = [
            Endpoint("list", sorting: .by("year"), paging: paging, counts: kind == .totals),
            Endpoint("ofBand", parameters: [Parameter("band", isRequired: true)], paging: paging, counts: kind == .totals),
        ]
        let backend = ScriptedBackend(
            Shop.model(), [Resource("Album", endpoints: endpoints), Resource("Band", endpoints: [Endpoint("all")])])
        backend.put("Band", 1, ["name": "Beatles"])
        @Sendable func values(_ year: Int) -> [String: ResourceValue] {
            ["title": .value(.string("\(year)")), "year": .value(.int64(Int64(year))), "band": .one(1)]
        }
        for number in 0..<count { backend.put("Album", number, values(Int.random(in: 0..<1000, using: &random))) }
        let context = try backend.context()
        // Where only totals tell, pages are read three times at most.
        let left = Guarded(kind == .totals ? 2 : Int.random(in: 0...12, using: &random))
        let changes = Guarded((random: random, next: 1000, deleted: Set<Int>()))
        backend.script { request in
            guard request.entity == "Album" else { return .answer }
            changes.withValue { state in
                for _ in 0..<Int.random(in: 0...2, using: &state.random) where left.withValue({ $0 > 0 }) {
                    left.withValue { $0 -= 1 }
                    if kind != .totals, Bool.random(using: &state.random) {
                        state.next += 1
                        backend.put("Album", state.next, values(Int.random(in: 0..<1000, using: &state.random)))
                    } else if let gone = (0..<max(1, count)).randomElement(using: &state.random) {
                        backend.remove("Album", gone)
                        state.deleted.insert(gone)
                    }
                }
            }
            return .answer
        }
        let isSorted = Bool.random(using: &random)
        let ofBand = Bool.random(using: &random)
        let limit = isSorted && !ofBand && Bool.random(using: &random) ? Int.random(in: 1...30, using: &random) : 0
        let found = try context.performAndWait { () -> [(id: Int, year: Int)] in
            let albums: [NSManagedObject]
            if ofBand {
                let band = try #require(try context.fetch(fetchRequest("Band")).first)
                albums = Array(band.value(forKey: "albums") as? Set<NSManagedObject> ?? [])
            } else {
                albums = try context.fetch(fetchRequest("Album", by: isSorted ? ["year"] : [], limit: limit))
            }
            backend.script { _ in .answer }
            return albums.map { album in
                (album.objectID.resourceNumber, Int(album.value(forKey: "title") as? String ?? "") ?? -1)
            }
        }
        random = changes.withValue { $0.random }
        let ids = found.map(\.id)
        let stayed = Set(0..<count).subtracting(changes.withValue { $0.deleted })
        let what = "\(place): \(paging), sorted \(isSorted), of a band \(ofBand), limit \(limit)"
        expect(Set(ids).count, equals: ids.count, "\(what): \(ids) has doubles")
        // Where pages were read again, the place of what was deleted meanwhile is not known.
        let ordered = kind == .totals ? found.filter { stayed.contains($0.id) } : found
        if isSorted, !ofBand { expect(ordered.map(\.year), equals: ordered.map(\.year).sorted(), "\(what): out of order: \(found)") }
        if limit == 0 {
            let lost = stayed.subtracting(ids)
            if !lost.isEmpty {
                Issue.record("\(what): \(lost) were lost\n\(backend.requests.map { "\($0)" }.joined(separator: "\n"))")
                return false
            }
        } else {
            #expect(ids.count <= limit)
        }
        return true
    }

    @Test("What is deleted is not in the list, also where it lay between two pages of the second reading", arguments: 1...6)
    func deletedBetweenPages(gone: Int) throws {
        let backend = ScriptedBackend(
            Shop.model(), [Resource("Album", endpoints: [Endpoint("list", sorting: .by("year"), paging: .pages(of: 2), counts: true)])])
        for number in 1...6 {
            backend.put("Album", number, ["title": .value(.string("\(number)")), "year": .value(.int64(Int64(number)))])
        }
        let context = try backend.context()
        let requests = Guarded(0)
        backend.script { _ in
            if requests.withValue({
                $0 += 1; return $0
            }) == 3 {
                backend.remove("Album", gone)
            }
            return .answer
        }
        let titles = try context.texts(fetchRequest("Album", by: ["year"]))
        expect(titles, equals: (1...6).filter { $0 != gone }.map { "\($0)" })
    }

    @Test("What stays is in the list, also where as many come as go while its pages are read again")
    func asManyComeAsGo() throws {
        let seed = TestSeed.current(for: "As many come as go")
        for round in TestRounds(seconds: 1, atLeast: 20) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let count = 6 + random.below(20)
            let size = 2 + random.below(4)
            let backend = ScriptedBackend(
                Shop.model(),
                [Resource("Album", endpoints: [Endpoint("list", sorting: .by("year"), paging: .pages(of: size), counts: true)])])
            @Sendable func put(_ number: Int) {
                backend.put("Album", number, ["title": .value(.string("\(number)")), "year": .value(.int64(Int64(number)))])
            }
            for number in 1...count { put(number) }
            let context = try backend.context()
            // One goes with the last page, so that the pages are read again; then one goes and another comes between two pages. What no page has brought
            // before that would be lost: nothing tells of it.
            let pages = (count + size - 1) / size
            let first = pages - 1
            let second = pages + 1 + random.below(pages)
            let gone = [1 + random.below(count / 2), count / 2 + 1 + random.below(count / 2)].shuffled(using: &random)
            let requests = Guarded(0)
            backend.script { _ in
                let number = requests.withValue {
                    $0 += 1
                    return $0
                }
                if number == first + 1 { backend.remove("Album", gone[0]) }
                if number == second + 1 {
                    backend.remove("Album", gone[1])
                    put(1000)
                }
                return .answer
            }
            let titles = Set(try context.texts(fetchRequest("Album", by: ["year"])))
            let lost = Set((1...count).filter { !gone.contains($0) }.map { "\($0)" }).subtracting(titles)
            #expect(
                lost.isEmpty,
                "COREDATA_TEST_SEED=\(seed), round \(round): \(lost) of \(count) are lost, pages of \(size), \(gone) gone with requests \(first + 1), \(second + 1)"
            )
            if !lost.isEmpty { return }
        }
    }

    @Test("Pages that overlap cost a request for each page and five more at most")
    func cost() throws {
        let backend = ScriptedBackend(
            Shop.model(), [Resource("Album", endpoints: [Endpoint("list", paging: .pages(of: 100, takesOffset: true))])])
        for number in 0..<500 { backend.put("Album", number, ["title": .value(.string("\(number)"))]) }
        let context = try backend.context()
        try backend.expectRequests(atMost: 10) {
            let titles = try context.texts(fetchRequest("Album"))
            expect(titles, equals: (0..<500).map { "\($0)" })
        }
    }

    @Test("A page that lacks the overlap leads back to a row that is known", arguments: [1, 3, 7, 19])
    func deletions(count: Int) throws {
        let backend = ScriptedBackend(
            Shop.model(), [Resource("Album", endpoints: [Endpoint("list", paging: .pages(of: 10, takesOffset: true))])])
        for number in 0..<40 { backend.put("Album", number, ["title": .value(.string("\(number)"))]) }
        let context = try backend.context()
        backend.script { request in
            if request.offset > 15, request.offset < 20 { for number in 0..<count { backend.remove("Album", number) } }
            return .answer
        }
        let titles = try context.texts(fetchRequest("Album"))
        expect(Array(titles.suffix(40 - count)), equals: (count..<40).map { "\($0)" })
        #expect(backend.requests.count <= 9)
    }
}

extension NSManagedObjectID {
    /// The number that a backend knows the object by.
    var resourceNumber: Int {
        let text = uriRepresentation().lastPathComponent
        return Int(text.drop { !$0.isNumber }) ?? -1
    }
}
