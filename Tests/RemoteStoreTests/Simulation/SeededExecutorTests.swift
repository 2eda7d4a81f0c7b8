import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Runs that a seed decides") struct SeededExecutorTests {
    private func order(seed: UInt64) -> [Int] {
        let executor = SeededExecutor(seed: seed)
        let seen = Guarded<[Int]>([])
        for number in 0..<6 {
            _ = executor.start {
                for step in 0..<3 {
                    seen.withValue { $0.append(number * 10 + step) }
                    await Task.yield()
                }
            }
        }
        executor.run()
        return seen.withValue { $0 }
    }

    @Test("The same seed runs tasks in the same order, and other seeds in others")
    func order() {
        let orders = (0..<5).map { order(seed: UInt64($0)) }
        expect(orders, equals: (0..<5).map { order(seed: UInt64($0)) })
        #expect(Set(orders).count > 1)
        #expect(orders.allSatisfy { $0.count == 18 })
    }

    /// Three clients of one server, whose stores read and save side by side; returns the messages as they were delivered.
    private func conversation(seed: UInt64) throws -> [String] {
        let model = Shop.model()
        let network = SimulatedNetwork(isStepped: true)
        let byID = Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 2)])
        let server = SimulatedServer(
            model, [Resource("Album", endpoints: [Endpoint("all", paging: .pages(of: 4)), byID], saving: .init())], network: network)
        for number in 1...20 { server.put("Album", number, ["title": .init("\(number)")]) }
        let executor = SeededExecutor(seed: seed)
        var random = SeededGenerator(seed: seed)
        let work = try ["A", "B", "C"].map { name in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addRemoteStore(server.connection(name)) as! any AsynchronousStore
            let context = coordinator.context()
            let query = try context.performAndWait { try context.storeQuery(for: fetchRequest("Album", "title != '3'")) }
            return executor.start {
                _ = coordinator
                guard case .rows(let rows) = try await store.fetch(query, for: StoreCaller()) else { return 0 }
                return try await store.fetchRows(for: rows.prefix(6).map(\.knownObjectID), for: StoreCaller(stalenessInterval: 0)).count
            }
        }
        executor.run()
        var delivered: [String] = []
        while let message = network.messages.isEmpty ? nil : network.messages[random.below(network.messages.count)] {
            delivered.append("\(message.client) \(message.isAnswer) \(message.text)")
            network.settle(message, .delivered)
            executor.run()
        }
        #expect(work.allSatisfy { $0.isDone })
        return delivered
    }

    @Test("Several remote stores on one executor, with a network that is stepped, make the same run for the same seed")
    func conversations() throws {
        let seed = TestSeed.current(for: "SeededExecutorTests.conversations")
        let first = try conversation(seed: seed)
        #expect(first.count > 20)
        try expect(conversation(seed: seed), equals: first, "COREDATA_TEST_SEED=\(seed)")
        #expect(try conversation(seed: seed &+ 1) != first, "COREDATA_TEST_SEED=\(seed)")
    }

    @Test("Work that waits for a message is not run, and says so")
    func waiting() throws {
        let executor = SeededExecutor(seed: 1)
        let clock = ManualClock()
        #expect(throws: WaitingWork.self) { try executor.complete { try await clock.sleep(for: .seconds(1)) } }
        try expect(executor.complete { 7 }, equals: 7)
    }

    @Test("A manual clock wakes who has slept long enough, the earliest first, and jumps without waking anybody")
    func clock() async throws {
        let clock = ManualClock(now: 100)
        let executor = SeededExecutor(seed: 1)
        let woken = Guarded<[Int]>([])
        for seconds in [3, 1, 2] {
            _ = executor.start {
                try await clock.sleep(for: .seconds(seconds))
                woken.withValue { $0.append(seconds) }
            }
        }
        executor.run()
        clock.jump(by: 1000)
        executor.run()
        #expect(woken.withValue { $0 } == [] && clock.now == 1100 && clock.uptime == .zero && clock.sleepers == 3)
        while clock.advanceToNextSleeper() { executor.run() }
        #expect(woken.withValue { $0 } == [1, 2, 3] && clock.now == 1103)
        let asleep = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.untilSleeping()
        asleep.cancel()
        await #expect(throws: CancellationError.self) { try await asleep.value }
        expect(clock.sleepers, equals: 0)
    }
}
