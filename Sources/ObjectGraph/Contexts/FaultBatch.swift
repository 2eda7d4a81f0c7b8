internal import Foundation

/// Objects that one fetch or one relationship brought into a context: the first fault among them loads the rows of all.
///
/// An object refers to its batch by number, and the batch to its objects by identity, so neither retains the other. Rows loaded for a
/// batch wait in the store's row cache, and the objects stay faults until they are read.
// Used on the context's queue.
final class FaultBatch {
    /// The number of objects that one query loads; a longer batch is loaded in parts.
    static let standardPartSize = 1000

    private let identities: IdentityList
    let partSize: Int
    /// The parts whose rows have been requested.
    private var fired: Set<Int> = []
    /// The objects of the parent context that a child's objects were fetched from; they keep the batch there.
    var parents: [NSManagedObject] = []
    /// The destination objects of relationships, kept until their owners read them.
    private var destinations: [Step: [NSManagedObject]] = [:]
    /// Positions by the integer key of identity maps. If two IDs share a key, the wrong part is loaded, and then the single object.
    private lazy var places = Dictionary(
        identities.keys.enumerated().map { ($1, Int32($0)) }, uniquingKeysWith: { first, _ in first })

    /// A relationship of the objects of one part.
    struct Step: Hashable {
        let relationship: String
        let part: Int
    }

    init(_ identities: IdentityList, partSize: Int) {
        self.identities = identities
        self.partSize = max(1, partSize)
    }

    var count: Int { identities.count }
    var partCount: Int { (count + partSize - 1) / partSize }

    /// Returns the part that contains an object; nil if the object left the batch with another ID.
    func part(of object: NSManagedObject) -> Int? {
        if partCount == 1 { return 0 }
        return object.identityKey.flatMap { places[$0] }.map { Int($0) / partSize }
    }

    /// Returns the objects of a part that are registered with the context.
    func objects(ofPart part: Int, in registry: ObjectRegistry) -> [NSManagedObject] {
        identities.objects(part * partSize..<min(count, (part + 1) * partSize), in: registry)
    }

    /// Returns whether any registered object still belongs to the batch.
    func isInUse(as number: UInt32, in registry: ObjectRegistry) -> Bool {
        identities.contains(in: registry) { $0.batchNumber == number }
    }

    /// Whether every row has been requested.
    var isFired: Bool { fired.count == partCount }
    /// Marks the rows of a part as requested. Returns false if they already were.
    func startFiring(_ part: Int) -> Bool { fired.insert(part).inserted }
    /// Reverts ``startFiring(_:)`` after a failure.
    func stopFiring(_ part: Int) { fired.remove(part) }

    /// Returns the destination objects of a relationship; nil if it was not loaded.
    func objects(of step: Step) -> [NSManagedObject]? { destinations[step] }
    func setObjects(_ objects: [NSManagedObject]?, of step: Step) { destinations[step] = objects }

    /// Forgets all requests, because an object was refreshed.
    func reset() {
        fired = []
        destinations = [:]
    }
}

/// The batches of a context, by number.
struct FaultBatches {
    private var batches: [UInt32: FaultBatch] = [:]
    private var lastNumber: UInt32 = 0
    /// The number of objects in all batches, and the limit at which unused batches are removed.
    private var count = 0
    private var limit = 4096

    /// Returns the batch with a number; 0 stands for none.
    subscript(number: UInt32) -> FaultBatch? { number == 0 ? nil : batches[number] }

    /// Makes objects one batch.
    ///
    /// - Parameter replacing: Whether objects leave larger batches for this one. A relationship back to its owners must not split the
    ///   batch of a fetch.
    mutating func add(
        _ objects: [NSManagedObject], partSize: Int = FaultBatch.standardPartSize, replacing: Bool, in registry: ObjectRegistry
    ) {
        let objects =
            replacing ? objects : objects.filter { object in self[object.batchNumber].map { $0.count < objects.count } ?? true }
        if objects.isEmpty { return }
        if let known = self[objects[0].batchNumber], known.count == objects.count, known.partSize == max(1, partSize) {
            let number = objects[0].batchNumber
            var isSame = true
            objects.forEachUncounted { if $0.batchNumber != number { isSame = false } }
            // The same objects came together again.
            if isSame { return known.reset() }
        }
        repeat { lastNumber &+= 1 } while lastNumber == 0 || batches[lastNumber] != nil
        let number = lastNumber
        objects.forEachUncounted { $0.batchNumber = number }
        batches[number] = FaultBatch(IdentityList(objects), partSize: partSize)
        count += objects.count
        if count > limit { sweep(registry) }
    }

    /// Removes the batches without registered objects. The limit for the next sweep grows with the batches in use.
    private mutating func sweep(_ registry: ObjectRegistry) {
        batches = batches.filter { number, batch in batch.isInUse(as: number, in: registry) }
        count = batches.values.reduce(0) { $0 + $1.count }
        limit = max(4096, count * 2)
    }

    /// Forgets all requests, because all objects are refreshed. This includes batches whose own objects are gone, which would otherwise keep the
    /// destinations that they have loaded.
    func reset() { for batch in batches.values { batch.reset() } }

    mutating func removeAll() { self = FaultBatches() }
}
