import CoreData
import Foundation
import PredicateCases
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

/// Two writers and several readers over a backend that fails every fifth request: delays, failures, half answers, answers that overtake each other, and
/// saves whose answers or requests are lost.
///
/// Each run has a fresh seed, which it prints, and goes on for a fixed time: `COREDATA_TEST_SEED` repeats the choices of a run, though not the order
/// in which tasks run; `COREDATA_TEST_SECONDS` says for how long, and `COREDATA_TEST_ROUNDS` for how many requests instead.
@Suite("A soak of a remote store") struct RemoteSoakTests {
    @Test(
        "Every fetch is right or an error, no object is there twice, nothing that was saved is lost, nothing is sent twice that counts twice"
    )
    func soak() async throws {
        let seed = TestSeed.current(for: "A soak of a remote store")
        let budget = TestBudget(seconds: 3.3, atLeast: 200)
        var tally = SoakTally()
        var round: UInt64 = 0
        while budget.isLeft(after: tally.requests) {
            round += 1
            let world = try SoakWorld(seed: seed &+ round &* 7919)
            do { try await world.run(&tally) } catch {
                Issue.record("seed \(seed), round \(round) (\(world.setting)): \(error)")
                return
            }
        }
        print(
            "\(tally.requests) requests and calls, \(tally.faults) of them faulty, over \(round) backends: \(tally.fetches) fetches right, "
                + "\(tally.failedFetches) errors, \(tally.saves) saves, \(tally.failedSaves) errors, \(tally.byHand) settled by hand")
        #expect(tally.fetches > 0 && tally.saves > 0 && tally.faults > 0)
    }
}

struct SoakTally {
    var requests = 0
    var faults = 0
    var fetches = 0
    var failedFetches = 0
    var saves = 0
    var failedSaves = 0
    var byHand = 0
}

/// What is wrong.
struct SoakMistake: Error, CustomStringConvertible {
    let description: String
}

/// A backend with its clients.
private final class SoakWorld {
    /// What clients want the backend to have.
    private struct Wanted {
        var year: Int64
        var notes: String?
        var band: String?
    }

    /// What the script notes.
    private struct Script {
        var random: SeededGenerator
        var isCalm = true
        var faults = 0
        var calls = 0
        /// The keys that new albums were sent with by calls that may have reached the backend, by title.
        var keys: [String: Set<UUID>] = [:]
        var sent: [String: Int] = [:]
    }

