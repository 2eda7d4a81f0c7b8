import CoreData
import PredicateCases
import Predicates
import TestSupport
import Testing

@testable import ModelFiles
@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The statements that fetches become: one for each shape of request, and such that indexes serve them.
@Suite("Statements of queries") struct QueryShapeTests {
    /// A store of the query model with an index on text and on numbers, open for plain SQL.
    private final class Indexed {
        let pad: Scratchpad
        let context: NSManagedObjectContext
        var store: SQLiteStore { context.persistentStoreCoordinator!.persistentStores[0] as! SQLiteStore }

        init() throws {
            pad = try Scratchpad()
            let model = QueryModel.model()
            let thing = model.entitiesByName["Thing"]!
            func index(_ names: [String]) -> NSFetchIndexDescription {
                NSFetchIndexDescription(
                    name: "by" + names.joined(),
                    elements: names.map { NSFetchIndexElementDescription(property: thing.propertiesByName[$0]!, collationType: .binary) })
            }
            thing.indexes = [index(["name"]), index(["number"]), index(["amount"]), index(["moment"])]
            context = try Music.context(pad.coordinator(model))
            context.performAndWait { QueryCases.fill(context, seed: 1) }
            try context.performAndWait { try context.save() }
        }

        func query(_ format: String?, _ arguments: Any?..., change: (NSFetchRequest<any NSFetchRequestResult>) -> Void = { _ in }) throws
            -> SQLQuery
        {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
            request.entity = store.schema.model.entitiesByName["Thing"]
            request.predicate = try format.map { format in
                NSPredicate(tree: try NSPredicate(format: format, argumentArray: arguments.map { $0 ?? NSNull() }).tree())
            }
            change(request)
            return try store.queries().query(StoreQuery(request, of: request.entity!), store.sqlEntity(request.entity!))
        }

        /// How SQLite finds the rows.
        func steps(_ query: SQLQuery) throws -> String {
            let statement = try SQLStatement("EXPLAIN QUERY PLAN " + query.plan.sql, connection: store.database(), isKept: false)
            try query.bind(to: statement.handle)
            var steps: [String] = []
            while try statement.step() { steps.append(statement.text(3)) }
            return steps.joined(separator: "; ")
        }
    }

