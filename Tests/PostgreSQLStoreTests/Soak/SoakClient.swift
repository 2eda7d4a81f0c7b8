#if PostgreSQL
import CoreData
import Foundation
import PredicateCases
import TestSupport

/// One context that writes and reads, and compares what it reads with what it was told.
struct SoakClient {
    private(set) var ledger: ClusterLedger
    private let context: NSManagedObjectContext
    private let log: SoakLog
    private var random: SeededGenerator
    /// The number of counters that all contexts increment.
    static let counters = 4
    /// What an error says about a save whose outcome could not be found out.
    private static let unknown = "It is not known whether"

    init(_ client: Int, _ coordinator: NSPersistentStoreCoordinator, _ log: SoakLog, seed: UInt64) {
        ledger = ClusterLedger(client: client)
        context = PostgreSQLStoreTests.context(coordinator, author: "context \(client)")
        // Some take nothing that may be out of date.
        if client.isMultiple(of: 5) { context.stalenessInterval = 0 }
        self.log = log
        random = SeededGenerator(seed: seed &+ UInt64(client) &* 7919)
    }

    /// Works until the script has no more events.
    mutating func run() async throws {
        while !log.isOver {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5: try await write()
            case 5..<7: try await increment()
            default: try await read()
            }
            // The processors are for the servers, too: etcd loses its leader where it gets none.
            try await Task.sleep(for: .milliseconds(Int.random(in: 100...300, using: &random)))
        }
    }

    // MARK: Writing

    /// Inserts an entry and sets the register, in one save.
    private mutating func write() async throws {
        guard let (value, id) = try await value("Register", ledger.client) else { return }
        if let fault = ledger.check(register: value) { try log.add(fault: fault) }
        let (context, client, number) = (context, ledger.client, ledger.begin())
        let (outcome, isConflict) = try await outcome {
            context.insert("Entry", ["client": client, "number": number])
            context.object(with: id).setValue(number, forKey: "value")
            try context.save()
        }
        if isConflict, ledger.unknownCount == 0 {
            // What is not known may have been done since the register was read.
            try log.add(fault: "Doubled: save \(number) of context \(client) conflicts with one of its own, or what it read was too old.")
        }
        ledger.end(number, outcome)
    }

    /// Adds one to a counter that others write, too.
    private mutating func increment() async throws {
        let (context, counter) = (context, Int.random(in: 0..<Self.counters, using: &random))
        let (outcome, isConflict) = try await outcome {
            context.reset()
            // Held until it is saved: an object that nobody holds is read again, with the version of others' changes.
            for object in try context.fetch(Self.request("Counter", counter)) {
                guard let value = object.value(forKey: "value") as? Int else { throw CocoaError(.fileReadUnknown) }
                object.setValue(value + 1, forKey: "value")
            }
            try context.save()
        }
        if isConflict { ledger.conflicts += 1 }
        ledger.endIncrement(of: counter, outcome)
    }

    private func outcome(_ save: @escaping @Sendable () throws -> Void) async throws -> (outcome: ClusterLedger.Outcome, isConflict: Bool) {
        do {
            try await context.perform(save)
            try log.acknowledge()
            return (.acknowledged, false)
        } catch let error as NSError {
            if error.localizedDescription.contains(Self.unknown) { return (.unknown, false) }
            let isConflict = error.code == NSManagedObjectMergeError
            if !isConflict { log.add(refusal: error) }
            return (.refused, isConflict)
        }
    }

    // MARK: Reading

    private static func request(_ entity: String, _ number: Int) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "number == %ld", number)
        return request
    }

    /// Returns the value of an object, as the store has it, and its ID; nil where it cannot be read now.
    private func value(_ entity: String, _ number: Int) async throws -> (Int, NSManagedObjectID)? {
        let context = context
        return try await read {
            let found = try context.fetch(Self.request(entity, number))
            guard found.count == 1 else { return nil }
            // A property cannot throw: it is nil where no server could be asked, and never else.
            guard let value = found[0].value(forKey: "value") as? Int else { throw CocoaError(.fileReadUnknown) }
            return (value, found[0].objectID)
        }
    }

    private mutating func read() async throws {
        let (context, client) = (context, ledger.client)
        let count: Int? = try await read {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
            request.predicate = NSPredicate(format: "client == %ld", client)
            return try context.count(for: request)
        }
        if let count, let fault = ledger.check(entries: count) { try log.add(fault: fault) }
        guard let (value, _) = try await value("Register", client) else { return }
        if let fault = ledger.check(register: value) { try log.add(fault: fault) }
    }

    /// Reads, without what the context has; nil where no server answers.
    private func read<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value?) async throws -> Value? {
        let context = context
        do {
            return try await context.perform {
                context.reset()
                guard let value = try body() else {
                    try log.add(fault: "Lost: what was saved before the first event.")
                    return nil
                }
                return value
            }
        } catch let error as NSError {
            log.add(refusal: error)
            return nil
        }
    }
}
#endif
