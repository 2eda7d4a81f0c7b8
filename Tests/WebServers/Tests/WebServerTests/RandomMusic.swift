import CoreData
import Foundation
import RemoteStore
import Testing
import WebTransport

/// Numbers that a seed determines. The tests of the other package have the same (`TestSupport`), which a package cannot share with another.
struct CaseRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns the seed that `COREDATA_TEST_SEED` gives, otherwise a fresh one, and prints it.
    static func seed(for name: String) -> UInt64 {
        let seed = ProcessInfo.processInfo.environment["COREDATA_TEST_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)
        print("\(name): COREDATA_TEST_SEED=\(seed)")
        return seed
    }

    /// Returns for how many seconds a test goes on: what `COREDATA_TEST_SECONDS` says, otherwise what is usual for it.
    static func seconds(_ usual: Double) -> Double {
        ProcessInfo.processInfo.environment["COREDATA_TEST_SECONDS"].flatMap(Double.init) ?? usual
    }
}

/// Random objects in a store over a service and in one in memory, and random fetches of both.
struct RandomMusic {
    let seconds: Double
    /// Whether texts may have characters that services change or refuse.
    var texts = [
        "a", "A", "ab", "abc", "Ą", "é", "1", "01", "1.0", "true", "null", "[1]", "{}", "\"q\"", "x,y", "x\\y", "a*b", "100%", "a&b=c",
        "a+b", "日本", "_", "NaN", " a", "'", "a.b(", "#?/", "B", "b",
    ]

    init(seconds: Double) {
        self.seconds = CaseRandom.seconds(seconds)
    }

