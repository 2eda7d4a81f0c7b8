import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Why a service does not answer.
private struct GroupRefusal: PassingError, Equatable {
    enum Kind: String, CaseIterable { case forbidden, failing, busy, unreachable }
    let kind: Kind
    var mayPass: Bool { kind != .forbidden }
    var retryAfter: Duration? { kind == .busy ? .seconds(600) : nil }
    var isOffline: Bool { kind == .unreachable }
    /// Whether it may be about one of those that were asked for together.
    var isAboutOne: Bool { kind == .forbidden || kind == .failing }
}

/// Albums with a band each, and bands with an album each; both are asked for together. Requests for some bands, or for their albums, are refused.
private struct GroupShop {
    let backend: ScriptedBackend
    let context: NSManagedObjectContext

    /// - Parameter together: How many bands one request asks for.
    init(_ count: Int, refused: Set<Int>, _ kind: GroupRefusal.Kind, together: Int, isCached: Bool) throws {
        let model = Shop.model()
        let lookup = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: together)])
        let albums = Endpoint("of", parameters: [Parameter("band", isRequired: true, maximumValues: together)])
        // Nobody reads them all for the sake of some.
        let list = Endpoint("list", cost: .init(expectedRows: 100_000))
        backend = ScriptedBackend(
            model, [Resource("Album", endpoints: [list, albums, lookup]), Resource("Band", endpoints: [list, lookup])])
        for number in 0..<count {
            let band = ResourceValue.one(ResourceReference(.integer(Int64(number))))
            backend.put("Band", number, ["name": .value(.string("band \(number)"))])
            backend.put("Album", number, ["title": .value(.string("album \(number)")), "band": band])
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        if isCached {
            try coordinator.addCachedStore(backend, at: nil, options: CachedStoreOptions(defaultPolicy: .cacheFirst(maximumAge: 3600)))
        } else {
            try coordinator.addRemoteStore(backend)
        }
        context = coordinator.context()
        backend.script { request in
            let asked = request.entity == "Band" ? request.ids("SELF") : request.ids("band")
            let isRefused = asked.contains { id in refused.contains { id == .integer(Int64($0)) } }
            return isRefused ? .fail(GroupRefusal(kind: kind)) : .answer
        }
    }
}

@Suite("Objects that are asked for together, of which a service refuses some") struct RefusedGroupTests {
    /// So many requests find out whom a refusal is about, beside those that ask.
    private func halvings(_ refused: Set<Int>, _ together: Int) -> Int {
        var depth = 0
        while 1 << depth < together { depth += 1 }
        return refused.count * depth * 2
    }

    /// Checks what each object shows.
    ///
    /// - Parameter othersMayWait: Whether those that were asked for together with a refused one may wait with it.
    private func check(
        _ isRead: Bool, _ object: NSManagedObject, _ number: Int, _ refused: Set<Int>, othersMayWait: Bool, _ seed: UInt64
    ) {
        let error = object.faultError
        #expect(isRead == (error == nil), "seed \(seed): \(number) is \(isRead ? "there with" : "missing without") an error")
        if refused.contains(number) { #expect(!isRead, "seed \(seed)") }
        if !refused.contains(number), !othersMayWait { #expect(isRead, "seed \(seed): \(number) is hidden") }
        if let error { #expect(error is GroupRefusal, "seed \(seed): \(error)") }
    }

    @Test(
        "Whatever is refused at random, and why, each of the others is read right, or waits for a time that was named, by a bounded number of requests",
        .timeLimit(.minutes(30)), arguments: GroupRefusal.Kind.allCases, [false, true])
    fileprivate func random(_ kind: GroupRefusal.Kind, isToMany: Bool) async throws {
        let base = TestSeed.current(for: "Refused groups, \(kind), to many \(isToMany)")
        for round in TestRounds(seconds: 0.5, atLeast: 6) {
            let seed = base &+ UInt64(round)
            var random = SeededGenerator(seed: seed)
            let count = 5 + random.below(30)
            // Four of them could spoil all quarters of what is asked for together: that is taken for the service as a whole.
            let refused = Set((0..<random.below(4)).map { _ in random.below(count) })
            let together = [1, 4, 50].randomElement(using: &random)!
            let shop = try GroupShop(count, refused: refused, kind, together: together, isCached: random.chance(0.5))
            let context = shop.context
            let start = ContinuousClock.now
            try await context.perform {
                let othersMayWait = !GroupRefusal(kind: kind).isAboutOne && together > 1
                let groups = (count + together - 1) / together
                let sent: Int
                if isToMany {
                    let bands = try context.fetch(fetchRequest("Band", by: ["name"]))
                    let before = shop.backend.requests.count
                    for band in bands {
                        let number = Int((band.value(forKey: "name") as! String).dropFirst(5))!
                        let albums = band.value(forKey: "albums") as? Set<NSManagedObject>
                        let isRead = albums?.map { $0.value(forKey: "title") as? String } == ["album \(number)"]
                        check(isRead, band, number, refused, othersMayWait: othersMayWait, seed)
                    }
                    sent = shop.backend.requests.count - before
                } else {
                    let albums = try context.fetch(fetchRequest("Album", by: ["title"]))
                    let before = shop.backend.requests.count
                    for album in albums {
                        let number = Int((album.value(forKey: "title") as! String).dropFirst(6))!
                        let band = try #require(album.value(forKey: "band") as? NSManagedObject)
                        let isRead = band.value(forKey: "name") as? String == "band \(number)"
                        check(isRead, band, number, refused, othersMayWait: othersMayWait, seed)
                    }
                    sent = shop.backend.requests.count - before
                }
                // What may pass is asked for again after five seconds, which a busy machine may need.
                let bound = groups + (GroupRefusal(kind: kind).isAboutOne ? halvings(refused, together) : 0)
                #expect(sent <= bound || ContinuousClock.now - start > .seconds(4), "seed \(seed): \(sent) requests, and not \(bound)")
                expect(try context.count(for: fetchRequest("Album")), equals: count)
                expect(try context.fetch(fetchRequest("Band")).count, equals: count)
                if refused.isEmpty { try context.save() } else { #expect(throws: GroupRefusal(kind: kind)) { try context.save() } }
                try context.save()
            }
        }
    }

    @Test(
        "A service that answers nothing for now is not asked for each object, and one that refuses everything not much more often",
        arguments: GroupRefusal.Kind.allCases, [false, true])
    fileprivate func everything(_ kind: GroupRefusal.Kind, isToMany: Bool) async throws {
        for isCached in [false, true] {
            let shop = try GroupShop(200, refused: Set(0..<200), kind, together: 200, isCached: isCached)
            let context = shop.context
            try await context.perform {
                let start = ContinuousClock.now
                let objects = try context.fetch(fetchRequest(isToMany ? "Band" : "Album"))
                let before = shop.backend.requests.count
                for object in objects {
                    if isToMany {
                        #expect((object.value(forKey: "albums") as? Set<NSManagedObject>)?.isEmpty ?? true)
                        #expect(object.faultError is GroupRefusal)
                    } else {
                        let band = try #require(object.value(forKey: "band") as? NSManagedObject)
                        #expect(band.value(forKey: "name") == nil && band.faultError is GroupRefusal)
                    }
                }
                let sent = shop.backend.requests.count - before
                let bound = kind == .forbidden ? 33 : kind == .failing ? 7 : 1
                #expect(sent <= bound || ContinuousClock.now - start > .seconds(4), "\(sent) requests, and not \(bound)")
            }
        }
    }
}
