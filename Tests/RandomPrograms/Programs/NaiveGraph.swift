/// What the framework is compared with: a graph in plain dictionaries, every rule written out in the simplest way, without the product.
package struct NaiveGraph: Equatable {
    typealias Relationship = ProgramModel.Relationship

    package struct Node: Equatable {
        package var kind: ProgramModel.Kind
        /// Attributes that have no value are missing.
        package var values: [String: Int] = ["number": 0]
        /// By relationship; those that lead nowhere are missing. Without an order, labels are sorted.
        package var links: [String: [Int]] = [:]
        /// Whether it is to be deleted by the next save.
        var isDoomed = false
    }

    package var nodes: [Int: Node] = [:]

    func targets(_ label: Int, _ relationship: Relationship) -> [Int] { nodes[label]?.links[relationship.name] ?? [] }

    /// The nodes that are not deleted.
    var living: [Int] { nodes.filter { !$0.value.isDoomed }.keys.sorted() }

    // MARK: Relationships

    mutating func connect(_ label: Int, _ relationship: Relationship, _ other: Int) {
        if targets(label, relationship).contains(other) { return }
        let inverse = relationship.inverse
        if !relationship.isToMany, let old = targets(label, relationship).first { disconnect(label, relationship, old) }
        if !inverse.isToMany, let rival = targets(other, inverse).first { disconnect(rival, relationship, other) }
        put(label, relationship, other)
        put(other, inverse, label)
    }

    mutating func disconnect(_ label: Int, _ relationship: Relationship, _ other: Int) {
        take(label, relationship, other)
        take(other, relationship.inverse, label)
    }

    mutating func set(_ label: Int, _ relationship: Relationship, to others: [Int]) {
        for old in targets(label, relationship) where !others.contains(old) { disconnect(label, relationship, old) }
        for other in others { connect(label, relationship, other) }
        if relationship.isOrdered, !others.isEmpty { nodes[label]!.links[relationship.name] = others }
    }

    private mutating func put(_ label: Int, _ relationship: Relationship, _ other: Int) {
        var links = targets(label, relationship)
        if links.contains(other) { return }
        links.append(other)
        nodes[label]!.links[relationship.name] = relationship.isOrdered ? links : links.sorted()
    }

    private mutating func take(_ label: Int, _ relationship: Relationship, _ other: Int) {
        let links = targets(label, relationship).filter { $0 != other }
        nodes[label]?.links[relationship.name] = links.isEmpty ? nil : links
    }

    // MARK: Deletion

    /// Deletes nodes, and what their rules say. What was never saved, as `saved` shows, is gone at once.
    mutating func delete(_ labels: [Int], saved: NaiveGraph) {
        var doomed = labels
        var next = 0
        while next < doomed.count {
            let label = doomed[next]
            next += 1
            nodes[label]!.isDoomed = true
            for relationship in ProgramModel.relationships(of: nodes[label]!.kind) where relationship.deleteRule == .cascade {
                doomed += targets(label, relationship).filter { !doomed.contains($0) && !nodes[$0]!.isDoomed }
            }
        }
        for label in doomed { cutLoose(label, isSaved: saved.nodes[label] != nil) }
        for label in doomed where saved.nodes[label] == nil { nodes[label] = nil }
    }

    /// Takes a deleted node out of all relationships, but for those that deny its deletion: there, nothing is torn before the save.
    private mutating func cutLoose(_ label: Int, isSaved: Bool) {
        for relationship in ProgramModel.relationships(of: nodes[label]!.kind) where !(isSaved && relationship.deleteRule == .deny) {
            // What leads to itself keeps that, in case it comes back.
            for other in targets(label, relationship) where other != label || !isSaved { disconnect(label, relationship, other) }
        }
    }

    /// Carries the delete rules out again, for what has been related to deleted nodes since.
    mutating func deleteAgain(saved: NaiveGraph) {
        delete(nodes.filter(\.value.isDoomed).keys.sorted(), saved: saved)
    }

    /// Whether a deletion is denied by something that stays.
    var isDenied: Bool {
        nodes.contains { label, node in
            node.isDoomed
                && ProgramModel.relationships(of: node.kind).contains { relationship in
                    relationship.deleteRule == .deny && targets(label, relationship).contains { !(nodes[$0]?.isDoomed ?? true) }
                }
        }
    }

    /// Without what is deleted.
    var withoutDoomed: NaiveGraph {
        var graph = self
        for (label, node) in nodes where node.isDoomed {
            for relationship in ProgramModel.relationships(of: node.kind) {
                for other in targets(label, relationship) { graph.disconnect(label, relationship, other) }
            }
            graph.nodes[label] = nil
        }
        return graph
    }

    // MARK: Differences

    /// The properties in which a node differs from that of another graph.
    func changes(of label: Int, since base: NaiveGraph) -> Set<String> {
        guard let node = nodes[label], let before = base.nodes[label] else { return [] }
        var names = Set(ProgramModel.attributes(of: node.kind).filter { node.values[$0] != before.values[$0] })
        for relationship in ProgramModel.relationships(of: node.kind) where node.links[relationship.name] != before.links[relationship.name]
        {
            names.insert(relationship.name)
        }
        return names
    }

    /// The nodes that a save writes or deletes.
    func changedLabels(since base: NaiveGraph) -> Set<Int> {
        Set(nodes.keys).union(base.nodes.keys).filter { label in
            guard let node = nodes[label], base.nodes[label] != nil, !node.isDoomed else { return true }
            return !changes(of: label, since: base).isEmpty
        }
    }
}
