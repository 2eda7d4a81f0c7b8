public import Foundation

/// The results of a fetch, in sections, kept up to date with the changes of a context, for lists and for whoever wants to know what changes.
///
/// Set a ``delegate`` before `performFetch()`. While there is none, the results stay as they were fetched. A change costs what has
/// changed: the predicate is evaluated for those objects only, and each finds its place by a logarithmic number of comparisons. As on
/// Apple's platforms an object is looked at when it has changed itself: what a predicate, a sort descriptor or a section name takes from a
/// related object counts when the object itself changes too. Results with a limit or an offset are fetched again at each change.
///
/// Use it on the context's queue.
///
/// Source: [NSFetchedResultsController](https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller).
open class NSFetchedResultsController<ResultType>: NSObject {
    /// The fetch. What is changed in it counts from the next ``performFetch()`` on.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// The context whose changes count.
    public let managedObjectContext: NSManagedObjectContext
    /// The key path of the section names; nil for one section.
    public let sectionNameKeyPath: String?
    /// The name of the cache of the sections; nil for none.
    ///
    /// A cache holds the names and sizes of the sections. ``performFetch()`` takes them from there, instead of reading the section name of
    /// every object, where nothing is unsaved in the context and its stores say that they hold what they held then: the in-memory store and
    /// atomic stores can tell, and the latter, by their file, also to the next run of the program. Stores that cannot tell are asked each time.
    ///
    /// One name is for one request: where entity, predicate, order or section key path have changed, ``performFetch()`` throws until
    /// ``deleteCache(withName:)`` is called. What an earlier run of the program has left is replaced.
    public let cacheName: String?
    final let relay: FetchedResultsRelay
    private weak var erased: NSFetchedResultsController<any NSFetchRequestResult>?

