import CoreData

typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

/// What a delegate was told of an object.
struct ObjectChange: Equatable, CustomStringConvertible {
    let object: NSManagedObject
    let type: NSFetchedResultsChangeType
    let old: IndexPath?
    let new: IndexPath?
    var description: String { "\(type) \(old.map { "\($0)" } ?? "-") → \(new.map { "\($0)" } ?? "-")" }
}

/// What a delegate was told of a section.
struct SectionChange: Equatable {
    let name: String
    let type: NSFetchedResultsChangeType
    let index: Int
}

/// A delegate that takes single changes and writes them down.
final class ResultsListener: NSFetchedResultsControllerDelegate {
    private(set) var objects: [ObjectChange] = []
    private(set) var sections: [SectionChange] = []
    /// The order of the calls.
    private(set) var calls: [String] = []
    /// What the controller had when the changes were announced.
    private(set) var before: [NSManagedObject] = []
    /// What each notification has told.
    private(set) var batches: [(sections: [SectionChange], objects: [ObjectChange])] = []
    var indexTitle: ((String) -> String?)?

    func clear() {
        batches = []
        objects = []
        sections = []
        calls = []
    }

    func controllerWillChangeContent(_ controller: Controller) {
        calls.append("will")
        batches.append(([], []))
        before = (controller.fetchedObjects ?? []).compactMap { $0 as? NSManagedObject }
    }

    func controller(
        _ controller: Controller, didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        calls.append("section")
        sections.append(SectionChange(name: sectionInfo.name, type: type, index: sectionIndex))
        batches[batches.count - 1].sections.append(sections.last!)
    }

    func controller(
        _ controller: Controller, didChange anObject: Any, at indexPath: IndexPath?, for type: NSFetchedResultsChangeType,
        newIndexPath: IndexPath?
    ) {
        calls.append("object")
        objects.append(ObjectChange(object: anObject as! NSManagedObject, type: type, old: indexPath, new: newIndexPath))
        batches[batches.count - 1].objects.append(objects.last!)
    }

    func controllerDidChangeContent(_ controller: Controller) { calls.append("did") }

    func controller(_ controller: Controller, sectionIndexTitleForSectionName sectionName: String) -> String? {
        if let indexTitle { return indexTitle(sectionName) }
        return controller.sectionIndexTitle(forSectionName: sectionName)
    }
}

/// A delegate that takes snapshots.
final class SnapshotListener: NSFetchedResultsControllerDelegate {
    private(set) var snapshots: [FetchedResultsSnapshot] = []
    private(set) var otherCalls = 0

    func controller(_ controller: Controller, didChangeContentWith snapshot: FetchedResultsSnapshot) { snapshots.append(snapshot) }
    func controllerWillChangeContent(_ controller: Controller) { otherCalls += 1 }
    func controller(_ controller: Controller, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>) { otherCalls += 1 }
}

/// A delegate that takes differences.
final class DifferenceListener: NSFetchedResultsControllerDelegate {
    private(set) var differences: [CollectionDifference<NSManagedObjectID>] = []
    private(set) var otherCalls = 0

    func controller(_ controller: Controller, didChangeContentWith diff: CollectionDifference<NSManagedObjectID>) {
        differences.append(diff)
    }
    func controllerWillChangeContent(_ controller: Controller) { otherCalls += 1 }
}

/// Sections of objects, kept by nothing but what a delegate is told.
struct ResultsMirror: Equatable {
    var names: [String] = []
    var rows: [[NSManagedObject]] = []

    init(_ sections: [any NSFetchedResultsSectionInfo]) {
        names = sections.map(\.name)
        rows = sections.map { ($0.objects ?? []).compactMap { $0 as? NSManagedObject } }
    }

    /// Applies changes as a table does: removals by the old places, then insertions by the new ones.
    mutating func apply(_ sections: [SectionChange], _ objects: [ObjectChange]) {
        var gone = Set<IndexPath>()
        for change in objects where change.type == .delete || change.type == .move { gone.insert(change.old!) }
        rows = rows.enumerated().map { section, row in
            row.enumerated().filter { !gone.contains(IndexPath(row: $0.offset, section: section)) }.map(\.element)
        }
        for change in sections.filter({ $0.type == .delete }).sorted(by: { $0.index > $1.index }) {
            names.remove(at: change.index)
            rows.remove(at: change.index)
        }
        for change in sections.filter({ $0.type == .insert }).sorted(by: { $0.index < $1.index }) {
            names.insert(change.name, at: change.index)
            rows.insert([], at: change.index)
        }
        let arrivals = objects.filter { $0.type == .insert || $0.type == .move }
        for change in arrivals.sorted(by: { $0.new! < $1.new! }) where change.new!.section < rows.count {
            let place = min(change.new!.row, rows[change.new!.section].count)
            rows[change.new!.section].insert(change.object, at: place)
        }
    }
}
