internal import Foundation
internal import Predicates

/// One object of fetched results, with the sort key values of its current place.
final class FetchedNode: RankedNode {
    let object: NSManagedObject
    /// Orders objects with equal sort keys by their arrival.
    let sequence: Int
    /// The sort key values, once they have been read.
    var keys: [PropertyValue]?
    fileprivate(set) var section: FetchedSection

    init(_ object: NSManagedObject, sequence: Int, section: FetchedSection) {
        self.object = object
        self.sequence = sequence
        self.section = section
    }

    /// The place of the object.
    var place: FetchedChanges.Position {
        let index = rank
        let row = index - section.first.known("a section with an object has a first one").rank
        return FetchedChanges.Position(indexPath: IndexPath(row: row, section: section.rank), index: index)
    }
}

/// The consecutive objects with the same section name.
final class FetchedSection: RankedNode {
    let name: String
    fileprivate(set) var count = 0
    // Weak: a program may keep a section of former results, whose nodes would be deallocated.
    fileprivate(set) weak var first: FetchedNode?

    init(_ name: String) { self.name = name }

    var objects: [NSManagedObject] {
        var objects: [NSManagedObject] = []
        objects.reserveCapacity(count)
        var node: RankedNode? = first
        while let current = node, objects.count < count {
            objects.append(unchecked(current, as: FetchedNode.self).object)
            node = current.next
        }
        return objects
    }
}

/// The objects of a fetch in order and by section, updated object by object.
///
/// Use it on the context's queue only.
final class FetchedContents {
    private(set) var objects = RankedTree<FetchedNode>()
    private(set) var sections = RankedTree<FetchedSection>()
    private var nodes: [ObjectIdentifier: FetchedNode] = [:]
    private var sectionsByName: [String: FetchedSection] = [:]
    private let sort: CompiledSortKeys
    /// The properties that the sort keys read; nil if they are unknown.
    private let sortProperties: Set<String>?
    /// The key path of the section names; nil for a single section, which exists even while it is empty.
    private let sectionKeyPath: String?
    /// The sequence number of the next new object.
    private(set) var nextSequence = 0

    /// Creates the contents from fetched objects.
    ///
    /// - Throws: An error naming the section key path if the objects are not sorted by it; the error of a failing fault.
    ///
    /// - Parameter naming: The source of the section names.
    init(
        _ fetched: [NSManagedObject], sort: CompiledSortKeys, sortKeys: Set<String>?, sectionKeyPath: String?, naming: SectionNaming? = nil
    ) throws {
        self.sort = sort
        sortProperties = sortKeys
        self.sectionKeyPath = sectionKeyPath
        var cachedNames = try naming?.cachedNames(of: fetched, sectionName)
        var section = FetchedSection("")
        var list: [FetchedSection] = []
        if sectionKeyPath == nil { list.append(section) }
        var all: [FetchedNode] = []
        all.reserveCapacity(fetched.count)
        nodes.reserveCapacity(fetched.count)
        for object in fetched where nodes[ObjectIdentifier(object)] == nil {
            let name = try cachedNames?.next() ?? sectionName(of: object)
            if sectionKeyPath != nil, list.isEmpty || section.name != name {
                section = FetchedSection(name)
                guard sectionsByName.updateValue(section, forKey: name) == nil else { throw outOfOrder(object, name) }
                list.append(section)
            }
            let node = FetchedNode(object, sequence: nextSequence, section: section)
            nextSequence += 1
            // Values of related objects may change without this one: the values of its current place are kept.
            if sort.readsRelated { node.keys = try sort.values(of: object.subject(reading: sortProperties)) }
            if section.count == 0 { section.first = node }
            section.count += 1
            nodes[ObjectIdentifier(object)] = node
            all.append(node)
        }
        objects = RankedTree(all)
        sections = RankedTree(list)
    }

    var isSectioned: Bool { sectionKeyPath != nil }

    func node(of object: NSManagedObject) -> FetchedNode? { nodes[ObjectIdentifier(object)] }

