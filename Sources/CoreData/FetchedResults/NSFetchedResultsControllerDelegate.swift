public import Foundation

/// What has happened to an object or section of fetched results.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It is new.
    case insert = 1
    /// It is gone.
    case delete = 2
    /// It has another place among the others.
    case move = 3
    /// It has changed and kept its place.
    case update = 4
}

/// A section of fetched results.
public protocol NSFetchedResultsSectionInfo {
    /// The name of the section; empty where there is no section key path.
    var name: String { get }
    /// What stands for the section in an index.
    var indexTitle: String? { get }
    /// How many objects there are in the section.
    var numberOfObjects: Int { get }
    /// The objects of the section, in order.
    var objects: [Any]? { get }
}

/// Learns of changes to the results of an ``NSFetchedResultsController``.
///
/// Every method is called on the queue of the controller's context and has an implementation that does nothing. A delegate that takes
/// snapshots is asked nothing else; one that takes differences, and whose controller has no section key path, is asked nothing but that.
///
/// The controller that is passed is erased: it shows the same results as the typed one, is equal to it by `==`, and is another instance.
///
/// Source: [NSFetchedResultsControllerDelegate](https://developer.apple.com/documentation/coredata/nsfetchedresultscontrollerdelegate).
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    /// The results have changed; this is all of them. Also called by `performFetch()`.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: FetchedResultsSnapshot)

    /// The results have changed by this difference. Called only where there is no section key path.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

    /// The results are about to change; they are still as they were.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// A section is new or gone. Called before the objects are told of.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - sectionInfo: the section.
    ///   - sectionIndex: the index of a new section among all that are there now, or of one that is gone among all that were there.
    ///   - type: insert or delete.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// An object is new, gone, changed or moved.
    ///
    /// - Parameters:
    ///   - controller: the controller.
    ///   - anObject: the object.
    ///   - indexPath: where it was before all changes; nil for a new one.
    ///   - type: what has happened.
    ///   - newIndexPath: where it is after all changes; nil for one that is gone.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes have been told.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// What stands for a section in an index.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String?
}

extension NSFetchedResultsControllerDelegate {
    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChangeContentWith snapshot: FetchedResultsSnapshot
    ) { controller.relay.delegateTakesSnapshots = false }

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) { controller.relay.delegateTakesDifferences = false }

    /// Does nothing.
    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

    /// Answers with the controller's own title.
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String? { controller.sectionIndexTitle(forSectionName: sectionName) }
}
