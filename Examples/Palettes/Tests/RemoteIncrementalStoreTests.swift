import CoreData
import Palettes
import SampleService
import Testing

@Suite("The remote store") struct RemoteIncrementalStoreTests {
    private let service: SampleService
    private let stack: Stack<RemoteIncrementalStore>

    init() async throws {
        service = try await SampleService.start()
        stack = try .remote(service)
    }

    private var asked: [String] { service.requests.map(\.target) }

    private func top(_ count: Int, _ offset: Int) -> String {
        "/api/palettes/top?format=json&showPaletteWidths=1&numResults=\(count)&resultOffset=\(offset)"
    }

    @Test("Offset and limit in the order of the ranks are one request for that page") func page() async throws {
        let context = stack.context
        let expected = service.palettes[10..<40].map(\.title)
        try await context.perform {
            let found = try context.fetch(palettes(offset: 10, limit: 30))
            #expect(found.map(\.name) == expected)
            #expect(!context.hasChanges)
        }
        #expect(asked == [top(30, 10)])
    }

    @Test("An asynchronous request returns at once, reports progress and calls back with the palettes") func asynchronousRequest()
        async throws
    {
        let context = stack.context
        let expected = service.palettes.prefix(30).map(\.title)
        let (ends, end) = AsyncStream.makeStream(of: [String].self)
        let progress = try await context.perform {
            let request = NSFetchRequest<Palette>(entityName: Palette.entityName)
            request.fetchOffset = 0
            request.fetchLimit = 30
            request.sortDescriptors = Palette.defaultSortDescriptors

            let asyncRequest = NSAsynchronousFetchRequest(fetchRequest: request) { (result) -> Void in
                if let count = result.finalResult?.count, count > 0 {
                    end.yield(result.finalResult?.map(\.name) ?? [])
                }
                end.finish()
            }
            asyncRequest.estimatedResultCount = 30

            let result = try context.execute(asyncRequest) as? NSAsynchronousFetchResult<Palette>
            #expect(result?.finalResult == nil)
            #expect(result?.progress?.completedUnitCount == 0)
            #expect(result?.progress?.totalUnitCount == 30)
            return result?.progress
        }
        var names: [String] = []
        for await found in ends { names = found }
        #expect(names == expected)
        #expect(progress?.fractionCompleted == 1)
        #expect(asked == [top(30, 0)])
    }

    @Test("An asynchronous request that fails reports the error of the store") func failingAsynchronousRequest() async throws {
        service.failNext(status: 500)
        let context = stack.context
        let error = await #expect(throws: NSError.self) { _ = try await context.fetchAsynchronously(palettes(limit: 5)).count }
        #expect(error?.domain == PaletteErrorDomain)
        #expect(error?.localizedDescription.hasSuffix("failed. The service answered with HTTP status 500.") == true)
        #expect(error?.localizedDescription.contains(top(5, 0)) == true)
    }

    @Test("Another order or a predicate is finished in memory, over all pages") func finishing() async throws {
        for number in 1...60 { service.addPalette(SamplePalette(id: number, title: "Added \(number)", rank: 100 + number)) }
        let context = stack.context
        let expected = service.palettes.sorted { $0.title < $1.title }.prefix(3).map(\.title)
        try await context.perform {
            let byName = try context.fetch(palettes(sortedBy: [NSSortDescriptor(key: "name", ascending: true)], limit: 3))
            #expect(byName.map(\.name) == expected)
            let added = try context.count(for: palettes(NSPredicate(format: "name BEGINSWITH 'Added'")))
            #expect(added == 60)
        }
        #expect(asked == [top(100, 0), top(100, 100), top(100, 0), top(100, 100)])
    }

    @Test("Palettes named by identifier are asked for one by one") func identifiers() async throws {
        let context = stack.context
        let wanted = service.palettes[7]
        try await context.perform {
            let found = try context.fetch(palettes(NSPredicate(format: "id IN %@", ["\(wanted.id)", "1", "no/number"])))
            #expect(found.map(\.name) == [wanted.title])
            let same = try context.fetch(palettes(NSPredicate(format: "SELF == %@", found[0])))
            #expect(same == found)
        }
        #expect(service.requestCount(path: "/api/palette/\(wanted.id)") == 2)
        #expect(service.requestCount() == 3)
    }

    @Test("A fetch that would need more palettes than the budget is an error that names why") func budget() async throws {
        for number in 1...RemoteIncrementalStore.paletteBudget {
            service.addPalette(SamplePalette(id: number, title: "Added \(number)", rank: 100 + number))
        }
        let context = stack.context
        let error = await #expect(throws: NSError.self) {
            try await context.perform { _ = try context.fetch(palettes(NSPredicate(format: "username == 'ada'"))) }
        }
        #expect(error?.code == PaletteErrorCode.unanswerableFetch.rawValue)
        #expect(error?.localizedDescription.contains("username == \"ada\"") == true, "\(error?.localizedDescription ?? "")")
        #expect(service.requestCount() == 11)
    }

    @Test("An answer that is cut off is an error") func malformed() async throws {
        service.answerMalformed()
        let context = stack.context
        let error = await #expect(throws: NSError.self) { try await context.perform { _ = try context.fetch(palettes(limit: 5)) } }
        #expect(error?.code == PaletteErrorCode.malformedAnswer.rawValue)
    }
}
