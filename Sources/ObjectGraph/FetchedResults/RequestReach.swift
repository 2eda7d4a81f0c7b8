internal import Foundation
internal import Predicates

/// The objects that decide about the results of a request: those of its entity, and those that its key paths reach.
struct RequestReach {
    /// A key path over relationships, to objects that the request reads.
    struct Path {
        let keyPath: [String]
        /// The entity of these objects.
        let destination: NSEntityDescription
        /// Whether one of the relationships is to many.
        let isToMany: Bool
    }

    private let entity: NSEntityDescription
    private let includesSubentities: Bool
    /// The key paths, the shorter ones first.
    let paths: [Path]
    /// Whether code decides, which may read any object.
    let isOpaque: Bool
    /// The attributes that the predicate reads; nil if it may read others.
    let predicateAttributes: Set<String>?

    init(_ query: StoreQuery, sectionKeyPath: String?) throws {
        entity = query.entity
        includesSubentities = query.includesSubentities
        var reader = NeedsReader(query.entity)
        var isOpaque = false
        let tree = try query.predicateTree()
        predicateAttributes = tree?.attributesItReads
        if let tree {
            var shape = PredicateShape { _, _, _ in }
            shape.append(tree)
            isOpaque = shape.isUnique
            reader.add(tree)
        }
        for descriptor in query.sortDescriptors {
            if let key = descriptor.key { reader.add(path: key) } else { isOpaque = true }
        }
        if let sectionKeyPath { reader.add(path: sectionKeyPath) }
        self.isOpaque = isOpaque
        paths = Self.paths(reader.needs, from: query.entity, [], false)
    }

    private static func paths(_ needs: Needs, from entity: NSEntityDescription, _ start: [String], _ isToMany: Bool) -> [Path] {
        needs.relationships.sorted { $0.key < $1.key }.flatMap { name, inner -> [Path] in
            let relationship = entity.allKinds.lazy.compactMap { $0.frozenParts.byName[name] as? NSRelationshipDescription }.first
            guard let relationship, let destination = relationship.destinationEntity else { return [] }
            let path = Path(keyPath: start + [name], destination: destination, isToMany: isToMany || relationship.isToMany)
            return [path] + paths(inner, from: destination, path.keyPath, path.isToMany)
        }
    }

    /// Whether objects of an entity may be results.
    func includes(_ kind: NSEntityDescription) -> Bool { includesSubentities ? kind.isKindOf(entity: entity) : kind === entity }
}

/// The changes of a merge or a save, as far as they concern a request.
struct ReachedChanges {
    /// The results that may have been added, changed, or removed because of their values.
    private(set) var own: [NSManagedObjectID] = []
    /// By the number of a path: the objects at its end that have changed.
    private(set) var reached: [Int: [NSManagedObjectID]] = [:]
    /// Whether the changed objects do not reveal which results they concern: the owners that have lost one of them are unknown.
    private(set) var concernsAll = false
    /// Whether no change concerns the request.
    private(set) var isEmpty = true

    init(_ reach: RequestReach, changed: some Sequence<NSManagedObjectID>, deleted: some Sequence<NSManagedObjectID>) {
        for id in changed { add(id, reach, isDeleted: false) }
        for id in deleted { add(id, reach, isDeleted: true) }
    }

    /// Leaves out the results themselves.
    mutating func forgetOwn() {
        own = []
        isEmpty = reached.isEmpty && !concernsAll
    }

    private mutating func add(_ id: NSManagedObjectID, _ reach: RequestReach, isDeleted: Bool) {
        let kind = id.owningEntity
        if reach.isOpaque { concernsAll = true }
        if reach.includes(kind) {
            if !isDeleted { own.append(id) }
            isEmpty = false
        }
        for (number, path) in reach.paths.enumerated() where kind.isKindOf(entity: path.destination) {
            reached[number, default: []].append(id)
            if path.isToMany || isDeleted { concernsAll = true }
        }
        if concernsAll || !reached.isEmpty { isEmpty = false }
    }
}
