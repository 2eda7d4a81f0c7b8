public import Predicates

/// The error of a save that conflicts with changes by others, or violates uniqueness constraints. Nothing was saved.
///
/// The context passes the conflicts to its merge policy and retries the save with the result.
@_spi(Stores) public struct StoreConflicts: Error, Sendable {
    /// An object that others have changed or deleted since it was read.
    public struct Version: Sendable {
        /// The ID of the object.
        public let objectID: NSManagedObjectID
        /// The row in the store; nil if the object was deleted.
        public let stored: Row?

        /// Creates a version conflict.
        public init(_ objectID: NSManagedObjectID, stored: Row?) {
            self.objectID = objectID
            self.stored = stored
        }
    }
    /// Objects that violate a uniqueness constraint together.
    public struct Constraint: Sendable {
        /// The attributes of the constraint.
        public let names: [String]
        /// The row of the object in the store that has the values; nil for none.
        public let stored: Row?
        /// The objects of the save that have the values.
        public let conflictingIDs: [NSManagedObjectID]

        /// Creates a constraint conflict.
        public init(names: [String], stored: Row?, conflictingIDs: [NSManagedObjectID]) {
            self.names = names
            self.stored = stored
            self.conflictingIDs = conflictingIDs
        }
    }

    /// The version conflicts.
    public var versions: [Version]
    /// The constraint conflicts.
    public var constraints: [Constraint] = []

    /// Creates an error with version conflicts.
    public init(_ versions: [Version]) { self.versions = versions }

    /// Creates an error with constraint conflicts.
    public init(_ constraints: [Constraint]) {
        versions = []
        self.constraints = constraints
    }
}

/// Provides the current rows of a store for detecting conflicts. ``StoredRows`` conforms.
@_spi(Stores) public protocol ConflictFinding {
    /// Returns the current state of a row if it can be determined cheaply. `.unknown` is not a conflict.
    func latestRow(for id: NSManagedObjectID) throws -> LatestRow
    /// Returns the rows that have the values of a uniqueness constraint.
    func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) throws -> [Row]
}

/// The current state of an object's row, as far as a store knows it.
@_spi(Stores) public enum LatestRow: Sendable {
    /// The state cannot be determined cheaply.
    case unknown
    /// The row was deleted.
    case deleted
    /// The current row.
    case row(Row)
}

extension ConflictFinding {
    /// Throws if others have saved or deleted objects of the save since they were read, or restored objects that this save restores.
    ///
    /// - Throws: ``StoreConflicts``.
    public func checkVersions(_ changes: StoreChangeSet) throws {
        var conflicts: [StoreConflicts.Version] = []
        for part in [changes.updated, changes.deleted, changes.locked] {
            // By index: a change that is copied out of the list retains everything that it holds.
            for index in part.indices {
                guard let version = part[index].baseVersion else { continue }
                let id = part[index].objectID
                switch try latestRow(for: id) {
                case .unknown: continue
                case .deleted: conflicts.append(.init(id, stored: nil))
                case .row(let row): if row.version != version { conflicts.append(.init(id, stored: row)) }
                }
            }
        }
        for id in changes.returning {
            if case .row(let row) = try latestRow(for: id) { conflicts.append(.init(id, stored: row)) }
        }
        if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
    }

    /// Throws if objects of the save violate a uniqueness constraint, with each other or with an object in the store.
    ///
    /// - Throws: ``StoreConflicts``.
    public func checkUniqueness(_ changes: StoreChangeSet) throws {
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
                        let claim = UniquenessClaim(constraint: constraint, key: UniqueValues(key))
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
            let conflictingIDs = claims[claim] ?? []
            let moved = moved[ObjectIdentifier(claim.constraint)] ?? []
            let owner = try owners(of: claim.constraint, claim.key.values).first { row in
                guard let id = row.objectID else { return false }
                return !deleted.contains(id) && !moved.contains(id)
            }
            if owner == nil, conflictingIDs.count < 2 { return nil }
            return StoreConflicts.Constraint(names: claim.constraint.names, stored: owner, conflictingIDs: conflictingIDs)
        }
        if !conflicts.isEmpty { throw StoreConflicts(conflicts) }
    }
}

/// The values of a uniqueness constraint that an object has.
private struct UniquenessClaim: Hashable {
    let constraint: UniquenessConstraint
    let key: UniqueValues

    static func == (left: UniquenessClaim, right: UniquenessClaim) -> Bool { left.constraint === right.constraint && left.key == right.key }
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(constraint))
        hasher.combine(key)
    }
}
