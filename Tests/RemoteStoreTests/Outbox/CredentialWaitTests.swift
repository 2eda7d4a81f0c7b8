import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Changes that wait for credentials") struct CredentialWaitTests {
    private static let expired = URLError(.userAuthenticationRequired)

    /// Waits for what happens on other threads.
    private func until(_ condition: () throws -> Bool) async throws { while try !condition() { await Task.yield() } }

    private func expire(_ world: OutboxWorld, isThrown: Bool = true) {
        world.backend.scriptSaves { _ in isThrown ? .fail(Self.expired) : .refuse(Self.expired) }
        world.backend.script { _ in .fail(Self.expired) }
    }

    @Test(
        "They do not hammer: one of them asks, after waits that grow, and all go out at once when the program says so",
        arguments: [true, false])
    func few(isThrown: Bool) async throws {
        let world = try OutboxWorld(isAutomatic: true)
        expire(world, isThrown: isThrown)
        let ids = try (0..<20).map { try world.insert("Album", ["title": "\($0)"]) }
        try await until { try world.store.status().awaitingCredentialsCount == 20 }
        for _ in 0..<60 {
            await world.clock.untilSleeping()
            world.clock.advance(by: .seconds(60))
        }
        await world.clock.untilSleeping()
        let status = try world.store.status()
        expect(status.waitingCount, equals: 20)
        expect(status.setAsideCount, equals: 0)
        expect(status.credentialsError?.code, equals: CredentialsExpiredError)
        #expect(status.isOnline)
        for id in ids { try expect(world.store.syncState(of: id), equals: .pending) }
        #expect((4...50).contains(world.backend.saves.count), "\(world.backend.saves.count)")
        world.goOnline()
        world.store.credentialsDidChange()
        try await until { try world.store.pendingCount() == 0 }
        expect(world.backend.ids("Album").count, equals: 20)
        try expect(world.store.status(), equals: CachedStoreStatus())
    }

    @Test(
        "New credentials are found however they come: by a word, a returning connection, a call, a read that is answered again, time, a restart",
        arguments: 0..<6)
    func coming(way: Int) async throws {
        let world = try OutboxWorld(isAutomatic: true)
        expire(world)
        for number in 0..<3 { try world.insert("Album", ["title": "\(number)"]) }
        try await until { try world.store.status().awaitingCredentialsCount == 3 }
        let error = #expect(throws: NSError.self) { try world.fetch("Album") }
        expect(error?.code, equals: CredentialsExpiredError)
        world.goOnline()
        switch way {
        case 0: world.store.credentialsDidChange()
        case 1: world.store.connectionDidReturn()
        case 2: try await world.store.sendPending()
        case 3: try world.fetch("Album")
        case 4:
            await world.clock.untilSleeping()
            world.clock.advance(by: .seconds(300))
        default: try world.restart()
        }
        try await until { try world.store.pendingCount() == 0 }
        expect(world.backend.ids("Album").count, equals: 3)
    }

    @Test("Who watches is told that changes wait and why, also after a restart that sends nothing") func visible() async throws {
        let world = try OutboxWorld()
        expire(world)
        let id = try world.insert("Album", ["title": "Help!"])
        let statuses = world.store.statuses
        let seen = Task {
            for await status in statuses where status.awaitingCredentialsCount == 1 { return status.credentialsError?.code }
            return nil
        }
        try await world.store.sendPending()
        expect(await seen.value, equals: CredentialsExpiredError)
        try world.restart()
        let status = try world.store.status()
        expect(status.awaitingCredentialsCount, equals: 1)
        expect(status.credentialsError?.code, equals: CredentialsExpiredError)
        let change = try #require(try world.store.pendingChanges().first)
        #expect(change.awaitsCredentials)
        try expect(world.store.error(of: world.same(id))?.code, equals: CredentialsExpiredError)
    }

    @Test("What is refused whatever the credentials are does not keep the others from being sent") func poison() async throws {
        let world = try OutboxWorld(isAutomatic: true)
        world.backend.scriptOutcomes { $0.values["title"]?.string == "never" ? .refused(Self.expired) : nil }
        try world.insert("Album", ["title": "never"])
        try await until { try world.store.status().awaitingCredentialsCount == 1 }
        for number in 0..<5 { try world.insert("Album", ["title": "\(number)"]) }
        for _ in 0..<100 where world.backend.ids("Album").count < 5 {
            await world.clock.untilSleeping()
            world.clock.advance(by: .seconds(10))
        }
        await world.clock.untilSleeping()
        expect(world.backend.ids("Album").count, equals: 5)
        try expect(world.store.pendingCount(), equals: 1)
    }

    @Test("A change that was lost, and then met credentials that had run out, is sent again under its key") func lostBefore() async throws {
        let world = try OutboxWorld()
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        try world.insert("Album", ["title": "Help!"])
        try await world.store.sendPending()
        expire(world)
        try await world.store.sendPending()
        world.goOnline()
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(Set(world.backend.saves.joined().map(\.idempotencyKey)).count, equals: 1)
        expect(world.backend.ids("Album").count, equals: 1)
    }

    // MARK: Users

    @Test("Nobody sends the changes of another user, also after a restart; they go out when their user is back", arguments: [false, true])
    func users(restarts: Bool) async throws {
        let world = try OutboxWorld()
        world.backend.signIn("anna")
        let hers = try world.insert("Album", ["title": "Anna's"])
        world.backend.signIn("bob")
        if restarts { try world.restart() }
        try world.insert("Album", ["title": "Bob's"])
        try await world.store.sendPending()
        expect(world.backend.saves.joined().map(\.principal), equals: ["bob"])
        var status = try world.store.status()
        expect(status.awaitingCredentialsCount, equals: 1)
        #expect(status.credentialsError == nil)
        try expect(world.store.pendingChanges().map(\.principal), equals: ["anna"])
        world.backend.signIn(nil)
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 1)
        world.backend.signIn("anna")
        try await world.store.sendPending()
        expect(world.backend.saves.joined().map(\.principal), equals: ["bob", "anna"])
        status = try world.store.status()
        expect(status, equals: CachedStoreStatus())
        try expect(world.text(world.same(hers)), equals: "Anna's")
    }

    @Test("An edit of what another user has pending is refused, and loses nothing; dropping that lets it be edited") func edits()
        async throws
    {
        let world = try OutboxWorld()
        world.backend.put("Album", 1, ["title": "Help!"])
        let id = try #require(try world.fetch("Album").first)
        world.backend.signIn("anna")
        try world.update(id, ["title": "Anna's"])
        world.backend.signIn("bob")
        for edit in [{ try world.update(id, ["title": "Bob's"]) }, { try world.delete(id) }] {
            let error = #expect(throws: NSError.self) { try edit() }
            expect(error?.code, equals: NSPersistentStoreSaveError, "\(String(describing: error))")
            world.context.performAndWait { world.context.rollback() }
        }
        try expect(world.text(id), equals: "Anna's")
        try world.store.drop(id)
        try world.update(id, ["title": "Bob's"])
        try await world.store.sendPending()
        try expect(world.only()["title"], equals: "Bob's")
        expect(world.backend.saves.joined().map(\.principal), equals: ["bob"])
    }

    @Test("What depends on a new object of another user waits with it") func dependents() async throws {
        let world = try OutboxWorld()
        world.backend.signIn("anna")
        let band = try world.insert("Band", ["name": "The Beatles"])
        world.backend.signIn("bob")
        try world.insert("Album", ["title": "Help!", "band": band])
        try world.insert("Album", ["title": "Let It Be"])
        try await world.store.sendPending()
        expect(world.backend.saves.joined().map { $0.values["title"]?.string }, equals: ["Let It Be"])
        world.backend.signIn("anna")
        try await world.store.sendPending()
        world.backend.signIn("bob")
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.backend.saves.joined().map(\.principal), equals: ["bob", "anna", "bob"])
    }

    @Test("A change that was sent by nobody in particular, and lost, stays that of the user who has sent it") func adopted() async throws {
        let world = try OutboxWorld()
        try world.insert("Album", ["title": "Help!"])
        world.backend.signIn("anna")
        world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
        try await world.store.sendPending()
        world.goOnline()
        world.backend.signIn("bob")
        try await world.store.sendPending()
        try expect(world.store.pendingChanges().map(\.principal), equals: ["anna"])
        world.backend.signIn("anna")
        try await world.store.sendPending()
        try expect(world.store.pendingCount(), equals: 0)
        expect(world.backend.ids("Album").count, equals: 1)
    }

    @Test("Somebody who signs in while changes are under way sends none of those that wait") func meanwhile() async throws {
        let world = try OutboxWorld()
        world.backend.signIn("anna")
        for number in 0..<12 { try world.insert("Album", ["title": "\(number)"]) }
        try await world.sendPending { world.backend.signIn("bob") }
        // Those under way were Anna's, and had arrived; the others wait for her.
        for change in world.backend.saves.joined() { expect(change.principal, equals: "anna") }
        expect(world.backend.ids("Album").count, equals: world.backend.saves.count)
        try expect(world.store.pendingCount(), equals: 12 - world.backend.saves.count)
        #expect(world.backend.saves.count < 12)
    }

    // MARK: Conflicts

    @Test("A conflict that is set aside can be shown: what it was, mine and theirs, by property") func conflict() async throws {
        let world = try OutboxWorld()
        world.backend.put("Album", 1, ["title": "Help!", "year": 1965, "notes": "none"])
        let id = try #require(try world.fetch("Album").first)
        #expect(try world.store.conflict(of: id) == nil)
        try world.update(id, ["title": "mine", "year": 1])
        world.backend.change("Album", 1, ["title": "theirs", "notes": "theirs, too"])
        try await world.store.sendPending()
        let conflict = try #require(try world.store.conflict(of: id))
        expect(conflict.contested, equals: ["title"])
        expect(conflict.base["title"]?.string, equals: "Help!")
        expect(conflict.mine?["title"]?.string, equals: "mine")
        expect(conflict.theirs?["title"]?.string, equals: "theirs")
        expect(conflict.mine?["year"]?.int64, equals: 1)
        expect(conflict.theirs?["year"]?.int64, equals: 1965)
        let status = try world.store.status()
        expect([status.pendingCount, status.setAsideCount, status.waitingCount], equals: [1, 1, 0])
        let error = try #require(try world.store.error(of: id))
        expect(error.code, equals: NSManagedObjectMergeError)
        #expect(error.localizedDescription.contains("title"))
    }
}
