import CoreData
import Foundation
import Predicates

/// Compares predicates with handwritten Swift loops over the same objects.
enum Language {
    final class Owner {
        let age: Int64
        let name: String
        let parts: [Part]
        init(age: Int64, name: String, parts: [Part]) { (self.age, self.name, self.parts) = (age, name, parts) }
    }

    final class Part {
        let size: Int64
        let label: String
        init(size: Int64, label: String) { (self.size, self.label) = (size, label) }
    }

    static func benchmarks(count: Int) throws -> [Benchmark] {
        let context = try LanguageStack.filledContext(count)
        let owners = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
        // The same values as plain objects, in the same order.
        let plain = owners.map { owner in
            Owner(
                age: owner.value(forKey: "age") as? Int64 ?? 0, name: owner.value(forKey: "name") as? String ?? "",
                parts: (owner.value(forKey: "parts") as? Set<NSManagedObject> ?? []).map {
                    Part(size: $0.value(forKey: "size") as? Int64 ?? 0, label: $0.value(forKey: "label") as? String ?? "")
                })
        }
        var benchmarks: [Benchmark] = []
        func add(
            _ group: String, _ format: String, target: Double? = nil, ofFetch fetchTarget: Double? = nil, _ loop: @escaping (Owner) -> Bool
        ) throws {
            let predicate = try NSPredicate(parsing: format)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Owner")
            request.predicate = predicate
            let title = "\(group) over \(count) objects"
            benchmarks += [
                Benchmark(title, "hand-written loop") { (plain.filter(loop).count, nil) },
                Benchmark(title, "objects.filtered(matching:)", target: target) { (try owners.filtered(matching: predicate).count, nil) },
                Benchmark(title, "context.fetch", target: fetchTarget) { (try context.fetch(request).count, nil) },
            ]
        }
        try add("conjunction of two comparisons", "age > 50 AND age != 77", target: 1.0, ofFetch: 1.5) { $0.age > 50 && $0.age != 77 }
        try add("ANY over a to-many", "ANY parts.size > 95", target: 3, ofFetch: 6) { $0.parts.contains { $0.size > 95 } }
        try add("SUBQUERY", "SUBQUERY(parts, $x, $x.size > 50 AND $x.size < 60).@count > 0", target: 3, ofFetch: 6) {
            $0.parts.count { $0.size > 50 && $0.size < 60 } > 0
        }
        try add("CONTAINS[cd]", "name CONTAINS[cd] 'ER 7'") {
            $0.name.range(of: "ER 7", options: [.caseInsensitive, .diacriticInsensitive]) != nil
        }
        let descriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let title = "text sort of \(count) objects"
        benchmarks += [
            Benchmark(title, "sorted { $0.name < $1.name }") { (Int(plain.sorted { $0.name < $1.name }[0].age), nil) },
            Benchmark(title, "objects.sorted(using:)", target: 0.5) {
                (try owners.sorted(using: descriptors)[0].value(forKey: "age") as? Int ?? 0, nil)
            },
        ]
        return benchmarks + (try formats())
    }

    private static func formats() throws -> [Benchmark] {
        let formats = Formats.found() ?? Formats.typical
        let trees = formats.compactMap { try? PredicateTree(parsing: $0.format, argumentArray: $0.arguments) }
        let bytes = formats.reduce(0) { $0 + $1.format.utf8.count }
        let group = "\(formats.count) formats, \(bytes) bytes, a hundred times"
        return [
            Benchmark(group, "copying their bytes") {
                for _ in 0..<100 { for format in formats { blackHole(Array(format.format.utf8)) } }
                return (trees.count, nil)
            },
            Benchmark(group, "parsing") {
                var count = 0
                for _ in 0..<100 {
                    count = 0
                    for format in formats where (try? PredicateTree(parsing: format.format, argumentArray: format.arguments)) != nil {
                        count += 1
                    }
                }
                return (count, nil)
            },
            Benchmark(group, "printing") {
                for _ in 0..<100 { for tree in trees { blackHole(tree.description) } }
                return (trees.count, nil)
            },
        ]
    }

    /// Shows the number of allocations while predicates run: evaluating an object must not allocate.
    static func allocations(count: Int) throws {
        let context = try LanguageStack.filledContext(count)
        let owners = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
        for owner in owners { _ = (owner.value(forKey: "parts") as? Set<NSManagedObject>)?.map { $0.value(forKey: "size") } }
        print("\nallocations of a filter over \(count) objects that matches none of them, and of one over half of them")
        for format in [
            "age > 1000 AND age != 77", "ANY parts.size > 1000", "ALL parts.size > 1000 AND age > 1000", "parts.@count > 1000",
            "SUBQUERY(parts, $x, $x.size > 1000 AND $x.size < age).@count > 0", "ANY parts.label == 'nothing of the kind'",
            "name BEGINSWITH 'nothing'", "name CONTAINS[cd] 'nothing'",
        ] {
            let predicate = try NSPredicate(parsing: format)
            let half = Array(owners.prefix(count / 2))
            func cost(_ objects: [NSManagedObject]) throws -> Int {
                _ = try objects.filtered(matching: predicate)
                return try AllocationCounter.count { _ = try objects.filtered(matching: predicate) }
            }
            let (all, fewer) = (try cost(owners), try cost(half))
            print("  \(format.padding(toLength: 66, withPad: " ", startingAt: 0)) \(all) \(fewer)")
        }
    }

    @inline(never) private static func blackHole<Value>(_ value: Value) {}
}

/// Owners with three parts each, in memory.
enum LanguageStack {
    static func filledContext(_ count: Int) throws -> NSManagedObjectContext {
        let owner = NSEntityDescription(name: "Owner")
        let part = NSEntityDescription(name: "Part")
        let parts = NSRelationshipDescription(name: "parts", destination: part, toMany: true)
        let back = NSRelationshipDescription(name: "owner", destination: owner)
        parts.inverse(to: back)
        owner.properties = [
            NSAttributeDescription(name: "age", type: .integer64), NSAttributeDescription(name: "name", type: .string), parts,
        ]
        part.properties = [
            NSAttributeDescription(name: "size", type: .integer64), NSAttributeDescription(name: "label", type: .string), back,
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [owner, part]))
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = coordinator
        var state: UInt64 = 88_172_645_463_325_252
        func random() -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state >> 33)
        }
        for index in 0..<count {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
            object.setValue(Int64(random() % 100), forKey: "age")
            object.setValue("Owner \(random() % 1_000_000)", forKey: "name")
            for number in 0..<3 {
                let child = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
                child.setValue(Int64(random() % 100), forKey: "size")
                child.setValue("Part \(index).\(number)", forKey: "label")
                child.setValue(object, forKey: "owner")
            }
        }
        try context.save()
        return context
    }
}
