import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

/// Whether services find what predicates mean, over texts with the signs of their languages.
@Suite("Languages of filters") struct FilterLanguageTests {
    private static let pieces = [
        "a", "b", "%", "_", "*", "?", ",", "'", "\"", "(", ")", "\\", " ", ";", "null", "and", " or ", "+", "&", "=", ".",
    ]

    private static func text(_ random: inout SeededGenerator, upTo length: Int = 4) -> String {
        (0..<random.below(length + 1)).map { _ in pieces[random.below(pieces.count)] }.joined()
    }

    /// A text that a comparison is likely to find something by: a part of a row's, or any.
    private static func operand(_ rows: [FilterRow], _ random: inout SeededGenerator) -> String {
        guard random.chance(0.7), let title = rows[random.below(rows.count)].title, !title.isEmpty else { return text(&random) }
        switch random.below(4) {
        case 0: return title
        case 1: return String(title.prefix(1 + random.below(2)))
        case 2: return String(title.suffix(1 + random.below(2)))
        default: return String(title.dropFirst(random.below(title.count)).prefix(1 + random.below(2)))
        }
    }

    private static func pattern(_ rows: [FilterRow], _ random: inout SeededGenerator) -> String {
        // What is meant as it is, with a backslash where it could be meant otherwise.
        let part = operand(rows, &random).map { "*?\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        switch random.below(7) {
        case 0: return part
        case 1: return part + "*"
        case 2: return "*" + part
        case 3: return "*" + part + "*"
        case 4: return "?" + part + "*"
        case 5: return part + "?"
        default: return part + "*" + operand(rows, &random)
        }
    }

    private static func predicate(
        _ rows: [FilterRow], _ bands: [NSManagedObject], _ random: inout SeededGenerator, depth: Int = 2
    ) -> NSPredicate {
        if depth > 0, random.chance(0.5) {
            let first = predicate(rows, bands, &random, depth: depth - 1)
            switch random.below(3) {
            case 0: return NSCompoundPredicate(notPredicateWithSubpredicate: first)
            case 1: return NSCompoundPredicate(andPredicateWithSubpredicates: [first, predicate(rows, bands, &random, depth: depth - 1)])
            default: return NSCompoundPredicate(orPredicateWithSubpredicates: [first, predicate(rows, bands, &random, depth: depth - 1)])
            }
        }
        switch random.below(bands.isEmpty ? 12 : 17) {
        case 12: return NSPredicate(format: "band == nil")
        case 13: return NSPredicate(format: "band == %@", bands[random.below(bands.count)])
        case 14: return NSPredicate(format: "band != %@", bands[random.below(bands.count)])
        case 15, 16: return NSPredicate(format: "band IN %@", (0..<1 + random.below(2)).map { _ in bands[random.below(bands.count)] })
        case 0: return NSPredicate(format: "title == nil")
        case 1: return NSPredicate(format: "title != nil")
        case 2: return NSPredicate(format: "year < %d", random.below(rows.count))
        case 3: return NSPredicate(format: "year IN %@", (0..<1 + random.below(3)).map { _ in random.below(rows.count) })
        case 4, 5:
            var values: [Any] = (0..<1 + random.below(3)).map { _ in operand(rows, &random) }
            if random.chance(0.2) { values.append(NSNull()) }
            return NSPredicate(format: "title IN %@", values)
        case 6, 7: return NSPredicate(format: "title LIKE %@", pattern(rows, &random))
        default:
            let comparison = ["==", "!=", "<", "BEGINSWITH", "ENDSWITH", "CONTAINS"][random.below(6)]
            return NSPredicate(format: "title \(comparison) %@", operand(rows, &random))
        }
    }

