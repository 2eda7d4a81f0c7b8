internal import Foundation

/// Objects that came to a context together, by one fetch or one relationship: the first fault among them asks the store for all.
///
/// An object knows its batch by number only, and the batch its objects by their identities only: neither keeps the other alive. Rows that come for
/// a batch wait in the store's row cache, so objects stay faults until they are read.
// Used on the context's queue.
final class FaultBatch {
    /// A long batch is asked for in parts of so many objects.
    static let standardPartSize = 1000

    private let identities: IdentityList
    let partSize: Int
    /// The parts whose rows have been asked for.
    private var fired: Set<Int> = []
    /// The objects of the parent context that those of a child were fetched from: they remember the batch there.
    var parents: [NSManagedObject] = []
    /// What was found at the other end of relationships, kept until those who lead there ask for it.
    private var followed: [Step: [NSManagedObject]] = [:]
    /// By the integer that identity maps use. Where two IDs share one, the wrong part is asked for, and then the store for the one object.
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

    /// The part in which an object of the batch stands; nil where it has left, with another ID.
    func part(of object: NSManagedObject) -> Int? {
        if partCount == 1 { return 0 }
        return object.identityKey.flatMap { places[$0] }.map { Int($0) / partSize }
    }

    /// The objects of a part that live in the context.
    func objects(ofPart part: Int, in registry: ObjectRegistry) -> [NSManagedObject] {
        identities.objects(part * partSize..<min(count, (part + 1) * partSize), in: registry)
    }

    /// Whether any of the objects still belongs to the batch.
    func isInUse(as number: UInt32, in registry: ObjectRegistry) -> Bool {
        identities.contains(in: registry) { $0.batchNumber == number }
    }

    /// Whether every row has been asked for.
    var isFired: Bool { fired.count == partCount }
    /// The rows of a part are being asked for. False if they have been.
    func startFiring(_ part: Int) -> Bool { fired.insert(part).inserted }
    /// It came to nothing.
    func stopFiring(_ part: Int) { fired.remove(part) }

    /// What was found at the other end of a relationship; nil if it has not been followed.
    func objects(of step: Step) -> [NSManagedObject]? { followed[step] }
    func setObjects(_ objects: [NSManagedObject]?, of step: Step) { followed[step] = objects }

    /// The store is to be asked again: an object has been refreshed.
    func reset() {
        fired = []
        followed = [:]
    }
}

/// The batches of a context, by number.
struct FaultBatches {
    private var batches: [UInt32: FaultBatch] = [:]
    private var lastNumber: UInt32 = 0
    /// How many objects the batches name, and how many they may before it is looked which are of use.
    private var count = 0
    private var limit = 4096

    /// The batch of a number; 0 is none.
    subscript(number: UInt32) -> FaultBatch? { number == 0 ? nil : batches[number] }

    /// Makes objects one batch.
    ///
    /// - Parameter replacing: whether objects leave larger batches for this one. A relationship that leads back must not break up what a fetch has
    ///   brought.
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
            // They have come together once more.
            if isSame { return known.reset() }
        }
        repeat { lastNumber &+= 1 } while lastNumber == 0 || batches[lastNumber] != nil
        let number = lastNumber
        objects.forEachUncounted { $0.batchNumber = number }
        batches[number] = FaultBatch(IdentityList(objects), partSize: partSize)
        count += objects.count
        if count > limit { sweep(registry) }
    }

    /// Gives up the batches none of whose objects lives any more. The more are in use, the more may come until the next time.
    private mutating func sweep(_ registry: ObjectRegistry) {
        batches = batches.filter { number, batch in batch.isInUse(as: number, in: registry) }
        count = batches.values.reduce(0) { $0 + $1.count }
        limit = max(4096, count * 2)
    }

    mutating func removeAll() { self = FaultBatches() }
}
