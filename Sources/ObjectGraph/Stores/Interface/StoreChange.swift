internal import CoreDataRuntime
internal import Foundation

/// The change of one object in a save, as a value: it may be kept on a disk and applied later, by any holder.
///
/// A save may change many objects: a change is as long as one cache line.
@_spi(Stores) public struct StoreChange: Sendable {
    /// The parts that few changes have.
    @usableFromInline final class Rest: Sendable {
        @usableFromInline let changed: PropertySet
        @usableFromInline let lists: [ListDifference]
        let wasMissing: Bool

        init(changed: PropertySet, lists: [ListDifference], wasMissing: Bool) {
            self.changed = changed
            self.lists = lists
            self.wasMissing = wasMissing
        }
    }

    // The slots of the rows, and the blocks that they lie in. The blocks hold the slots, which are never written: a holder of the blocks need not
    // count references.
    @usableFromInline package nonisolated(unsafe) let rowSlots: UnsafeMutableRawPointer?
    @usableFromInline package nonisolated(unsafe) let baseSlots: UnsafeMutableRawPointer?
    @usableFromInline nonisolated(unsafe) let rowBlock: RowBlock?
    @usableFromInline nonisolated(unsafe) let baseBlock: RowBlock?
    /// The address of the layout, which distinguishes the rows of entities without reading them. Never dereferenced.
    fileprivate let layout: UInt
    /// The ID, if no row has it.
    @usableFromInline let identity: NSManagedObjectID?
    /// The properties that were set, if their slot indexes are small.
    @usableFromInline let lowChanged: UInt64
    @usableFromInline let rest: Rest?

    package init(
        row: Row?, base: Row?, changed: PropertySet = PropertySet(), lists: [ListDifference] = [], wasMissing: Bool = false,
        identity: NSManagedObjectID? = nil
    ) {
        (rowSlots, rowBlock) = (row?.slots, row?.block)
        (baseSlots, baseBlock) = (base?.slots, base?.block)
        let place = (row ?? base).map { row in
            row.block.withUnsafeMutablePointerToHeader { Unmanaged.passUnretained($0.pointee.layout).toOpaque() }
        }
        layout = UInt(bitPattern: place ?? (identity?.owningEntity.frozen?.layout).map { Unmanaged.passUnretained($0).toOpaque() })
        self.identity = identity
        lowChanged = changed.low
        let isPlain = changed.high.isEmpty && lists.isEmpty && !wasMissing
        rest = isPlain ? nil : Rest(changed: changed, lists: lists, wasMissing: wasMissing)
    }

    /// The new values of the object; nil for a deletion. To-one relationships are IDs. To-many relationships are lists of IDs if the store
    /// ``StoreInterface/keepsLists``, and otherwise not part of the row.
    public var row: Row? {
        @inlinable @inline(__always) get {
            rowBlock.map { Row(block: $0, slots: rowSlots.unchecked("a change with a block has slots in it")) }
        }
    }
    /// The values that the object was read with; nil for a new object, and for one whose values were never read.
    public var base: Row? {
        @inlinable @inline(__always) get {
            baseBlock.map { Row(block: $0, slots: baseSlots.unchecked("a change with a block has slots in it")) }
        }
    }
    /// The properties that were set, by slot index.
    package var changed: PropertySet { @inlinable @inline(__always) get { rest?.changed ?? PropertySet(low: lowChanged) } }
    /// The changes to the to-many relationships; for a new object, all of their members.
    public var lists: [ListDifference] { @inlinable @inline(__always) get { rest?.lists ?? [] } }
    /// Whether the store was found to have no row of the object before it was changed.
    public var wasMissing: Bool { @inline(__always) get { rest?.wasMissing ?? false } }

    /// The ID of the object. New objects have the one that the store has assigned, unless it assigns IDs when it saves.
    @inlinable public var objectID: NSManagedObjectID {
        identity ?? row?.objectID ?? (base?.objectID).known("a change has an identity or a row")
    }

    /// The entity of the object.
    public var entity: NSEntityDescription { identity?.owningEntity ?? (row ?? base).known("a change has an identity or a row").entity }

    /// The version that the object was read with; nil for a new object, and for one whose values were never loaded.
    public var baseVersion: Int64? { @inline(__always) get { SlotPointer(baseSlots)?.prefix.pointee.version } }

    /// The changed properties.
    public var changedProperties: [NSPropertyDescription] {
        changed.isEmpty ? [] : entity.frozenParts.properties.filter { changed.contains($0.slotIndex) }
    }

    /// Returns the change of a to-many relationship; nil for none.
    package func list(of relationship: NSRelationshipDescription) -> ListDifference? {
        lists.isEmpty ? nil : lists.first { $0.slotIndex == relationship.slotIndex }
    }
}

/// The change of one to-many relationship.
@_spi(Stores) public struct ListDifference: Sendable {
    /// The slot index of the relationship.
    package let slotIndex: Int
    /// The name of the relationship.
    public let name: String
    /// The IDs of the added objects.
    public let added: [NSManagedObjectID]
    /// The IDs of the removed objects.
    public let removed: [NSManagedObjectID]
    /// All objects in order, for an ordered relationship; nil for an unordered one.
    public let members: [NSManagedObjectID]?

    package init(
        slotIndex: Int, name: String, added: [NSManagedObjectID], removed: [NSManagedObjectID], members: [NSManagedObjectID]?
    ) { (self.slotIndex, self.name, self.added, self.removed, self.members) = (slotIndex, name, added, removed, members) }
}

