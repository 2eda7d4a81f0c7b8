internal import Foundation

/// The cached rows of a store.
package protocol CachedRowProvider: AnyObject {
    /// Returns a cached row that is at most `age` seconds old; of any age for a negative number. Call it on any thread; it never waits.
    func row(_ number: Int64, of origin: RowOrigin, maximumAge age: TimeInterval) -> Row?
}

/// The table that rows come from. It creates IDs of their row numbers on demand.
// Immutable.
@usableFromInline package final class RowOrigin: @unchecked Sendable {
    package let entity: NSEntityDescription
    package let store: RowOriginStore
    /// The common part of the IDs' keys, see ``NSManagedObjectID/keyBase(of:)``.
    @usableFromInline package let keyBase: Int64
    private let root: NSEntityDescription
    /// The number of the table in the store.
    package let table: Int64

    package init(_ entity: NSEntityDescription, table: Int64, store: RowOriginStore) {
        self.table = table
        self.entity = entity
        self.store = store
        keyBase = NSManagedObjectID.keyBase(of: entity)
        root = entity.rootEntity
    }

    package func id(_ number: Int64) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: store.token, number: number, keyBase: keyBase)
    }

    /// Returns the key of a row's object in identity maps.
    @inlinable @inline(__always) package func key(_ number: Int64) -> Int64 { number &+ keyBase }

    /// Returns whether a row's object has an ID.
    @inline(__always) func isSame(_ number: Int64, as id: NSManagedObjectID) -> Bool {
        guard id.key == key(number), id.token === store.token, case .integer(number) = id.reference else { return false }
        return id.owningEntity === entity || id.owningEntity.rootEntity === root
    }

    /// Returns whether rows with equal numbers are the same objects.
    @inline(__always) func sharesNumbers(with other: RowOrigin) -> Bool {
        self === other || (keyBase == other.keyBase && store.token === other.store.token && root === other.root)
    }
}

/// The store of rows, and its entities by their numbers in packed references.
// Immutable; `rows` guards itself.
package final class RowOriginStore: @unchecked Sendable {
    package let token: StoreToken
    private let rows: any CachedRowProvider
    private let entities: [Int64: (entity: NSEntityDescription, keyBase: Int64)]

    package init(
        _ entities: [(number: Int64, entity: NSEntityDescription)], token: StoreToken, rows: any CachedRowProvider
    ) {
        self.token = token
        self.rows = rows
        self.entities = Dictionary(
            entities.map { ($0.number, ($0.entity, NSManagedObjectID.keyBase(of: $0.entity))) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns a cached row without calling the coordinator or the store. A removed store has none.
    func cachedRow(_ number: Int64, of origin: RowOrigin, maximumAge age: TimeInterval) -> Row? {
        rows.row(number, of: origin, maximumAge: age)
    }

    /// Returns a reference to a row in one word; nil if the row number or the entity number is too large.
    ///
    /// - Parameter entity: The number of one of the store's entities.
    @inlinable @inline(__always) package static func packed(_ number: Int64, ofEntity entity: Int64) -> UInt64? {
        guard number >= 0, number < 1 << 48, entity > 0, entity < 1 << 15 else { return nil }
        return UInt64(bitPattern: entity << 48 | number)
    }

    /// Whether a packed reference names one of the store's entities.
    func knows(packed word: UInt64) -> Bool { entities[Int64(word >> 48)] != nil }

    /// Returns the ID of a packed reference.
    func id(packed word: UInt64) -> NSManagedObjectID {
        let (entity, keyBase) = entities[Int64(word >> 48)].known("the store packs references to its own entities only")
        return NSManagedObjectID(entity: entity, token: token, number: Int64(word & (1 << 48 - 1)), keyBase: keyBase)
    }
}
