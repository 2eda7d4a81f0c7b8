package import CoreData
import TestSupport

/// Many clients work on one store at once, each in contexts of its own, until the time is up. What is stored then is to be compared with what their
/// saves have acknowledged: ``SoakLedger/differences(from:_:)``.
///
/// Each client has objects that it alone changes, and everyone changes the shared ones: a client its own slot, the counter (a change that rests on what was
/// read), or whether the object is there at all. The clients may be spread over several processes, each with a soak of some of them.
// Everything but the ledger, which has a lock, is set once.
package final class Soak: @unchecked Sendable {
    package enum Policy: String, CaseIterable, Codable, Sendable {
        case error, storeTrump, objectTrump, overwrite, rollback

        var mergePolicy: NSMergePolicy {
            switch self {
            case .error: .error
            case .storeTrump: .mergeByPropertyStoreTrump
            case .objectTrump: .mergeByPropertyObjectTrump
            case .overwrite: .overwrite
            case .rollback: .rollback
            }
        }
    }

    package static let clientCount = 50
    static let sharedCount = 12
    private let policy: Policy
    private let seed: UInt64
    private let clients: Range<Int>
    private let coordinator: NSPersistentStoreCoordinator
    private let shared: [NSManagedObjectID]
    private let ledger = GuardedState(SoakLedger())

    /// - Parameters:
    ///   - seed: Decides with each client's number what it does.
    ///   - clients: The clients that work here.
    ///   - shared: What ``insertShared(_:)`` has answered, here or in another process.
    package init(
        _ policy: Policy, seed: UInt64, clients: Range<Int> = 0..<Soak.clientCount, _ coordinator: NSPersistentStoreCoordinator,
        shared: [NSManagedObjectID]
    ) {
        self.policy = policy
        self.seed = seed
        self.clients = clients
        self.coordinator = coordinator
        self.shared = shared
    }

    package static func model() -> NSManagedObjectModel {
        func number(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription(name: name, type: .integer64)
            attribute.defaultValue = Int64(0)
            attribute.isOptional = false
            return attribute
        }
        return NSManagedObjectModel(entities: [
            NSEntityDescription(
                name: "Shared", managedObjectClass: NSManagedObject.self,
                properties: [number("place"), number("count")] + (0..<clientCount).map { number("slot\($0)") }),
            NSEntityDescription(
                name: "Own", managedObjectClass: NSManagedObject.self, properties: [number("client"), number("number"), number("value")]),
        ])
    }

    /// Saves the objects that all clients change into an empty store.
    ///
    /// - Returns: Their IDs.
    package static func insertShared(_ coordinator: NSPersistentStoreCoordinator) throws -> [NSManagedObjectID] {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            let objects = (0..<sharedCount).map { Self.insert("Shared", ["place": Int64($0)], context) }
            try context.save()
            return objects.map(\.objectID)
        }
    }

    private static func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValuesForKeys(values)
        return object
    }

    /// Lets the clients work.
    ///
    /// - Returns: What was acknowledged.
    package func run(seconds: Double) async -> SoakLedger {
        let end = ContinuousClock.now + .seconds(seconds)
        await withTaskGroup(of: Void.self) { group in
            for number in clients {
                group.addTask { await self.work(number, until: end) }
            }
        }
        return ledger.withLock { $0 }
    }

    private func work(_ client: Int, until end: ContinuousClock.Instant) async {
        var random = SeededGenerator(seed: seed &+ UInt64(client) &* 0x1234_5677)
        var context = makeContext(&random)
        while ContinuousClock.now < end {
            if Int.random(in: 0..<3, using: &random) == 0 { context = makeContext(&random) }
            let (turn, current) = (random.next(), context)
            await current.perform {
                var random = SeededGenerator(seed: turn)
                self.transact(client, current, &random)
            }
        }
    }

    private func makeContext(_ random: inout SeededGenerator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = policy.mergePolicy
        context.automaticallyMergesChangesFromParent = Bool.random(using: &random)
        return context
    }

    /// What one save is to acknowledge.
    private struct Intention {
        var own: [Int64: Int64?] = [:]
        var incremented: [Int: NSManagedObject] = [:]
        var slots: [Int: (value: Int64, object: NSManagedObject)] = [:]
        var deleted: Set<Int> = []
    }

    private func transact(_ client: Int, _ context: NSManagedObjectContext, _ random: inout SeededGenerator) {
        var intention = Intention()
        do {
            for _ in 0..<Int.random(in: 1...3, using: &random) { try act(client, context, &random, &intention) }
            // A save under way may still be stored where it is not acknowledged, but no other value than these.
            ledger.withLock { ledger in
                for (place, slot) in intention.slots { ledger.known[place, default: [:]][client, default: []].insert(slot.value) }
            }
            try context.save()
            acknowledge(intention, client)
        } catch let error as NSError {
            context.rollback()
            context.refreshAllObjects()
            let isConflict = error.code == NSManagedObjectMergeError || error.code == NSManagedObjectReferentialIntegrityError
            ledger.withLock { ledger in
                ledger.conflicts += 1
                if !isConflict || policy != .error && error.code == NSManagedObjectMergeError {
                    ledger.failures.append("Client \(client): \(error.localizedDescription)")
                }
            }
        }
    }

    private func act(
        _ client: Int, _ context: NSManagedObjectContext, _ random: inout SeededGenerator, _ intention: inout Intention
    ) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Own")
        request.predicate = NSPredicate(format: "client == %ld", client)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            let number = Int64(truncatingIfNeeded: random.next() >> 2)
            let value = Int64.random(in: 0..<1_000, using: &random)
            _ = Self.insert("Own", ["client": Int64(client), "number": number, "value": value], context)
            intention.own[number] = .some(value)
        case 2, 3:
            guard let object = try context.fetch(request).randomElement(using: &random) else { return }
            let value = Int64.random(in: 0..<1_000, using: &random)
            object.setValue(value, forKey: "value")
            intention.own[object.value(forKey: "number") as! Int64] = .some(value)
        case 4:
            guard let object = try context.fetch(request).randomElement(using: &random) else { return }
            intention.own.updateValue(nil, forKey: object.value(forKey: "number") as! Int64)
            context.delete(object)
        case 5:
            // Without what is pending: the store has what was acknowledged.
            request.includesPendingChanges = false
            request.resultType = .managedObjectResultType
            let count = try context.count(for: request)
            let expected = ledger.withLock { $0.own[client, default: [:]].count }
            if count != expected { fail("Client \(client) counts \(count) own objects, \(expected) were acknowledged.") }
        case 6:
            guard Int.random(in: 0..<200, using: &random) == 0, let (place, object) = try someShared(context, &random) else { return }
            context.delete(object)
            intention.deleted.insert(place)
            intention.incremented[place] = nil
            intention.slots[place] = nil
        case 7, 8:
            guard let (place, object) = try someShared(context, &random) else { return }
            let value = Int64.random(in: 1..<1_000_000, using: &random)
            object.setValue(value, forKey: "slot\(client)")
            intention.slots[place] = (value, object)
        default:
            // Under the other policies one who counts up overwrites another.
            guard policy == .error, let (place, object) = try someShared(context, &random), intention.incremented[place] == nil else {
                return
            }
            object.setValue((object.value(forKey: "count") as! Int64) + 1, forKey: "count")
            intention.incremented[place] = object
        }
    }

    /// A shared object that is there, as far as the context knows.
    private func someShared(
        _ context: NSManagedObjectContext, _ random: inout SeededGenerator
    ) throws -> (place: Int, object: NSManagedObject)? {
        let place = Int.random(in: 0..<Self.sharedCount, using: &random)
        guard let object = try? context.existingObject(with: shared[place]), !object.isDeleted else { return nil }
        return (place, object)
    }

    private func acknowledge(_ intention: Intention, _ client: Int) {
        // Where the store's row wins as a whole, what was taken shows in the object.
        func isTaken(_ slot: (value: Int64, object: NSManagedObject)) -> Bool {
            policy != .rollback || slot.object.value(forKey: "slot\(client)") as? Int64 == slot.value
        }
        let taken = intention.slots.filter { isTaken($0.value) }
        ledger.withLock { ledger in
            ledger.saves += 1
            for (number, value) in intention.own { ledger.own[client, default: [:]][number] = value }
            for place in intention.incremented.keys { ledger.increments[place, default: 0] += 1 }
            for (place, slot) in taken { ledger.slots[place, default: [:]][client] = slot.value }
            ledger.deleted.formUnion(intention.deleted)
            if ledger.saves % 100 == 0, let count = try? Deadline.threadCount() { ledger.mostThreads = max(ledger.mostThreads, count) }
        }
    }

    private func fail(_ message: String) { ledger.withLock { $0.failures.append(message) } }
}