/// The changes of a save in one store, each kind in the order of the program's changes.
@_spi(Stores) public struct StoreChangeSet: Sendable {
    /// The inserted objects.
    public var inserted: [StoreChange] = []
    /// The updated objects.
    public var updated: [StoreChange] = []
    /// The deleted objects.
    public var deleted: [StoreChange] = []
    /// Unchanged objects that must be unchanged in the store too; their versions are incremented.
    public var locked: [StoreChange] = []
    /// The IDs of inserted objects that others had deleted, and that return under their old IDs: others may have restored them since.
    public var returning: [NSManagedObjectID] = []

    /// Creates an empty change set.
    public init() {}

    /// Whether there are no changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }
    /// The number of changes.
    public var count: Int { inserted.count + updated.count + deleted.count + locked.count }

    /// Releases everything: much of it on another thread, less like ``Swift/Array/releaseElements()``.
    mutating func releaseElements() {
        if count >= SideThreads.minimumCount {
            let all = self
            self = StoreChangeSet()
            return SideThreads.shared.release(consume all)
        }
        inserted.releaseElements()
        updated.releaseElements()
        deleted.releaseElements()
        locked.releaseElements()
    }
}

extension [StoreChange] {
    /// Calls `body` with the row and the index of each change, without counting references.
    @inline(__always) package func forEachRow(_ body: (Row, Int) throws -> Void) rethrows {
        for index in indices { try self[index].rowSlots.map { try Row.with($0) { try body($0, index) } } }
    }

    /// Releases the changes, mostly as their last owner: rows are scattered in memory, so the next ones are prefetched while some are
    /// released.
    mutating func releaseElements() {
        while !isEmpty {
            let start = Swift.max(0, count - 16)
            for index in Swift.max(0, start - 16)..<start {
                if let slots = self[index].rowSlots { coredata_prefetch(slots - RowBlock.distanceToFirstRow) }
            }
            removeLast(count - start)
        }
    }

    /// Calls `body` with each run of consecutive changes of one entity.
    package func forEachRun(_ body: (NSEntityDescription, Range<Int>) throws -> Void) rethrows {
        var start = 0
        while start < count {
            let layout = self[start].layout
            var end = start + 1
            while end < count, self[end].layout == layout { end += 1 }
            try body(self[start].entity, start..<end)
            start = end
        }
    }
}

/// New objects that need IDs, in order.
@_spi(Stores) public struct NewObjects: RandomAccessCollection {
    /// The objects of a context, whose type the object graph knows; empty if rows are copied from another store.
    let elements: [AnyObject]
    /// The entities in order, each with the number of consecutive objects.
    package let entityRuns: [(entity: NSEntityDescription, count: Int)]
    /// The index after the last object.
    public let endIndex: Int
    private let member: (Int) -> NewObject
    private let identity: (Int) -> NSManagedObjectID?
    private let related: (Int, NSRelationshipDescription) -> NSManagedObjectID?

    /// Creates a collection of objects by their runs of equal entities, and a function that returns the known parts of each change.
    init(
        elements: [AnyObject], entityRuns: [(entity: NSEntityDescription, count: Int)], member: @escaping (Int) -> NewObject,
        identity: @escaping (Int) -> NSManagedObjectID?, related: @escaping (Int, NSRelationshipDescription) -> NSManagedObjectID?
    ) {
        self.elements = elements
        self.entityRuns = entityRuns
        self.member = member
        (self.identity, self.related) = (identity, related)
        endIndex = entityRuns.reduce(0) { $0 + $1.count }
    }

    /// Creates a collection of another store's objects, by their rows there.
    init(rows: [Row]) {
        var runs: [(entity: NSEntityDescription, count: Int)] = []
        for row in rows {
            if let last = runs.indices.last, runs[last].entity === row.entity {
                runs[last].count += 1
            } else {
                runs.append((row.entity, 1))
            }
        }
        self.init(
            elements: [], entityRuns: runs, member: { NewObject(entity: rows[$0].entity, row: rows[$0]) },
            identity: { rows[$0].knownObjectID }, related: { rows[$0].relatedIDs($1).first })
    }

    /// Returns the previous ID of an object: a temporary one, or that in the store from which it is copied; nil for none.
    package func formerID(at index: Int) -> NSManagedObjectID? { identity(index) }

    /// Returns the ID of the destination of a new object's to-one relationship; for another new object, its former ID.
    package func relatedID(at index: Int, _ relationship: NSRelationshipDescription) -> NSManagedObjectID? { related(index, relationship) }

    /// Creates a collection of new objects of one entity whose values are not read.
    package init(_ count: Int, of entity: NSEntityDescription) {
        self.init(
            elements: [], entityRuns: [(entity, count)], member: { _ in NewObject(entity: entity, row: nil) }, identity: { _ in nil },
            related: { _, _ in nil })
    }

    /// The first index.
    public var startIndex: Int { 0 }

    /// Returns one new object.
    public subscript(index: Int) -> NewObject { member(index) }

    /// Calls `body` with the entity of each object.
    public func mapEntities<Result>(_ body: (NSEntityDescription) throws -> Result) rethrows -> [Result] {
        var results: [Result] = []
        results.reserveCapacity(endIndex)
        for (entity, count) in entityRuns {
            for _ in 0..<count { results.append(try body(entity)) }
        }
        return results
    }
}

/// A new object that needs an ID.
@_spi(Stores) public struct NewObject {
    /// The entity of the object.
    public let entity: NSEntityDescription
    /// The current attributes; nil if no value was set. Relationships are not included.
    public let row: Row?
}
