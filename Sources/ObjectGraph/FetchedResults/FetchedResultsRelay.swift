internal import Foundation

/// The state shared by a typed controller and the type-erased one that its delegate sees: the results and the delegate.
final class FetchedResultsRelay {
    let tracker: FetchedResultsTracker
    let hasSections: Bool
    /// The index title of a section in the typed controller.
    var indexTitle: (String) -> String? = { $0.first.map { String($0).uppercased() } }
    /// The type-erased controller for the delegate.
    var erasedController: () -> NSFetchedResultsController<any NSFetchRequestResult>? = { nil }

    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet {
            delegateTakesSnapshots = true
            delegateTakesDifferences = true
            if delegate != nil { startNotifying() } else { stopNotifying() }
        }
    }
    /// Whether the delegate implements the method. True until a call reaches the default implementation.
    var delegateTakesSnapshots = true
    var delegateTakesDifferences = true

    init(_ context: NSManagedObjectContext, hasSections: Bool) {
        tracker = FetchedResultsTracker(context)
        self.hasSections = hasSections
    }

    private func startNotifying() {
        tracker.willChange = { [unowned self] in willChange() }
        tracker.didChange = { [unowned self] in didChange($0) }
        sendInitialContents()
    }

    private func stopNotifying() {
        tracker.willChange = nil
        tracker.didChange = nil
    }

    /// Passes the current results to the delegate, as a snapshot or an empty difference, and determines which of these methods it implements.
    func sendInitialContents() {
        guard let delegate, let contents = tracker.contents, let controller = erasedController() else { return }
        if delegateTakesSnapshots { delegate.controller(controller, didChangeContentWith: FetchedResultsSnapshot(contents)) }
        if delegateTakesSnapshots || hasSections || !delegateTakesDifferences { return }
        if let nothing = CollectionDifference<NSManagedObjectID>([]) { delegate.controller(controller, didChangeContentWith: nothing) }
    }

    private var sendsDifferences: Bool { !delegateTakesSnapshots && delegateTakesDifferences && !hasSections }

    private func willChange() {
        guard let delegate else { return stopNotifying() }
        guard !delegateTakesSnapshots, !sendsDifferences, let controller = erasedController() else { return }
        delegate.controllerWillChangeContent(controller)
    }

    private func didChange(_ changes: FetchedChanges) {
        guard let delegate, let controller = erasedController(), let contents = tracker.contents else { return }
        if delegateTakesSnapshots {
            let reloaded = (changes.updates + changes.moves).map(\.object)
            return delegate.controller(controller, didChangeContentWith: FetchedResultsSnapshot(contents, reloaded: reloaded))
        }
        if sendsDifferences { return delegate.controller(controller, didChangeContentWith: changes.difference) }
        for (section, index) in changes.deletedSections {
            delegate.controller(controller, didChange: info(section), atSectionIndex: index, for: .delete)
        }
        for (section, index) in changes.insertedSections {
            delegate.controller(controller, didChange: info(section), atSectionIndex: index, for: .insert)
        }
        func send(
            _ object: NSManagedObject, _ old: FetchedChanges.Position?, _ type: NSFetchedResultsChangeType, _ new: FetchedChanges.Position?
        ) {
            delegate.controller(controller, didChange: object, at: old?.indexPath, for: type, newIndexPath: new?.indexPath)
        }
        for (object, place) in changes.deletes { send(object, place, .delete, nil) }
        for (object, place) in changes.inserts { send(object, nil, .insert, place) }
        for move in changes.moves { send(move.object, move.from, .move, move.to) }
        for update in changes.updates { send(update.object, update.from, .update, update.to) }
        delegate.controllerDidChangeContent(controller)
    }

    func info(_ section: FetchedSection) -> any NSFetchedResultsSectionInfo {
        FetchedSectionInfo(section: section, indexTitle: title(of: section.name))
    }

    /// Returns the index title of a section: the delegate's, or else the controller's.
    func title(of name: String) -> String? {
        if let delegate, let controller = erasedController() {
            return delegate.controller(controller, sectionIndexTitleForSectionName: name)
        }
        return indexTitle(name)
    }
}

extension FetchedChanges {
    /// The changes as a difference of IDs; objects that changed in place are not part of it.
    fileprivate var difference: CollectionDifference<NSManagedObjectID> {
        var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
        for (object, place) in deletes { changes.append(.remove(offset: place.index, element: object.objectID, associatedWith: nil)) }
        for (object, place) in inserts { changes.append(.insert(offset: place.index, element: object.objectID, associatedWith: nil)) }
        for move in moves {
            let id = move.object.objectID
            changes.append(.remove(offset: move.from.index, element: id, associatedWith: move.to.index))
            changes.append(.insert(offset: move.to.index, element: id, associatedWith: move.from.index))
        }
        // Each index is removed once and inserted once, so the changes always form a valid difference.
        return CollectionDifference(changes).known("each place is left once and taken once")
    }
}

/// A section, evaluated when its properties are read.
private struct FetchedSectionInfo: NSFetchedResultsSectionInfo {
    let section: FetchedSection
    let indexTitle: String?
    var name: String { section.name }
    var numberOfObjects: Int { section.count }
    var objects: [Any]? { section.objects }
}
