#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

/// The load of `Scripts/soak-postgresql`, which makes the cluster and its failures, and says so by the environment.
@Suite("A cluster that fails under load") struct ClusterSoakTests {
    /// The URL with all hosts, the folder of the script, and the seed.
    private static let order = ProcessInfo.processInfo.environment["COREDATA_POSTGRESQL_SOAK"]?.split(separator: " ").map(String.init)
    private static let clientCount = 20

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
            let entity = NSEntityDescription(name: name)
            entity.properties = attributes.map { NSAttributeDescription(name: $0, type: .integer64) }
            return entity
        }
        // Without a constraint, by which the database itself would refuse what is done twice.
        return NSManagedObjectModel(entities: [
            entity("Entry", ["client", "number"]), entity("Register", ["number", "value"]), entity("Counter", ["number", "value"]),
        ])
    }

    /// Two coordinators, as of two programs: the first reads from replicas, and has the default patience.
    private static func coordinators(_ url: String) async throws -> [NSPersistentStoreCoordinator] {
        var options = PostgreSQLStoreOptions()
        options.schema = "soak"
        options.readsFromReplicas = true
        let first = try await coordinator(options, model(), url: url)
        options.readsFromReplicas = false
        options.connectionTimeout = 60
        return [first, try await coordinator(options, model(), url: url)]
    }

    @Test("Each acknowledged save is there once, and no context reads what is older than its own saves", .enabled(if: order != nil))
    func soak() async throws {
        let order = try #require(Self.order)
        let seed = try #require(UInt64(order[2]))
        print("A cluster that fails under load: COREDATA_TEST_SEED=\(seed)")
        let log = try SoakLog(URL(fileURLWithPath: order[1]))
        let coordinators = try await Self.coordinators(order[0])
        let first = context(coordinators[0])
        try await first.perform {
            for number in 0..<Self.clientCount { first.insert("Register", ["number": number, "value": 0]) }
            for number in 0..<SoakClient.counters { first.insert("Counter", ["number": number, "value": 0]) }
            try first.save()
        }
        let ledgers = try await withThrowingTaskGroup(of: ClusterLedger.self) { group in
            for number in 0..<Self.clientCount {
                let coordinator = coordinators[number % coordinators.count]
                group.addTask {
                    var client = SoakClient(number, coordinator, log, seed: seed)
                    try await client.run()
                    return client.ledger
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let done = try await Self.check(ledgers, order[0], log)
        let replicas = coordinators.compactMap { ($0.persistentStores.first as? DatabaseStore)?.content.pool.replicas?.readCount }
        func sum(_ count: (ClusterLedger) -> Int) -> Int { ledgers.reduce(0) { $0 + count($1) } }
        let increments = ledgers.flatMap(\.increments.values)
        let acknowledged = sum(\.acknowledgedCount) + increments.reduce(0) { $0 + $1.acknowledged }
        let unknown = sum(\.unknownCount) + increments.reduce(0) { $0 + $1.unknown }
        let faults = ["Lost", "Doubled", "Too old"].map { kind in "\(kind.lowercased()) \(log.faults.count { $0.hasPrefix(kind) })" }
        try log.finish(
            "\(acknowledged) writes acknowledged, \(unknown) of unknown outcome (\(done) done), "
                + "\(sum { $0.outcomes.values.count { $0 == .refused } }) refused, \(sum(\.conflicts)) conflicts, \(sum(\.reads)) reads "
                + "(\(replicas.reduce(0, +)) statements by replicas, \(sum(\.reversals)) reversals of what was not acknowledged); "
                + faults.joined(separator: ", "))
        expect(log.faults, equals: [])
    }

    /// Compares what the primary has with what the contexts were told.
    ///
    /// - Returns: The number of saves of unknown outcome that were done.
    private static func check(_ ledgers: [ClusterLedger], _ url: String, _ log: SoakLog) async throws -> Int {
        let settings = try ConnectionSettings(
            try #require(ConnectionSettings.url(url)), schema: "soak", statementTimeout: nil, password: nil)
        let pool = ConnectionPool(settings, limit: 1, timeout: 60)
        defer { pool.close() }
        func pairs(_ sql: String) async throws -> [(Int, Int)] {
            try await pool.with { connection in
                let result = try await connection.query(sql)
                return (0..<result.rowCount).map { (Int(result.integer($0, 0)), Int(result.integer($0, 1))) }
            }
        }
        let entries = Dictionary(grouping: try await pairs("SELECT client, number FROM entry"), by: \.0)
        let registers = try await pairs("SELECT number, value FROM register")
        let counters = try await pairs("SELECT number, value FROM counter")
        var done = 0
        for ledger in ledgers {
            let numbers = entries[ledger.client, default: []].map(\.1)
            for fault in ledger.faults(numbers) { try log.add(fault: fault) }
            done += Set(numbers).count { ledger.outcomes[$0] == .unknown }
            var copy = ledger
            for (number, value) in registers where number == ledger.client {
                if let fault = copy.check(register: value) { try log.add(fault: fault) }
            }
        }
        for (number, value) in counters {
            let all = ledgers.compactMap { $0.increments[number] }
            let (acknowledged, unknown) = (all.reduce(0) { $0 + $1.acknowledged }, all.reduce(0) { $0 + $1.unknown })
            if value < acknowledged { try log.add(fault: "Lost: counter \(number) is \(value), after \(acknowledged) increments.") }
            if value > acknowledged + unknown {
                try log.add(fault: "Doubled: counter \(number) is \(value), after \(acknowledged) increments; \(unknown) are not known.")
            }
            done += max(0, value - acknowledged)
        }
        return done
    }
}
#endif
