import CoreData
import ExampleSupport
import Foundation
import Palettes
import RemoteStore
import SampleService
import Testing
import WebBackend
import WebTransport

@Suite("The palettes' service as a description, beside the remote store") struct DescriptionTests {
    private let service: SampleService
    private let byHand: NSManagedObjectContext
    private let described: NSManagedObjectContext

    init() async throws {
        service = try await SampleService.start()
        byHand = try Stack<RemoteIncrementalStore>.remote(service).context
        let model = PaletteModel.make()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options = WebClient.Options()
        options.retries.maximumTries = 1
        try coordinator.addRemoteStore(
            WebBackend(.palettes(at: service.baseURL), model: model, transport: networkTransport(), options: options),
            options: RemoteStoreOptions(maximumRows: RemoteIncrementalStore.paletteBudget))
        described = NSManagedObjectContext(.privateQueue)
        described.persistentStoreCoordinator = coordinator
    }

    /// Returns what both find, and the requests that they take: the path, and the parameters that are not the service's defaults.
    private func both<Found: Sendable>(
        _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Found
    ) async throws -> [(found: Found, requests: [String])] {
        var results: [(Found, [String])] = []
        for context in [byHand, described] {
            service.resetRequests()
            let found = try await context.perform { try body(context) }
            let requests = service.requests.map { request in
                let parameters = request.query.filter { $0.key != "resultOffset" || $0.value != "0" }
                return "\(request.path) " + parameters.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "&")
            }
            results.append((found, requests))
        }
        return results
    }

    @Test("A page in the order of the ranks is the same request, and brings the same palettes", arguments: [(0, 30), (10, 30), (40, 5)])
    func page(offset: Int, limit: Int) async throws {
        let results = try await both { context in try context.fetch(palettes(offset: offset, limit: limit)).map(contents) }
        #expect(results[1].found == results[0].found && !results[0].found.isEmpty)
        #expect(results[1].requests == results[0].requests)
        #expect(results[1].requests.count == 1)
    }

    @Test(
        "What the service cannot do is finished in memory over the same pages",
        arguments: ["name BEGINSWITH 'Added'", "username == 'sampler' AND rank > 120", "rank < 4 OR name == 'Added 60'", "rank > 5000"])
    func finishing(format: String) async throws {
        for number in 1...60 { service.addPalette(SamplePalette(id: number, title: "Added \(number)", rank: 100 + number)) }
        let results = try await both { context in
            let byName = palettes(NSPredicate(format: format), sortedBy: [NSSortDescriptor(key: "name", ascending: false)])
            return try context.fetch(byName).map(contents) + ["\(try context.count(for: byName))"]
        }
        #expect(results[1].found == results[0].found)
        #expect(results[1].requests.count <= results[0].requests.count, "\(results[1].requests)")
    }

    @Test("Palettes by identifier are asked for one by one, an unknown one is missing") func identifiers() async throws {
        let ids = service.palettes[3..<6].map { "\($0.id)" } + ["1"]
        let results = try await both { context in
            let found = try context.fetch(palettes(NSPredicate(format: "id IN %@", ids)))
            let same = try context.fetch(palettes(NSPredicate(format: "SELF == %@", found[0])))
            return found.map(contents) + same.map(contents)
        }
        #expect(results[1].found == results[0].found && results[0].found.count == 4)
        #expect(results[1].requests.sorted() == results[0].requests.sorted())
    }

    @Test("A fetch that would need more palettes than the budget is an error before all are read") func budget() async throws {
        for number in 1...RemoteIncrementalStore.paletteBudget {
            service.addPalette(SamplePalette(id: number, title: "Added \(number)", rank: 100 + number))
        }
        service.resetRequests()
        let context = described
        let error = await #expect(throws: NSError.self) {
            try await context.perform { _ = try context.fetch(palettes(NSPredicate(format: "username == 'ada'"))) }
        }
        #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError, "\(String(describing: error))")
        #expect(service.requestCount() <= 11)
    }
}

/// All values of a palette as text.
private func contents(_ palette: Palette) -> String {
    "\(palette.id) \(palette.name) \(palette.username) \(palette.rank) \(palette.colors) \(palette.widths)"
}
