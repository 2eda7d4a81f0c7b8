import CSQLite
import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

@Suite("Fetches whose statement SQLite does not take") struct RefusedStatementTests {
    @Test("A predicate beyond SQLite's limits is an error that says so, or is evaluated in memory where that is allowed")
    func tooLarge() throws {
        let coordinator = try Scratchpad().coordinator(Music.model())
        let context = Music.context(coordinator)
        let store = try #require(coordinator.persistentStores[0] as? SQLiteStore)
        try context.performAndWait {
            try context.saveBand("Can")
            // How much the SQLite of the system takes, nobody knows: this connection takes less.
            sqlite3_limit(try store.database().handle, SQLITE_LIMIT_EXPR_DEPTH, 20)
            let request = NSFetchRequest<Band>()
            // Alternately, or it would be one flat list.
            let deep = (0..<60).reduce("name == 'Can'") { "(\($0) \($1 % 2 == 0 ? "AND" : "OR") name != '\($1)')" }
            request.predicate = NSPredicate(format: deep)
            let error = try #require(failure { _ = try context.fetch(request) })
            expect(error.code, equals: NSPersistentStoreUnsupportedRequestTypeError)
            #expect(error.localizedDescription.contains("too large for SQLite"))
            request.allowsEvaluationInMemory = true
            try expect(context.fetch(request).map(\.name), equals: ["Can"])
        }
    }

    @Test("An error is not taken for a limit because its message reads like one of SQLite's")
    func messages() throws {
        let context = try Scratchpad().context(Music.model())
        try context.performAndWait {
            try context.saveBand("too many columns(")
            let error = try #require(failure { _ = try context.all(Band.self, "'x' MATCHES name") })
            #expect(!error.localizedDescription.contains("too large"), "\(error)")
            #expect(String(describing: error).contains("too many columns("))
        }
    }

    @Test("A table that others have dropped is no limit")
    func missingTable() throws {
        let pad = try Scratchpad()
        let context = try pad.context(Music.model())
        try context.performAndWait {
            try context.saveBand("Can")
            try pad.execute("ALTER TABLE ZBAND RENAME TO ZBOND")
            let error = try #require(failure { _ = try context.all(Band.self, "name == 'Neu!'") })
            expect(error.code, equals: NSSQLiteError)
            #expect(String(describing: error).contains("ZBAND"))
        }
    }
}
