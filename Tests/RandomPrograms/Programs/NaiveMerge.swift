/// The rule by which changes that were made here come over what others have saved, in sets of links. See the article *Faults and merging*.
struct NaiveMerge {
    /// What the changes were made from, what they have made of it, and what they are to come over.
    let base: NaiveGraph
    let working: NaiveGraph
    let stored: NaiveGraph
    /// What gives way to what others have saved.
    var policy = Policy.keepEverything
    /// The nodes that the policy is about.
    var conflicting: Set<Int> = []

    enum Policy {
        /// What was changed here stays: a merge, a refresh, the object-trump policy.
        case keepEverything
        /// Of the conflicting nodes every attribute stays, changed here or not.
        case overwrite
        /// Of the conflicting nodes, what others have changed too gives way.
        case storeTrump
        /// Of the conflicting nodes nothing stays.
        case rollback
    }

    typealias Relationship = ProgramModel.Relationship
    private struct Link: Hashable { let from: Int, to: Int }

    private var storeWins: Bool { policy == .storeTrump || policy == .rollback }

    /// Whether others have deleted the node, and it is not to come back.
    private func isGone(_ label: Int) -> Bool {
        guard base.nodes[label] != nil, stored.nodes[label] == nil else { return false }
        return !comesBack(label)
    }

    /// A conflicting node that others have deleted and that is changed here is inserted again, unless the store wins.
    private func comesBack(_ label: Int) -> Bool {
        conflicting.contains(label) && !storeWins && stored.nodes[label] == nil && working.nodes[label]?.isDoomed == false
    }

    func merged() -> NaiveGraph {
        var result = NaiveGraph()
        for label in Set(stored.nodes.keys).union(working.nodes.keys) where !isGone(label) {
            if base.nodes[label] != nil, working.nodes[label] == nil { continue }
            result.nodes[label] = node(label)
        }
        for relationship in ProgramModel.relationships where relationship.isFirst { join(relationship, in: &result) }
        for relationship in ProgramModel.relationships where relationship.isOrdered { order(relationship, in: &result) }
        return result
    }

    /// Without what was to be inserted again by a save that fails: it goes when its deletion is merged.
    func withoutReturns(_ merged: NaiveGraph) -> NaiveGraph {
        var graph = merged
        for label in merged.nodes.keys.sorted() where comesBack(label) {
            for relationship in ProgramModel.relationships(of: merged.nodes[label]!.kind) {
                for other in merged.targets(label, relationship) { graph.disconnect(label, relationship, other) }
            }
            graph.nodes[label] = nil
        }
        return graph
    }

    /// The attributes of a node, and whether it is deleted.
    private func node(_ label: Int) -> NaiveGraph.Node {
        guard let here = working.nodes[label] else { return plain(stored.nodes[label]!) }
        guard let there = stored.nodes[label], let before = base.nodes[label] else { return plain(here) }
        let isConflicting = conflicting.contains(label)
        if isConflicting, policy == .rollback || (storeWins && here.isDoomed) { return plain(there) }
        var node = plain(there)
        node.isDoomed = here.isDoomed
        for attribute in ProgramModel.attributes(of: here.kind) {
            let isChanged = here.values[attribute] != before.values[attribute]
            let isOurs: Bool
            switch policy {
            case .storeTrump where isConflicting: isOurs = isChanged && there.values[attribute] == before.values[attribute]
            case .overwrite where isConflicting: isOurs = true
            case .keepEverything where isConflicting && here.isDoomed: isOurs = true
            default: isOurs = isChanged
            }
            if isOurs { node.values[attribute] = here.values[attribute] }
        }
        return node
    }

    private func plain(_ node: NaiveGraph.Node) -> NaiveGraph.Node {
        var node = node
        node.links = [:]
        return node
    }

    // MARK: Links

    private func links(_ graph: NaiveGraph, _ relationship: Relationship) -> Set<Link> {
        var links: Set<Link> = []
        for (label, node) in graph.nodes {
            for other in node.links[relationship.name] ?? [] { links.insert(Link(from: label, to: other)) }
        }
        return links
    }

    /// What leads to one node and is not as it was: it stays as it is here, unless it gives way.
    private func isChanged(_ label: Int, _ relationship: Relationship) -> Bool {
        if relationship.isToMany { return false }
        let before = comesBack(label) ? [] : base.targets(label, relationship)
        return before != working.targets(label, relationship)
    }

    /// Whether the place of a changed to-one relationship is given up to what others have put there.
    private func givesWay(_ label: Int, _ relationship: Relationship) -> Bool {
        guard !relationship.isToMany, conflicting.contains(label), storeWins else { return false }
        return policy == .rollback || stored.targets(label, relationship) != base.targets(label, relationship)
    }

    private func join(_ relationship: Relationship, in result: inout NaiveGraph) {
        let inverse = relationship.inverse
        let now = links(working, relationship)
        let before = links(base, relationship).filter { !comesBack($0.from) && !comesBack($0.to) }
        func touchesDropped(_ link: Link) -> Bool {
            func isDropped(_ label: Int) -> Bool {
                conflicting.contains(label) && (policy == .rollback || (storeWins && working.nodes[label]?.isDoomed ?? true))
            }
            return isDropped(link.from) || isDropped(link.to)
        }
        let added = now.subtracting(before).filter { link in
            result.nodes[link.from] != nil && result.nodes[link.to] != nil && !touchesDropped(link)
                && !givesWay(link.from, relationship) && !givesWay(link.to, inverse)
        }
        let removed = before.subtracting(now).filter { !touchesDropped($0) }
        /// Whether a changed to-one relationship has its say.
        func decides(_ label: Int, _ relationship: Relationship, _ end: KeyPath<Link, Int>) -> Bool {
            isChanged(label, relationship) && !givesWay(label, relationship)
                && (added.contains { $0[keyPath: end] == label } || removed.contains { $0[keyPath: end] == label })
        }
        for link in added { result.connect(link.from, relationship, link.to) }
        for link in links(stored, relationship).subtracting(removed) where result.nodes[link.from] != nil && result.nodes[link.to] != nil {
            if decides(link.from, relationship, \.from) || decides(link.to, inverse, \.to) { continue }
            result.connect(link.from, relationship, link.to)
        }
    }

    /// An order that others have not changed is as it is here; else, or where something comes back or nothing of the node stays, it is theirs, and then
    /// what was added here.
    private func order(_ relationship: Relationship, in result: inout NaiveGraph) {
        for label in result.nodes.keys {
            let members = result.targets(label, relationship)
            if members.isEmpty { continue }
            let theirs = stored.targets(label, relationship)
            let ours = working.targets(label, relationship)
            let isBack = members.contains { theirs.contains($0) && !ours.contains($0) }
            let isDropped = policy == .rollback && conflicting.contains(label)
            let isTheirs = base.targets(label, relationship) != theirs || isBack || isDropped
            let order = (isTheirs ? theirs + ours : ours + theirs).filter(members.contains)
            var seen: Set<Int> = []
            result.nodes[label]!.links[relationship.name] = order.filter { seen.insert($0).inserted }
        }
    }
}