    /// Compares random fetches until the time is over.
    func compare(_ music: WebStore, _ name: String) throws {
        let seed = CaseRandom.seed(for: "Random fetches from \(name)")
        var random = CaseRandom(seed: seed)
        let memory = try self.memory()
        try fill(music, memory, &random)
        music.requests.clear()
        let end = ContinuousClock.now + .seconds(seconds)
        var (fetches, found, exact, refused) = (0, 0, 0, 0)
        // A slow service answers few in that time: of one or two, none may be one that it filters alone.
        while ContinuousClock.now < end || fetches < 15 {
            fetches += 1
            let entity = ["Album", "Album", "Album", "Band", "Label"].randomElement(using: &random)!
            let predicate = Int.random(in: 0..<8, using: &random) == 0 ? nil : self.predicate(entity, 2, &random)
            let keys = self.keys(entity, &random)
            let (limit, offset) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<4, using: &random))
            func fetch(_ context: NSManagedObjectContext) throws -> (titles: [String], count: Int, isExact: Bool) {
                try context.performAndWait {
                    context.reset()
                    let fetch = request(entity, by: keys)
                    fetch.predicate = predicate
                    if limit == 1 { fetch.fetchLimit = 5 }
                    if offset == 1 { fetch.fetchOffset = 2 }
                    let plan = try? fetch.explain(in: context)
                    let key = entity == "Album" ? "title" : "name"
                    let titles = try context.fetch(fetch).map { "\($0.value(forKey: key) ?? "nil")" }
                    return (titles, try context.count(for: fetch), plan.map { $0.predicateInMemory == nil } ?? false)
                }
            }
            let place = "\(name), seed \(seed), fetch \(fetches): \(entity) where \(predicate.map(\.description) ?? "anything") by \(keys)"
            let expected = try fetch(memory)
            let actual: (titles: [String], count: Int, isExact: Bool)
            do { actual = try fetch(music.context) } catch let error as NSError
                where error.code == NSPersistentStoreUnsupportedRequestTypeError
            {
                refused += 1
                continue
            } catch {
                Issue.record("\(place): \(error)\n\(music.requests.all.suffix(3))")
                return
            }
            found += expected.titles.count
            if actual.isExact { exact += 1 }
            let isRight =
                !keys.isEmpty
                ? actual.titles == expected.titles
                : limit == 1 || offset == 1
                    ? actual.titles.count == expected.titles.count : actual.titles.sorted() == expected.titles.sorted()
            guard isRight, actual.count == expected.count else {
                Issue.record(
                    """
                    \(place), limit \(limit == 1), offset \(offset == 1): found \(actual.titles), \(actual.count) instead of \(expected.titles), \
                    \(expected.count)
                    \(music.requests.all.suffix(4).map(\.description).joined(separator: "\n"))
                    """)
                return
            }
        }
        print(
            "\(fetches) fetches, \(found) objects found, \(exact) filtered by the service alone, \(refused) refused, \(music.requests.count) requests"
        )
        #expect(found > 0 && exact > 0)
    }

    private func memory() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    // MARK: Objects

    private func fill(_ music: WebStore, _ memory: NSManagedObjectContext, _ random: inout CaseRandom) throws {
        let start = random
        for context in [memory, music.context] {
            random = start
            try context.performAndWait {
                func insert(_ entity: String) -> NSManagedObject {
                    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                }
                let bands = (0..<6).map { _ in
                    let band = insert("Band")
                    band.setValue(maybe(texts.randomElement(using: &random)!, &random), forKey: "name")
                    band.setValue(maybe(Int.random(in: 1960...1970, using: &random), &random), forKey: "founded")
                    return band
                }
                let labels = (0..<4).map { number in
                    let label = insert("Label")
                    label.setValue("Label \(number)", forKey: "name")
                    return label
                }
                for number in 0..<60 {
                    let album = insert("Album")
                    // Titles tell the results apart; most are another text with a number.
                    let text = texts.randomElement(using: &random)!
                    album.setValue(number < texts.count ? texts[number] : "\(text) \(number)", forKey: "title")
                    album.setValue(maybe(Int.random(in: -2...4, using: &random), &random), forKey: "year")
                    album.setValue(maybe([0, 0.5, 1, -1.25, 100].randomElement(using: &random)!, &random), forKey: "rating")
                    album.setValue(
                        maybe(Decimal(string: ["0", "1.5", "2.25", "-3"].randomElement(using: &random)!)!, &random), forKey: "price")
                    album.setValue(maybe(Bool.random(using: &random), &random), forKey: "isLive")
                    album.setValue(maybe(Self.dates.randomElement(using: &random)!, &random), forKey: "recordedAt")
                    album.setValue(maybe(bands.randomElement(using: &random)!, &random), forKey: "band")
                    album.setValue(Set(labels.filter { _ in Bool.random(using: &random) }), forKey: "labels")
                }
                try context.save()
                context.reset()
            }
        }
    }

    private static let dates = [0, 0.5, 1, 86_400, 86_400.25].map { Date(timeIntervalSinceReferenceDate: $0) }

    private func maybe(_ value: Any, _ random: inout CaseRandom) -> Any? { Int.random(in: 0..<4, using: &random) == 0 ? nil : value }

    // MARK: Fetches

    private func keys(_ entity: String, _ random: inout CaseRandom) -> [String] {
        guard Bool.random(using: &random) else { return [] }
        // The last makes the order complete.
        let some = entity == "Album" ? ["year", "rating", "price", "recordedAt"] : entity == "Band" ? ["founded"] : []
        let last = entity == "Album" ? ["title"] : ["name"]
        guard entity != "Band" else { return ["name", "founded"] }
        return (some.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)) + last).map {
            Bool.random(using: &random) ? $0 : "-" + $0
        }
    }

    private func predicate(_ entity: String, _ depth: Int, _ random: inout CaseRandom) -> NSPredicate {
        if depth > 0, Int.random(in: 0..<3, using: &random) == 0 {
            let parts = (0..<2).map { _ in predicate(entity, depth - 1, &random) }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return NSCompoundPredicate(notPredicateWithSubpredicate: parts[0])
            case 1: return NSCompoundPredicate(orPredicateWithSubpredicates: parts)
            default: return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
            }
        }
        var choices: [(key: String, value: Any)] = []
        let text = texts.randomElement(using: &random)!
        switch entity {
        case "Album":
            choices = [
                ("title", text), ("year", Int.random(in: -2...4, using: &random)),
                ("rating", [0, 0.5, 1, -1.25].randomElement(using: &random)!),
                ("price", NSDecimalNumber(string: ["0", "1.5", "2.25", "-3"].randomElement(using: &random)!)),
                ("isLive", Bool.random(using: &random)), ("recordedAt", Self.dates.randomElement(using: &random)!),
                ("band.name", text), ("band.founded", Int.random(in: 1960...1970, using: &random)),
                ("ANY labels.name", "Label \(Int.random(in: 0..<5, using: &random))"),
            ]
        case "Band":
            choices = [
                ("name", text), ("founded", Int.random(in: 1960...1970, using: &random)),
                ("ANY albums.year", Int.random(in: -2...4, using: &random)),
            ]
        default: choices = [("name", "Label \(Int.random(in: 0..<5, using: &random))"), ("ANY albums.title", text)]
        }
        let (key, value) = choices.randomElement(using: &random)!
        let left = key.hasPrefix("ANY ") ? "ANY %K" : "%K"
        let path = key.hasPrefix("ANY ") ? String(key.dropFirst(4)) : key
        if left == "%K", Int.random(in: 0..<8, using: &random) == 0 {
            return NSPredicate(format: "%K \(Bool.random(using: &random) ? "==" : "!=") nil", path)
        }
        var operators = ["==", "==", "!="]
        if left == "%K", !(value is Bool) { operators += ["<", "<=", ">", ">="] }
        if value is String, left == "%K" { operators += ["BEGINSWITH", "ENDSWITH", "CONTAINS", "==[c]", "CONTAINS[c]", "IN"] }
        let comparison = operators.randomElement(using: &random)!
        if comparison == "IN" {
            return NSPredicate(format: "%K IN %@", path, (0..<3).map { _ in texts.randomElement(using: &random)! } as NSArray)
        }
        return NSPredicate(format: "\(left) \(comparison) %@", argumentArray: [path, value])
    }
}
