import CoreData
import Foundation
import PredicateCases
import Predicates
import TestSupport
import Testing

/// Random predicates over the same objects in memory and in the tables of a file.
@Suite("Predicates over the tables of another program in a file") struct PredicateTests {
    static let seed = TestSeed.current(for: "Predicates over tables of SQLite")

    @Test("SQLite finds what the evaluator finds, or refuses the clause", arguments: [false, true])
    func predicates(hasIndexes: Bool) throws {
        let file = try OthersFile(TableWorld.script(hasIndexes: hasIndexes))
        let model = try TableWorld.model()
        let memory = NSPersistentStoreCoordinator(managedObjectModel: model)
        try memory.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let inMemory = NSManagedObjectContext(.privateQueue)
        inMemory.persistentStoreCoordinator = memory
        let contexts = [inMemory, try file.open(try TableWorld.model())]
        for context in contexts {
            try context.performAndWait {
                TableWorld.fill(context, seed: Self.seed)
                try context.save()
                context.reset()
            }
        }
        var cases = PredicateCases(TableWorld(), random: SeededGenerator(seed: Self.seed &* 31), nilChance: 12)
        var (count, compared, matched, refused, failures) = (0, 0, 0, 0, 0)
        for _ in TestRounds(seconds: 1.7, atLeast: 300) {
            let entity = cases.pick(["Thing", "Thing", "Place"])
            let tree = cases.predicate([.init(variable: nil, entity: entity)], depth: 2)
            count += 1
            let found = contexts.map { context in
                Result {
                    try context.performAndWait {
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                        request.predicate = NSPredicate(tree: tree)
                        return try context.fetch(request).map { $0.value(forKey: "label") as? Int ?? -1 }.sorted()
                    }
                }
            }
            switch (found[0], found[1]) {
            case (.success(let inMemory), .success(let inFile)):
                compared += 1
                matched += inMemory.count
                if inMemory == inFile { continue }
                Issue.record("seed \(Self.seed): \(entity) where \(tree): memory \(inMemory), file \(inFile)")
                failures += 1
            case (.success, .failure(let error)):
                if Self.isRefusal(error) {
                    refused += 1
                    continue
                }
                Issue.record("seed \(Self.seed): \(entity) where \(tree) fails: \(error)")
                failures += 1
            default: continue
            }
            if failures > 5 { return }
        }
        print("Predicates over tables of SQLite: \(count) fetches, \(compared) compared, \(matched) objects, \(refused) refused")
        #expect(matched > compared)
        #expect(refused < count * 4 / 10)
    }

    /// A mistake that SQL finds beforehand and the evaluator only where a value is not nil, or a clause without SQL.
    static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? InvalidPredicateError { return error.kind == .unsupported }
        return (error as NSError).code == NSPersistentStoreUnsupportedRequestTypeError
    }
}

/// Things and places in tables with attributes of every kind.
private struct TableWorld: CaseWorld {
    static let texts = [
        "", "a", "A", "ab", "abc", "Ą", "ą", "é", "éa", "e\u{301}", "e", "q", "K", "\u{212A}", "b", "Żółw", "zolw", "日本", "ß", "ss", "한글",
        "common prefix one", "common prefix two", "Привет", "привет", "😀", "12", "2.5", "*a?", "'; DROP TABLE things; --", "\"", "(a.b)[c]",
    ]

    func attributes(of entity: String, _ kinds: [CaseKind]) -> [String] { kinds.flatMap(Self.attributes) }
    func destination(of entity: String, _ key: String) -> String { Self.destinations[entity]?[key] ?? entity }
    func orderedKey(of entity: String) -> String? { nil }
    var hasOrder: Bool { false }
    var ordersTexts: Bool { false }
    var textKeys: [String] { ["length"] }
    var functions: [String] { [] }

    private static func attributes(_ kind: CaseKind) -> [String] {
        switch kind {
        case .bool: ["flag"]
        case .int: ["number", "rank"]
        case .double: ["real", "ratio"]
        case .decimal: ["amount"]
        case .text: ["text", "name"]
        case .date: ["moment", "second", "tick"]
        case .data: ["bytes"]
        case .uuid: ["key", "raw"]
        case .url: ["link"]
        }
    }

