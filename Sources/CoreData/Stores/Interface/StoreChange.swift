internal import Foundation

/// What a save does to one object, as a value: it may be kept on a disk and done later, by whoever has it.
@_spi(Stores) public struct StoreChange: Sendable {
    /// The values that the object is to have; nil for a deletion. To-one relationships are IDs. To-many relationships are lists of IDs where
    /// the store ``StoreInterface/keepsLists``, and otherwise not part of the row.
    public let row: Row?
    /// The values that the object was read with; nil for a new object, and for one whose values were never read.
    public let base: Row?
    /// The properties that were set, by slot index.
    let changed: PropertySet
    /// What was done to the to-many relationships that were changed; of a new object all that is in them.
    public let lists: [ListDifference]
    /// Whether the store was found to have no row of the object before it was changed.
    public let wasMissing: Bool
    /// The ID, where no row has it.
    let identity: NSManagedObjectID?
    // The slots of `row` and `base`, which hold them and are never written: for long lists, where counting references costs more than the work.
    nonisolated(unsafe) let rowSlots: UnsafeMutableRawPointer?
    nonisolated(unsafe) let baseSlots: UnsafeMutableRawPointer?
    /// The address of the layout, which tells the rows of one entity from those of others without a look at them. Never followed.
    fileprivate let layout: UInt

    init(
        row: Row?, base: Row?, changed: PropertySet = PropertySet(), lists: [ListDifference] = [], wasMissing: Bool = false,
        identity: NSManagedObjectID? = nil
    ) {
        self.row = row
        self.base = base
        rowSlots = row?.slots
        baseSlots = base?.slots
        let place = (row ?? base).map { row in
            row.block.withUnsafeMutablePointerToHeader { Unmanaged.passUnretained($0.pointee.layout).toOpaque() }
        }
        layout = UInt(bitPattern: place ?? (identity?.owningEntity.frozen?.layout).map { Unmanaged.passUnretained($0).toOpaque() })
        self.changed = changed
        self.lists = lists
        self.wasMissing = wasMissing
        self.identity = identity
    }

    /// The identity of the object. New objects have the one that the store has given them, unless it gives IDs when it saves.
    public var objectID: NSManagedObjectID {
        identity ?? row?.objectID ?? (base?.objectID).known("a change has an identity or a row")
    }

    /// The entity of the object.
    public var entity: NSEntityDescription { identity?.owningEntity ?? (row ?? base).known("a change has an identity or a row").entity }

    /// The version that the object was read with; nil for a new object, and for one whose values were never read.
    public var baseVersion: Int64? { base?.version }

    /// The properties that were set.
    public var changedProperties: [NSPropertyDescription] {
        changed.isEmpty ? [] : entity.frozenParts.properties.filter { changed.contains($0.slotIndex) }
    }

    /// What was done to a to-many relationship; nil for nothing.
    func list(of relationship: NSRelationshipDescription) -> ListDifference? {
        lists.isEmpty ? nil : lists.first { $0.slotIndex == relationship.slotIndex }
    }
}

/// What was done to one to-many relationship of an object.
@_spi(Stores) public struct ListDifference: Sendable {
    /// The relationship, by slot index.
    let slotIndex: Int
    /// The name of the relationship.
    public let name: String
    /// The objects that came.
    public let added: [NSManagedObjectID]
    /// The objects that went.
    public let removed: [NSManagedObjectID]
    /// All objects in their order, for an ordered relationship; nil for an unordered one.
    public let members: [NSManagedObjectID]?
}

/// What a save does to the objects of one store, each part in the order in which the program did it.
@_spi(Stores) public struct StoreChangeSet: Sendable {
    /// New objects.
    public var inserted: [StoreChange] = []
    /// Objects that have other values.
    public var updated: [StoreChange] = []
    /// Objects that go.
    public var deleted: [StoreChange] = []
    /// Objects of which nothing has changed, but nobody else may have changed them either; their versions count up.
    public var locked: [StoreChange] = []

    /// An empty change set.
    public init() {}

    /// Whether there is nothing to do.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && locked.isEmpty }
    /// How many objects are concerned.
    public var count: Int { inserted.count + updated.count + deleted.count + locked.count }
}

extension [StoreChange] {
    /// Calls `body` with the row of each change and its place, without counting references.
    @inline(__always) func forEachRow(_ body: (Row, Int) throws -> Void) rethrows {
        for index in indices { try SlotPointer(self[index].rowSlots)?.withRow { try body($0, index) } }
    }

    /// Calls `body` with the changes of one entity that follow each other, part by part.
    func forEachRun(_ body: (NSEntityDescription, Range<Int>) throws -> Void) rethrows {
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

/// New objects for which IDs are wanted, in order.
@_spi(Stores) public struct NewObjects: RandomAccessCollection {
    /// The objects of a context; none where rows are copied from another store.
    let objects: [NSManagedObject]
    private let rows: [Row]

    init(objects: [NSManagedObject]) {
        self.objects = objects
        rows = []
    }

    /// Objects that another store has, by their rows there.
    init(rows: [Row]) {
        self.rows = rows
        objects = []
    }

    /// The first index.
    public var startIndex: Int { 0 }
    /// The index after the last.
    public var endIndex: Int { rows.isEmpty ? objects.count : rows.count }

    /// One new object.
    public subscript(index: Int) -> NewObject {
        if !rows.isEmpty { return NewObject(entity: rows[index].entity, row: rows[index]) }
        return NewObject(entity: objects[index].owningEntity, row: objects[index].row)
    }

    /// Calls `body` with the entity of each object.
    public func mapEntities<Result>(_ body: (NSEntityDescription) throws -> Result) rethrows -> [Result] {
        rows.isEmpty ? try objects.mapUncounted { try body($0.owningEntity) } : try rows.map { try body($0.entity) }
    }

    /// The entities in order, each with how many objects of it come next to each other.
    var entityRuns: [(entity: NSEntityDescription, count: Int)] {
        var runs: [(entity: NSEntityDescription, count: Int)] = []
        var start = 0
        while start < count {
            let entity = rows.isEmpty ? objects[start].owningEntity : rows[start].entity
            let end =
                rows.isEmpty
                ? objects.run(from: start) { $0.owningEntity === $1.owningEntity }.upperBound
                : rows[start...].firstIndex { $0.entity !== entity } ?? count
            runs.append((entity, end - start))
            start = end
        }
        return runs
    }
}

/// A new object for which an ID is wanted.
@_spi(Stores) public struct NewObject {
    /// The entity.
    public let entity: NSEntityDescription
    /// Its attributes as they are now; nil where nobody has touched them. Relationships are not in it.
    public let row: Row?
}
