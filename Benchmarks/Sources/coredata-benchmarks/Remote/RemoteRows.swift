import CoreData
import Foundation
import RemoteStore

/// Compares a remote store with a program that reads the same answers into structs.
struct RemoteRows {
    private let values: [Values]
    private let service: PreparedService
    private static let requests = 1000

    init(count: Int) {
        values = Values.make(count)
        service = PreparedService(values)
    }

    // MARK: Ratios

    func benchmarks() throws -> [Benchmark] { paging() + (try json()) + single() }

    private func open() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
        try coordinator.addRemoteStore(service)
        return Stack.context(coordinator)
    }

    /// Returns a context whose queue is not the main one, which waits in these rows.
    @inline(never) private func openForAwaiting() throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = try open().persistentStoreCoordinator
        return context
    }

    private func paging() -> [Benchmark] {
        let group = "remote: \(values.count) objects through \(service.pageCount) pages"
        return [
            Benchmark(group, "read into structs by hand") {
                let items = Self.wait { [service] in
                    var items: [HandReadItem] = []
                    for number in 0..<service.pageCount {
                        await service.page(number).withUnsafeBytes { bytes in
                            var scanner = RowScanner(bytes)
                            while scanner.hasMore { items.append(HandReadItem(&scanner)) }
                        }
                    }
                    return items
                }
                return (items.reduce(0) { $0 &+ Int($1.i0) &+ Int($1.i4) }, items)
            },
            Benchmark(group, "fetched as objects of a remote store", target: 2.0, given: open, body: Self.fetchAll),
        ]
    }

    /// Fetches all objects and reads two properties of each.
    @inline(never) private static func fetchAll(_ context: NSManagedObjectContext) throws -> Benchmark.Outcome {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.returnsObjectsAsFaults = false
        let items = try context.fetch(request)
        return (items.reduce(0) { $0 &+ $1.i0 &+ $1.i4 }, (items, context))
    }

    @inline(never) private func json() throws -> [Benchmark] {
        let service = try JSONService(values)
        let group = "remote: \(values.count) objects through \(service.pageCount) pages of JSON"
        return [
            Benchmark(group, "read into structs by JSONSerialization") {
                var items: [HandReadItem] = []
                for number in 0..<service.pageCount { items += try service.items(number) }
                return (items.reduce(0) { $0 &+ Int($1.i0) &+ Int($1.i4) }, items)
            },
            Benchmark(group, "fetched as objects of a remote store", target: 2.0, given: service.open, body: Self.fetchAll),
        ]
    }

    private func single() -> [Benchmark] {
        let numbers = (0..<Self.requests).map { ($0 * 7919) % values.count + 1 }
        let group = "remote: \(Self.requests) requests for a row each"
        return [
            Benchmark(group, "read into structs by hand") {
                let items = Self.wait { [service] in
                    var items: [HandReadItem] = []
                    for number in numbers {
                        await service.row(number).withUnsafeBytes { bytes in
                            var scanner = RowScanner(bytes)
                            items.append(HandReadItem(&scanner))
                        }
                    }
                    return items
                }
                return (items.reduce(0) { $0 &+ Int($1.i0) }, items)
            },
            Benchmark(group, "fetched as objects of a remote store", given: open) { context in
                var items: [Item] = []
                for number in numbers { items += try context.fetch(Self.request(for: number)) }
                return (items.reduce(0) { $0 &+ $1.i0 }, (items, context))
            },
            Benchmark(group, "the same, awaited, as IDs", given: openForAwaiting) { context in
                let sum = try Self.wait { [context = Passed(value: context)] in
                    var sum = 0
                    for number in numbers {
                        let ids = try await context.value.fetchAsynchronously(Self.idRequest(for: number))
                        sum &+= ids.count == 1 ? number : 0
                    }
                    return sum
                }.get()
                return (sum, context)
            },
        ]
    }

    private static func request(for number: Int) -> NSFetchRequest<Item> {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "i0 == %ld", number)
        request.returnsObjectsAsFaults = false
        return request
    }

    private static func idRequest(for number: Int) -> NSFetchRequest<NSManagedObjectID> {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
        request.predicate = NSPredicate(format: "i0 == %ld", number)
        request.resultType = .managedObjectIDResultType
        return request
    }

    // MARK: Figures

    /// Prints the allocations of a request, and the memory that stays while all pages are read one after the other.
    func printCosts() throws {
        let context = try open()
        for number in 1...200 { _ = try context.fetch(Self.request(for: number)) }
        let begin = AllocationCounter.beginCounting()
        for number in 201...400 { _ = try context.fetch(Self.request(for: number)) }
        let allocations = AllocationCounter.endCounting(since: begin)
        print(
            "\nremote: a request for a row takes \(allocations / 200) allocations, those of the fetch request and of the answer among them")

        let paged = try open()
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.fetchLimit = PreparedService.pageSize
        request.returnsObjectsAsFaults = false
        var sizes: [String] = []
        var sum = 0
        for page in 0..<service.pageCount {
            request.fetchOffset = page * PreparedService.pageSize
            sum &+= try paged.fetch(request).reduce(0) { $0 &+ $1.i0 }
            paged.reset()
            if [10, 100, service.pageCount].contains(page + 1) {
                sizes.append(String(format: "%.1f MB after %d pages", Double(try Self.residentMemory()) / 1e6, page + 1))
            }
        }
        guard sum == values.reduce(0, { $0 + $1.i0 }) else { throw Mismatch() }
        print("remote: resident memory while pages are read, with a reset of the context after each: \(sizes.joined(separator: ", "))")
    }

    struct Mismatch: Error {}

    private static func residentMemory() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    // MARK: Waiting

    /// Runs an asynchronous closure, and waits for it on this thread, as the synchronous fetch does.
    @inline(never) private static func wait<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
        let result = Passed<Result?>(value: nil)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            result.value = await body()
            done.signal()
        }
        done.wait()
        return result.value!
    }

    @inline(never) private static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Result<
        Value, any Error
    > {
        wait { do { return .success(try await body()) } catch { return .failure(error) } }
    }

    /// A value that one task after the other uses.
    // Unchecked: the waiting thread and the task take turns, by a semaphore.
    private final class Passed<Value>: @unchecked Sendable {
        var value: Value
        init(value: Value) { self.value = value }
    }
}
