internal import Foundation
internal import Logging
internal import Predicates

/// Updates the results of a fetch with the changes of its context.
///
/// The cost of a change depends on the changed objects only: the predicate is evaluated for them, and each finds its place in a
/// logarithmic number of comparisons. Requests that cannot be updated this way (with a limit, an offset, or without pending changes) are fetched
/// again if a change concerns them: at once, or when the queue is free if a store queries others. After a merge or a save the results are those of a
/// fresh fetch; see ``contextDidMerge(_:)``.
// Used on the context's queue only, on which the notifications that lead here are posted.
final class FetchedResultsTracker: @unchecked Sendable {
    let context: NSManagedObjectContext
    private(set) var contents: FetchedContents?
    /// Called before a change of the contents; nil while the contents are not updated.
    var willChange: (() -> Void)?
    var didChange: ((FetchedChanges) -> Void)?
    /// Called when an update failed or the contents became invalid.
    var didFail: (() -> Void)?
    /// The error of the last update; the next change fetches again.
    private(set) var error: (any Error)?

    private(set) var request: NSFetchRequest<any NSFetchRequestResult>?
    private var predicate: CompiledPredicate?
    private var sort: CompiledSortKeys?
    private var sectionKeyPath: String?
    /// The objects and key paths that decide about the results.
    private(set) var reach: RequestReach?
    /// Whether changes were missed, so that the contents cannot be updated.
    private(set) var isBehind = false
    /// Whether the tracker itself is fetching: the answer includes what the fetch refreshes.
    private var isFetching = false
    /// The registered objects that a merge has changed, until the end of the merge is announced.
    var merging = MergingObjects()
    /// The changes to look up when the queue is free; nil if there are none.
    var due: DueChanges?
    private var tokens: [any NSObjectProtocol] = []
    private var knownObjects: [NSManagedObject]?
    /// The pages of results that are read page by page; nil if all results are here.
    private(set) var pages: FetchedPages?

    init(_ context: NSManagedObjectContext) { self.context = context }

    deinit {
        stopListening()
        pages?.cancel()
    }

    // MARK: Fetching

    /// Fetches and stores the results. On failure the contents are unchanged.
    ///
    /// - Parameter scrolls: Whether the first page suffices, if the store can read the others on demand.
    func fetch(
        _ request: NSFetchRequest<any NSFetchRequestResult>, sectionKeyPath: String?, cacheName: String? = nil, scrolls: Bool = false
    ) throws {
        context.processPendingChanges()
        let naming = try cacheName.map { try SectionNaming(context, request, sectionKeyPath: sectionKeyPath, cacheName: $0) }
        let pages = scrolls && cacheName == nil ? try FetchedPages(request, in: context) : nil
        let fetched = try asking { try pages?.first() ?? context.fetchObjects(context.query(for: request)) }
        let entity = request.knownEntity
        let reach = try RequestReach(context.query(for: request), sectionKeyPath: sectionKeyPath)
        let schema = entity.frozen!.schema
        let predicate = try context.resolvingContextValues(in: request.predicate, of: entity)?.compiled(for: schema)
        let sort = try CompiledSortKeys(request.sortDescriptors ?? [], for: schema)
        let contents = try FetchedContents(
            fetched, sort: sort, sortKeys: Self.sortKeys(request), sectionKeyPath: sectionKeyPath, naming: naming)
        naming?.keep(contents)
        self.pages?.cancel()
        self.pages = pages
        self.contents = contents
        self.request = request
        self.predicate = predicate
        self.sort = sort
        self.sectionKeyPath = sectionKeyPath
        self.reach = reach
        isBehind = false
        error = nil
        due = nil
        merging = MergingObjects()
        knownObjects = fetched
        listen()
    }

    /// Returns the properties that the order reads; nil if code determines it.
    private static func sortKeys(_ request: NSFetchRequest<any NSFetchRequestResult>) -> Set<String>? {
        var names: Set<String> = []
        for descriptor in request.sortDescriptors ?? [] {
            guard let key = descriptor.key, let name = key.split(separator: ".").first, name != "self" else { return nil }
            names.insert(String(name))
        }
        return names
    }

    /// Fetches for the results: the answer includes the changes that are announced meanwhile.
    func asking<Result>(_ body: () throws -> Result) rethrows -> Result {
        let wasFetching = isFetching
        isFetching = true
        defer { isFetching = wasFetching }
        return try body()
    }

    /// The objects in order.
    var objects: [NSManagedObject] {
        if let knownObjects { return knownObjects }
        let objects = contents?.objects.nodes.map(\.object) ?? []
        knownObjects = objects
        return objects
    }

    var mustFetchAgain: Bool {
        guard let request else { return false }
        return isBehind || error != nil || request.fetchLimit > 0 || request.fetchOffset > 0 || !request.includesPendingChanges
    }

