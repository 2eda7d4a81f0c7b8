/// What a delegate's method is declared with in programs for UIKit and AppKit.
public typealias NSDiffableDataSourceSnapshotReference = FetchedResultsSnapshot
/// What such programs turn it into: `snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>`.
public typealias NSDiffableDataSourceSnapshot<SectionIdentifier, ItemIdentifier> = FetchedResultsSnapshot

/// All fetched results at one time: the names of the sections and the IDs of their objects. It may cross to other queues.
///
/// It stands for Apple's `NSDiffableDataSourceSnapshotReference`, which belongs to UIKit and AppKit.
public struct FetchedResultsSnapshot: Sendable, Equatable {
    /// The names of the sections; the empty string alone where there is no section key path.
    public let sectionIdentifiers: [String]
    /// The IDs of the objects of all sections, in order.
    public let itemIdentifiers: [NSManagedObjectID]
    /// The IDs of the objects that have changed since the last snapshot and were there already.
    public let reloadedItemIdentifiers: [NSManagedObjectID]
    /// Where each section begins, and where the last one ends.
    private let bounds: [Int]

    init(_ contents: FetchedContents, reloaded: [NSManagedObject] = []) {
        let sections = contents.sections.nodes
        sectionIdentifiers = sections.map(\.name)
        itemIdentifiers = contents.objects.nodes.map(\.object.objectID)
        reloadedItemIdentifiers = reloaded.map(\.objectID)
        bounds = sections.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
    }

    /// How many sections there are.
    public var numberOfSections: Int { sectionIdentifiers.count }
    /// How many objects there are.
    public var numberOfItems: Int { itemIdentifiers.count }

    /// How many objects there are in a section; 0 where there is no such section.
    public func numberOfItems(inSection identifier: String) -> Int { range(of: identifier).count }

    /// The IDs of the objects in a section; none where there is no such section.
    public func itemIdentifiers(inSection identifier: String) -> [NSManagedObjectID] { Array(itemIdentifiers[range(of: identifier)]) }

    /// The index of a section; nil where there is none of the name.
    public func indexOfSection(_ identifier: String) -> Int? { sectionIdentifiers.firstIndex(of: identifier) }

    /// The index of an object over all sections; nil where it is not among them.
    public func indexOfItem(_ identifier: NSManagedObjectID) -> Int? { itemIdentifiers.firstIndex(of: identifier) }

    /// The name of the section of an object; nil where the object is not among the results.
    public func sectionIdentifier(containingItem identifier: NSManagedObjectID) -> String? {
        guard let index = indexOfItem(identifier) else { return nil }
        return bounds.lastIndex { $0 <= index }.map { sectionIdentifiers[$0] }
    }

    private func range(of identifier: String) -> Range<Int> {
        indexOfSection(identifier).map { bounds[$0]..<bounds[$0 + 1] } ?? 0..<0
    }
}
