import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// Other coordinators tell that they have written.
@Suite struct RemoteChangeTests {
    @Test func whatAnotherCoordinatorWritesIsToldWithoutBeingAskedFor() async throws {
        let pad = try Scratchpad()
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: NSNumber(value: true),
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
        ]
        let listening = try pad.coordinator(Music.model(), options: options)
        let (news, continuation) = AsyncStream.makeStream(of: NSPersistentHistoryToken?.self)
        let identifier = listening.persistentStores[0].identifier
        let place = pad.store
        let observer = NotificationCenter.default.addObserver(forName: .NSPersistentStoreRemoteChange, object: listening, queue: nil) {
            note in
            expect(note.userInfo?[NSStoreUUIDKey] as? String, equals: identifier)
            expect(note.userInfo?[NSPersistentStoreURLKey] as? URL, equals: place)
            continuation.yield(note.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let writer = try pad.context(Music.model(), options: options)
        var waiting = news.makeAsyncIterator()
        for number in 1...3 {
            try await writer.perform { _ = try writer.saveBand("\(number)") }
            let wanted = writer.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
            // Making keys and saving are transactions of SQLite both: the last notification has the last token.
            while let token = await waiting.next(), token != wanted {}
        }
        withExtendedLifetime(listening) {}
    }

    @Test func whatACoordinatorWritesItselfIsNoNews() throws {
        let pad = try Scratchpad()
        let options: [AnyHashable: Any] = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true)]
        let context = try pad.context(Music.model(), options: options)
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? SQLiteStore)
        try context.performAndWait {
            _ = try context.all(Band.self)
            func isNews() throws -> Bool { try store.writeLock.withLock { try store.detectExternalChanges() } }
            #expect(try !isNews())
            _ = try context.saveBand("a")
            #expect(try !isNews())
        }
    }
}
