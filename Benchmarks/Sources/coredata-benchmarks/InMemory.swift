import CoreData
import Foundation
import PlainItems

/// Compares managed objects in memory with handwritten Swift loops over plain objects.
enum InMemory {
    static func benchmarks(count: Int) throws -> [Benchmark] {
        let values = Values.make(count)
        let plain = values.map { value in
            let item = PlainItem()
            value.fill(item)
            return item
        }
        let context = try Stack.filledContext(values)
        let all = NSFetchRequest<Item>(entityName: "Item")
        all.returnsObjectsAsFaults = false
        let items = try context.fetch(all)
        return creating(values) + filtering(plain, items, context) + sorting(plain, items, context) + reading(plain, items)
            + (try writing(values)) + finding(items, context) + fetching(values, context)
    }

    private static func creating(_ values: [Values]) -> [Benchmark] {
        let group = "create \(values.count) objects, set ten properties"
        var coordinator: NSPersistentStoreCoordinator!
        return [
            Benchmark(group, "final class") {
                var items: [PlainItem] = []
                items.reserveCapacity(values.count)
                for value in values {
                    let item = PlainItem()
                    value.fill(item)
                    items.append(item)
                }
                return (items.count, items)
            },
            Benchmark(group, "NSManagedObject, inserted into a context", target: 2.0) {
                coordinator = try Stack.coordinator()
            } body: {
                let context = Stack.context(coordinator)
                for value in values { value.fill(Item(context: context)) }
                return (values.count, context)
            },
            Benchmark(group, "NSManagedObject, inserted and saved in memory") {
                coordinator = try Stack.coordinator()
            } body: {
                let context = Stack.context(coordinator)
                for value in values { value.fill(Item(context: context)) }
                try context.save()
                return (values.count, context)
            },
        ]
    }

    private static func filtering(_ plain: [PlainItem], _ items: [Item], _ context: NSManagedObjectContext) -> [Benchmark] {
        let group = "filter \(plain.count) objects by two clauses"
        let predicate = NSPredicate(format: "i1 > 50 AND t0 BEGINSWITH \"a\"")
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = predicate
        return [
            Benchmark(group, "$0.i1 > 50 && $0.t0.hasPrefix(\"a\")") {
                let found = plain.filter { $0.i1 > 50 && $0.t0.hasPrefix("a") }
                return (found.count, found)
            },
            Benchmark(group, "objects.filtered(using: predicate)", target: 1.0) {
                let found = try items.filtered(matching: predicate)
                return (found.count, found)
            },
            Benchmark(group, "context.fetch with the predicate", target: 1.2) {
                let found = try context.fetch(request)
                return (found.count, found)
            },
        ]
    }

    private static func sorting(_ plain: [PlainItem], _ items: [Item], _ context: NSManagedObjectContext) -> [Benchmark] {
        let group = "sort \(plain.count) objects by a text"
        let descriptors = [NSSortDescriptor(key: "t0", ascending: true)]
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.sortDescriptors = descriptors
        return [
            Benchmark(group, "sorted { $0.t0 < $1.t0 }") {
                let sorted = plain.sorted { $0.t0 < $1.t0 }
                return (sorted[0].i0, sorted)
            },
            Benchmark(group, "objects.sorted(using: descriptors)", target: 0.5) {
                let sorted = try items.sorted(using: descriptors)
                return (sorted[0].i0, sorted)
            },
            Benchmark(group, "context.fetch with the descriptors") {
                let sorted = try context.fetch(request)
                return (sorted[0].i0, sorted)
            },
        ]
    }

    private static func reading(_ plain: [PlainItem], _ items: [Item]) -> [Benchmark] {
        let group = "read five properties of \(plain.count) objects, ten times"
        let keys = ["i0", "i1", "i2", "i3", "i4"]
        // Plain objects are smaller: ten thousand of both kinds are in the processor's cache, a hundred thousand only of theirs.
        let target = plain.count > 10_000 ? 2.0 : 1.0
        return [
            Benchmark(group, "stored properties of a final class") {
                var sum = 0
                for _ in 0..<10 { for item in plain { sum &+= item.i0 &+ item.i1 &+ item.i2 &+ item.i3 &+ item.i4 } }
                return (sum, nil)
            },
            Benchmark(group, "typed properties of a managed object", target: target) {
                var sum = 0
                for _ in 0..<10 { for item in items { sum &+= item.i0 &+ item.i1 &+ item.i2 &+ item.i3 &+ item.i4 } }
                return (sum, nil)
            },
            Benchmark(group, "generated properties of a managed object", target: target) {
                var sum = 0
                for _ in 0..<10 {
                    for item in items {
                        sum &+= item.generated0 &+ item.generated1 &+ item.generated2 &+ item.generated3 &+ item.generated4
                    }
                }
                return (sum, nil)
            },
            Benchmark(group, "value(forKey:) of a managed object", target: 15) {
                var sum = 0
                for _ in 0..<10 {
                    for item in items { for key in keys { sum &+= item.value(forKey: key) as? Int ?? 0 } }
                }
                return (sum, nil)
            },
            // Foundation's cast of a number to `Int` makes another number to compare with; this one does not.
            Benchmark(group, "value(forKey:), cast to NSNumber") {
                var sum = 0
                for _ in 0..<10 {
                    for item in items { for key in keys { sum &+= (item.value(forKey: key) as? NSNumber)?.intValue ?? 0 } }
                }
                return (sum, nil)
            },
        ] + readingTexts(plain, items)
    }

