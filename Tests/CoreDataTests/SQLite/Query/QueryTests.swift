import CoreData
import Predicates
import TestSupport
import Testing

/// What fetches from a SQLite store find, one clause at a time; random ones are in ``QueryDifferentialTests``.
@Suite("Queries in SQLite") struct QueryTests {
    /// The labels that a predicate finds in SQLite, after checking that memory finds the same.
    private func found(_ stores: TwinStores, _ entity: String = "Thing", _ make: (NSManagedObjectContext) throws -> NSPredicate) throws
        -> [Int]
    {
        let found = stores.labels { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = try make(context)
            request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
            return request
        }
        let labels = try found.sqlite.get()
        try expect(labels, equals: found.memory.get())
        return labels
    }

    private func stores() throws -> TwinStores {
        let stores = try TwinStores()
        try stores.fill { context in
            let place = context.insert("Place", ["label": 100, "name": "Hull"])
            let home = context.insert("Place", ["label": 101])
            let first = context.insert("Thing", ["label": 0, "name": "Ala", "number": 5, "one": place])
            let second = context.insert("Special", ["label": 1, "name": "ala", "number": 7, "one": home, "other": first])
            let third = context.insert("Thing", ["label": 2, "number": 5, "other": first, "owner": second])
            first.setValue(Set([place, home]), forKey: "more")
            third.setValue(Set([home]), forKey: "more")
            first.setValue(Set([second, third]), forKey: "friends")
        }
        return stores
    }

    @Test("An object, its ID and the IDs of many can be asked for") func objects() throws {
        let stores = try stores()
        try expect(found(stores) { NSPredicate(format: "one == %@", try TwinStores.object(100, $0)) }, equals: [0])
        try expect(found(stores) { NSPredicate(format: "one = %@", try TwinStores.object(101, $0)?.objectID) }, equals: [1])
        try expect(
            found(stores) {
                NSPredicate(format: "SELF IN %@", [try TwinStores.object(0, $0)?.objectID, try TwinStores.object(2, $0)?.objectID])
            }, equals: [0, 2])
        try expect(found(stores) { NSPredicate(format: "objectID == %@", try TwinStores.object(1, $0)?.objectID) }, equals: [1])
        try expect(found(stores) { NSPredicate(format: "ANY more == %@", try TwinStores.object(101, $0)) }, equals: [0, 2])
        try expect(found(stores) { NSPredicate(format: "more CONTAINS %@", try TwinStores.object(100, $0)) }, equals: [0])
        try expect(found(stores) { NSPredicate(format: "NOT one IN %@", [try TwinStores.object(100, $0)]) }, equals: [1])
    }

    @Test("An object that is not saved, or of another entity, equals none") func strangers() throws {
        let stores = try stores()
        try expect(
            found(stores) { NSPredicate(format: "one == %@", NSManagedObject(entity: $0.insert("Place").entity, insertInto: nil)) },
            equals: [])
        // Place 100 has the same key as some thing.
        try expect(found(stores) { NSPredicate(format: "SELF == %@", try TwinStores.object(100, $0)) }, equals: [])
        try expect(found(stores) { NSPredicate(format: "one != %@", try TwinStores.object(0, $0)) }, equals: [0, 1])
    }

