public import Predicates

/// A save cannot be done as it is, for others have changed the same objects, or have the same unique values. Nothing was saved.
///
/// The context hands the conflicts to its merge policy and saves again what that leaves.
@_spi(Stores) public struct StoreConflicts: Error, Sendable {
    /// An object that others have changed or deleted since it was read.
    public struct Version: Sendable {
        /// The object.
        public let objectID: NSManagedObjectID
        /// The row that the store has; nil where the object is gone.
        public let stored: Row?

        /// Describes a conflict.
        public init(_ objectID: NSManagedObjectID, stored: Row?) {
            self.objectID = objectID
            self.stored = stored
        }
    }
    /// Objects that would share the values of a uniqueness constraint.
    public struct Constraint: Sendable {
        /// The attributes of the constraint.
        public let names: [String]
        /// The object that the store has with these values, and its row; nil for none.
        public let stored: Row?
        /// Those of the save.
        public let claimants: [NSManagedObjectID]

        /// Describes objects that would share values.
        public init(names: [String], stored: Row?, claimants: [NSManagedObjectID]) {
            self.names = names
            self.stored = stored
            self.claimants = claimants
        }
    }

    /// Objects that others have changed.
    public var versions: [Version]
    /// Values of uniqueness constraints that objects would share.
    public var constraints: [Constraint] = []

    /// Says which objects others have changed.
    public init(_ versions: [Version]) { self.versions = versions }

    /// Says which objects would share unique values.
    public init(_ constraints: [Constraint]) {
        versions = []
        self.constraints = constraints
    }
}

/// Knows the rows of a store as they are now, and can tell whether a save meets what others have saved. ``StoredRows`` does.
@_spi(Stores) public protocol ConflictFinding {
    /// What is known of a row without going out of the way. `.unknown` is no conflict.
    func latestRow(for id: NSManagedObjectID) throws -> LatestRow
    /// The rows that have the values of a uniqueness constraint.
    func holders(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row]
}

/// What a store knows about an object's row as it is now.
@_spi(Stores) public enum LatestRow: Sendable {
    /// Nothing, without going out of the way.
    case unknown
    /// There is none any more.
    case deleted
    /// The row.
    case row(Row)
}

extension ConflictFinding {
    /// Refuses a save of objects that others have saved or deleted since they were read.
    ///
    /// - Throws: ``StoreConflicts``.
    public func refuseOldVersions(_ changes: StoreChangeSet) throws {
        var conflicts: [StoreConflicts.Version] = []
        for part in [changes.updated, changes.deleted, changes.locked] {
            for change in part {
                guard let version = change.baseVersion else { continue }
                let id = change.objectID
                switch try latestRow(for: id) {
                case .unknown: continue
                case .deleted: conflicts.append(.init(id, stored: nil))
                case .row(let row): if row.version != version { conflicts.append(.init(id, stored: row)) }
                }
            }
        }
        if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
    }

    /// Refuses a save of objects that would share the values of a uniqueness constraint, with each other or with one in the store.
    ///
    /// - Throws: ``StoreConflicts``.
    public func refuseSharedValues(_ changes: StoreChangeSet) throws {
        var claims: [UniquenessClaim: [NSManagedObjectID]] = [:]
        var order: [UniquenessClaim] = []
        var moved: [ObjectIdentifier: Set<NSManagedObjectID>] = [:]
        func note(_ part: [StoreChange], areNew: Bool) {
            part.forEachRun { entity, range in
                let frozen = entity.frozenParts
                if frozen.uniqueness.isEmpty { return }
                for change in part[range] {
                    guard let row = change.row else { continue }
                    for constraint in frozen.uniqueness where areNew || constraint.slotIndexes.contains(where: change.changed.contains) {
                        let id = change.objectID
                        moved[ObjectIdentifier(constraint), default: []].insert(id)
                        guard let key = constraint.key(of: row, frozen) else { continue }
                        let claim = UniquenessClaim(constraint: constraint, key: key)
                        if claims[claim] == nil { order.append(claim) }
                        claims[claim, default: []].append(id)
                    }
                }
            }
        }
        note(changes.inserted, areNew: true)
        note(changes.updated, areNew: false)
        if order.isEmpty { return }
        let deleted = Set(changes.deleted.map(\.objectID))
        let conflicts = try order.compactMap { claim -> StoreConflicts.Constraint? in
            let claimants = claims[claim] ?? []
            let moved = moved[ObjectIdentifier(claim.constraint)] ?? []
            let holder = try holders(of: claim.constraint, claim.key).first { row in
                guard let id = row.objectID else { return false }
                return !deleted.contains(id) && !moved.contains(id)
            }
            if holder == nil, claimants.count < 2 { return nil }
            return StoreConflicts.Constraint(names: claim.constraint.names, stored: holder, claimants: claimants)
        }
        if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
    }
}

/// Values of a uniqueness constraint that objects claim.
private struct UniquenessClaim: Hashable {
    let constraint: UniquenessConstraint
    let key: [PropertyValue]

    static func == (left: UniquenessClaim, right: UniquenessClaim) -> Bool { left.constraint === right.constraint && left.key == right.key }
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(constraint))
        hasher.combine(key)
    }
}