    private static func readingTexts(_ plain: [PlainItem], _ items: [Item]) -> [Benchmark] {
        let group = "read two texts of \(plain.count) objects, ten times"
        let keys = ["t0", "t2"]
        return [
            Benchmark(group, "stored properties of a final class") {
                var sum = 0
                for _ in 0..<10 { for item in plain { sum &+= item.t0.utf8.count &+ item.t2.utf8.count } }
                return (sum, nil)
            },
            Benchmark(group, "typed properties of a managed object") {
                var sum = 0
                for _ in 0..<10 { for item in items { sum &+= item.t0.utf8.count &+ item.t2.utf8.count } }
                return (sum, nil)
            },
            Benchmark(group, "value(forKey:) of a managed object") {
                var sum = 0
                for _ in 0..<10 {
                    for item in items { for key in keys { sum &+= (item.value(forKey: key) as? String)?.utf8.count ?? 0 } }
                }
                return (sum, nil)
            },
        ]
    }

    private static func writing(_ values: [Values]) throws -> [Benchmark] {
        let group = "write five properties of \(values.count) objects, ten times"
        let plain = values.map { value in
            let item = PlainItem()
            value.fill(item)
            return item
        }
        let context = try Stack.filledContext(values)
        let items = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
        let keys = ["i0", "i1", "i2", "i3", "i4"]
        let target = plain.count > 10_000 ? 3.0 : 1.5
        return [
            Benchmark(group, "stored properties of a final class") {
                for round in 0..<10 {
                    for item in plain {
                        item.i0 = round
                        item.i1 = round
                        item.i2 = round
                        item.i3 = round
                        item.i4 = round
                    }
                }
                return (plain.last?.i4 ?? 0, nil)
            },
            Benchmark(group, "typed properties of a managed object", target: target) {
                for round in 0..<10 {
                    for item in items {
                        item.i0 = round
                        item.i1 = round
                        item.i2 = round
                        item.i3 = round
                        item.i4 = round
                    }
                }
                return (items.last?.i4 ?? 0, nil)
            },
            Benchmark(group, "generated properties of a managed object", target: target) {
                for round in 0..<10 {
                    for item in items {
                        item.generated0 = round
                        item.generated1 = round
                        item.generated2 = round
                        item.generated3 = round
                        item.generated4 = round
                    }
                }
                return (items.last?.generated4 ?? 0, nil)
            },
            Benchmark(group, "setValue(_:forKey:) of a managed object") {
                for round in 0..<10 {
                    for item in items { for key in keys { item.setValue(round, forKey: key) } }
                }
                return (items.last?.i4 ?? 0, nil)
            },
        ]
    }

    private static func finding(_ items: [Item], _ context: NSManagedObjectContext) -> [Benchmark] {
        let group = "find \(items.count) objects by identity, and read one property"
        let ids = items.map(\.objectID)
        let keys = (0..<items.count).map(Int64.init)
        let dictionary = Dictionary(uniqueKeysWithValues: zip(keys, items))
        return [
            Benchmark(group, "Dictionary<Int64, Item>") {
                var found = 0
                for key in keys { found &+= dictionary[key]?.i1 ?? 0 }
                return (found, nil)
            },
            Benchmark(group, "context.registeredObject(for:)", target: 1.0) {
                var found = 0
                for id in ids { found &+= (context.registeredObject(for: id) as? Item)?.i1 ?? 0 }
                return (found, nil)
            },
        ]
    }

    private static func fetching(_ values: [Values], _ context: NSManagedObjectContext) -> [Benchmark] {
        let group = "fetch \(values.count) objects"
        let request = NSFetchRequest<Item>(entityName: "Item")
        let coordinator = context.persistentStoreCoordinator!
        return [
            Benchmark(group, "into a new context, and read one property") {
                let other = Stack.context(coordinator)
                let found = try other.fetch(request)
                return (found.reduce(0) { $0 &+ $1.i0 }, (found, other))
            },
            Benchmark(group, "all registered already, and read one property") {
                let found = try context.fetch(request)
                return (found.reduce(0) { $0 &+ $1.i0 }, found)
            },
        ]
    }

    /// Shows that the cost of a save is linear in the number of objects.
    ///
    /// The notifications of a save contain a `Set` of the objects and one of their IDs. The time that Swift takes to build and release
    /// two such sets is shown for comparison: at a million objects it is a large part of the whole, and all that is not linear.
    static func linearity() throws {
        print("\ncreate and save in memory: nanoseconds of CPU time an object")
        var first = 0.0
        var firstWithout = 0.0
        let request = NSFetchRequest<Item>(entityName: "Item")
        for count in [10_000, 100_000, 1_000_000] {
            let values = Values.make(count)
            var best = Double.infinity
            var sets = Double.infinity
            for _ in 0..<(count > 100_000 ? 2 : 5) {
                let coordinator = try Stack.coordinator()
                let start = clock()
                let context = Stack.context(coordinator)
                for value in values { value.fill(Item(context: context)) }
                try context.save()
                best = min(best, Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1e9 / Double(count))
                let items = try context.fetch(request)
                let ids = items.map(\.objectID)
                let beforeSets = clock()
                withExtendedLifetime(Set(items)) {}
                withExtendedLifetime(Set(ids)) {}
                sets = min(sets, Double(clock() - beforeSets) / Double(CLOCKS_PER_SEC) * 1e9 / Double(count))
            }
            if first == 0 { (first, firstWithout) = (best, best - sets) }
            print(
                String(
                    format: "  %9d objects  %6.0f ns  %5.2f times the first; without two Sets of them %6.0f ns, %5.2f times", count, best,
                    best / first, best - sets, (best - sets) / firstWithout))
        }
    }
}
