internal import Foundation
internal import Predicates

/// The registered objects that a merge has changed.
struct MergingObjects {
    private(set) var changed: [NSManagedObject] = []
    private(set) var gone: [NSManagedObject] = []

    mutating func add(changed: [NSManagedObject], gone: [NSManagedObject]) {
        self.changed += changed
        self.gone += gone
    }

    mutating func take() -> MergingObjects {
        defer { self = MergingObjects() }
        return self
    }
}

/// The changes to look up when the queue is free, because a store queries a service for them.
struct DueChanges {
    var touched: [NSManagedObject] = []
    var own: Set<NSManagedObjectID> = []
    var reached: [Int: [NSManagedObjectID]] = [:]
    /// Whether everything must be fetched again.
    var isWhole = false
}

/// Following merges and saves: afterwards, the results are those of a fresh fetch.
///
/// The predicate is evaluated for changed objects whose values are known. One limited fetch decides about objects that this context has not
/// registered, and about those that are found through a changed related object. If the changes do not reveal which results they concern, everything
/// is fetched once. A store that queries others, such as a service, is queried when the queue is free, once for all changes until then.
extension FetchedResultsTracker {
    /// So many objects are judged one by one; more are fetched with all others.
    private static let mostJudged = 500

    func contextDidMerge(_ notification: Notification) {
        let objects = merging.take()
        guard contents != nil, let reach, let info = notification.userInfo, isFollowed() else { return }
        typealias Key = NSManagedObjectContext.NotificationKey
        func ids(_ keys: Key...) -> [NSManagedObjectID] { keys.flatMap { info[$0.rawValue] as? Set<NSManagedObjectID> ?? [] } }
        let changes = ReachedChanges(
            reach, changed: ids(.insertedObjectIDs, .updatedObjectIDs, .refreshedObjectIDs), deleted: ids(.deletedObjectIDs))
        take(objects, changes)
    }

    /// The results already contain the context's own saved changes, except those that a fetch finds through related objects, or only in the stores.
    func contextDidSave(_ notification: Notification) {
        guard contents != nil, let reach, let request, let info = notification.userInfo, isFollowed() else { return }
        func objects(_ keys: String...) -> [NSManagedObject] { keys.flatMap { info[$0] as? Set<NSManagedObject> ?? [] } }
        let (changed, gone) = (objects(NSInsertedObjectsKey, NSUpdatedObjectsKey), objects(NSDeletedObjectsKey))
        var changes = ReachedChanges(reach, changed: changed.map(\.objectID), deleted: gone.map(\.objectID))
        if request.includesPendingChanges { changes.forgetOwn() }
        var saved = MergingObjects()
        if !request.includesPendingChanges { saved.add(changed: changed, gone: gone) }
        take(saved, changes)
    }

    /// Updates the results to those of a fresh fetch.
    private func take(_ objects: MergingObjects, _ changes: ReachedChanges) {
        guard let request, let reach else { return }
        let concerns = !changes.isEmpty || (objects.changed + objects.gone).contains { reach.includes($0.owningEntity) }
        guard concerns || isBehind || error != nil else { return }
        do {
            let asksOthers = try context.asksOthers(context.query(for: request))
            if mustFetchAgain || changes.concernsAll { return fetchAgain(touched: objects.changed, asksOthers: asksOthers) }
            let (known, unknown) = context.splitByValues(objects.changed + context.objects(with: changes.own))
            if asksOthers || unknown.isEmpty && changes.reached.isEmpty {
                apply(try plan(changed: known, gone: objects.gone))
                if unknown.isEmpty, changes.reached.isEmpty { return }
                return postpone { due in
                    due.own.formUnion(unknown.map(\.objectID))
                    due.reached.merge(changes.reached) { $0 + $1 }
                }
            }
            try judge(unknown, changes.reached, known: known, gone: objects.gone)
        } catch {
            note(error)
        }
    }

    /// Fetches again: at once, or when the queue is free if a store queries others, because a notification must not cause a request from within.
    func fetchAgainInTime(touched: [NSManagedObject]) {
        guard let request else { return }
        do {
            fetchAgain(touched: touched, asksOthers: try context.asksOthers(context.query(for: request)))
        } catch {
            note(error)
        }
    }