    @Test("Requests of one shape share a statement, whatever their constants") func shapes() throws {
        let stores = try Indexed()
        let pairs: [(String, Any?, Any?)] = [
            ("name == %@", "abc", "x'y\""), ("number > %@", 1, -700), ("number IN %@", [1, 2], Array(0..<5000)),
            ("name BEGINSWITH[cd] %@", "a", "ż"), ("name CONTAINS %@", "", "q"), ("moment < %@", Date(), Date.distantPast),
            ("SUBQUERY(many, $x, $x.number > %@).@count > 0", 1, 2), ("name MATCHES %@", "a", "b+"),
        ]
        for (format, first, second) in pairs {
            let one = try stores.query(format, first)
            let before = try stores.store.queries().plans.translations
            let other = try stores.query(format, second)
            #expect(one.plan === other.plan, "\(format)")
            try expect(stores.store.queries().plans.translations, equals: before)
        }
        // A nil asks something else.
        #expect(try stores.query("name == %@", nil).plan !== stores.query("name == %@", "a").plan)
        // So do other parts of a request.
        let plain = try stores.query("number == 1")
        #expect(try stores.query("number == 1") { $0.fetchLimit = 5 }.plan !== plain.plan)
        #expect(
            try stores.query("number == 1") { $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)] }.plan !== plain.plan)
        #expect(try stores.query("number == 1") { $0.includesSubentities = false }.plan !== plain.plan)
        #expect(try stores.query("number == 1") { $0.resultType = .countResultType }.plan !== plain.plan)
    }

    @Test("Fetches without a predicate share a statement, except for other results, orders, limits and scopes") func plain() throws {
        let stores = try Indexed()
        let changes: [(NSFetchRequest<any NSFetchRequestResult>) -> Void] = [
            { _ in }, { $0.fetchLimit = 1 }, { $0.includesSubentities = false }, { $0.resultType = .managedObjectIDResultType },
            { $0.resultType = .countResultType }, { $0.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)] },
            { $0.resultType = .dictionaryResultType }, { ($0.resultType, $0.fetchOffset) = (.countResultType, 1) },
            { ($0.resultType, $0.includesSubentities) = (.countResultType, false) },
        ]
        let plans = try changes.map { try stores.query(nil, change: $0).plan }
        expect(Set(plans.map(\.sql)).count, equals: changes.count)
        for (plan, change) in zip(plans, changes) { #expect(try stores.query(nil, change: change).plan === plan) }
        // Another limit and an order that a count does not depend on are no other statement.
        #expect(try stores.query(nil) { $0.fetchLimit = 7 }.plan === plans[1])
        let sorted = try stores.query(nil) {
            ($0.resultType, $0.sortDescriptors) = (.countResultType, [NSSortDescriptor(key: "name", ascending: true)])
        }
        #expect(sorted.plan === plans[4])
        // The place has another table.
        let place = try stores.store.sqlEntity(stores.store.schema.model.entitiesByName["Place"]!)
        #expect(try stores.store.queries().plans.query(StoreQuery(place.entity), place).plan !== plans[0])
    }

    @Test("A fetch of all objects is translated once, and they come in the order of their keys") func all() throws {
        let stores = try Indexed()
        func fetch(_ change: (StoreQuery) -> StoreQuery = { $0 }) throws -> StoreAnswer {
            try stores.store.reading { try $0.answer(change(StoreQuery(stores.store.schema.model.entitiesByName["Thing"]!))) }
        }
        func keys(_ answer: StoreAnswer) -> [Int64] {
            guard case .rows(let rows) = answer else { return [] }
            return rows.map { SlotPointer($0.slots).prefix.pointee.number }
        }
        let all = keys(try fetch())
        #expect(all.count > 10 && all == all.sorted())
        expect(keys(try fetch { $0.with(fetchOffset: 3, fetchLimit: 4) }), equals: Array(all[3..<7]))
        expect(keys(try fetch { $0.with(fetchOffset: all.count - 2, fetchLimit: 0) }), equals: all.suffix(2))
        for (offset, limit, expected) in [
            (0, 0, all.count), (2, 0, all.count - 2), (0, 5, 5), (all.count - 1, 5, 1), (all.count + 5, 0, 0),
        ] {
            let answer = try fetch { $0.with(resultType: .countResultType).with(fetchOffset: offset, fetchLimit: limit) }
            guard case .count(let count) = answer else { throw CocoaError(.coreData) }
            expect(count, equals: expected)
        }
        // Another reader may have made the plans, which they share.
        try stores.store.reading { reader in
            let page = StoreQuery(stores.store.schema.model.entitiesByName["Thing"]!).with(fetchOffset: 1, fetchLimit: 2)
            _ = try reader.answer(page)
            let before = try reader.queries().plans.translations
            for limit in [2, 0, 7] { _ = try reader.answer(page.with(fetchOffset: limit, fetchLimit: limit + 1)) }
            try expect(reader.queries().plans.translations, equals: before)
        }
    }

    @Test("A statement contains no constant and no name of a variable") func bound() throws {
        let stores = try Indexed()
        let query = try stores.query(
            "name == 'secret1' OR number == 987654 OR SUBQUERY(many, $secret2, $secret2.name LIKE 'secret3').@count > 0")
        #expect(!query.plan.sql.contains("secret"))
        #expect(!query.plan.sql.contains("987654"))
        #expect(!query.plan.sql.contains("'"))
    }

    @Test(
        "Comparisons that an index can serve use it",
        arguments: [
            "name == 'abc'", "name == 'Kraftwerk'", "name == 'Björk'", "name BEGINSWITH 'abc'", "name LIKE 'abc*'", "name LIKE 'a?c'",
            "name LIKE 'abc'",
            "number == 5", "number > 5",
            "number BETWEEN {1, 3}",
            "number IN {1, 2, 3}", "name IN {'a', 'b'}", "amount == 5", "amount > 5.5", "moment < CAST(5, 'NSDate')", "one == nil",
        ]) func indexes(_ format: String) throws
    {
        let stores = try Indexed()
        let steps = try stores.steps(stores.query(format))
        #expect(!steps.contains("SCAN t0"), "\(format): \(steps)")
    }

    @Test("A collection is not counted to see whether it is empty") func emptiness() throws {
        let stores = try Indexed()
        for format in ["many.@count > 0", "0 == many.@count", "SUBQUERY(more, $x, $x.number == 1).@count != 0"] {
            let sql = try stores.query(format).plan.sql
            #expect(sql.contains("EXISTS") && !sql.contains("COUNT"), "\(sql)")
        }
        #expect(try stores.query("many.@count > %d", 1).plan.sql.contains("COUNT"))
    }

    @Test("noindex: keeps an index from being used") func noIndex() throws {
        let stores = try Indexed()
        let steps = try stores.steps(stores.query("noindex:(number) == 5"))
        #expect(steps.contains("SCAN t0"), "\(steps)")
    }

    @Test("A relationship is followed by one join, however often it is named") func joins() throws {
        let stores = try Indexed()
        let query = try stores.query("one.name == 'a' OR one.number == 1 OR one.one.name == 'b'") {
            $0.sortDescriptors = [NSSortDescriptor(key: "one.name", ascending: true)]
        }
        expect(query.plan.sql.split(separator: "JOIN").count, equals: 3, "\(query.plan.sql)")
        // The key is in the row: nothing is joined for it.
        #expect(try !stores.query("one == nil AND other != nil").plan.sql.contains("JOIN"))
    }
}
