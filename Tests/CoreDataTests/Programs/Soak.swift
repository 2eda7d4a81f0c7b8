import CoreData

/// Many clients work on one SQLite store at once, each in contexts of its own, until the time is up. Then what is stored is compared with what
/// their saves have acknowledged.
///
/// Each client has objects that it alone changes, and everyone changes the shared ones: a client its own slot, the counter (a change that rests on what was
/// read), or whether the object is there at all. What must be stored follows from the merge policy, see `Ledger`.
// Everything but the ledger, which has a lock, is set once.
final class Soak: @unchecked Sendable {
    enum Policy: String, CaseIterable {
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

    static let clientCount = 50
    static let sharedCount = 12
    private let policy: Policy
    private let seed: UInt64
    private let directory: URL
    private let coordinator: NSPersistentStoreCoordinator
    private let shared: [NSManagedObjectID]
    private let ledger = Guarded(Ledger())

    init(_ policy: Policy, seed: UInt64) throws {
        self.policy = policy
        self.seed = seed
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("soak.sqlite"))
        let context = Music.context(coordinator)
        shared = try context.performAndWait {
            let objects = (0..<Self.sharedCount).map { context.insert("Shared", ["place": Int64($0)]) }
            try context.save()
            return objects.map(\.objectID)
        }
    }

    private static func model() -> NSManagedObjectModel {
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

    /// What saves have acknowledged, and what went wrong.
    struct Ledger {
        /// The values of each client's own objects, by number.
        var own: [Int: [Int64: Int64]] = [:]
        /// How often the counter of each shared object was counted up.
        var increments: [Int: Int64] = [:]
        /// The last value of each client's slot in each shared object, and every value that it may have had.
        var slots: [Int: [Int: Int64]] = [:]
        var known: [Int: [Int: Set<Int64>]] = [:]
        /// The shared objects that were deleted.
        var deleted: Set<Int> = []
        var saves = 0
        var conflicts = 0
        var failures: [String] = []
        var mostThreads = 0
    }

    /// Lets the clients work, and compares.
    ///
    /// - Returns: what was acknowledged, with everything that is wrong in `failures`.
    func run(seconds: Double) async throws -> Ledger {
        let end = Date().addingTimeInterval(seconds)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.clientCount {
                group.addTask { await self.work(number, until: end) }
            }
        }
        compare()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        try FileManager.default.removeItem(at: directory)
        return ledger.withValue { $0 }
    }

    private func work(_ client: Int, until end: Date) async {
        var random = SeededGenerator(seed: seed &+ UInt64(client) &* 0x1234_5677)
        var context = makeContext(&random)
        while Date() < end {
            if Int.random(in: 0..<3, using: &random) == 0 { context = makeContext(&random) }
            let (turn, current) = (random.next(), context)
            await current.perform {
                var random = SeededGenerator(seed: turn)
                self.transact(client, current, &random)
            }
        }
    }

    private func makeContext(_ random: inout SeededGenerator) -> NSManagedObjectContext {
        let context = Music.context(coordinator)
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
            ledger.withValue { ledger in
                for (place, slot) in intention.slots { ledger.known[place, default: [:]][client, default: []].insert(slot.value) }
            }
            try context.save()
            acknowledge(intention, client)
        } catch let error as NSError {
            context.rollback()
            context.refreshAllObjects()
            let isConflict = error.code == NSManagedObjectMergeError || error.code == NSManagedObjectReferentialIntegrityError
            ledger.withValue { ledger in
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
            _ = context.insert("Own", ["client": Int64(client), "number": number, "value": value])
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
            let expected = ledger.withValue { $0.own[client, default: [:]].count }
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
        ledger.withValue { ledger in
            ledger.saves += 1
            for (number, value) in intention.own { ledger.own[client, default: [:]][number] = value }
            for place in intention.incremented.keys { ledger.increments[place, default: 0] += 1 }
            for (place, slot) in taken { ledger.slots[place, default: [:]][client] = slot.value }
            ledger.deleted.formUnion(intention.deleted)
            if ledger.saves % 100 == 0, let count = try? Deadline.threadCount() { ledger.mostThreads = max(ledger.mostThreads, count) }
        }
    }

    private func fail(_ message: String) { ledger.withValue { $0.failures.append(message) } }

    // MARK: Comparing

    /// Reads everything anew and compares it with the ledger.
    private func compare() {
        let context = Music.context(coordinator)
        let acknowledged = ledger.withValue { $0 }
        context.performAndWait {
            do {
                var own: [Int: [Int64: Int64]] = [:]
                for object in try context.all("Own") {
                    let client = Int(object.value(forKey: "client") as! Int64)
                    own[client, default: [:]][object.value(forKey: "number") as! Int64] = object.value(forKey: "value") as? Int64
                }
                for client in 0..<Self.clientCount where own[client, default: [:]] != acknowledged.own[client, default: [:]] {
                    fail("What is stored of client \(client) is not what was acknowledged.")
                }
                var places: Set<Int> = []
                for object in try context.all("Shared") {
                    let place = Int(object.value(forKey: "place") as! Int64)
                    if !places.insert(place).inserted { fail("The shared object \(place) is stored twice.") }
                    compare(object, place, acknowledged)
                }
                let gone = Set(0..<Self.sharedCount).subtracting(places)
                if !gone.isSubset(of: acknowledged.deleted) {
                    fail("\(gone.subtracting(acknowledged.deleted)) are gone; no one has deleted them.")
                }
                if policy == .error, gone != acknowledged.deleted {
                    fail("\(acknowledged.deleted.subtracting(gone)) were deleted, and are stored.")
                }
            } catch {
                fail("What is stored cannot be read: \(error)")
            }
        }
    }

    private func compare(_ object: NSManagedObject, _ place: Int, _ acknowledged: Ledger) {
        if policy == .error, object.value(forKey: "count") as? Int64 != acknowledged.increments[place, default: 0] {
            fail("The counter of \(place) is \(object.value(forKey: "count") ?? "nil"), not \(acknowledged.increments[place, default: 0]).")
        }
        for client in 0..<Self.clientCount {
            let value = object.value(forKey: "slot\(client)") as! Int64
            let last = acknowledged.slots[place]?[client] ?? 0
            // An object that was written over by one who had not seen the last value, or is back after a deletion, may have an earlier one.
            let mayBeEarlier = policy == .overwrite || acknowledged.deleted.contains(place)
            let isKnown = value == 0 || acknowledged.known[place]?[client]?.contains(value) ?? false
            if value != last, !(mayBeEarlier && isKnown) {
                fail("Client \(client) has saved \(last) into its slot of \(place); \(value) is stored.")
            }
        }
    }
}
