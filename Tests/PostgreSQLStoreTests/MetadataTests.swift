#if PostgreSQL
import CoreData
import StoreConformance
import Testing

@testable import PostgreSQLStore

@Suite("Metadata of a PostgreSQL store") struct MetadataTests {
    @Test("Metadata that were set back while a save wrote others are written by the next save, and then by none") func setBack()
        async throws
    {
        let coordinator = try await coordinator(freshOptions(), ConformanceModel.make())
        let store = try #require(coordinator.persistentStores.first as? PostgreSQLStore)
        let first = try #require(store.metadata)
        #expect(try store.newMetadata() == nil)
        store.metadata = first.merging(["own": "x"]) { $1 }
        // A save is on its way with these.
        let written = try #require(try store.newMetadata())
        store.metadata = first
        #expect(try store.newMetadata() == nil)
        store.didWrite(written.values)
        let last = try #require(try store.newMetadata())
        #expect(last.values["own"] == nil)
        store.didWrite(last.values)
        #expect(try store.newMetadata() == nil && store.newMetadata() == nil)
    }
}
#endif
