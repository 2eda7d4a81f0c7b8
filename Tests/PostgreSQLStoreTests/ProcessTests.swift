#if PostgreSQL
import CoreData
import StoreConformance
import Testing

@testable import PostgreSQLStore

/// Programs that work on one store.
@Suite("Two programs and one store") struct ProcessTests {
    /// What the other program saves, and where: the schema and the URL. Set for that program alone, which is the same executable.
    private static let order = ProcessInfo.processInfo.environment["COREDATA_POSTGRESQL_WRITER"]?.split(separator: " ").map(String.init)

    @Test("Saves for another program", .enabled(if: order != nil)) func writer() async throws {
        let order = try #require(Self.order)
        var options = PostgreSQLStoreOptions()
        options.schema = order[0]
        let context = context(try await coordinator(options, url: order[1]), author: "the other program")
        try await context.perform { _ = try ServerHistoryTests.insertTag("from afar", context) }
    }

    @Test("What another program saves is told, and is in the history", .enabled(if: order == nil)) func reader() async throws {
        var options = ServerHistoryTests.tracking()
        options.postsRemoteChanges = true
        let listening = try await coordinator(options)
        let reader = context(listening)
        let news = News(listening)
        let awaited = Task {
            for await _ in news.stream {
                let authors = try await reader.perform { try ServerHistoryTests.history(reader, after: nil).map(\.author) }
                if !authors.isEmpty { return authors }
            }
            return []
        }
        let other = try TestProcess(
            "PostgreSQLStoreTests.ProcessTests/writer", ["COREDATA_POSTGRESQL_WRITER": "\(options.schema) \(try server().url)"])
        #expect(await other.status == 0)
        #expect(try await awaited.value == ["the other program"])
    }
}
#endif
