public import Foundation
internal import Predicates

/// Manages the results of a fetch in sections and updates them with the changes of a context.
///
/// Set a ``delegate`` before `performFetch()`; without one, the results are not updated. The cost of a change depends on the changed
/// objects only: the predicate is evaluated for them, and each finds its place by a logarithmic number of comparisons. Results with a
/// limit or an offset are fetched again at each change that concerns them.
///
/// After each merge and each save, the results are those of a fresh fetch in the context. This includes an object that the context has not registered
/// and that matches now, and changes of related objects that the predicate, a sort descriptor or the section name reads. Between saves, an object is
/// evaluated when it changes itself, as on Apple's platforms. No list queries a service while a change is being announced: over a store with a cache
/// it follows the cache, and over a store without a cache it queries once, when the queue is free.
///
/// Use it on the context's queue.
///
/// Source: [NSFetchedResultsController](https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller).
open class NSFetchedResultsController<ResultType>: NSObject {
    /// The fetch request. Changes to it take effect at the next ``performFetch()``.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// The context that is fetched from and observed.
    public let managedObjectContext: NSManagedObjectContext
    /// The key path of the section names; nil for one section.
    public let sectionNameKeyPath: String?
    /// The name of the section cache; nil for none.
    ///
    /// A cache stores the names and sizes of the sections. ``performFetch()`` uses them instead of reading the section name of every
    /// object, provided that the context has no unsaved changes and its stores confirm that their contents are unchanged. The in-memory
    /// store and atomic stores can confirm this, atomic stores also in later runs of the program, by their file. For other stores the
    /// section names are read each time.
    ///
    /// A name belongs to one request: if its entity, predicate, order or section key path have changed, ``performFetch()`` throws until
    /// ``deleteCache(withName:)`` is called. A cache of an earlier run of the program is replaced.
    public let cacheName: String?
    final let relay: FetchedResultsRelay
    private weak var erased: NSFetchedResultsController<any NSFetchRequestResult>?

