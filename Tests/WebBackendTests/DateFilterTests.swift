import CoreData
import Foundation
import RemoteStore
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Filters by dates that a service has only in steps") struct DateFilterTests {
    private static let operators: [(Parameter.Operator, String)] = [
        (.equal, "eq"), (.notEqual, "neq"), (.lessThan, "lt"), (.lessThanOrEqual, "lte"), (.greaterThan, "gt"),
        (.greaterThanOrEqual, "gte"),
    ]

    /// Compares as a service does, by the texts of its dates.
    private static func matches(_ text: String, _ operation: String, _ other: String) -> Bool {
        switch operation {
        case "eq": text == other
        case "neq": text != other
        case "lt": text < other
        case "lte": text <= other
        case "gt": text > other
        default: text >= other
        }
    }

    private static func service(_ texts: [String]) -> ScriptedService {
        ScriptedService { request in
            var found = Array(texts.enumerated())
            for (_, name) in operators {
                guard let value = request.query("release_\(name)") else { continue }
                found.removeAll { !matches($0.element, name, value) }
            }
            return .json("[" + found.map { #"{"id": \#($0.offset + 1), "release": "\#($0.element)"}"# }.joined(separator: ", ") + "]")
        }
    }

    private static func described(_ form: DateForm) -> WebService {
        var style = ServiceStyle.plain
        style.filters = FilterStyle(.parameters, Dictionary(uniqueKeysWithValues: operators.map { ($0.0, "{name}_\($0.1)={value}") }))
        return WebService(base, style: style, resources: [WebResource("Album", properties: ["releaseDate": .at("release", .date(form))])])
    }

    @Test(
        "A comparison with any date finds what it says",
        arguments: [
            (DateForm.day, (1...28).map { "2026-02-\($0 < 10 ? "0" : "")\($0)" }, 86_400.0),
            // The days are filtered, and have times.
            (.day, (1...28).map { "2026-02-\($0 < 10 ? "0" : "")\($0)T\($0 % 3 * 5 + 10):00:00Z" }, 86_400),
            (.pattern("yyyy-MM-dd HH:mm"), (10...50).map { "2026-02-01 10:\($0)" }, 60),
            (.pattern("yyyy-MM"), (1...12).map { "2026-\($0 < 10 ? "0" : "")\($0)" }, 2_000_000),
        ])
    func differential(form: DateForm, texts: [String], width: Double) throws {
        let service = Self.service(texts)
        let context = try Self.described(form).context(service)
        var random = SeededGenerator(seed: TestSeed.current(for: "Filters by dates"))
        try context.performAndWait {
            let all = try context.fetch(fetch("Album"))
            let dates = all.compactMap { $0.value(forKey: "releaseDate") as? Date }
            expect(dates.count, equals: texts.count)
            for _ in 0..<40 {
                let near = try #require(dates.randomElement(using: &random))
                let offset: Double = [0, 0.5, -0.5, 0.25, 1].randomElement(using: &random) ?? 0
                let date = near.addingTimeInterval(offset * width) as NSDate
                for sign in ["==", "!=", "<", "<=", ">", ">="] {
                    let request = fetch("Album")
                    request.predicate = NSPredicate(format: "releaseDate \(sign) %@", date)
                    let expected = dates.filter { request.predicate?.evaluate(with: ["releaseDate": $0]) ?? false }
                    let found = try context.fetch(request).compactMap { $0.value(forKey: "releaseDate") as? Date }
                    expect(found.sorted(), equals: expected.sorted(), "\(form): \(sign) \(date)")
                    try expect(context.count(for: request), equals: expected.count, "\(form): \(sign) \(date), counted")
                }
            }
        }
    }

    @Test("An order by a date between two steps is sent by the next one, and costs no more")
    func order() throws {
        let service = Self.service((1...28).map { "2026-02-\($0 < 10 ? "0" : "")\($0)" })
        let context = try Self.described(.day).context(service)
        let noon = Date(timeIntervalSince1970: 1_770_724_800)
        for (sign, sent) in [("<", "lt=2026-02-11"), ("<=", "lte=2026-02-11"), (">", "gt=2026-02-10"), (">=", "gte=2026-02-10")] {
            let before = service.requests.count
            try context.performAndWait {
                let request = fetch("Album")
                request.predicate = NSPredicate(format: "releaseDate \(sign) %@", noon as NSDate)
                _ = try context.fetch(request)
            }
            expect(service.targets.dropFirst(before).map { String($0) }, equals: ["GET /albums?release_\(sent)"])
        }
    }
}