    func constant(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue { Self.value(kind, &random) }

    static func value(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        switch kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int: return .int64(pick([0, 1, -1, 2, 5, 100, 32_767]))
        case .double: return .double(pick([0, 1, 2.5, -1, 0.1, 100, 1e19, 9_007_199_254_740_992]))
        case .decimal: return .decimal(pick([0, 1, Decimal(string: "0.1") ?? 0, Decimal(string: "2.5") ?? 0, 100, -7]))
        case .text: return .string(pick(texts))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: pick([0.0, 1, 86_400, -86_400])))
        case .data: return .data(pick([Data(), Data([0]), Data([0, 1]), Data([255])]))
        case .uuid: return .uuid(UUID(uuid: (pick([0, 1, 2]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
        case .url: return .url(pick(["https://a.example", "https://b.example/%C3%A9", "file:///x"].compactMap { URL(string: $0) }))
        }
    }

    /// Where relationships lead; the names are the same in both entities.
    static let destinations = [
        "Thing": ["one": "Place", "other": "Thing", "many": "Thing", "more": "Place"],
        "Place": ["one": "Thing", "other": "Place", "many": "Place", "more": "Thing"],
    ]

    private static let columns = """
        label INTEGER NOT NULL, flag BOOLEAN, number INTEGER, rank SMALLINT, real REAL, ratio NUMERIC, amount DECIMAL (10, 2), text TEXT,
        name VARCHAR (40) COLLATE NOCASE, moment DATETIME, second TIMESTAMP, tick INTEGER, bytes BLOB, key CHAR (36), raw BLOB, link TEXT
        """

    static func script(hasIndexes: Bool) -> String {
        let indexes = ["things", "places"].flatMap { table in
            ["flag", "number", "real", "amount", "text", "name", "moment", "bytes", "key", "one_id", "other_id"].map { column in
                "CREATE INDEX \(table)_\(column) ON \(table) (\(column));"
            }
        }
        return """
            CREATE TABLE places (uid CHAR (36) NOT NULL PRIMARY KEY, one_id INTEGER, other_id CHAR (36), \(columns));
            CREATE TABLE things (id INTEGER PRIMARY KEY, one_id CHAR (36), other_id INTEGER, \(columns));
            CREATE TABLE thing_more (thing INTEGER NOT NULL, place CHAR (36) NOT NULL, PRIMARY KEY (thing, place)) WITHOUT ROWID;
            -- Whoever looks at the values knows that they are seconds, and millionths.
            INSERT INTO things (id, label, second, tick) VALUES (1, -5, 1, 1600000000000000);
            INSERT INTO places (uid, label, second, tick) VALUES ('00000000-0000-0000-0000-0000000000ff', -5, 1, 1600000000000000);
            """ + (hasIndexes ? indexes.joined(separator: "\n") : "")
    }

    static func model() throws -> NSManagedObjectModel {
        let (thing, place) = (NSEntityDescription(name: "Thing"), NSEntityDescription(name: "Place"))
        func attributes() -> [NSPropertyDescription] {
            [
                NSAttributeDescription(name: "label", type: .integer64, isOptional: false),
                NSAttributeDescription(name: "flag", type: .boolean), NSAttributeDescription(name: "number", type: .integer64),
                NSAttributeDescription(name: "rank", type: .integer16), NSAttributeDescription(name: "real", type: .double),
                NSAttributeDescription(name: "ratio", type: .double), NSAttributeDescription(name: "amount", type: .decimal),
                NSAttributeDescription(name: "text", type: .string), NSAttributeDescription(name: "name", type: .string),
                NSAttributeDescription(name: "moment", type: .date), NSAttributeDescription(name: "second", type: .date),
                NSAttributeDescription(name: "tick", type: .date), NSAttributeDescription(name: "bytes", type: .binaryData),
                NSAttributeDescription(name: "key", type: .uuid), NSAttributeDescription(name: "raw", type: .uuid),
                NSAttributeDescription(name: "link", type: .uri),
            ]
        }
        func pair(_ from: NSEntityDescription, _ name: String, _ to: NSEntityDescription, _ inverse: String) {
            let one = NSRelationshipDescription(name: name, destination: to)
            let many = NSRelationshipDescription(name: inverse, destination: from, toMany: true)
            one.inverse(to: many)
            from.properties.append(one)
            to.properties.append(many)
        }
        (thing.properties, place.properties) = (attributes(), attributes())
        thing.userInfo = ["tableName": "things"]
        place.userInfo = ["tableName": "places"]
        pair(thing, "one", place, "things")
        pair(place, "one", thing, "homes")
        pair(thing, "other", thing, "many")
        pair(place, "other", place, "many")
        let thingMore = NSRelationshipDescription(name: "more", destination: place, toMany: true)
        thingMore.userInfo = ["joinTable": "thing_more", "joinOwner": "thing", "joinMember": "place"]
        let placeMore = NSRelationshipDescription(name: "more", destination: thing, toMany: true)
        thingMore.inverse(to: placeMore)
        thing.properties.append(thingMore)
        place.properties.append(placeMore)
        return NSManagedObjectModel(entities: [thing, place])
    }

    /// Inserts the same objects for the same seed.
    static func fill(_ context: NSManagedObjectContext, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        // Those with which the tables were made.
        for entity in ["Thing", "Place"] {
            for object in (try? context.found(entity)) ?? [] { context.delete(object) }
        }
        var objects: [String: [NSManagedObject]] = [:]
        for label in 0..<60 {
            let entity = label % 3 == 0 ? "Place" : "Thing"
            let object = context.insert(entity, ["label": label])
            for kind in CaseKind.allCases {
                for name in attributes(kind) {
                    let value = Self.value(kind, &random)
                    if Int.random(in: 0..<5, using: &random) > 0 { object.setValue(value.any, forKey: name) }
                }
            }
            objects[entity, default: []].append(object)
        }
        for (entity, keys) in destinations.sorted(by: { $0.key < $1.key }) {
            for object in objects[entity] ?? [] {
                for key in ["one", "other"] where Int.random(in: 0..<4, using: &random) > 0 {
                    object.setValue(objects[keys[key] ?? ""]?.randomElement(using: &random), forKey: key)
                }
                guard entity == "Thing" else { continue }
                let more = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in objects["Place"]?.randomElement(using: &random) }
                object.setValue(Set(more), forKey: "more")
            }
        }
    }
}