    /// The delegate, called on the context's queue.
    ///
    /// A delegate that is set after `performFetch()` and implements the snapshot method receives a snapshot at once.
    open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { relay.delegate }
        set { relay.delegate = newValue }
    }

    /// The error of the last update, such as that of a store; nil if it succeeded. The next change fetches the results again. Not in
    /// Apple's API.
    public var trackingError: (any Error)? { relay.tracker.error }

    /// Creates a controller. Nothing is fetched before ``performFetch()``.
    ///
    /// - Parameters:
    ///   - fetchRequest: The fetch request. It must have a sort descriptor; with sections, the first must group the objects by section.
    ///   - context: The context to fetch from.
    ///   - sectionNameKeyPath: The key path of the section names; nil for one section.
    ///   - name: The name of a cache; nil for none. See ``cacheName``.
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

    /// Creates the type-erased controller that a delegate sees.
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

    /// Executes the fetch. Call it first, and again after the request has changed or the context was reset.
    ///
    /// A delegate that implements the snapshot method receives a snapshot; one that implements the difference method receives an empty
    /// difference.
    ///
    /// - Throws: An error for a request without sort descriptors or with another result type than managed objects, and for objects that
    ///   are not sorted by the section key path; code 134060 for a cache of another request, see ``cacheName``; otherwise the errors of
    ///   `NSManagedObjectContext.fetch`. The previous results are kept then.
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
        guard request.sortDescriptors != nil else {
            throw CoreDataError.make(
                NSCoreDataError, "The fetched results controller cannot fetch “\(request.entityName ?? "?")”.",
                reason: "Its fetch request has no sort descriptors.",
                next: "Set sortDescriptors; an empty array leaves the order to the store.")
        }
        if let wanted = ResultType.self as? NSManagedObject.Type, let entity = request.entity,
            !entity.allKinds.allSatisfy({ $0.managedObjectClass.isSubclass(of: wanted) })
        {
            throw CoreDataError.make(
                NSCoreDataError, "The fetched results controller cannot fetch “\(entity)”.",
                reason: "Not all of its objects are of the class \(ResultType.self).", next: "Check the entity's managedObjectClassName.")
        }
        try relay.tracker.fetch(request, sectionKeyPath: sectionNameKeyPath, cacheName: cacheName, scrolls: true)
        relay.sendInitialContents()
    }

    /// Deletes the cache with a name, or all caches for nil, also for later runs of the program. Call it on any thread.
    ///
    /// Call it before you change a request that uses a cache.
    open class func deleteCache(withName name: String?) { FetchedSectionCache.shared.delete(name) }

    // MARK: Results

    /// The results in order; nil before the first fetch.
    open var fetchedObjects: [ResultType]? {
        guard relay.tracker.contents != nil else { return nil }
        let objects = relay.tracker.objects
        // The fetch guarantees the class of all objects, so none needs to be checked.
        if ResultType.self is NSManagedObject.Type { return uncheckedArray(objects, of: ResultType.self) }
        return objects.compactMap { $0 as? ResultType }
    }

    /// Returns the object at an index path. An index path out of range stops the program with a message.
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let node = relay.tracker.contents?.node(at: indexPath) else {
            stopProgram("The fetched results have no object at \(indexPath).")
        }
        guard let object = node.object as? ResultType else { stopProgram("\(node.object.objectID) is no \(ResultType.self).") }
        relay.tracker.didReach(indexPath)
        return object
    }

    /// Whether the store may have results that are not among the ``fetchedObjects`` yet. Not in Apple's API.
    ///
    /// A store over a network finds the results of a request with a `fetchBatchSize` page by page: ``performFetch()`` reads the first batch, and
    /// ``object(at:)`` within the last batch prefetches the next one. The delegate learns of new results, and of earlier results that the store no
    /// longer has, as of any change. If the store cannot do that, because the results are sorted in memory, everything is read first.
    public var mayHaveMoreObjects: Bool { relay.tracker.pages.map { !$0.isAtEnd } ?? false }

    /// Reads the next batch of results, or waits for the batch that is being prefetched. Not in Apple's API.
    ///
    /// - Throws: The error of the store; the next call retries.
    public func fetchMoreObjects(isolation: isolated (any Actor)? = #isolation) async throws {
        let tracker = relay.tracker
        let task = await managedObjectContext.perform { () -> Task<Void, any Error>? in
            tracker.readOn()
            return tracker.pages?.task
        }
        try await task?.value
    }

    /// Returns the index path of an object; nil if it is not among the results.
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        (object as? NSManagedObject).flatMap { relay.tracker.contents?.node(of: $0)?.place.indexPath }
    }

    // MARK: Sections

    /// The sections; nil before the first fetch. Without a section key path there is always one section, with an empty name.
    open var sections: [any NSFetchedResultsSectionInfo]? { relay.tracker.contents?.sections.nodes.map(relay.info) }

    /// The index titles of the sections, each once.
    open var sectionIndexTitles: [String] {
        var seen: Set<String> = []
        return (relay.tracker.contents?.sections.nodes ?? []).compactMap { relay.title(of: $0.name) }.filter { seen.insert($0).inserted }
    }

    /// Returns the index title of a section. The default is the first letter of its name in upper case.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        sectionName.first.map { String($0).uppercased() }
    }

    /// Returns the index of the first section with an index title.
    ///
    /// A title that is not at the index stops the program with a message; Apple's framework raises an exception.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - sectionIndex: The index of the title in ``sectionIndexTitles``.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        let shown = sectionIndexTitles
        let titles = (relay.tracker.contents?.sections.nodes ?? []).map { relay.title(of: $0.name) }
        guard shown.indices.contains(sectionIndex), shown[sectionIndex] == title, let section = titles.firstIndex(of: title) else {
            stopProgram("The index title at \(sectionIndex) is not “\(title)”: the titles are \(shown).")
        }
        return section
    }

    // MARK: Identity

    /// Returns whether the object is this controller, or the type-erased one that its delegate sees.
    open override func isEqual(_ object: Any?) -> Bool { (object as? any ResultsSharing)?.sharedResults === relay }

    /// The hash value, which is the same for equal controllers.
    open override var hash: Int { ObjectIdentifier(relay).hashValue }
}

/// Identifies controllers of different result types that share their results.
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