    /// Who is told of changes. Called on the context's queue.
    ///
    /// A delegate that is set after `performFetch()` and takes snapshots is given one at once.
    open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { relay.delegate }
        set { relay.delegate = newValue }
    }

    /// Why the results could not be kept up to date with a change, such as a store that failed; nil when all is well. The next change makes them
    /// be fetched again. Not in Apple's API.
    public var trackingError: (any Error)? { relay.tracker.error }

    /// Makes a controller. Nothing is fetched before ``performFetch()``.
    ///
    /// - Parameters:
    ///   - fetchRequest: the fetch. It must have a sort descriptor; with sections, the first must group the objects by section.
    ///   - context: the context to fetch in.
    ///   - sectionNameKeyPath: the key path of the section names, nil for one section.
    ///   - name: the name of a cache, nil for none; see ``cacheName``.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext, sectionNameKeyPath: String?,
        cacheName name: String?
    ) {
        self.fetchRequest = fetchRequest
        managedObjectContext = context
        self.sectionNameKeyPath = sectionNameKeyPath
        cacheName = name
        relay = FetchedResultsRelay(context, hasSections: sectionNameKeyPath != nil)
        super.init()
        relay.indexTitle = { [weak self] in self?.sectionIndexTitle(forSectionName: $0) }
        relay.erasedController = { [weak self] in self?.erasedController() }
    }

    /// Makes the controller that a delegate sees.
    fileprivate init(
        sharing relay: FetchedResultsRelay, _ request: NSFetchRequest<ResultType>, sectionNameKeyPath: String?, cacheName: String?
    ) {
        fetchRequest = request
        managedObjectContext = relay.tracker.context
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
        self.relay = relay
        super.init()
    }

    private func erasedController() -> NSFetchedResultsController<any NSFetchRequestResult> {
        if let controller = self as? NSFetchedResultsController<any NSFetchRequestResult> { return controller }
        if let erased { return erased }
        let controller = ErasedResultsController(
            sharing: relay, fetchRequest.erased(), sectionNameKeyPath: sectionNameKeyPath, cacheName: cacheName)
        erased = controller
        return controller
    }

    /// Fetches. Call it before anything else, and again after the request has changed or the context was reset.
    ///
    /// A delegate that takes snapshots is given one; one that takes differences, an empty one.
    ///
    /// - Throws: an error for a request without sort descriptors or of another result type than managed objects, and for objects that are not
    ///   sorted by the section key path; code 134060 for a cache of another request, see ``cacheName``; else as `NSManagedObjectContext.fetch`. The former results stay then.
    open func performFetch() throws {
        managedObjectContext.checkQueue("performFetch() is called")
        try managedObjectContext.resolve(fetchRequest)
        let request = fetchRequest.erased().copy() as! NSFetchRequest<any NSFetchRequestResult>
        guard request.resultType == .managedObjectResultType else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetched results controller cannot fetch “\(request.entityName ?? "?")”.",
                reason: "The request asks for something else than managed objects.", next: "Set its resultType to .managedObjectResultType."
            )
        }
        guard !(request.sortDescriptors ?? []).isEmpty else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetched results controller cannot fetch “\(request.entityName ?? "?")”.",
                reason: "Its fetch request has no sort descriptors.", next: "Set sortDescriptors, so that the results have an order.")
        }
        if let wanted = ResultType.self as? NSManagedObject.Type, let entity = request.entity,
            !entity.allKinds.allSatisfy({ $0.managedObjectClass.isSubclass(of: wanted) })
        {
            throw CoreDataError.make(
                NSCoreDataError, "The fetched results controller cannot fetch “\(entity)”.",
                reason: "Not all of its objects are of the class \(ResultType.self).", next: "Check the entity's managedObjectClassName.")
        }
        try relay.tracker.fetch(request, sectionKeyPath: sectionNameKeyPath, cacheName: cacheName)
        relay.introduce()
    }

    /// Forgets what is cached under a name, or under all names where it is nil, also for the next run of the program. May be called on any thread.
    ///
    /// Call it before a request with a cache is changed.
    open class func deleteCache(withName name: String?) { FetchedSectionCache.shared.delete(name) }

    // MARK: Results

    /// The results in order; nil before the first fetch.
    open var fetchedObjects: [ResultType]? {
        guard relay.tracker.contents != nil else { return nil }
        let objects = relay.tracker.objects
        // The fetch has made sure that all are of the class: no object needs to be asked.
        if ResultType.self is NSManagedObject.Type { return uncheckedArray(objects, of: ResultType.self) }
        return objects.compactMap { $0 as? ResultType }
    }

    /// The object at an index path. One that is out of range stops the program with a message.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let node = relay.tracker.contents?.node(at: indexPath) else {
            preconditionFailure("The fetched results have no object at \(indexPath).")
        }
        guard let object = node.object as? ResultType else { preconditionFailure("\(node.object.objectID) is no \(ResultType.self).") }
        return object
    }

    /// The index path of an object; nil where it is not among the results.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        (object as? NSManagedObject).flatMap { relay.tracker.contents?.node(of: $0)?.place.indexPath }
    }

    // MARK: Sections

    /// The sections; nil before the first fetch. Without a section key path there is always one, with an empty name.
    open var sections: [any NSFetchedResultsSectionInfo]? { relay.tracker.contents?.sections.nodes.map(relay.info) }

    /// What stands for the sections in an index, each title once.
    open var sectionIndexTitles: [String] {
        var seen: Set<String> = []
        return (relay.tracker.contents?.sections.nodes ?? []).compactMap { relay.title(of: $0.name) }.filter { seen.insert($0).inserted }
    }

    /// What stands for a section in an index: the first letter of its name in upper case, unless overridden.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        sectionName.first.map { String($0).uppercased() }
    }

    /// The first section of an index title.
    ///
    /// A title that does not stand at the index stops the program with a message, where Apple's raises.
    ///
    /// - Parameters:
    ///   - title: the title.
    ///   - sectionIndex: its index among ``sectionIndexTitles``.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let shown = sectionIndexTitles
        let titles = (relay.tracker.contents?.sections.nodes ?? []).map { relay.title(of: $0.name) }
        guard shown.indices.contains(sectionIndex), shown[sectionIndex] == title, let section = titles.firstIndex(of: title) else {
            preconditionFailure("The index title at \(sectionIndex) is not “\(title)”: the titles are \(shown).")
        }
        return section
    }

    // MARK: Identity

    /// A controller equals itself, and the erased one that its delegate is shown.
    open override func isEqual(_ object: Any?) -> Bool { (object as? any ResultsSharing)?.sharedResults === relay }

    /// Equal controllers have equal hashes.
    open override var hash: Int { ObjectIdentifier(relay).hashValue }
}

/// What tells controllers of different result types that they are the same.
private protocol ResultsSharing {
    var sharedResults: FetchedResultsRelay { get }
}

extension NSFetchedResultsController: ResultsSharing {
    fileprivate var sharedResults: FetchedResultsRelay { relay }
}

/// The controller that a delegate sees: the results of a typed one.
private final class ErasedResultsController: NSFetchedResultsController<any NSFetchRequestResult> {
    override func sectionIndexTitle(forSectionName sectionName: String) -> String? { relay.indexTitle(sectionName) }
}
