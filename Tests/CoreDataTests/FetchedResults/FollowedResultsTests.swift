import CoreData
import RandomPrograms
import TestSupport
import Testing

@Suite("Lists after merges") struct FollowedResultsTests {
    @Test(
        "After each merge and each save, a controller has what a fresh fetch finds, whoever has changed what",
        arguments: [ProgramStore.inMemory, .sqlite, .sqliteFile, .server], [false, true])
    func followed(_ store: ProgramStore, isChild: Bool) async throws {
        // The programs may wait for their store.
        let hasBatches = store.name != ProgramStore.server.name
        let difference = try await onOwnThread { try ListProgram.run(store, isChild: isChild, hasBatches: hasBatches, seconds: 2) }
        if let difference { Issue.record("\(difference)") }
    }
}
