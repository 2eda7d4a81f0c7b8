import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("A cache with pending changes against a plain model") struct OutboxRandomTests {
    /// What the application has done to an album; only others change its notes.
    private struct Expected: Equatable {
        var id: NSManagedObjectID
        var year: Int64
        var band: String?
    }

    /// What an album shows.
    private struct Shown: Equatable {
        var year: Int64
        var band: String?
    }

    private func shown(_ world: OutboxWorld) throws -> [String: Shown] {
        let context = world.coordinator.context()
        let request = fetchRequest("Album")
        request.cachePolicy = .cacheOnly
        return try context.performAndWait {
            Dictionary(
                try context.fetch(request).map { album in
                    let band = album.value(forKey: "band") as? NSManagedObject
                    return (
                        album.value(forKey: "title") as? String ?? "?",
                        Shown(year: album.value(forKey: "year") as? Int64 ?? -1, band: band?.value(forKey: "name") as? String)
                    )
                }, uniquingKeysWith: { first, _ in Shown(year: -first.year, band: "doubled") })
        }
    }

    private func server(_ world: OutboxWorld) -> [String: Shown] {
        let bands = Dictionary(
            uniqueKeysWithValues: world.backend.ids("Band").map { ($0, world.backend.values("Band", $0)?["name"]?.string) })
        return Dictionary(
            world.backend.ids("Album").map { id in
                let values = world.backend.values("Album", id) ?? [:]
                return (
                    values["title"]?.string ?? "?",
                    Shown(year: values["year"]?.int64 ?? -1, band: values["band"]?.id.flatMap { bands[$0] ?? nil })
                )
            }, uniquingKeysWith: { first, _ in Shown(year: -first.year, band: "doubled") })
    }

    @Test(
        "Through edits, lost answers, restarts and changes of others, what is shown is what was done here over what is confirmed, and in the end the backend has it, once"
    ) func random() async throws {
        let seed = TestSeed.current(for: "OutboxRandomTests.random")
        var random = SeededGenerator(seed: seed)
        let savings: [Resource.Saving] = [
            .init(isIdempotent: true), .init(maximumChanges: 4, isIdempotent: true), .init(identity: .attribute("title")),
            .init(identity: .newUUID, conflicts: .byReading), .init(identity: .newUUID, conflicts: .none),
        ]
        var runs = 0
        for _ in TestRounds(seconds: 2.7, atLeast: 10) {
            runs += 1
            let number = Int.random(in: 0..<savings.count, using: &random)
            let versions: ScriptedBackend.Versions =
                savings[number].conflicts == .backend ? (Bool.random(using: &random) ? .numbers : .tags) : .none
            let world = try OutboxWorld(savings[number], versions: versions)
            var albums: [String: Expected] = [:]
            var bands: [String: NSManagedObjectID] = [:]
            var next: Int64 = 0
            var log: [String] = []
            func comment() -> Comment { "seed \(seed), run \(runs), saving \(number) \(versions): \(log.joined(separator: "; "))" }
            func check(_ step: Int) throws {
                let expected = albums.mapValues { Shown(year: $0.year, band: $0.band) }
                let found = try shown(world).filter { albums[$0.key] != nil || world.backend.ids("Album").isEmpty }
                expect(found, equals: expected, comment())
            }
            var gone: [String] = []
            func edit() throws {
                switch Int.random(in: 0...7, using: &random) {
                case 0, 1:
                    next += 1
                    var title = "t\(next)"
                    // Only where titles are identifiers: otherwise the object that was deleted may have the title on the server still.
                    if case .attribute = savings[number].identity, Bool.random(using: &random), let old = gone.popLast() { title = old }
                    let band = bands.keys.sorted().randomElement(using: &random).flatMap { Bool.random(using: &random) ? $0 : nil }
                    var values: [String: Any] = ["title": title, "year": next]
                    if let band { values["band"] = bands[band] }
                    albums[title] = Expected(id: try world.insert("Album", values), year: next, band: band)
                    log.append("insert \(title) \(next)")
                case 2, 3:
                    guard let title = albums.keys.sorted().randomElement(using: &random), let known = albums[title] else { return }
                    next += 1
                    try world.update(known.id, ["year": next])
                    albums[title]?.year = next
                    log.append("edit \(title) \(next)")
                case 4:
                    guard let title = albums.keys.sorted().randomElement(using: &random), let known = albums[title] else { return }
                    let band = bands.keys.sorted().randomElement(using: &random)
                    try world.update(known.id, ["band": band.flatMap { bands[$0] }])
                    albums[title]?.band = band
                    log.append("band \(title) \(band ?? "nil")")
                case 5:
                    guard let title = albums.keys.sorted().randomElement(using: &random), let known = albums[title] else { return }
                    if Bool.random(using: &random) { return }
                    try world.delete(known.id)
                    albums[title] = nil
                    gone.append(title)
                    log.append("delete \(title)")
                case 6:
                    next += 1
                    bands["b\(next)"] = try world.insert("Band", ["name": "b\(next)"])
                    log.append("insert b\(next)")
                default:
                    guard let id = world.backend.ids("Album").randomElement(using: &random) else { return }
                    next += 1
                    world.backend.change("Album", id, ["notes": .init("n\(next)")])
                    log.append("others \(id)")
                }
            }
            for step in 0..<14 {
                switch Int.random(in: 0...10, using: &random) {
                case 0...7: try edit()
                case 8:
                    try world.restart()
                    for (title, known) in albums { albums[title]?.id = try world.same(known.id) }
                    for (name, id) in bands { bands[name] = try world.same(id) }
                    log.append("restart")
                case 9:
                    log.append("send, and meanwhile")
                    try await world.sendPending {
                        for _ in 0..<3 { try edit() }
                        try check(step)
                    }
                    log.append("sent")
                default:
                    let behaviours: [(String, ScriptedBackend.Behaviour)] = [
                        ("answer", .answer), ("answer", .answer), ("lost", .loseAnswer(OutboxWorld.lost)),
                        ("never", .loseRequest(OutboxWorld.lost)), ("offline", .fail(OutboxWorld.offline)), ("half", .half),
                        ("busy", .refuse(SimulatedNetwork.busy)),
                    ]
                    let (name, behaviour) = behaviours.randomElement(using: &random)!
                    world.backend.scriptSaves { _ in behaviour }
                    try await world.store.sendPending()
                    world.goOnline()
                    log.append("send: \(name)")
                    // A read while the fate of a new object is not known shows it twice, until the answer says whose it is.
                    if name == "answer" {
                        try world.fetch("Album")
                        log.append("fetch")
                    }
                }
                try check(step)
            }
            world.goOnline()
            for _ in 0..<4 {
                try await world.store.sendPending()
                // Others have changed what was deleted here: that is for the application to decide, and it deletes.
                for change in try world.store.pendingChanges() where change.state == .conflicting {
                    expect(change.kind, equals: .delete, comment())
                    try world.store.retry(change.objectID)
                }
            }
            try expect(world.store.pendingCount(), equals: 0, "\(world.pending) \(comment())")
            let expected = albums.mapValues { Shown(year: $0.year, band: $0.band) }
            expect(server(world), equals: expected, comment())
            try world.fetch("Album")
            try expect(shown(world), equals: expected, comment())
        }
        print("OutboxRandomTests: \(runs) runs, seed \(seed)")
        #expect(runs > 0)
    }
}
