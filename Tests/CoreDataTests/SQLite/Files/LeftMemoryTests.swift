import CoreData
import Foundation
import TestSupport
import Testing

@testable import ObjectGraph
@testable import SQLiteStore

/// A reader that leaves the file of shared memory as it is, while a writer ends.
@Suite struct LeftMemoryTests {
    @Test func aReaderReadsAlsoWhereAWriterRemovesTheSharedMemoryWhileItOpens() throws {
        let pad = try Scratchpad()
        let coordinator = try pad.coordinator(Music.model())
        let context = Music.context(coordinator)
        try context.performAndWait { _ = try context.saveBand("Cluster") }
        try coordinator.remove(coordinator.persistentStores[0])
        let beside = ["-wal", "-shm"].map { pad.store.path + $0 }
        for path in beside { #expect(FileManager.default.createFile(atPath: path, contents: Data())) }
        // As the last connection of another process does when it is closed: after this one has looked for the file, and before it opens it.
        let preparation = SQLiteConnectionPreparation { _ in
            for path in beside where FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
        SQLPreparations.set(preparation, for: pad.store)
        defer { SQLPreparations.set(nil, for: pad.store) }
        let connection = try SQLiteFiles.connectForReading(pad.store, timeout: 5, keepsFiles: true)
        try expect(connection.texts("SELECT ZNAME FROM ZBAND"), equals: [["Cluster"]])
    }
}
