package import CoreData

/// What saves have acknowledged, and what went wrong.
///
/// What must be stored follows from the merge policy: each client's own objects always; the slots of the shared objects unless an object was written over
/// by a client that had not seen them; the counters where every save that rests on an old value fails.
package struct SoakLedger: Codable, Sendable {
    /// The values of each client's own objects, by number.
    var own: [Int: [Int64: Int64]] = [:]
    /// How often the counter of each shared object was counted up.
    var increments: [Int: Int64] = [:]
    /// The last value of each client's slot in each shared object, and every value that it may have had.
    var slots: [Int: [Int: Int64]] = [:]
    var known: [Int: [Int: Set<Int64>]] = [:]
    /// The shared objects that were deleted.
    var deleted: Set<Int> = []
    package var saves = 0
    package var conflicts = 0
    package var failures: [String] = []
    package var mostThreads = 0

    package init() {}

    /// Adds the ledger of other clients.
    package mutating func add(_ other: SoakLedger) {
        own.merge(other.own) { $0.merging($1) { $1 } }
        increments.merge(other.increments, uniquingKeysWith: +)
        slots.merge(other.slots) { $0.merging($1) { $1 } }
        known.merge(other.known) { $0.merging($1) { $0.union($1) } }
        deleted.formUnion(other.deleted)
        saves += other.saves
        conflicts += other.conflicts
        failures += other.failures
        mostThreads = max(mostThreads, other.mostThreads)
    }

    // MARK: Comparing

    /// Reads everything anew, through a coordinator that no client has used or that knows of all their saves.
    ///
    /// - Returns: How what is stored differs from what was acknowledged.
    package func differences(from coordinator: NSPersistentStoreCoordinator, _ policy: Soak.Policy) throws -> [String] {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            var found: [String] = []
            var stored: [Int: [Int64: Int64]] = [:]
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Own")) {
                let (client, number) = (Int(object.value(forKey: "client") as! Int64), object.value(forKey: "number") as! Int64)
                if stored[client, default: [:]].updateValue(object.value(forKey: "value") as! Int64, forKey: number) != nil {
                    found.append("The object \(number) of client \(client) is stored twice.")
                }
            }
            for client in 0..<Soak.clientCount where stored[client, default: [:]] != own[client, default: [:]] {
                found.append("What is stored of client \(client) is not what was acknowledged.")
            }
            var places: Set<Int> = []
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shared")) {
                let place = Int(object.value(forKey: "place") as! Int64)
                if !places.insert(place).inserted { found.append("The shared object \(place) is stored twice.") }
                found += differences(object, place, policy)
            }
            let gone = Set(0..<Soak.sharedCount).subtracting(places)
            if !gone.isSubset(of: deleted) { found.append("\(gone.subtracting(deleted)) are gone; no one has deleted them.") }
            if policy == .error, gone != deleted { found.append("\(deleted.subtracting(gone)) were deleted, and are stored.") }
            return found
        }
    }

    private func differences(_ object: NSManagedObject, _ place: Int, _ policy: Soak.Policy) -> [String] {
        var found: [String] = []
        if policy == .error, object.value(forKey: "count") as? Int64 != increments[place, default: 0] {
            found.append("The counter of \(place) is \(object.value(forKey: "count") ?? "nil"), not \(increments[place, default: 0]).")
        }
        for client in 0..<Soak.clientCount {
            let value = object.value(forKey: "slot\(client)") as! Int64
            let last = slots[place]?[client] ?? 0
            // An object that was written over by one who had not seen the last value, or is back after a deletion, may have an earlier one.
            let mayBeEarlier = policy == .overwrite || deleted.contains(place)
            let isKnown = value == 0 || known[place]?[client]?.contains(value) ?? false
            if value != last, !(mayBeEarlier && isKnown) {
                found.append("Client \(client) has saved \(last) into its slot of \(place); \(value) is stored.")
            }
        }
        return found
    }
}
