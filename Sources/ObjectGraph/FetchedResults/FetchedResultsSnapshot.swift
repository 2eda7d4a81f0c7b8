/// The snapshot type in delegate methods of programs for UIKit and AppKit.
public typealias NSDiffableDataSourceSnapshotReference = FetchedResultsSnapshot
/// The snapshot type that such programs convert to: `snapshot as NSDiffableDataSourceSnapshot<String, NSManagedObjectID>`.
public typealias NSDiffableDataSourceSnapshot<SectionIdentifier, ItemIdentifier> = FetchedResultsSnapshot

/// A snapshot of fetched results: the names of the sections and the IDs of their objects. It may cross to other queues.
///
/// It replaces Apple's `NSDiffableDataSourceSnapshotReference`, which is part of UIKit and AppKit.
public struct FetchedResultsSnapshot: Sendable, Equatable {
    /// The names of the sections; a single empty string if there is no section key path.
    public let sectionIdentifiers: [String]
    /// The IDs of the objects of all sections, in order.
    public let itemIdentifiers: [NSManagedObjectID]
    /// The IDs of objects that were in the previous snapshot and have changed since.
    public let reloadedItemIdentifiers: [NSManagedObjectID]
    /// The start index of each section, and the end index of the last.
    private let bounds: [Int]

    init(_ contents: FetchedContents, reloaded: [NSManagedObject] = []) {
        let sections = contents.sections.nodes
        sectionIdentifiers = sections.map(\.name)
        itemIdentifiers = contents.objects.nodes.map(\.object.objectID)
        reloadedItemIdentifiers = reloaded.map(\.objectID)
        bounds = sections.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
    }

    /// The number of sections.
    public var numberOfSections: Int { sectionIdentifiers.count }
    /// The number of objects.
    public var numberOfItems: Int { itemIdentifiers.count }

    /// Returns the number of objects in a section; 0 if the section does not exist.
    public func numberOfItems(inSection identifier: String) -> Int { range(of: identifier).count }

    /// Returns the IDs of the objects in a section; empty if the section does not exist.
    public func itemIdentifiers(inSection identifier: String) -> [NSManagedObjectID] { Array(itemIdentifiers[range(of: identifier)]) }

    /// Returns the index of a section; nil if it does not exist.
    public func indexOfSection(_ identifier: String) -> Int? { sectionIdentifiers.firstIndex(of: identifier) }

    /// Returns the index of an object over all sections; nil if it is not among the results.
    public func indexOfItem(_ identifier: NSManagedObjectID) -> Int? { itemIdentifiers.firstIndex(of: identifier) }

    /// Returns the name of the section of an object; nil if the object is not among the results.
    public func sectionIdentifier(containingItem identifier: NSManagedObjectID) -> String? {
        guard let index = indexOfItem(identifier) else { return nil }
        return bounds.lastIndex { $0 <= index }.map { sectionIdentifiers[$0] }
    }

    private func range(of identifier: String) -> Range<Int> {
        indexOfSection(identifier).map { bounds[$0]..<bounds[$0 + 1] } ?? 0..<0
    }
}