    func node(at indexPath: IndexPath) -> FetchedNode? {
        guard indexPath.count == 2, indexPath.section >= 0, indexPath.section < sections.count else { return nil }
        let section = sections[indexPath.section]
        guard indexPath.row >= 0, indexPath.row < section.count, let first = section.first else { return nil }
        return objects[first.rank + indexPath.row]
    }

    /// Returns whether a changed object keeps its place because its sort keys are unchanged.
    func staysInPlace(_ node: FetchedNode) throws -> Bool {
        guard let keys = node.keys, try sectionName(of: node.object) == node.section.name else { return false }
        return sort.compare(keys, try sort.values(of: node.object.subject(reading: sortProperties))) == .orderedSame
    }

    /// Creates a node for an object that is new in the list, or was removed before.
    func makeNode(_ object: NSManagedObject, sequence: Int) throws -> FetchedNode {
        let node = FetchedNode(object, sequence: sequence, section: FetchedSection(try sectionName(of: object)))
        node.keys = try sort.values(of: object.subject(reading: sortProperties))
        return node
    }

    /// Inserts an object at its place.
    ///
    /// - Returns: The section, if it is new.
    /// - Throws: An error if the object's section name does not fit its position; the error of a failing fault. Nothing is changed then.
    func insert(_ node: FetchedNode) throws -> FetchedSection? {
        let keys = node.keys.known("a node is made with its keys")
        let index = try objects.partitionPoint { other in
            switch sort.compare(try self.keys(of: other), keys) {
            case .orderedAscending: true
            case .orderedSame: other.sequence < node.sequence
            case .orderedDescending: false
            }
        }
        let before = index > 0 ? objects[index - 1] : nil
        let after = index < objects.count ? objects[index] : nil
        let name = node.section.name
        var new: FetchedSection?
        if sectionKeyPath == nil {
            node.section = sections[0]
        } else if let section = [before, after].compactMap({ $0?.section }).first(where: { $0.name == name }) {
            node.section = section
        } else {
            if sectionsByName[name] != nil || (before != nil && before?.section === after?.section) { throw outOfOrder(node.object, name) }
            sections.insert(node.section, at: before.map { $0.section.rank + 1 } ?? 0)
            sectionsByName[name] = node.section
            new = node.section
        }
        objects.insert(node, at: index)
        let section = node.section
        if section.count == 0 || section.first === after { section.first = node }
        section.count += 1
        nodes[ObjectIdentifier(node.object)] = node
        nextSequence = max(nextSequence, node.sequence + 1)
        return new
    }

    /// Removes an object. Returns its section if it has become empty and was removed.
    func remove(_ node: FetchedNode) -> FetchedSection? {
        let section = node.section
        let next = node.next.map { unchecked($0, as: FetchedNode.self) }
        objects.remove(node)
        nodes[ObjectIdentifier(node.object)] = nil
        section.count -= 1
        if section.first === node { section.first = section.count > 0 ? next : nil }
        guard section.count == 0, sectionKeyPath != nil else { return nil }
        sections.remove(section)
        sectionsByName[section.name] = nil
        return section
    }

    /// Returns the sort key values that an object had when they were first read.
    private func keys(of node: FetchedNode) throws -> [PropertyValue] {
        if let keys = node.keys { return keys }
        let keys = try sort.values(of: node.object.subject(reading: sortProperties))
        node.keys = keys
        return keys
    }

    // MARK: Section names

    private func sectionName(of object: NSManagedObject) throws -> String {
        guard let sectionKeyPath else { return "" }
        let read = { object.value(forKeyPath: sectionKeyPath) }
        let value = try object.managedObjectContext.map { try $0.throwingReadErrors(read) } ?? read()
        return value.map { "\($0)" } ?? ""
    }

    private func outOfOrder(_ object: NSManagedObject, _ name: String) -> NSError {
        CoreDataError.make(
            NSCoreDataError, "The objects are not sorted by the section key path “\(sectionKeyPath ?? "")”.",
            reason: "\(object.objectID) has the section name “\(name)”, but is not next to the others with that name.",
            next: "Let the first sort descriptor sort by “\(sectionKeyPath ?? "")”, or by what gives the same order.",
            info: [NSAffectedObjectsErrorKey: [object]])
    }
}