    let setting: String
    private let backend: ScriptedBackend
    private let coordinator: NSPersistentStoreCoordinator
    private let writers: [NSManagedObjectContext]
    private let isIdempotent: Bool
    private let hasOwnIdentifiers: Bool
    private let script: Guarded<Script>
    private var random: SeededGenerator
    private var wanted: [[String: Wanted]] = [[:], [:]]
    /// How often a new album was given up and inserted again, by title.
    private var insertedByHand: [String: Int] = [:]
    private var number = 0

    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        isIdempotent = Bool.random(using: &random)
        hasOwnIdentifiers = Bool.random(using: &random)
        let most = [1, 3, 100].randomElement(using: &random)!
        let versions: ScriptedBackend.Versions = Bool.random(using: &random) ? .numbers : .tags
        setting = "idempotent \(isIdempotent), own identifiers \(hasOwnIdentifiers), \(most) changes a call, \(versions)"
        let saving = Resource.Saving(
            identity: hasOwnIdentifiers ? .newUUID : .assignedByBackend, maximumChanges: most, isIdempotent: isIdempotent)
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 5)])
        let search = Endpoint(
            "search", parameters: [Parameter("year", operators: .order), Parameter("title")], sorting: .by("year", "title"),
            paging: .pages(of: 7, takesLimit: true), counts: true, properties: ["title", "year", "band"])
        let ofBand = Endpoint(
            "ofBand", parameters: [Parameter("band", isRequired: true, maximumValues: 3)], paging: .pages(of: 4), counts: true)
        backend = ScriptedBackend(
            Self.model(),
            [
                Resource("Band", endpoints: [Endpoint("all", paging: .pages(of: 3), counts: true), byID], saving: saving),
                Resource("Album", endpoints: [search, ofBand, byID], saving: saving),
            ])
        backend.setVersions(versions)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addRemoteStore(backend)
        let coordinator = coordinator
        writers = (0..<2).map { _ in
            let context = coordinator.context()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            return context
        }
        script = Guarded(Script(random: SeededGenerator(seed: seed &* 31)))
        self.random = random
        let script = script
        backend.script { request in
            script.withValue { script in
                script.calls += 1
                guard !script.isCalm, Int.random(in: 0..<5, using: &script.random) == 0 else { return .answer }
                script.faults += 1
                // A backend that does not know what it was asked for alone is believed.
                let isOne = request.endpoint == "info" && request.ids("SELF").count < 2
                switch Int.random(in: 0..<5, using: &script.random) {
                case 0: return .fail(ServiceFailure("failed"))
                case 1: return .loseAnswer(ServiceFailure("lost"))
                case 2: return .delay(.milliseconds(Int.random(in: 0...2, using: &script.random)))
                case 3: return isOne ? .fail(ServiceFailure("failed")) : .half
                default: return .overtaken
                }
            }
        }
        backend.scriptSaves { changes in
            script.withValue { script in
                script.calls += 1
                let isFaulty = !script.isCalm && Int.random(in: 0..<5, using: &script.random) == 0
                let fault = isFaulty ? Int.random(in: 0..<6, using: &script.random) : 6
                if isFaulty { script.faults += 1 }
                if fault == 0 { return .fail(ServiceFailure("failed")) }
                if fault == 5 { return .refuse(SimulatedNetwork.busy) }
                for change in changes where change.kind == .insert && change.entity == "Album" {
                    let title = change.values["title"]?.string ?? "?"
                    script.keys[title, default: []].insert(change.idempotencyKey)
                    script.sent[title, default: 0] += 1
                }
                switch fault {
                case 1: return .loseAnswer(ServiceFailure("lost"))
                case 2: return .loseRequest(ServiceFailure("lost"))
                case 3: return .half
                case 4: return .delay(.milliseconds(Int.random(in: 0...2, using: &script.random)))
                default: return .answer
                }
            }
        }
    }

    static func model() -> NSManagedObjectModel {
        let (band, album) = (NSEntityDescription(name: "Band"), NSEntityDescription(name: "Album"))
        let albums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        let owner = NSRelationshipDescription(name: "band", destination: band)
        albums.inverse(to: owner)
        band.properties = [NSAttributeDescription(name: "name", type: .string), albums]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer64),
            NSAttributeDescription(name: "notes", type: .string), owner,
        ]
        return NSManagedObjectModel(entities: [band, album])
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private func setCalm(_ isCalm: Bool) { script.withValue { $0.isCalm = isCalm } }

    func run(_ tally: inout SoakTally) async throws {
        defer {
            script.withValue { script in
                tally.requests += script.calls
                tally.faults += script.faults
            }
        }
        for _ in 0..<6 {
            for _ in 0..<2 { try await write(Int.random(in: 0..<2, using: &random), &tally) }
            try await read(&tally)
        }
    }

    // MARK: Writers

    private func write(_ writer: Int, _ tally: inout SoakTally) async throws {
        let context = writers[writer]
        setCalm(true)
        await edit(writer)
        setCalm(false)
        defer { setCalm(true) }
        var last: NSError?
        for attempt in 0..<12 {
            if attempt == 8 { setCalm(true) }
            do {
                if chance(50) { try await context.saveAsynchronously() } else { try await context.perform { try context.save() } }
                tally.saves += 1
                last = nil
            } catch {
                tally.failedSaves += 1
                last = error as NSError
                if "\((error as NSError).userInfo)".contains("is not sent again") {
                    tally.byHand += 1
                    try await settleByHand(writer)
                }
                if chance(40) { await edit(writer, isSmall: true) }
            }
            if last == nil { return try check(writer) }
        }
        throw SoakMistake(
            description: "A save does not succeed though the backend does what it is asked: \(last.map { "\($0) \($0.userInfo)" } ?? "")")
    }

    /// Inserts, edits and deletes albums of a writer.
    private func edit(_ writer: Int, isSmall: Bool = false) async {
        let context = writers[writer]
        var mine = wanted[writer]
        var (random, number) = (random, number)
        let result = await context.perform { () -> ([String: Wanted], SeededGenerator, Int) in
            func albums() -> [NSManagedObject] {
                context.registeredObjects.filter { $0.entity.name == "Album" && !$0.isDeleted && $0.managedObjectContext != nil }
                    .sorted { ($0.value(forKey: "title") as? String ?? "") < ($1.value(forKey: "title") as? String ?? "") }
            }
            for _ in 0..<(isSmall ? 0 : Int.random(in: 1...3, using: &random)) {
                number += 1
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                let title = "\(writer)-\(number)"
                album.setValue(title, forKey: "title")
                mine[title] = Wanted(year: Int64.random(in: 1960...1999, using: &random))
                album.setValue(mine[title]?.year, forKey: "year")
                if Int.random(in: 0..<2, using: &random) == 0 {
                    let band = NSEntityDescription.insertNewObject(forEntityName: "Band", into: context)
                    band.setValue("band of \(title)", forKey: "name")
                    album.setValue(band, forKey: "band")
                    mine[title]?.band = "band of \(title)"
                }
            }
            for album in albums().shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)) {
                guard let title = album.value(forKey: "title") as? String, mine[title] != nil else { continue }
                if isSmall, !album.isInserted {
                    // A value that it never had: what is taken back altogether is no change for the store.
                    number += 1
                    mine[title]?.notes = "note \(number)"
                    album.setValue(mine[title]?.notes, forKey: "notes")
                } else if Bool.random(using: &random) {
                    mine[title]?.year = Int64.random(in: 1960...1999, using: &random)
                    album.setValue(mine[title]?.year, forKey: "year")
                } else {
                    mine[title]?.notes = Int.random(in: 0..<3, using: &random) == 0 ? nil : "\(Int.random(in: 0..<1000, using: &random))"
                    album.setValue(mine[title]?.notes, forKey: "notes")
                }
            }
            if !isSmall, Int.random(in: 0..<3, using: &random) == 0,
                let album = albums().filter({ !$0.isInserted }).randomElement(using: &random),
                let title = album.value(forKey: "title") as? String
            {
                mine[title] = nil
                context.delete(album)
            }
            return (mine, random, number)
        }
        (wanted[writer], self.random, self.number) = result
    }

    /// Does what the error of a new object says whose outcome is not known: looks whether it is there, and inserts it again where it is not.
    private func settleByHand(_ writer: Int) async throws {
        let wasCalm = script.withValue { script in
            defer { script.isCalm = true }
            return script.isCalm
        }
        defer { setCalm(wasCalm) }
        let (context, mine) = (writers[writer], wanted[writer])
        let again = try await context.perform { () -> [String] in
            var again: [String] = []
            for entity in ["Band", "Album"] {
                let key = entity == "Band" ? "name" : "title"
                for object in context.insertedObjects.filter({ $0.entity.name == entity }) {
                    guard let text = object.value(forKey: key) as? String else { continue }
                    let request = fetchRequest(entity, "\(key) == %@", [text])
                    request.includesPendingChanges = false
                    let found = try context.fetch(request).first
                    let other = found ?? NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    other.setValue(text, forKey: key)
                    if entity == "Band" {
                        for album in object.value(forKey: "albums") as? Set<NSManagedObject> ?? [] { album.setValue(other, forKey: "band") }
                    } else {
                        other.setValue(mine[text]?.year, forKey: "year")
                        other.setValue(mine[text]?.notes, forKey: "notes")
                        other.setValue(object.value(forKey: "band"), forKey: "band")
                        if found == nil { again.append(text) }
                    }
                    context.delete(object)
                }
            }
            return again
        }
        for title in again { insertedByHand[title, default: 0] += 1 }
    }

    /// Compares what the backend has with what was wanted of it.
    private func check(_ writer: Int) throws {
        let records = backend.ids("Album").compactMap { backend.values("Album", $0) }
        let mine = records.filter { $0["title"]?.string?.hasPrefix("\(writer)-") ?? false }
        guard mine.count == wanted[writer].count else {
            throw SoakMistake(
                description: "The backend has \(mine.compactMap { $0["title"]?.string }.sorted()), not \(wanted[writer].keys.sorted()).")
        }
        for record in mine {
            let title = record["title"]?.string ?? "?"
            guard let wanted = wanted[writer][title] else { throw SoakMistake(description: "\(title) was deleted, or is there twice.") }
            let band = record["band"]?.id.flatMap { backend.values("Band", $0)?["name"]?.string }
            guard record["year"]?.int64 == wanted.year, record["notes"]?.string == wanted.notes, band == wanted.band else {
                throw SoakMistake(description: "\(title) is \(record) of \(band ?? "nobody"), not \(wanted).")
            }
        }
        let bands = backend.ids("Band").compactMap { backend.values("Band", $0)?["name"]?.string }
        guard Set(bands).count == bands.count else { throw SoakMistake(description: "A band is there twice: \(bands.sorted()).") }
        try script.withValue { script in
            for (title, keys) in script.keys {
                let times = insertedByHand[title] ?? 0
                if isIdempotent, keys.count > 1 + times { throw SoakMistake(description: "\(title) was sent with \(keys.count) keys.") }
                if !isIdempotent, !hasOwnIdentifiers, script.sent[title] ?? 0 > 1 + times {
                    throw SoakMistake(description: "\(title) was sent twice to a backend that saves it twice.")
                }
            }
        }
    }

    // MARK: Readers

    /// Fetches at the same time, while nobody writes.
    private func read(_ tally: inout SoakTally) async throws {
        setCalm(false)
        defer { setCalm(true) }
        let albums = backend.ids("Album").compactMap { backend.values("Album", $0) }.map { values in
            SoakAlbum(
                title: values["title"]?.string ?? "?", year: values["year"]?.int64 ?? 0, notes: values["notes"]?.string,
                band: values["band"]?.id.flatMap { backend.values("Band", $0)?["name"]?.string })
        }
        let elsewhere = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try elsewhere.addRemoteStore(backend)
        var questions: [(QueueValue<NSManagedObjectContext>, SoakQuestion)] = []
        for index in 0..<6 {
            let context = (index % 2 == 0 ? coordinator : elsewhere).context()
            questions.append((QueueValue(context), SoakQuestion(&random)))
        }
        let outcomes = try await withThrowingTaskGroup(of: Bool.self) { group in
            for (context, question) in questions { group.addTask { try await question.ask(context.value, albums) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        tally.fetches += outcomes.filter { $0 }.count
        tally.failedFetches += outcomes.filter { !$0 }.count
    }
}
