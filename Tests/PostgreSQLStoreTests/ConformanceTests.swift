#if PostgreSQL
import CoreData
import PostgreSQLStore
import StoreConformance
import Testing

@Suite("The PostgreSQL store behaves as Core Data's stores do") struct ConformanceTests {
    /// A store in a schema of its own for each place.
    static let store = StoreUnderTest(name: "PostgreSQL", capabilities: .everything.union(.keepsMetadata)) { place in
        var options = PostgreSQLStoreOptions()
        options.schema = "place_" + place.directory.lastPathComponent.lowercased()
        options.connectionLimit = 4
        return try openedCoordinator(options, ConformanceModel.make())
    }

    @Test("Each behaviour", arguments: Behaviour.all)
    func behaviour(_ behaviour: Behaviour) throws {
        guard behaviour.applies(to: Self.store) else { return }
        try behaviour.run(on: Self.store)
    }
}
#endif
