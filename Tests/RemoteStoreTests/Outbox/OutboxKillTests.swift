import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Programs that are killed between two commits") struct OutboxKillTests {
    @Test(
        "Whatever commit is the last one, every save that has returned reaches the backend, once",
        arguments: [Resource.Saving.Identity.assignedByBackend, .attribute("title"), .newUUID].indices, [true, false])
    func killed(identity: Int, isIdempotent: Bool) async throws {
        let identities = [Resource.Saving.Identity.assignedByBackend, .attribute("title"), .newUUID]
        var last = 0
        for number in 1..<60 {
            let death = Guarded<(copy: URL?, error: (any Error)?, world: OutboxWorld?)>((nil, nil, nil))
            let commits = Guarded(0)
            let saving = Resource.Saving(identity: identities[identity], isIdempotent: isIdempotent)
            let world = try OutboxWorld(saving) { commit in
                commits.withValue { $0 = commit }
                guard commit == number else { return }
                death.withValue { death in
                    // The program is dead from here on: nothing that it sends arrives.
                    do { death.copy = try death.world?.copy() } catch { death.error = error }
                    death.world?.goOffline()
                }
            }
            death.withValue { $0.world = world }
            defer { death.withValue { $0.world = nil } }
            var titles: [String: Int64] = [:]
            var ids: [String: NSManagedObjectID] = [:]
            var isDead: Bool { death.withValue { $0.copy != nil } }
            func step(_ body: () throws -> Void, then done: () -> Void) throws {
                if isDead { return }
                try body()
                // A save that was committed last has returned or not: both are right.
                if !isDead { done() }
            }
            var doubtful: Set<String> = []
            for (index, title) in ["a", "b", "c"].enumerated() {
                doubtful.insert(title)
                try step(
                    { ids[title] = try world.insert("Album", ["title": title, "year": 1]) },
                    then: {
                        titles[title] = 1
                        doubtful.remove(title)
                    })
                if isDead { break }
                if index == 1 { try await world.store.sendPending() }
            }
            if !isDead, let id = ids["a"] {
                doubtful.insert("a")
                try step(
                    { try world.update(id, ["year": 2]) },
                    then: {
                        titles["a"] = 2
                        doubtful.remove("a")
                    })
            }
            if !isDead { try await world.store.sendPending() }
            let copy = death.withValue { $0.copy }
            if let error = death.withValue({ $0.error }) { throw error }
            guard let copy else {
                // Opening the file takes commits too.
                if commits.withValue({ $0 >= number }) { continue }
                last = number
                break
            }
            try world.restart(from: copy)
            try? FileManager.default.removeItem(at: copy)
            world.goOnline()
            for _ in 0..<3 { try await world.store.sendPending() }
            // A new object whose fate cannot be found out is asked about; here it is known, for the server is in the same program.
            for change in try world.store.pendingChanges() where change.state == .unknown {
                let title = try #require(try world.text(change.objectID))
                let isThere = world.backend.ids("Album").contains { world.backend.values("Album", $0)?["title"] == .init(title) }
                if isThere { try world.store.drop(change.objectID) } else { try world.store.retry(change.objectID) }
            }
            try await world.store.sendPending()
            let found = world.backend.ids("Album").compactMap { world.backend.values("Album", $0) }
            let names = found.compactMap { $0["title"]?.string }
            expect(Set(names).count, equals: names.count, "commit \(number): \(names)")
            #expect(Set(titles.keys).isSubset(of: names), "commit \(number): \(names)")
            for values in found {
                let name = values["title"]?.string ?? "?"
                if let year = titles[name], !doubtful.contains(name) {
                    expect(values["year"]?.int64, equals: year, "commit \(number): \(name)")
                }
            }
            try expect(world.store.pendingCount(), equals: 0, "commit \(number): \(world.pending)")
        }
        // The program lived on when there were no more commits to die at.
        #expect(last > 5)
    }
}