    // MARK: Changes of the context

    private func listen() {
        stopListening()
        func observe(_ name: Notification.Name, _ action: @escaping @Sendable (FetchedResultsTracker, Notification) -> Void) {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] notification in
                    if let self { action(self, notification) }
                })
        }
        observe(.NSManagedObjectContextObjectsDidChange) { $0.contextDidChange($1) }
        observe(.NSManagedObjectContextDidMergeChangesObjectIDs) { $0.contextDidMerge($1) }
        // If only saved values count, the contents change at the save; so do results that a fetch finds through related objects.
        if request?.includesPendingChanges == false || reach.map({ $0.isOpaque || !$0.paths.isEmpty }) == true {
            observe(.NSManagedObjectContextDidSave) { $0.contextDidSave($1) }
        }
    }

    private func stopListening() {
        tokens.forEach(NotificationCenter.default.removeObserver)
        tokens = []
    }

    private func contextDidChange(_ notification: Notification) {
        guard contents != nil, let info = notification.userInfo else { return }
        if info[NSInvalidatedAllObjectsKey] != nil {
            // All objects were invalidated; the caller must fetch again.
            isBehind = true
            stopListening()
            didFail?()
            return
        }
        guard isFollowed() else { return }
        func objects(_ keys: String...) -> [NSManagedObject] {
            keys.flatMap { info[$0] as? Set<NSManagedObject> ?? [] }
        }
        let gone = objects(NSDeletedObjectsKey, "invalidated")
        let changed = objects(NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey)
        if context.isMerging { return merging.add(changed: changed, gone: gone) }
        if isFetching { return }
        if mustFetchAgain {
            guard let reach, isBehind || error != nil || (changed + gone).contains(where: { reach.includes($0.owningEntity) }) else {
                return
            }
            fetchAgainInTime(touched: changed)
        } else {
            apply(changed: changed + objectsWithUnknownKeys, gone: gone)
        }
    }

    /// Returns whether the changes have an observer; if not, the contents are outdated from now on.
    func isFollowed() -> Bool {
        if willChange != nil || didChange != nil { return true }
        isBehind = true
        return false
    }

    /// The objects that changed since the context's last notification and whose old sort keys are unknown; they are reinserted at once.
    private var objectsWithUnknownKeys: [NSManagedObject] {
        context.eventObjects.filter { contents?.node(of: $0).map { $0.keys == nil } ?? false }
    }

    /// The effect of a change on the contents, determined before it is applied.
    struct Plan {
        var leaving: [FetchedNode] = []
        var moving: [(node: FetchedNode, replacement: FetchedNode)] = []
        var staying: [FetchedNode] = []
        var coming: [FetchedNode] = []
        var isEmpty: Bool { leaving.isEmpty && moving.isEmpty && staying.isEmpty && coming.isEmpty }
    }

    /// - Parameters:
    ///   - changed: The objects that have changed.
    ///   - gone: The deleted objects.
    ///   - judged: Objects that a fetch has judged, and whether they match; the predicate is evaluated for the others.
    func plan(changed: [NSManagedObject], gone: [NSManagedObject], judged: [ObjectIdentifier: Bool] = [:]) throws -> Plan {
        var plan = Plan()
        guard let contents, let reach else { return plan }
        plan.leaving = gone.compactMap(contents.node)
        var seen = Set(gone.map(ObjectIdentifier.init))
        var new: [NSManagedObject] = []
        for object in changed where seen.insert(ObjectIdentifier(object)).inserted && reach.includes(object.owningEntity) {
            let exists = !object.isDeleted && object.registry === context.registry
            let matches =
                try exists
                && (judged[ObjectIdentifier(object)] ?? predicate?.matches(object.subject(reading: reach.predicateAttributes)) ?? true)
            switch (contents.node(of: object), matches) {
            case (nil, false): break
            case (nil, true): new.append(object)
            case (let node?, false): plan.leaving.append(node)
            case (let node?, true):
                if try contents.staysInPlace(node) {
                    plan.staying.append(node)
                } else {
                    plan.moving.append((node, try contents.makeNode(object, sequence: node.sequence)))
                }
            }
        }
        // A set is unordered.
        new.sort { $0.precedesAsNewcomer($1) }
        for (number, object) in new.enumerated() {
            plan.coming.append(try contents.makeNode(object, sequence: contents.nextSequence + number))
        }
        return plan
    }

    private func apply(changed: [NSManagedObject], gone: [NSManagedObject]) {
        do {
            apply(try plan(changed: changed, gone: gone))
        } catch {
            note(error)
        }
    }

    func apply(_ plan: Plan) {
        if plan.isEmpty { return }
        willChange?()
        var record = FetchedChangeRecord()
        record.inPlace = plan.staying.map { ($0, $0.place) }
        let departing = plan.leaving + plan.moving.map(\.node)
        record.departures = departing.map { FetchedChangeRecord.Departure(object: $0.object, section: $0.section, place: $0.place) }
        for (node, departure) in zip(departing, record.departures) {
            guard let section = contents?.remove(node) else { continue }
            record.sectionDepartures.append((section, departure.place.indexPath.section))
        }
        for node in plan.moving.map(\.replacement) + plan.coming {
            do {
                if let section = try contents?.insert(node) { record.sectionArrivals.append(section) }
                record.arrivals.append(node)
            } catch {
                // It has no place: it is missing from the results until they are fetched again.
                note(error)
            }
        }
        knownObjects = nil
        didChange?(record.changes())
    }

    func note(_ error: any Error) {
        Log.context.error("Fetched results could not be kept up to date: \(error)")
        self.error = error
        didFail?()
    }

    // MARK: Scrolling

    /// Reads the next page, if there is one.
    func readOn() {
        guard let pages else { return }
        pages.readOn { [weak self, weak pages] result in
            guard let self, let pages, self.pages === pages else { return }
            switch result {
            case .success(let (objects, gone)): self.extend(by: objects, without: gone)
            case .failure(let error): Log.context.error("The next results of a fetch could not be read: \(error)")
            }
        }
    }

    /// Reads the next page once a place is within the last one.
    func didReach(_ indexPath: IndexPath) {
        guard let pages, !pages.isAtEnd, pages.task == nil, let contents, indexPath.count == 2 else { return }
        let sections = contents.sections.nodes
        guard indexPath.section == sections.count - 1 else { return }
        if indexPath.row + pages.size >= sections[indexPath.section].count { readOn() }
    }

    /// Adds the objects of a further page. Objects that are in the list keep their place, except former results that do not match any more.
    private func extend(by objects: [NSManagedObject], without gone: [NSManagedObjectID]) {
        guard let contents, !isBehind else { return }
        do {
            var plan = Plan()
            plan.leaving = gone.compactMap { context.registry.object(with: $0) }.filter { !$0.hasChanges }.compactMap(contents.node)
            for object in objects where contents.node(of: object) == nil && !object.isDeleted {
                plan.coming.append(try contents.makeNode(object, sequence: contents.nextSequence + plan.coming.count))
            }
            apply(plan)
        } catch {
            note(error)
        }
    }

    // MARK: Fetching again

    /// Fetches again and reports the differences.
    ///
    /// - Parameter touched: The objects whose values have changed.
    func fetchAgain(touched: [NSManagedObject]) {
        guard let request, let sort else { return }
        do {
            // Pending changes may lead here, and change the contents.
            context.processPendingChanges()
            let fetched = try asking { try context.fetchObjects(context.query(for: request).following()) }
            guard let before = contents else { return }
            let after = try FetchedContents(fetched, sort: sort, sortKeys: Self.sortKeys(request), sectionKeyPath: sectionKeyPath)
            isBehind = false
            error = nil
            // All of them.
            pages?.cancel()
            pages = nil
            let record = FetchedChangeRecord.replacing(before, by: after, touched: Set(touched.map(ObjectIdentifier.init)))
            let changes = record.changes()
            if changes.isEmpty { return }
            willChange?()
            contents = after
            knownObjects = fetched
            didChange?(changes)
        } catch {
            note(error)
        }
    }
}

