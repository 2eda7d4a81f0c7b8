#if PostgreSQL
import RandomPrograms
import TestSupport
import Testing

/// Lists over a database: whoever changes it, they are what a fresh fetch finds.
@Suite("Lists after merges over PostgreSQL") struct ListTests {
    @Test(
        "After each merge and each save, a controller has what a fresh fetch finds, whoever has changed what",
        arguments: [ProgramStore.postgreSQL, .postgreSQLCoordinators], [false, true])
    func followed(_ store: ProgramStore, isChild: Bool) async throws {
        let difference = try await onOwnThread { try ListProgram.run(store, isChild: isChild, seconds: 2) }
        if let difference { Issue.record("\(difference)") }
    }
}
#endif
