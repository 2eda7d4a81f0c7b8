import CoreData
import Foundation
import RemoteStore
@_spi(Benchmarks) import WebBackend
import WebTransport

/// Compares a described web service with a program that decodes the same answers by `JSONDecoder`.
struct WebRows {
    private let pages: ReleasePages
    private let server: PageServer?

    init(count: Int, server: PageServer?) {
        pages = ReleasePages(count: count)
        self.server = server
    }

    func benchmarks() throws -> [Benchmark] {
        try decoding() + paging("in memory", CannedPages(bodies: pages.bodies), "http://127.0.0.1:1") + network()
    }

    private func decoding() throws -> [Benchmark] {
        let group = "web: \(pages.bodies.count) pages of JSON"
        let backend = try WebBackend(
            ReleasePages.service("http://127.0.0.1:1"), model: ReleasePages.model, transport: CannedPages(bodies: pages.bodies))
        let datas = pages.bodies.map { Data($0) }
        return [
            Benchmark(group, "decoded into structs by JSONDecoder") { [pages] in
                let decoder = ReleasePages.decoder()
                var count = 0
                for data in datas { count += try decoder.decode(ReleasePages.Page.self, from: data).results.count }
                return (count, pages)
            },
            Benchmark(group, "read into rows by a description", target: 0.125) { [pages] in
                var count = 0
                for body in pages.bodies {
                    count += try backend.countRows(in: body, entity: "Release", call: "list")
                }
                return (count, backend)
            },
        ]
    }

    private func paging(_ name: String, _ transport: some Transport, _ address: String) throws -> [Benchmark] {
        let group = "web: \(pages.count) objects through \(pages.bodies.count) pages, \(name)"
        let count = pages.count
        let first = address + "/releases"
        return [
            Benchmark(group, "decoded into structs by JSONDecoder") {
                let (sum, kept) = try Waiting.wait { () -> (Int, [ReleasePages.Release]) in
                    let decoder = ReleasePages.decoder()
                    var releases: [ReleasePages.Release] = []
                    var next: String? = first
                    while let url = next {
                        let response = try await transport.send(WebRequest(.get, url), limits: TransportLimits())
                        let page = try decoder.decode(ReleasePages.Page.self, from: Data(response.body))
                        releases += page.results
                        next = page.next.map { address + $0 }
                    }
                    return (releases.count, releases)
                }
                return (sum, kept)
            },
            Benchmark(group, "only transported", target: nil) {
                let sum = try Waiting.wait { () -> Int in
                    var number = 0
                    var bytes = 0
                    while number * ReleasePages.pageSize < count {
                        let url = number == 0 ? first : first + "?page=\(number)"
                        bytes += try await transport.send(WebRequest(.get, url), limits: TransportLimits()).body.count
                        number += 1
                    }
                    return bytes > 0 ? count : 0
                }
                return (sum, nil)
            },
            Benchmark(group, "fetched as objects of a described service", target: 0.34) { () -> NSManagedObjectContext in
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ReleasePages.model)
                try coordinator.addRemoteStore(
                    WebBackend(ReleasePages.service(address), model: ReleasePages.model, transport: transport))
                return Stack.context(coordinator)
            } body: { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Release")
                request.returnsObjectsAsFaults = false
                let objects = try context.fetch(request)
                return (objects.count, (objects, context))
            },
        ]
    }

    private func network() throws -> [Benchmark] {
        guard let server else { return [] }
        return try paging("over HTTP, by the clock", AsyncHTTPClientTransport(), server.address).map { row in
            var row = row
            row.isByClock = true
            return row
        }
    }
}

/// Waits on this thread for what is asynchronous, as a synchronous fetch does.
enum Waiting {
    @inline(never) static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let result = Passed<Value>()
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
            done.signal()
        }
        done.wait()
        return try result.value!.get()
    }

    /// A value that one task after the other uses.
    // Unchecked: the waiting thread and the task take turns, by a semaphore.
    private final class Passed<Value>: @unchecked Sendable {
        var value: Result<Value, any Error>?
    }
}
