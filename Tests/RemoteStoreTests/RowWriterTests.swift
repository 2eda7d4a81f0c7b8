import CoreData
import Foundation
import PredicateCases
import Predicates
import RemoteStore
import TestSupport
import Testing

/// Rows that decoders of this package write value by value.
@Suite("Rows written by decoders") struct RowWriterTests {
    /// A backend whose answers a closure writes.
    struct Written: Backend {
        let location = URL(string: "written:\(UUID().uuidString)")!
        let resources: [Resource]
        let write: @Sendable (BackendRequest, inout BackendAnswer) throws -> Void

        init(
            _ entity: String, _ policy: Resource.UnreadablePolicy = .reported,
            _ write: @escaping @Sendable (BackendRequest, inout BackendAnswer) throws -> Void
        ) {
            resources = [
                Resource(
                    entity,
                    endpoints: [
                        Endpoint("list", properties: [entity == "Album" ? "title" : "name"]),
                        Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)]),
                    ], unreadable: policy)
            ]
            self.write = write
        }

        func answer(_ request: BackendRequest) async throws -> BackendAnswer {
            var answer = request.answer()
            try write(request, &answer)
            return answer
        }

        func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addRemoteStore(self)
            return coordinator.context()
        }
    }

    /// Things of all types, and special ones with more attributes than a word has bits.
    private static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(name: "Thing")
        let special = NSEntityDescription(name: "Special")
        let children = NSRelationshipDescription(name: "children", destination: thing, toMany: true)
        children.inverse(to: NSRelationshipDescription(name: "parent", destination: thing))
        thing.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "text", type: .string),
            NSAttributeDescription(name: "long", type: .integer64), NSAttributeDescription(name: "middle", type: .integer32),
            NSAttributeDescription(name: "short", type: .integer16), NSAttributeDescription(name: "real", type: .double),
            NSAttributeDescription(name: "half", type: .float), NSAttributeDescription(name: "flag", type: .boolean),
            NSAttributeDescription(name: "day", type: .date), NSAttributeDescription(name: "bytes", type: .binaryData),
            NSAttributeDescription(name: "mark", type: .uuid), NSAttributeDescription(name: "price", type: .decimal),
            children.inverseRelationship!, children,
        ]
        special.properties = (0..<70).map { NSAttributeDescription(name: "n\($0)", type: .integer64) }
        thing.subentities = [special]
        return NSManagedObjectModel(entities: [thing, special])
    }

    /// A value that a property may have.
    private static func value(_ column: ResourceColumn, _ random: inout SeededGenerator) -> ResourceValue {
        if column.kind == .many { return .many((0..<Int64.random(in: 0..<4, using: &random)).map { .init(.integer($0)) }) }
        if Int.random(in: 0..<6, using: &random) == 0 { return column.kind == .one ? .one(nil) : .value(.null) }
        let number = Int64.random(in: -30_000...30_000, using: &random)
        switch column.kind {
        case .string:
            let length = [0, 3, 15, 16, 40, 600, 40_000].randomElement(using: &random)!
            return .value(.string(String((0..<length).map { _ in "abcdeü".randomElement(using: &random)! })))
        case .int64, .int32, .int16: return .value(.int64(number))
        case .double, .float: return .value(.double(Double(number) / 4))
        case .boolean: return .value(.bool(number > 0))
        case .date: return .value(.date(Date(timeIntervalSinceReferenceDate: Double(number))))
        case .data:
            return .value(
                .data(Data(repeating: UInt8(truncatingIfNeeded: number), count: [0, 10, 1000, 2000].randomElement(using: &random)!)))
        case .uuid: return .value(.uuid(UUID()))
        case .other: return .value(.decimal(Decimal(number)))
        case .one: return .one(.init(.integer(Int64.random(in: 0..<4, using: &random))))
        case .many: return .many([])
        }
    }

    /// Sets a value as a decoder does that knows the column.
    private static func set(_ value: ResourceValue, _ column: ResourceColumn, _ writer: ResourceRowWriter) -> Bool {
        switch value {
        case .value(.null), .one(nil): return writer.setNull(column)
        case .one(let reference?):
            return reference.id == 3 ? writer.setOne(reference, column) : writer.setOne(reference.id.as(Int64.self)!, column)
        case .value(.string(let text)): return Array(text.utf8).withUnsafeBytes { writer.set(utf8: $0, column) }
        case .value(.int64(let number)): return writer.set(number, column)
        case .value(.double(let number)): return writer.set(number, column)
        case .value(.bool(let flag)): return writer.set(flag, column)
        case .value(.date(let date)): return writer.set(date: date.timeIntervalSinceReferenceDate, column)
        case .value(.data(let data)): return data.withUnsafeBytes { writer.set(data: $0, column) }
        case .value(.uuid(let uuid)): return writer.set(uuid, column)
        default: return writer.set(value, column)
        }
    }

    @Test("Objects show what was written, in whatever order; what was left out is asked for, and what was given up leaves nothing")
    func random() throws {
        let seed = TestSeed.current(for: "Rows written by decoders")
        for round in TestRounds(seconds: 0.7, atLeast: 6) { try run(seed, UInt64(round) + 1) }
    }

    private func run(_ seed: UInt64, _ round: UInt64) throws {
        let model = Self.model()
        let isWhole = round % 3 == 0
        let truth = Guarded<[Int64: [String: ResourceValue]]>([:])
        let infos = Guarded(0)
        let backend = Written("Thing") { request, answer in
            if request.endpoint == "info" {
                infos.withValue { $0 += 1 }
                for id in request.ids("SELF") {
                    let number = try #require(id.as(Int64.self))
                    try answer.add(number, entity: number % 2 == 0 ? "Special" : nil, truth.withValue { $0[number] ?? [:] })
                }
                return
            }
            var random = SeededGenerator(seed: seed &+ round &* 7919)
            let writers = try [answer.writer("Special"), answer.writer()]
            for number in 0..<Int64(12) {
                let writer = writers[Int(number % 2)]
                var names = model.entitiesByName[number % 2 == 0 ? "Special" : "Thing"]!.properties.map(\.name).shuffled(using: &random)
                // The inverse tells.
                names.removeAll { $0 == "children" }
                var values: [String: ResourceValue] = [:]
                writer.begin()
                for name in names {
                    let column = try writer.column(name)
                    values[name] = Self.value(column, &random)
                    if !isWhole, Bool.random(using: &random) { continue }
                    if Int.random(in: 0..<4, using: &random) == 0 { #expect(Self.set(Self.value(column, &random), column, writer)) }
                    if Int.random(in: 0..<40, using: &random) == 0, column.kind == .string {
                        #expect(writer.set(.value(.string(String(repeating: "own", count: 30))), column))
                    }
                    #expect(Self.set(values[name]!, column, writer), "\(name) = \(values[name]!)")
                }
                truth.withValue { $0[number] = values }
                // The first ones are parents.
                if number > 3, Int.random(in: 0..<5, using: &random) == 0 {
                    writer.cancel()
                } else {
                    answer.add(writer, id: .integer(number))
                }
            }
        }
        let context = try backend.context(model)
        try context.performAndWait {
            let things = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            let truth = truth.withValue { $0 }
            for thing in things {
                let number = try #require(Int64(thing.objectID.uriRepresentation().lastPathComponent.dropFirst()))
                for (name, value) in truth[number]! {
                    let shown = thing.value(forKey: name)
                    let place = "seed \(seed), round \(round), \(name) of \(number): \(shown ?? "nil") for \(value)"
                    switch value {
                    case .one(let reference):
                        let uri = (shown as? NSManagedObject)?.objectID.uriRepresentation()
                        expect(uri?.lastPathComponent.dropFirst(), equals: reference.map { "\($0.id)"[...] }, "\(place)")
                    case .value(let value): expect(AnyHashable(shown as? NSObject), equals: AnyHashable(value.any as? NSObject), "\(place)")
                    case .many: break
                    }
                }
            }
            #expect(!things.isEmpty)
            if isWhole { expect(infos.withValue { $0 }, equals: 0) }
        }
    }

    @Test("A value that a property cannot hold changes nothing")
    func unfit() throws {
        let notes = Guarded<[String]>([])
        let backend = Written("Thing") { _, answer in
            let writer = try answer.writer()
            let (short, real, flag, name, children) = try (
                writer.column("short"), writer.column("real"), writer.column("flag"), writer.column("name"), writer.column("children")
            )
            writer.begin()
            #expect(writer.set(Int64(7), short) && !writer.set(Int64(40_000), short) && !writer.set(1.5, short))
            #expect(writer.set(0.5, real) && !writer.set(Double.nan, real) && !writer.set(date: 0, real))
            #expect(writer.set(true, flag) && !writer.set(Int64(2), flag))
            #expect(
                writer.set(utf8: UnsafeRawBufferPointer(start: nil, count: 0), name) && !writer.set(Int64(1), name)
                    && !writer.setOne(Int64(1), name))
            #expect(!writer.setNull(children))
            answer.add(writer, id: "one")
            notes.withValue { $0.append("\(writer.unfit(.value(.int64(40_000)), short, nil))") }
        }
        let context = try backend.context(Self.model())
        try context.performAndWait {
            let thing = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")).first)
            #expect(thing.value(forKey: "short") as? Int == 7 && thing.value(forKey: "real") as? Double == 0.5)
            #expect(thing.value(forKey: "flag") as? Bool == true && thing.value(forKey: "name") as? String == "")
        }
        for part in ["short", "Thing", "40000"] { #expect(notes.withValue { $0[0].contains(part) }) }
    }

    @Test("A column serves the entity and its subentities, and is refused by others")
    func columns() throws {
        let backend = Written("Album") { request, answer in
            let title = try request.column("title")
            let writer = try answer.writer("Band")
            writer.begin()
            #expect(!Array("x".utf8).withUnsafeBytes { writer.set(utf8: $0, title) })
            writer.cancel()
            let error = failure { try answer.add(1, entity: "Band") { row in try row.set("Help!", title) } }
            expect(error?.localizedDescription.contains("Band"), equals: true)
            let singer = try answer.writer("Singer")
            singer.begin()
            #expect(singer.set("Ella", try answer.writer("Person").column("name")))
            singer.cancel()
            try answer.add(2) { row in try row.set("Help!", title) }
        }
        try expect(backend.context(Shop.model()).texts(fetchRequest("Album")), equals: ["Help!"])
    }

    @Test("A resource within a resource has a writer of its own, also one of the same entity")
    func nested() throws {
        let backend = Written("Thing") { _, answer in
            let (outer, inner) = try (answer.writer(), answer.writer())
            let (name, parent) = try (outer.column("name"), outer.column("parent"))
            for number in Int64(1)...3 {
                outer.begin()
                #expect(outer.set(.value(.string("child \(number)")), name))
                inner.begin()
                #expect(inner.set(.value(.string("parent \(number)")), name) && inner.setNull(parent))
                answer.embed(inner, id: .integer(number + 100))
                #expect(outer.setOne(number + 100, parent))
                answer.add(outer, id: .integer(number))
            }
        }
        let context = try backend.context(Self.model())
        try expect(context.texts(fetchRequest("Thing", by: ["name"]), "name"), equals: ["child 1", "child 2", "child 3"])
        try context.performAndWait {
            let parents = try context.fetch(fetchRequest("Thing", by: ["name"])).map { $0.value(forKeyPath: "parent.name") as? String }
            expect(parents, equals: ["parent 1", "parent 2", "parent 3"])
        }
    }

    @Test("What cannot be read is given up or kept, as its resource says", arguments: [Resource.UnreadablePolicy.reported, .keptRaw])
    func unreadable(_ policy: Resource.UnreadablePolicy) throws {
        let backend = Written("Album", policy) { _, answer in
            let writer = try answer.writer()
            let (title, year) = try (writer.column("title"), writer.column("year"))
            for (id, number) in [("a", "1969"), ("b", "soon")] {
                writer.begin()
                #expect(writer.set(.value(.string("Album \(id)")), title))
                if let number = Int64(number), writer.set(number, year) {
                    answer.add(writer, id: .string(id))
                } else {
                    let reason = writer.unfit(.value(.string(number)), year, .string(id))
                    answer.addUnreadable(writer, id: .string(id), reason: reason, raw: Data(number.utf8))
                }
            }
            answer.addUnreadable(writer, id: nil, reason: ServiceFailure())
        }
        let titles = try backend.context(Shop.model()).texts(fetchRequest("Album", by: ["title"]))
        expect(titles, equals: (policy == .keptRaw ? ["Album a", "Album b"] : ["Album a"]))
    }
}
