internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// Which destination objects were made of which source objects by an entity mapping.
///
/// Objects of the current batch, which may not have permanent IDs yet, are held as objects; the others are pairs of compact IDs.
struct AssociationTable {
    private(set) var sources: CompactIDs
    private(set) var destinations: CompactIDs
    private var sourceIndex = CompactIndex()
    private var destinationIndex = CompactIndex()
    private(set) var pending: [(source: NSManagedObject, destination: NSManagedObject)] = []
    private var pendingSources: [ObjectIdentifier: [Int]] = [:]
    private var pendingDestinations: [ObjectIdentifier: [Int]] = [:]
    private var indexedPending = 0

    init(source: NSPersistentStore, destination: NSPersistentStore) {
        sources = CompactIDs(of: source)
        destinations = CompactIDs(of: destination)
    }

    var count: Int { sources.count }

    mutating func associate(_ source: NSManagedObject, _ destination: NSManagedObject) { pending.append((source, destination)) }

    /// Moves the pairs of the batch to those of IDs, once the objects have permanent IDs.
    ///
    /// - Returns: The positions of the pairs.
    mutating func settle() -> Range<Int> {
        let start = count
        for (source, destination) in pending where destination.managedObjectContext != nil && !destination.isDeleted {
            sources.append(source.objectID)
            destinations.append(destination.objectID)
        }
        pending = []
        pendingSources = [:]
        pendingDestinations = [:]
        indexedPending = 0
        return start..<count
    }

    /// Appends a pair that was settled earlier.
    mutating func append(_ source: NSManagedObjectID, _ destination: NSManagedObjectID) {
        sources.append(source)
        destinations.append(destination)
    }

    mutating func append(source: Int64, of sourceEntity: NSEntityDescription, destination: Int64, of destinationEntity: NSEntityDescription)
    {
        sources.setEntity(sourceEntity)
        destinations.setEntity(destinationEntity)
        sources.append(source)
        destinations.append(destination)
    }

    // MARK: Looking up

    /// Calls `body` with the destinations of a source object.
    mutating func forEachDestination(
        of source: NSManagedObject, in context: NSManagedObjectContext, _ body: (NSManagedObject) -> Void
    ) {
        for position in sourceIndex.positions(of: source.objectID, in: sources) { body(context.object(with: destinations[position])) }
        if pending.isEmpty { return }
        indexPending()
        for index in pendingSources[ObjectIdentifier(source)] ?? [] { body(pending[index].destination) }
    }

    /// Calls `body` with the IDs of the settled destinations of a source object's ID.
    mutating func forEachDestinationID(of source: NSManagedObjectID, _ body: (NSManagedObjectID) -> Void) {
        for position in sourceIndex.positions(of: source, in: sources) { body(destinations[position]) }
    }

    /// Returns whether an object of the new store was made of a source object, in this batch or before.
    mutating func isDestination(_ id: NSManagedObjectID) -> Bool {
        !destinationIndex.positions(of: id, in: destinations).isEmpty || pending.contains { $0.destination.objectID == id }
    }

    /// Calls `body` with the sources of a destination object.
    mutating func forEachSource(
        of destination: NSManagedObject, in context: NSManagedObjectContext, _ body: (NSManagedObject) -> Void
    ) {
        for position in destinationIndex.positions(of: destination.objectID, in: destinations) {
            body(context.object(with: sources[position]))
        }
        if pending.isEmpty { return }
        indexPending()
        for index in pendingDestinations[ObjectIdentifier(destination)] ?? [] { body(pending[index].source) }
    }

    /// Returns whether the pair at a position is the first of its destination.
    mutating func isFirst(_ position: Int) -> Bool {
        // Ascending keys repeat only next to each other.
        if destinations.ids == nil, destinations.isAscending {
            return position == 0 || destinations.numbers[position - 1] != destinations.numbers[position]
        }
        return destinationIndex.positions(of: destinations[position], in: destinations).first == position
    }

    private mutating func indexPending() {
        while indexedPending < pending.count {
            pendingSources[ObjectIdentifier(pending[indexedPending].source), default: []].append(indexedPending)
            pendingDestinations[ObjectIdentifier(pending[indexedPending].destination), default: []].append(indexedPending)
            indexedPending += 1
        }
    }
}