    @Test("find what a predicate means, whatever signs its texts have", arguments: FilterLanguage.all)
    func random(_ language: FilterLanguage) throws {
        let seed = TestSeed.current(for: "Languages of filters, \(language.testDescription)")
        let service = try language.service()
        var asked = 0
        for round in TestRounds(seconds: 1.5, atLeast: 10) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let rows = (0..<10).map { year in
                FilterRow(
                    title: random.chance(0.15) ? nil : Self.text(&random), year: year,
                    band: language.comparesBands && random.chance(0.7) ? 1 + random.below(3) : nil)
            }
            let transport = ScriptedService { language.answer($0, rows) }
            let context = try service.context(transport)
            let memory = try Self.memory(rows)
            let (bands, bandsInMemory) = try (Self.bands(context, language), Self.bands(memory, language))
            for _ in 0..<20 {
                var twin = random
                let predicate = Self.predicate(rows, bands, &random)
                let request = fetch("Album")
                request.predicate = predicate
                let twinRequest = fetch("Album")
                twinRequest.predicate = Self.predicate(rows, bandsInMemory, &twin)
                let expected = try Self.years(memory, twinRequest)
                let place = "COREDATA_TEST_SEED=\(seed), round \(round): \(predicate), rows \(rows.map { $0.title ?? "nil" })"
                do {
                    let found = try Self.years(context, request)
                    expect(found, equals: expected, "\(place), asked \(transport.targets.last ?? "nothing")")
                    if found != expected { return }
                } catch {
                    Issue.record("\(place): \(error), asked \(transport.targets.last ?? "nothing")")
                    return
                }
            }
            asked += transport.targets.count { $0.contains("?") }
        }
        #expect(asked > 0, "Nothing was asked of the service.")
    }

    private static func years(_ context: NSManagedObjectContext, _ request: NSFetchRequest<NSManagedObject>) throws -> [Int] {
        try context.performAndWait { try context.fetch(request).compactMap { $0.value(forKey: "year") as? Int }.sorted() }
    }

    private static func bands(_ context: NSManagedObjectContext, _ language: FilterLanguage) throws -> [NSManagedObject] {
        guard language.comparesBands else { return [] }
        return try context.performAndWait { try context.fetch(fetch("Band", by: ["name"])) }
    }

    /// A store that has the rows, and evaluates predicates as stores do.
    private static func memory(_ rows: [FilterRow]) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Music.model())
        _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let bands = (1...3).map { number in
                let band = NSEntityDescription.insertNewObject(forEntityName: "Band", into: context)
                band.setValue("\(number)", forKey: "name")
                return band
            }
            for row in rows {
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                album.setValue(row.title, forKey: "title")
                album.setValue(row.year, forKey: "year")
                album.setValue(row.band.map { bands[$0 - 1] }, forKey: "band")
            }
            try context.save()
        }
        return context
    }

    @Test(
        "A pattern whose parts other comparisons can say is asked for by these",
        arguments: [
            ("title LIKE 'ab*'", "GET /albums?title.begins=ab"), ("title LIKE '*ab'", "GET /albums?title.ends=ab"),
            ("title LIKE '*ab*'", "GET /albums?title.has=ab"), (#"title LIKE 'a\\*b*'"#, "GET /albums?title.begins=a*b"),
            ("title LIKE 'ab'", "GET /albums?title=ab"), ("title LIKE 'a?'", "GET /albums"), ("title LIKE '*'", "GET /albums"),
        ])
    func translated(_ format: String, _ target: String) throws {
        let filters = FilterStyle(
            .parameters,
            [
                .equal: "{name}={value}", .beginsWith: "{name}.begins={value}", .endsWith: "{name}.ends={value}",
                .contains: "{name}.has={value}",
            ])
        let transport = ScriptedService { _ in .json("[]") }
        let context = try WebService(base, style: ServiceStyle(filters: filters), resources: [WebResource("Album")]).context(transport)
        try context.performAndWait { _ = try context.fetch(fetch("Album", format)) }
        expect(transport.targets, equals: [target])
    }

    @Test("A negated membership in one value is a negated equality") func negatedMembership() throws {
        let language = FilterLanguage.oData
        let transport = ScriptedService { language.answer($0, []) }
        let context = try language.service().context(transport)
        try context.performAndWait { _ = try context.fetch(fetch("Album", "NOT (title IN {'a'})")) }
        expect(transport.targets, equals: ["GET /albums?$filter=title ne 'a'"])
    }

    @Test("A description with LIKE and without the signs of its patterns is refused") func signs() throws {
        for filters in [
            FilterStyle(.parameters, [.like: "{name}.like={value}"]), FilterStyle(.parameters, [.contains: "{name}=like.*{value}*"]),
            FilterStyle(.expression(.init("q", and: " and ")), [.beginsWith: "{name} LIKE '{value}%'"]),
        ] {
            let service = WebService(base, style: ServiceStyle(filters: filters), resources: [WebResource("Album")])
            #expect {
                _ = try service.context(ScriptedService { _ in .json("[]") })
            } throws: { error in
                error.localizedDescription.contains("wildcards")
            }
        }
    }

    @Test("A value in quotation marks of its template, which would end them, is compared here", arguments: ["O'Brien", "Larks"])
    func quotationMarks(_ title: String) throws {
        let filters = FilterStyle(.expression(.init("q", and: " and ")), [.equal: "{name} eq '{value}'"])
        let transport = ScriptedService { _ in .json(#"[{"id": 1, "title": "\#(title)"}, {"id": 2, "title": "x"}]"#) }
        let context = try WebService(base, style: ServiceStyle(filters: filters), resources: [WebResource("Album")]).context(transport)
        try context.performAndWait { _ = try context.fetch(fetch("Album", "title == %@", [title])) }
        expect(transport.targets, equals: [title == "Larks" ? "GET /albums?q=title eq 'Larks'" : "GET /albums"])
    }
}
