import CoreData
import Foundation
import RemoteStore

/// Compares a cached store with a plain SQLite store that has the same rows.
struct CacheRows {
    private let values: [Values]
    private let service: PreparedService
    private let directory: String
    private static let pageSize = 50
    private static let pages = 200

    init(count: Int, directory: String) {
        values = Values.make(count)
        service = PreparedService(values)
        self.directory = directory
    }

    func benchmarks() throws -> [Benchmark] { try paging() + pulling() + refreshing() + refreshingSome() + asking() }

    private func url(_ name: String) -> URL { URL(fileURLWithPath: "\(directory)/\(name)-\(UUID().uuidString).sqlite") }

    /// The options of a cache's file, for a fair comparison.
    private static var fileOptions: [AnyHashable: Any] { [NSSQLitePragmasOption: ["journal_mode": "WAL", "synchronous": "FULL"]] }

    private func plain(at url: URL, _ model: NSManagedObjectModel = Stack.model) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: Self.fileOptions)
        return coordinator
    }

    private func cached(
        at url: URL, _ policy: CachePolicy, from service: PreparedService? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
        try coordinator.addCachedStore(service ?? self.service, at: url, options: CachedStoreOptions(defaultPolicy: policy))
        return coordinator
    }

    /// Fetches everything through pages of the service.
    private static func fetchAll(_ coordinator: NSPersistentStoreCoordinator, _ type: NSFetchRequestResultType) throws -> Int {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        request.resultType = type
        return try Stack.context(coordinator).fetch(request).count
    }

    // MARK: Reading

    private func paging() throws -> [Benchmark] {
        let group = "cache: \(Self.pages) pages of \(Self.pageSize) of \(values.count) objects"
        let (plainURL, cachedURL) = (url("plain"), url("cached"))
        try save(plain(at: plainURL))
        _ = try Self.fetchAll(cached(at: cachedURL, .networkOnly), .managedObjectIDResultType)
        let count = values.count
        func body(_ coordinator: NSPersistentStoreCoordinator) throws -> Benchmark.Outcome {
            var sum = 0
            for page in 0..<Self.pages {
                // Each is the first of a context.
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.predicate = NSPredicate(format: "i0 BETWEEN {%ld, %ld}", (page * 7919) % (count / 2), count)
                request.fetchLimit = Self.pageSize
                request.returnsObjectsAsFaults = false
                sum &+= try Stack.context(coordinator).fetch(request).reduce(0) { $0 &+ $1.i0 &+ $1.t0.utf8.count }
            }
            return (sum, coordinator)
        }
        return [
            Benchmark(group, "a plain SQLite store", given: { try plain(at: plainURL) }, body: body),
            Benchmark(group, "a cached store", target: 1.5, given: { try cached(at: cachedURL, .immutable) }, body: body),
        ]
    }

    // MARK: Writing

    private func save(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = Stack.context(coordinator)
        for value in values { value.fill(Item(context: context)) }
        try context.save()
    }

    private func pulling() -> [Benchmark] {
        let group = "cache: a pull of \(values.count) objects"
        return [
            Benchmark(group, "fetched, and saved in a plain SQLite store", given: { try (plain(at: url("plain")), remote()) }) {
                plain, remote in
                let context = Stack.context(plain)
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.returnsObjectsAsFaults = false
                let items = try Stack.context(remote).fetch(request)
                for item in items {
                    let copy = Item(context: context)
                    (copy.i0, copy.i1, copy.i2, copy.i3, copy.i4) = (item.i0, item.i1, item.i2, item.i3, item.i4)
                    (copy.t0, copy.t1, copy.t2, copy.t3, copy.t4) = (item.t0, item.t1, item.t2, item.t3, item.t4)
                }
                try context.save()
                return (items.count, (items, context))
            },
            Benchmark(group, "by a cached store", target: 1.3, given: { try cached(at: url("cached"), .networkOnly) }) { cached in
                (try Self.fetchAll(cached, .managedObjectIDResultType), cached)
            },
            Benchmark(group, "saved alone, in a plain SQLite store", given: { try plain(at: url("plain")) }) { plain in
                try save(plain)
                return (values.count, plain)
            },
            Benchmark(group, "saved alone, with the columns of a cache", given: { try plain(at: url("plain"), Self.wideModel) }) { plain in
                try saveWide(plain)
                return (values.count, plain)
            },
            Benchmark(group, "fetched alone, by a remote store", given: { try remote() }) { remote in
                (try Self.fetchAll(remote, .managedObjectIDResultType), remote)
            },
        ]
    }

    /// The items with what a cache keeps of each besides: its identifier, by which it is found, when it was read, and its state.
    private static let wideModel: NSManagedObjectModel = {
        let numbers = (0..<5).map { NSAttributeDescription(name: "i\($0)", type: .integer64) }
        let texts = (0..<5).map { NSAttributeDescription(name: "t\($0)", type: .string) }
        let resource = NSAttributeDescription(name: "resource", type: .string)
        let entity = NSEntityDescription(
            name: "Item", managedObjectClass: Item.self,
            properties: numbers + texts + [
                resource, NSAttributeDescription(name: "fetchedAt", type: .double), NSAttributeDescription(name: "state", type: .integer64),
            ])
        entity.indexes = [
            NSFetchIndexDescription(
                name: "byResource", elements: [NSFetchIndexElementDescription(property: resource, collationType: .binary)])
        ]
        return NSManagedObjectModel(entities: [entity])
    }()

    private func saveWide(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = Stack.context(coordinator)
        let (resource, fetchedAt) = (ManagedProperty<String>("resource"), ManagedProperty<Double>("fetchedAt"))
        let state = ManagedProperty<Int>("state")
        for value in values {
            let item = Item(context: context)
            value.fill(item)
            let digits = String(value.i0)
            item[resource] = "i\(UnicodeScalar(UInt8(96 + digits.utf8.count)))\(digits)"
            item[fetchedAt] = 0
            item[state] = 0
        }
        try context.save()
    }

    private func remote(_ service: PreparedService? = nil) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
        try coordinator.addRemoteStore(service ?? self.service)
        return coordinator
    }

    private func refreshing() throws -> [Benchmark] {
        let group = "cache: a refresh of \(values.count) objects that changes nothing"
        let cachedURL = url("cached")
        _ = try Self.fetchAll(cached(at: cachedURL, .networkOnly), .managedObjectIDResultType)
        return [
            Benchmark(group, "fetched by a remote store", given: { try remote() }) { remote in
                (try Self.fetchAll(remote, .managedObjectIDResultType), remote)
            },
            Benchmark(group, "by a cached store", given: { try cached(at: cachedURL, .networkOnly) }) { cached in
                (try Self.fetchAll(cached, .managedObjectIDResultType), cached)
            },
            Benchmark(group, "the same rows read from the cache", given: { try cached(at: cachedURL, .cacheOnly) }) { cached in
                (try Self.fetchAll(cached, .managedObjectResultType), cached)
            },
        ]
    }

    private func refreshingSome() throws -> [Benchmark] {
        let some = Array(values.prefix(10_000))
        let group = "cache: a refresh of \(some.count) objects of which 1% have changed"
        // The two answers by turns: a refresh finds what the other one has left.
        let changed = some.enumerated().map { index, value in index % 100 == 0 ? value.with(t1: "Elsewhere \(index)") : value }
        let services = [PreparedService(some), PreparedService(changed)]
        let cachedURL = url("cached")
        _ = try Self.fetchAll(cached(at: cachedURL, .networkOnly, from: services[0]), .managedObjectIDResultType)
        var turn = 0
        return [
            Benchmark(group, "fetched by a remote store", given: { try remote(services[0]) }) { remote in
                (try Self.fetchAll(remote, .managedObjectIDResultType), remote)
            },
            Benchmark(
                group, "by a cached store",
                given: {
                    turn += 1
                    return try cached(at: cachedURL, .networkOnly, from: services[turn % 2])
                }
            ) { cached in (try Self.fetchAll(cached, .managedObjectIDResultType), cached) },
        ]
    }

    /// A thousand questions each: milliseconds are microseconds a question.
    private func asking() throws -> [Benchmark] {
        let group = "cache: whether anything is pending, 1,000 times"
        let (plainURL, cachedURL) = (url("plain"), url("cached"))
        _ = try Self.fetchAll(cached(at: cachedURL, .networkOnly), .managedObjectIDResultType)
        return [
            Benchmark(group, "the number of objects of a plain, empty SQLite store", given: { try plain(at: plainURL) }) { plain in
                let context = Stack.context(plain)
                let request = NSFetchRequest<Item>(entityName: "Item")
                return (try (0..<1000).reduce(0) { sum, _ in sum + (try context.count(for: request)) }, plain)
            },
            Benchmark(
                group, "of a cached store that has all objects",
                given: {
                    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
                    let options = CachedStoreOptions(defaultPolicy: .immutable)
                    return (coordinator, try coordinator.addCachedStore(service, at: cachedURL, options: options))
                }
            ) { coordinator, store in
                (try (0..<1000).reduce(0) { sum, _ in sum + (try store.pendingCount()) }, coordinator)
            },
        ]
    }
}
