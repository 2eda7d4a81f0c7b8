internal import Foundation
@_spi(Stores) internal import ObjectGraph
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
/// They lie in several parts, so that threads seldom wait for each other. Each part knows of which generation its lists are: to forget all of them
/// is to count up.
// Each stripe is a box: a lock of its own and what it guards; `generation` is atomic.
final class SQLRelatedCache: @unchecked Sendable {
    private struct Key: Hashable {
        let relationship: ObjectIdentifier
        /// The ``NSManagedObjectID/key``, which is unique among the IDs of a store with numbered rows.
        let key: Int64
    }
    private final class Stripe {
        let lock = Mutex()
        var lists: [Key: (related: SQLRelated, time: UInt64)] = [:]
        var generation: UInt64 = 0
    }
    private let stripes = (0..<16).map { _ in Stripe() }
    private let current = Atomic<UInt64>(1)
    /// The maximum size of a stripe: a traversal of a large graph leaves lists that nobody reads again.
    private static let longest = 200_000 / 16

    /// The number of invalidations.
    var generation: UInt64 { current.load(ordering: .sequentiallyConsistent) }

    private func stripe(_ key: Int64) -> Stripe {
        stripes[Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 60)]
    }

    /// - Parameter age: The maximum age in seconds; negative for any age.
    func related(of relationship: NSRelationshipDescription, for key: Int64, maximumAge age: TimeInterval) -> SQLRelated? {
        let stripe = stripe(key)
        stripe.lock.lock()
        defer { stripe.lock.unlock() }
        if stripe.lists.isEmpty || stripe.generation != generation { return nil }
        guard let known = stripe.lists[Key(relationship: ObjectIdentifier(relationship), key: key)] else { return nil }
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
        let stripe = stripe(key)
        stripe.lock.lock()
        // Released outside of the lock: lists may hold other objects.
        var old: [Key: (related: SQLRelated, time: UInt64)] = [:]
        defer { withExtendedLifetime(old) {} }
        defer { stripe.lock.unlock() }
        if stripe.generation > generation || !isCurrent() { return }
        if stripe.generation < generation || stripe.lists.count > Self.longest {
            old = stripe.lists
            stripe.lists = [:]
            stripe.generation = generation
        }
        stripe.lists[Key(relationship: ObjectIdentifier(relationship), key: key)] = (related, time)
    }

    func removeAll() { current.add(1, ordering: .sequentiallyConsistent) }

    /// Clears the cache and releases its memory.
    func close() {
        removeAll()
        for stripe in stripes {
            stripe.lock.lock()
            stripe.lists = [:]
            stripe.lock.unlock()
        }
    }

    func removeAll(of id: NSManagedObjectID) {
        let stripe = stripe(id.key)
        stripe.lock.lock()
        defer { stripe.lock.unlock() }
        if stripe.lists.isEmpty { return }
        for relationship in id.owningEntity.frozen?.relationships ?? [] {
            stripe.lists[Key(relationship: ObjectIdentifier(relationship), key: id.key)] = nil
        }
    }
}
