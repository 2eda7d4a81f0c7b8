import CoreData
import Foundation
import LogStore
import PlainItems

/// Compares a custom store, `Examples/LogStore`, with the in-memory store: fetches, faults and saves of the same objects.
///
/// Both have their rows in memory; the difference is the file, and the interface that the custom store is written for.
struct StoreComparison {
    /// One of the two stores.
    private struct Kind {
        let name: String
        let target: Double?
        let open: () throws -> NSPersistentStoreCoordinator
    }

    private let values: [Values]
    private let kinds: [Kind]

    init(count: Int, directory: String) {
        values = Values.make(count)
        LogStore.register()
        var files = 0
        kinds = [
            Kind(name: "the store in memory", target: nil) { try Stack.coordinator() },
            Kind(name: "LogStore", target: 1.1) {
                files += 1
                let url = URL(fileURLWithPath: directory + "/\(files).log")
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
                // The disk is not compared.
                try coordinator.addPersistentStore(
                    ofType: LogStore.storeType, configurationName: nil, at: url, options: [LogStore.synchronizesOption: false])
                // The file is open, and released with the store.
                try FileManager.default.removeItem(at: url)
                return coordinator
            },
        ]
    }

    private func filled(_ kind: Kind) throws -> (context: NSManagedObjectContext, items: [Item]) {
        let context = Stack.context(try kind.open())
        let items = values.map { value in
            let item = Item(context: context)
            value.fill(item)
            return item
        }
        return (context, items)
    }

    func benchmarks() throws -> [Benchmark] {
        let saved = try kinds.map { kind in
            let (context, items) = try filled(kind)
            try context.save()
            return (kind: kind, coordinator: context.persistentStoreCoordinator!, ids: items.map(\.objectID))
        }
        let ordered = NSFetchRequest<Item>(entityName: "Item")
        ordered.predicate = NSPredicate(format: "i1 > 50 AND t0 BEGINSWITH 'a'")
        ordered.sortDescriptors = [NSSortDescriptor(key: "t0", ascending: true)]
        var rows: [Benchmark] = []
        for (kind, coordinator, ids) in saved {
            rows.append(
                Benchmark("stores: fetch \(values.count) objects into a new context, read one property", kind.name, target: kind.target) {
                    let context = Stack.context(coordinator)
                    let found = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
                    return (found.reduce(0) { $0 &+ $1.i0 }, (found, context))
                })
            rows.append(
                Benchmark("stores: fetch those of \(values.count) that two clauses leave, sorted", kind.name, target: kind.target) {
                    let context = Stack.context(coordinator)
                    let found = try context.fetch(ordered)
                    return (found.reduce(0) { $0 &+ $1.i0 }, (found, context))
                })
            rows.append(
                Benchmark("stores: fire \(values.count) faults one at a time", kind.name, target: kind.target) {
                    let context = Stack.context(coordinator)
                    var sum = 0
                    let objects = ids.map { context.object(with: $0) }
                    for object in objects { sum &+= (object as? Item)?.i0 ?? 0 }
                    return (sum, (objects, context))
                })
        }
        return rows + kinds.map(creating) + kinds.map(saving) + kinds.map(changing)
    }

    private func creating(_ kind: Kind) -> Benchmark {
        Benchmark(
            "stores: create \(values.count) objects, set ten properties, save", kind.name, target: kind.target, given: { try kind.open() },
            body: { coordinator in
                let context = Stack.context(coordinator)
                for value in values { value.fill(Item(context: context)) }
                try context.save()
                return (context.registeredObjects.count, context)
            })
    }

    private func saving(_ kind: Kind) -> Benchmark {
        Benchmark(
            "stores: save \(values.count) new objects", kind.name, target: kind.target, given: { try filled(kind) },
            body: { state in
                try state.context.save()
                return (state.items.count, nil)
            })
    }

    private func changing(_ kind: Kind) -> Benchmark {
        Benchmark(
            "stores: change one property of each of \(values.count) objects, save", kind.name, target: kind.target,
            given: {
                let state = try filled(kind)
                try state.context.save()
                return state
            },
            body: { state in
                for item in state.items { item.i1 &+= 1 }
                try state.context.save()
                return (state.items.count, nil)
            })
    }
}
