import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import SQLQueries
@testable import SQLiteStore

/// The example of the article *History and several processes*.
@Suite struct HistoryArticleTests {
    // Used on the queue of its context.
    final class Follower: @unchecked Sendable {
        let context: NSManagedObjectContext
        private var seen: NSPersistentHistoryToken?
        private var observer: (any NSObjectProtocol)?

        init(_ container: NSPersistentContainer) {
            context = container.newBackgroundContext()
            context.transactionAuthor = "server"
            seen = container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
            observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
            ) { [weak self] _ in
                self?.context.perform { self?.follow() }
            }
        }

        deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

        private func follow() {
            do {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: seen)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    if transaction.author != "server" { context.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
                    seen = transaction.token
                }
            } catch {
                print(error)
            }
        }
    }

    @Test func aServerShowsWhatAWorkerHasImported() async throws {
        let pad = try Scratchpad()
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Music.model())
        let description = NSPersistentStoreDescription(url: pad.store)
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let follower = Follower(container)
        let worker = try pad.context(Music.model())
        let (merges, continuation) = AsyncStream.makeStream(of: Void.self)
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: follower.context, queue: nil
        ) { _ in continuation.yield() }
        defer { NotificationCenter.default.removeObserver(observer) }
        let band = try worker.performAndWait { try worker.saveBand("Can") }
        var merged = merges.makeAsyncIterator()
        await merged.next()
        let shown = try follower.context.performAndWait { try #require(try follower.context.all(Band.self).first) }
        try worker.performAndWait {
            band.name = "The Can"
            try worker.save()
        }
        await merged.next()
        follower.context.performAndWait { expect(shown.name, equals: "The Can") }
    }
}