extension NSManagedObject {
    /// Returns whether this object comes before another one with equal sort keys that has joined the results with it: saved objects in the
    /// order of their IDs, then new ones in the order of their insertion.
    fileprivate func precedesAsNewcomer(_ other: NSManagedObject) -> Bool {
        if isInserted != other.isInserted { return other.isInserted }
        if isInserted { return listIndex < other.listIndex }
        let (own, others) = (objectID, other.objectID)
        if own.number != nil, others.number != nil { return own.key < others.key }
        return own.uriRepresentation().absoluteString < others.uriRepresentation().absoluteString
    }
}

extension FetchedChangeRecord {
    /// Returns the record of one content replacing another.
    fileprivate static func replacing(
        _ before: FetchedContents, by after: FetchedContents, touched: Set<ObjectIdentifier>
    ) -> FetchedChangeRecord {
        var record = FetchedChangeRecord()
        record.touched = touched
        record.departures = before.objects.nodes.map { Departure(object: $0.object, section: $0.section, place: $0.place) }
        record.arrivals = after.objects.nodes
        // The single section of results without section names always exists.
        if before.isSectioned {
            record.sectionDepartures = before.sections.nodes.enumerated().map { ($1, $0) }
            record.sectionArrivals = after.sections.nodes
        }
        record.isSectioned = before.isSectioned
        return record
    }
}
