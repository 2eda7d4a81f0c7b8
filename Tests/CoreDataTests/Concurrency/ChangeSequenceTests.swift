import CoreData
import TestSupport
import Testing

@Suite("A context's notifications as sequences") struct ChangeSequenceTests {
    @Test("Every event is told in its order, with the IDs of its objects, to who listened before")
    func objectChanges() async throws {
        let context = try Music.context()
        var changes = context.objectChanges.makeAsyncIterator()
        let inserted = await context.perform {
            let album = Album(context: context)
            return TypedObjectID(album)
        }
        try await context.perform { try context.save() }
        let saved = inserted.objectID
        await context.perform { context.object(with: inserted).title = "changed" }
        await context.perform { context.delete(context.object(with: inserted)) }
        let first = try #require(await changes.next())
        #expect(first.inserted == [saved] && first.updated.isEmpty && first.all.count == 1)
        let second = try #require(await changes.next())
        #expect(second.updated.count == 1 && second.inserted.isEmpty)
        let third = try #require(await changes.next())
        expect(third.deleted, equals: second.updated)
        await context.perform { context.reset() }
        #expect(await changes.next()?.invalidatedAll == true)
    }

    @Test("Saves are told with permanent IDs, after being announced")
    func saves() async throws {
        let context = try Music.context()
        var saves = context.saves.makeAsyncIterator()
        var upcoming = context.upcomingSaves.makeAsyncIterator()
        let id = try await context.perform {
            let album = Album(context: context)
            try context.save()
            return album.objectID
        }
        #expect(await upcoming.next() == ObjectIDChanges())
        let changes = try #require(await saves.next())
        expect(changes.inserted, equals: [id])
        #expect(changes.inserted.allSatisfy { !$0.isTemporaryID })
    }

    @Test("Only the one context is listened to, and a cancelled task ends its iteration")
    func scope() async throws {
        let (context, other) = (try Music.context(), try Music.context())
        let sequence = context.objectChanges
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            var iterator = sequence.makeAsyncIterator()
            signal.yield()
            var counts: [Int] = []
            while let changes = await iterator.next() {
                counts.append(changes.inserted.count)
                signal.yield()
            }
            return counts
        }
        var signals = started.makeAsyncIterator()
        await signals.next()
        await other.perform { for _ in 0..<2 { _ = Album(context: other) } }
        await context.perform { for _ in 0..<3 { _ = Album(context: context) } }
        await signals.next()
        task.cancel()
        #expect(await task.value == [3])
    }
}