    private func fetchAgain(touched: [NSManagedObject], asksOthers: Bool) {
        if !asksOthers { return fetchAgain(touched: touched) }
        postpone { due in
            due.isWhole = true
            due.touched += touched
        }
    }

    /// Determines by fetches whether objects are results.
    ///
    /// - Parameters:
    ///   - unknown: Objects whose values are not known here.
    ///   - reached: The changed objects at the ends of the paths of the request.
    ///   - known: Objects whose values are known.
    ///   - gone: The deleted objects.
    private func judge(
        _ unknown: [NSManagedObject], _ reached: [Int: [NSManagedObjectID]], known: [NSManagedObject], gone: [NSManagedObject]
    ) throws {
        guard let request, let reach else { return }
        let query = try context.query(for: request).following().sorted(by: []).with(fetchOffset: 0, fetchLimit: 0).withoutPrefetching()
        var candidates = unknown
        try asking {
            for (number, ids) in reached.sorted(by: { $0.key < $1.key }) {
                let reaches = PredicateTree.compare(.keyPath(reach.paths[number].keyPath), .isIn, .objects(ids))
                candidates += try context.fetchObjects(query.with(predicate: NSPredicate(tree: reaches)))
            }
        }
        var seen: Set<ObjectIdentifier> = []
        candidates = candidates.filter { seen.insert(ObjectIdentifier($0)).inserted }
        if candidates.count > Self.mostJudged { return fetchAgain(touched: known + candidates) }
        let own = PredicateTree.compare(.evaluatedObject, .isIn, .objects(candidates.map(\.objectID)))
        let tree = try query.predicateTree().map { PredicateTree.and([$0, own]) } ?? own
        let matching = candidates.isEmpty ? [] : try asking { try context.fetchObjects(query.with(predicate: NSPredicate(tree: tree))) }
        let matches = Set(matching.map(ObjectIdentifier.init))
        // Bounded: each candidate is there once, as was looked at.
        let judged = Dictionary(uniqueKeysWithValues: candidates.map { (ObjectIdentifier($0), matches.contains(ObjectIdentifier($0))) })
        apply(try plan(changed: known + candidates, gone: gone, judged: judged))
    }

    /// Notes changes to look up when the queue is free.
    private func postpone(_ note: (inout DueChanges) -> Void) {
        var changes = due ?? DueChanges()
        note(&changes)
        if due == nil { context.perform { [weak self] in self?.takeDue() } }
        due = changes
    }

    private func takeDue() {
        guard let changes = due else { return }
        due = nil
        guard contents != nil, isFollowed() else { return }
        if changes.isWhole || mustFetchAgain { return fetchAgain(touched: changes.touched) }
        do {
            try judge(context.objects(with: Array(changes.own)), changes.reached, known: [], gone: [])
        } catch {
            note(error)
        }
    }
}

extension NSManagedObjectContext {
    /// Returns whether a store that answers a query queries others for it.
    fileprivate func asksOthers(_ query: StoreQuery) -> Bool {
        var root = self
        while let parent = root.parent { root = parent }
        let stores = root.persistentStoreCoordinator?.stores(answering: query) ?? []
        return stores.contains { ($0.interface as? any AsynchronousStore)?.asksOthers ?? false }
    }

    /// Splits objects into those whose values are known without a query, and the others.
    fileprivate func splitByValues(_ objects: [NSManagedObject]) -> (known: [NSManagedObject], unknown: [NSManagedObject]) {
        var parts = (known: [NSManagedObject](), unknown: [NSManagedObject]())
        for object in objects {
            let id = object.objectID
            let isKnown = !object.isFault || object.hasChanges || parent == nil && id.persistentStore?.knownRow(of: id, in: self) != nil
            if isKnown { parts.known.append(object) } else { parts.unknown.append(object) }
        }
        return parts
    }
}

extension ExpressionTree {
    /// A constant collection of objects.
    fileprivate static func objects(_ ids: [NSManagedObjectID]) -> ExpressionTree {
        .constant(.array(ids.map { .object(ObjectReference($0)) }))
    }
}
