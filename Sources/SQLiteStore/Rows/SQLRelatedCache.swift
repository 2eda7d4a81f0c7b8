internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import Synchronization

/// The related rows of one row by a to-many relationship.
enum SQLRelated: Sendable {
    /// Rows of one table: a part of the result for many rows.
    case numbers(SQLRelatedPart, Range<Int>)
    case ids([NSManagedObjectID])

    var numbers: RelatedNumbers? {
        guard case .numbers(let part, let range) = self else { return nil }
        return RelatedNumbers(numbers: part.numbers[range], origin: part.origin)
    }

    var ids: [NSManagedObjectID] {
        switch self {
        case .numbers(let part, let range): part.numbers[range].map(part.origin.id)
        case .ids(let ids): ids
        }
    }
}

/// The related row numbers that one query has found for many rows.
// Immutable.
final class SQLRelatedPart: Sendable {
    let origin: RowOrigin
    let numbers: [Int64]

    init(_ numbers: [Int64], of origin: RowOrigin) {
        self.numbers = numbers
        self.origin = origin
    }
}

/// Caches relationships that were read for many objects at once, until something changes.
///
/// The cache is divided into several parts, so that threads seldom wait for each other. Each part knows the generation of its lists: incrementing the
/// current generation drops all of them.
// Each stripe is a box: a lock of its own and what it guards; `current` is atomic.
final class SQLRelatedCache: Sendable {
    private struct Key: Hashable {
        let relationship: ObjectIdentifier
        /// The ``NSManagedObjectID/key``, which is unique among the IDs of a store with numbered rows.
        let key: Int64
    }
    private typealias Lists = [Key: (related: SQLRelated, time: UInt64)]
    private struct Stripe {
        var lists: Lists = [:]
        var generation: UInt64 = 0
    }
    private let stripes = (0..<16).map { _ in LockedBox(Stripe()) }
    private let current = Atomic<UInt64>(1)
    /// The maximum size of a stripe: a traversal of a large graph leaves lists that are never read again.
    private static let longest = 200_000 / 16

    /// The number of invalidations.
    var generation: UInt64 { current.load(ordering: .sequentiallyConsistent) }

    private func stripe(_ key: Int64) -> LockedBox<Stripe> {
        stripes[Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 60)]
    }

    /// - Parameter age: The maximum age in seconds; negative for any age.
    func related(of relationship: NSRelationshipDescription, for key: Int64, maximumAge age: TimeInterval) -> SQLRelated? {
        let found = stripe(key).withLock { stripe -> (related: SQLRelated, time: UInt64)? in
            if stripe.lists.isEmpty || stripe.generation != generation { return nil }
            return stripe.lists[Key(relationship: ObjectIdentifier(relationship), key: key)]
        }
        guard let known = found else { return nil }
        if age >= 0, Double(DispatchTime.now().uptimeNanoseconds &- known.time) >= age * 1e9 { return nil }
        return known.related
    }

    /// Caches a list.
    ///
    /// - Parameters:
    ///   - generation: The value of ``generation`` before the query.
    ///   - isCurrent: Returns whether nothing has changed since. Called under the lock.
    func set(
        _ related: SQLRelated, of relationship: NSRelationshipDescription, for key: Int64, time: UInt64, generation: UInt64,
        isCurrent: () -> Bool
    ) {
        // Released outside of the lock: lists may hold other objects.
        let old = stripe(key).withLock { stripe -> Lists in
            if stripe.generation > generation || !isCurrent() { return [:] }
            var old: Lists = [:]
            if stripe.generation < generation || stripe.lists.count > Self.longest {
                swap(&old, &stripe.lists)
                stripe.generation = generation
            }
            stripe.lists[Key(relationship: ObjectIdentifier(relationship), key: key)] = (related, time)
            return old
        }
        withExtendedLifetime(old) {}
    }

    func removeAll() { current.add(1, ordering: .sequentiallyConsistent) }

    /// Clears the cache and releases its memory.
    func close() {
        removeAll()
        for stripe in stripes {
            // Released outside of the lock, too.
            var old: Lists = [:]
            stripe.withLock { swap(&old, &$0.lists) }
        }
    }

    func removeAll(of id: NSManagedObjectID) {
        stripe(id.key).withLock { stripe in
            if stripe.lists.isEmpty { return }
            for relationship in id.owningEntity.frozen?.relationships ?? [] {
                stripe.lists[Key(relationship: ObjectIdentifier(relationship), key: id.key)] = nil
            }
        }
    }
}