    @Test("Entities can be asked for, by themselves and by name") func entities() throws {
        let stores = try stores()
        try expect(
            found(stores) {
                NSPredicate(format: "entity == %@", $0.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Special"])
            }, equals: [1])
        try expect(found(stores) { _ in NSPredicate(format: "entity.name == 'Thing'") }, equals: [0, 2])
        try expect(found(stores) { _ in NSPredicate(format: "owner.entity.name IN {'Special', 'Place'}") }, equals: [2])
        try expect(found(stores, "Special") { _ in NSPredicate(value: true) }, equals: [1])
    }

    @Test("Thousands of values can be asked for at once") func manyValues() throws {
        let stores = try stores()
        let numbers = Array(0..<20_000).filter { $0 != 7 }
        try expect(found(stores) { _ in NSPredicate(format: "number IN %@", numbers) }, equals: [0, 2])
        try expect(found(stores) { _ in NSPredicate(format: "NOT number IN %@", numbers) }, equals: [1])
        try expect(found(stores) { _ in NSPredicate(format: "name IN %@", (0..<5000).map { "x\($0)" } + ["Ala"]) }, equals: [0])
        try expect(found(stores) { _ in NSPredicate(format: "number IN %@", [5, nil] as [Int?]) }, equals: [0, 2])
        try expect(found(stores) { _ in NSPredicate(format: "NOT number IN %@", [5, nil] as [Int?]) }, equals: [])
        try expect(found(stores) { _ in NSPredicate(format: "number IN %@ OR label == 1", [Int]()) }, equals: [1])
    }

    @Test("A predicate of a thousand parts is answered") func longPredicates() throws {
        let stores = try stores()
        let parts = (0..<3000).map { NSPredicate(format: "number == %d", $0 == 2 ? -1 : $0 + 5) }
        try expect(found(stores) { _ in NSCompoundPredicate(orPredicateWithSubpredicates: parts) }, equals: [0, 2])
    }

    @Test("A relationship that is its own inverse is followed in both directions") func reflexiveRelationships() throws {
        let stores = try stores()
        try expect(found(stores) { _ in NSPredicate(format: "ANY friends.number == 5") }, equals: [0, 1, 2])
        try expect(found(stores) { _ in NSPredicate(format: "ANY friends.number == 7") }, equals: [0])
        try expect(found(stores) { _ in NSPredicate(format: "friends.@count == 1") }, equals: [1, 2])
        try expect(found(stores) { NSPredicate(format: "friends CONTAINS %@", try TwinStores.object(0, $0)) }, equals: [1, 2])
    }

    @Test("A subquery may be about values") func subqueriesOfValues() throws {
        let stores = try stores()
        try expect(found(stores) { _ in NSPredicate(format: "SUBQUERY({5, 6}, $x, $x == number).@count == 1") }, equals: [0, 2])
        try expect(found(stores) { _ in NSPredicate(format: "SUBQUERY(many.number, $x, $x > number).@count == 1") }, equals: [0])
        try expect(found(stores) { _ in NSPredicate(format: "ANY {5, 6} == number") }, equals: [0, 2])
    }

    @Test(
        "An operator of texts finds what it says, with case and marks and without",
        arguments: [
            ("BEGINSWITH 'abc'", [0, 4], [0, 1, 4], [0, 1, 2, 4]), ("ENDSWITH 'abc'", [0, 3], [0, 1, 3], [0, 1, 2, 3]),
            ("CONTAINS 'abc'", [0, 3, 4, 5], [0, 1, 3, 4, 5], [0, 1, 2, 3, 4, 5]), ("LIKE 'abc*'", [0, 4], [0, 1, 4], [0, 1, 2, 4]),
            ("MATCHES '.abc'", [3], [3], [3]), ("MATCHES 'ab.x?'", [0, 4], [0, 1, 4], [0, 1, 2, 4]),
        ])
    func textOperators(clause: String, exactly: [Int], withoutCase: [Int], withoutMarks: [Int]) throws {
        let stores = try TwinStores()
        let names = ["abc", "ABC", "äbc", "xabc", "abcx", "xabcx", "ab"]
        try stores.fill { context in
            for (label, name) in names.enumerated() {
                let place = context.insert("Place", ["label": 100 + label, "name": name])
                _ = context.insert("Thing", ["label": label, "name": name, "one": place])
            }
        }
        let space = try #require(clause.firstIndex(of: " "))
        for (options, labels) in [("", exactly), ("[c]", withoutCase), ("[cd]", withoutMarks)] {
            let spelled = clause[..<space] + options + clause[space...]
            for path in ["name", "one.name"] {
                try expect(found(stores) { _ in NSPredicate(format: "\(path) \(spelled)") }, equals: labels, "\(path) \(spelled)")
            }
        }
    }

    @Test("A text begins, ends or is part of another one as the operator says, whichever of them is the column's")
    func textsOfColumns() throws {
        let stores = try TwinStores()
        try stores.fill { context in
            for (label, name) in ["ab", "bc", "cd", "AB", "abcd"].enumerated() {
                _ = context.insert("Thing", ["label": label, "name": name])
            }
        }
        try expect(found(stores) { _ in NSPredicate(format: "'abcd' BEGINSWITH name") }, equals: [0, 4])
        try expect(found(stores) { _ in NSPredicate(format: "'abcd' BEGINSWITH[c] name") }, equals: [0, 3, 4])
        try expect(found(stores) { _ in NSPredicate(format: "'abcd' ENDSWITH name") }, equals: [2, 4])
        try expect(found(stores) { _ in NSPredicate(format: "'abcd' CONTAINS name") }, equals: [0, 1, 2, 4])
    }

    @Test("Nil matches as the language says") func nils() throws {
        let stores = try stores()
        try expect(found(stores) { _ in NSPredicate(format: "name != 'Ala'") }, equals: [1])
        try expect(found(stores) { _ in NSPredicate(format: "NOT name == 'Ala'") }, equals: [1])
        try expect(found(stores) { _ in NSPredicate(format: "name == %@", nil as String?) }, equals: [2])
        try expect(found(stores) { _ in NSPredicate(format: "one.name == nil") }, equals: [1, 2])
        try expect(found(stores) { _ in NSPredicate(format: "other.one.name == 'Hull'") }, equals: [1, 2])
        try expect(found(stores) { _ in NSPredicate(format: "ALL many.number > 4") }, equals: [0, 1, 2])
        try expect(found(stores) { _ in NSPredicate(format: "NONE many.number > 4") }, equals: [1, 2])
    }

    @Test("Random order and blocks are errors that name the clause, unless memory may help") func withoutSQL() throws {
        let stores = try stores()
        func request(_ change: (NSFetchRequest<NSManagedObject>) -> Void) throws -> [Int] {
            try stores.sqlite.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
                change(request)
                return try stores.sqlite.fetch(request).map { $0.value(forKey: "label") as? Int ?? -1 }
            }
        }
        let block = NSPredicate { object, _ in (object as? [String: Any])?["number"] as? Int == 5 }
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "label > 0"), block])
        let error = failure { _ = try request { $0.predicate = both } }
        expect(error?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
        expect(error?.localizedDescription.contains("block"), equals: true)
        try expect(
            request {
                $0.predicate = both
                $0.allowsEvaluationInMemory = true
            }, equals: [2])

        let byLength = NSSortDescriptor(key: "number", ascending: true) { left, right in
            let (left, right) = (left as? Int ?? 0, right as? Int ?? 0)
            return left > right ? .orderedAscending : left < right ? .orderedDescending : .orderedSame
        }
        let descriptors = [byLength, NSSortDescriptor(key: "label", ascending: false)]
        expect(failure { _ = try request { $0.sortDescriptors = descriptors } }?.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
        let sorted = try request {
            $0.sortDescriptors = descriptors
            $0.fetchLimit = 2
            $0.allowsEvaluationInMemory = true
        }
        expect(sorted, equals: [1, 2])
    }

    @Test("A predicate that nests too deeply for SQLite is an error, unless memory may help") func deepPredicates() throws {
        let stores = try stores()
        var tree = PredicateTree.compare(.keyPath(["number"]), .equal, .constant(.int64(5)))
        for level in 0..<80 {
            let other = PredicateTree.compare(.keyPath(["label"]), .lessThan, .constant(.int64(level % 2 == 0 ? 100 : -1)))
            tree = level % 2 == 0 ? .and([other, tree]) : .or([other, tree])
        }
        let deep = tree
        func ask(_ allows: Bool) -> Result<[Int], any Error> {
            stores.labels { _ in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(tree: deep)
                request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
                request.allowsEvaluationInMemory = allows
                return request
            }.sqlite
        }
        // How deep is too deep, the SQLite of the system says.
        switch ask(false) {
        case .success(let labels): expect(labels, equals: [0, 2])
        case .failure(let error): expect((error as NSError).code, equals: NSPersistentStoreUnsupportedRequestTypeError, "\(error)")
        }
        try expect(ask(true).get(), equals: [0, 2])
    }

    @Test("Mistakes in a predicate are the errors of every store") func mistakes() throws {
        let stores = try stores()
        for (format, kind) in [
            ("nosuch == 1", InvalidPredicateError.Kind.unknownKeyPath), ("one.nosuch == 1", .unknownKeyPath),
            ("name MATCHES '('", .invalidPattern),
            ("name == $x", .unboundVariable), ("many.number == 1", .unsupported), ("number BEGINSWITH 'a'", .unsupported),
            ("number BETWEEN 5", .unsupported), ("name ==", .syntax),
        ] {
            let found = stores.labels { _ in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(format: format)
                return request
            }
            for result in [found.memory, found.sqlite] {
                #expect(throws: InvalidPredicateError.self, "\(format)") { try result.get() }
                guard case .failure(let error) = result else { continue }
                expect((error as? InvalidPredicateError)?.kind, equals: kind, "\(format): \(error)")
            }
        }
    }

    @Test("A function that fails in the middle of a fetch fails it with its own error") func failingFunctions() throws {
        let stores = try stores()
        let found = stores.labels { _ in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "(number + 0.5) & 1 == 1")
            return request
        }
        #expect(throws: InvalidPredicateError.self) { try found.sqlite.get() }
        #expect(throws: InvalidPredicateError.self) { try found.memory.get() }
    }
}
