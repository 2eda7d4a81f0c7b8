import CoreData
import Foundation
import Predicates
import RemoteStore

/// A service whose pages are JSON, as most are, read by `JSONSerialization`.
struct JSONService: Backend {
    let location = URL(string: "benchmark:json")!
    let resources = [Resource("Item", endpoints: [Endpoint("list", paging: .pages(of: PreparedService.pageSize))])]

    private let pages: [Data]

    init(_ values: [Values]) throws {
        let size = PreparedService.pageSize
        var pages: [Data] = []
        for start in stride(from: 0, to: values.count, by: size) {
            let items = values[start..<min(start + size, values.count)].map { value -> [String: Any] in
                [
                    "i0": value.i0, "i1": value.i1, "i2": value.i2, "i3": value.i3, "i4": value.i4, "t0": value.t0, "t1": value.t1,
                    "t2": value.t2, "t3": value.t3, "t4": value.t4,
                ]
            }
            pages.append(try JSONSerialization.data(withJSONObject: items))
        }
        self.pages = pages
    }

    /// The number of pages.
    var pageCount: Int { pages.count }

    /// Returns the items of a page, as a program without a store would read them.
    @inline(never) func items(_ page: Int) throws -> [HandReadItem] {
        (try JSONSerialization.jsonObject(with: pages[page]) as? [[String: Any]] ?? []).map { HandReadItem($0) }
    }

    func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        let page = request.page.flatMap { Int($0.text) } ?? 0
        var answer = try Self.answer(request, try items(page))
        if page + 1 < pages.count { answer.next = PageToken("\(page + 1)") }
        return answer
    }

    /// Returns a context over the service.
    func open() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Stack.model)
        try coordinator.addRemoteStore(self)
        return Stack.context(coordinator)
    }

    // Not a part of the asynchronous method, in which the compiler of Swift 6.3 loses its way.
    @inline(never) private static func answer(_ request: BackendRequest, _ items: [HandReadItem]) throws -> BackendAnswer {
        var answer = request.answer()
        let columns = try PreparedService.Columns(request)
        for item in items {
            try answer.add(item.id) { row in
                for (column, number) in zip(columns.numbers, [item.i0, item.i1, item.i2, item.i3, item.i4]) { try row.set(number, column) }
                for (column, text) in zip(columns.texts, [item.t0, item.t1, item.t2, item.t3, item.t4]) {
                    try row.set(.value(.string(text)), column)
                }
            }
        }
        return answer
    }
}
