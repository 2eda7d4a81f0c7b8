import CoreData

/// One of the contexts of a program, and what it ought to show.
package final class ProgramSide {
    let context: NSManagedObjectContext
    let name: String
    let policy: NSMergePolicyType
    let undoManager: UndoManager?
    var parent: ProgramSide?
    /// Whether the parent of a child may have changed.
    var isStale = false
    /// Whether a child has merged a part of what its parent has changed.
    var isTorn = false
    /// The nodes that the parent has told a child of.
    var announced: Set<Int> = []
    /// What the context should show, and what was stored when it last caught up.
    var working = NaiveGraph()
    var base = NaiveGraph()
    /// Whether the store has not been given what counts as saved yet.
    var isSuspended = false
    /// Whether an asynchronous refresh of it is suspended, for which saves wait.
    var isRefreshing = false
    /// How many of its asynchronous fetches and loads are suspended, and the nodes that it has saved since the first of them began.
    var suspendedReads = 0
    var saved: Set<Int> = []
    /// What others have saved since, and the nodes that they have changed.
    var waiting: [[AnyHashable: Any]] = []
    var foreign: Set<Int> = []
    /// The saved nodes of which something was set since, though it may be back to what it was.
    var touched: Set<Int> = []
    /// What the last save has posted.
    var posted: [AnyHashable: Any]?
    private let mergesRemotely: Bool
    private var token: (any NSObjectProtocol)?

    struct Change {
        var before: NaiveGraph
        let after: NaiveGraph
    }
    /// Deleted nodes that are gone, for an undo.
    private var departed: [Int: NaiveGraph.Node] = [:]
    /// What others have linked of nodes that were deleted here: no delete rule has cut it, because both ends were deleted.
    private var linkedSince: Set<LinkSince> = []
    private struct LinkSince: Hashable {
        let label: Int
        let relationship: ProgramModel.Relationship
        let other: Int
    }
    private var past: [Change] = []
    private var future: [Change] = []

    init(_ context: NSManagedObjectContext, name: String, _ settings: ProgramSettings, _ index: Int) {
        self.context = context
        self.name = name
        policy = index < 2 ? NSMergePolicyType(rawValue: UInt(settings.policies[index]))! : .errorMergePolicyType
        mergesRemotely = settings.mergesRemotely[index]
        context.mergePolicy = NSMergePolicy(merge: policy)
        context.retainsRegisteredObjects = settings.retains[index]
        undoManager = settings.undoes[index] ? UndoManager() : nil
        undoManager?.groupsByEvent = false
        context.performAndWait { context.undoManager = undoManager }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

    var naivePolicy: NaiveMerge.Policy {
        switch policy {
        case .mergeByPropertyStoreTrumpMergePolicyType: .storeTrump
        case .overwriteMergePolicyType: .overwrite
        case .rollbackMergePolicyType: .rollback
        default: .keepEverything
        }
    }

    // MARK: Merging

    func listen() {
        nonisolated(unsafe) unowned let side = self
        token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
        ) { side.posted = $0.userInfo }
    }

    func merge(_ info: [AnyHashable: Any]) {
        if mergesRemotely {
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: info, into: [context])
        } else {
            context.mergeChanges(
                fromContextDidSave: Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info))
        }
    }

    /// Notes what a step has changed.
    func noteTouched(since before: NaiveGraph) {
        touched.formUnion(working.nodes.keys.filter { before.nodes[$0] != nil && working.nodes[$0] != before.nodes[$0] })
    }

    /// What a merge or an undo sets on its way, to what it was or otherwise, is not laid down.
    func adoptTouched() { touched = Set(context.updatedObjects.compactMap { $0.value(forKey: "label") as? Int }) }

    /// The rule of a merge.
    func bringUpToDate(with stored: NaiveGraph) {
        let before = working
        noteLinks(with: stored)
        working = NaiveMerge(base: base, working: working, stored: stored).merged()
        working.deleteAgain(saved: stored)
        base = stored
        foreign = []
        noteDepartures(from: before)
        adoptTouched()
    }

    /// The rule of a save: `merged` is what was written.
    func didSave(_ merged: NaiveGraph) {
        working = merged.withoutDoomed
        base = working
        foreign = []
        touched = []
        noteDepartures(from: merged)
    }

    /// A save has failed after its conflicts were settled.
    func didSettle(_ merged: NaiveGraph, _ stored: NaiveGraph) {
        let before = working
        working = merged
        base = stored
        foreign = []
        noteDepartures(from: before)
        adoptTouched()
    }

    /// What a child gives its parent: of what it deletes, no more than that. What leads to itself does so as before, in case the parent has it back.
    var sentWorking: NaiveGraph {
        var graph = working
        for (label, node) in working.nodes where node.isDoomed {
            for relationship in ProgramModel.relationships(of: node.kind) {
                if base.targets(label, relationship).contains(label) {
                    graph.connect(label, relationship, label)
                } else {
                    graph.disconnect(label, relationship, label)
                }
            }
        }
        return graph
    }

    /// Whether what the parent has now denies a deletion.
    func isDenied(by current: NaiveGraph) -> Bool {
        working.nodes.contains { label, node in
            node.isDoomed
                && current.targets(label, ProgramModel.relationship(named: "guards")).contains { working.nodes[$0]?.isDoomed != true }
        }
    }

    /// Whether a merge after a failed save makes the same of what is pending, whether or not the save has settled its conflicts before.
    func isAlike(_ settled: NaiveGraph, _ stored: NaiveGraph) -> Bool {
        func merged(_ base: NaiveGraph, _ working: NaiveGraph) -> NaiveGraph {
            var graph = NaiveMerge(base: base, working: working, stored: stored).merged()
            graph.deleteAgain(saved: stored)
            return graph
        }
        return merged(stored, settled) == merged(base, working)
    }

    /// Whether a save would insert an object again with relationships that were not read before others deleted it.
    func wouldInsertUnread(_ conflicting: Set<Int>, _ stored: NaiveGraph) -> Bool {
        if policy != .mergeByPropertyObjectTrumpMergePolicyType && policy != .overwriteMergePolicyType { return false }
        return context.updatedObjects.contains { object in
            guard let label = object.value(forKey: "label") as? Int, conflicting.contains(label), stored.nodes[label] == nil else {
                return false
            }
            return ProgramModel.relationships(of: working.nodes[label]!.kind).contains { relationship in
                !base.targets(label, relationship).isEmpty && object.hasFault(forRelationshipNamed: relationship.name)
            }
        }
    }

    // MARK: Undo

    func remember(_ before: NaiveGraph) {
        past.append(Change(before: before, after: working))
        future = []
    }

    func forgetUndo() {
        linkedSince = []
        past = []
        future = []
    }

    func nextUndo(isRedo: Bool) -> Change? { isRedo ? future.last : past.last }

    func dropUndo(isRedo: Bool) { if isRedo { future.removeLast() } else { past.removeLast() } }

    /// What goes back over an undo or redo that has been carried out.
    func rememberWayBack(_ before: NaiveGraph, isRedo: Bool) {
        let change = Change(before: before, after: working)
        if isRedo { past.append(change) } else { future.append(change) }
    }

    /// Goes from `after` to `before`, over what else has come in between.
    func goBack(over change: Change) {
        let (before, after) = (change.before.withoutTraces, change.after.withoutTraces)
        let isUntouched = change.after.nodes.allSatisfy { label, then in
            guard then.isDoomed, let now = working.nodes[label]?.values ?? departed[label]?.values else { return true }
            return then.values == now
        }
        let isExact = isUntouched && working.withoutTraces == after
        var result: NaiveGraph
        if isExact {
            result = before
            // Deleted nodes without links are not in it; the others have the values that they have now.
            for label in result.nodes.keys where result.nodes[label]!.isDoomed {
                result.nodes[label]!.values = working.nodes[label]?.values ?? change.before.nodes[label]!.values
            }
            for label in result.nodes.keys where base.nodes[label] == nil && result.nodes[label]!.isDoomed { result.nodes[label] = nil }
        } else {
            let current = working.withoutDoomed
            let gone = after.living.filter { before.nodes[$0]?.isDoomed ?? true && current.nodes[$0] != nil }
            var goal = before.withoutDoomed
            for label in gone { goal.nodes[label] = after.nodes[label]!.withoutLinks }
            result = NaiveMerge(base: after.withoutDoomed, working: goal, stored: current).merged()
            result.delete(gone, saved: base)
            for label in before.living { comeBack(label, change, in: &result) }
            for relationship in ProgramModel.relationships where relationship.isOrdered {
                for label in result.living { restoreOrder(label, relationship, before.withoutDoomed, after.withoutDoomed, in: &result) }
            }
        }
        for (label, node) in base.nodes where result.nodes[label] == nil {
            result.nodes[label] = NaiveGraph.Node(kind: node.kind, values: working.nodes[label]?.values ?? node.values, isDoomed: true)
            if !isExact { keepDenials(of: label, change, in: &result) }
        }
        // What denies a deletion was not cut either, whoever has made it.
        var uncut = linkedSince
        for (label, node) in working.nodes where node.isDoomed {
            for relationship in ProgramModel.relationships(of: node.kind) where relationship.deleteRule == .deny {
                for other in working.targets(label, relationship) where !change.after.targets(label, relationship).contains(other) {
                    uncut.insert(LinkSince(label: label, relationship: relationship, other: other))
                }
            }
        }
        for link in uncut {
            func isBack(_ label: Int) -> Bool {
                result.nodes[label]?.isDoomed == false && (working.nodes[label]?.isDoomed != false || !linkedSince.contains(link))
            }
            func isVacant(_ label: Int, _ relationship: ProgramModel.Relationship) -> Bool {
                relationship.isToMany || result.targets(label, relationship).isEmpty
            }
            guard isBack(link.label), isBack(link.other), isVacant(link.label, link.relationship),
                isVacant(link.other, link.relationship.inverse)
            else { continue }
            result.connect(link.label, link.relationship, link.other)
        }
        working = result
        adoptTouched()
    }

    /// Notes what others have linked of nodes that are deleted here, and what they have cut of it.
    func noteLinks(with stored: NaiveGraph) {
        func has(_ graph: NaiveGraph, _ link: LinkSince) -> Bool { graph.targets(link.label, link.relationship).contains(link.other) }
        linkedSince = linkedSince.filter { has(stored, $0) || stored.nodes[$0.label] == nil || stored.nodes[$0.other] == nil }
        for (label, node) in working.nodes where node.isDoomed {
            for relationship in ProgramModel.relationships(of: node.kind) {
                for other in stored.targets(label, relationship) where working.nodes[other]?.isDoomed ?? false {
                    let link = LinkSince(label: label, relationship: relationship, other: other)
                    if !has(base, link) { linkedSince.insert(link) }
                }
                for other in base.targets(label, relationship) where !stored.targets(label, relationship).contains(other) {
                    if stored.nodes[label] != nil, stored.nodes[other] != nil { forgetCut(label, relationship, other) }
                }
            }
        }
    }

    /// What others have cut between two nodes that were deleted here at once is not there for an undo: no delete rule has cut it.
    private func forgetCut(_ label: Int, _ relationship: ProgramModel.Relationship, _ other: Int) {
        func forget(in change: inout Change) {
            guard change.before.targets(label, relationship).contains(other) else { return }
            let comeBack = [label, other].allSatisfy {
                change.before.nodes[$0]?.isDoomed == false && change.after.nodes[$0]?.isDoomed ?? true
            }
            if comeBack { change.before.disconnect(label, relationship, other) }
        }
        for index in past.indices { forget(in: &past[index]) }
        for index in future.indices { forget(in: &future[index]) }
    }

    /// A node that was deleted is back, with what others have saved of it before that was saved.
    private func comeBack(_ label: Int, _ change: Change, in result: inout NaiveGraph) {
        let waiting = working.nodes[label].flatMap { $0.isDoomed && base.nodes[label] != nil ? $0 : nil }
        guard result.nodes[label] != nil, working.nodes[label] == nil || waiting != nil, let before = change.before.nodes[label]?.values,
            let after = change.after.nodes[label]?.values, let now = waiting ?? departed[label]
        else { return }
        var values = now.values
        for attribute in ProgramModel.attributes(of: result.nodes[label]!.kind) where before[attribute] != after[attribute] {
            values[attribute] = before[attribute]
        }
        result.nodes[label]!.values = values
        for relationship in ProgramModel.relationships(of: now.kind) {
            let leadsToItself = now.links[relationship.name]?.contains(label) ?? false
            if leadsToItself { result.connect(label, relationship, label) } else { result.disconnect(label, relationship, label) }
        }
    }

    /// An order that others have not changed is as it was. Else what comes back stands behind the nearest of those that it stood behind before.
    private func restoreOrder(
        _ label: Int, _ relationship: ProgramModel.Relationship, _ before: NaiveGraph, _ after: NaiveGraph, in result: inout NaiveGraph
    ) {
        let members = result.targets(label, relationship)
        let now = working.withoutDoomed.targets(label, relationship)
        let past = before.targets(label, relationship)
        if members.isEmpty { return }
        var order = now == after.targets(label, relationship) ? [] : now.filter(members.contains)
        for (place, member) in past.enumerated() where members.contains(member) && !order.contains(member) {
            let nearest = past[..<place].last(where: order.contains)
            order.insert(member, at: nearest.map { order.firstIndex(of: $0)! + 1 } ?? 0)
        }
        result.nodes[label]!.links[relationship.name] = order + members.filter { !order.contains($0) }
    }

    /// What denies the deletion of a node still does, unless the undo is about that.
    private func keepDenials(of label: Int, _ change: Change, in result: inout NaiveGraph) {
        for relationship in ProgramModel.relationships where relationship.deleteRule == .deny {
            let inverse = relationship.inverse
            for other in working.targets(label, relationship) where result.nodes[other]?.isDoomed == false {
                let isAbout = change.before.targets(other, inverse) != change.after.targets(other, inverse)
                if !isAbout, result.targets(other, inverse).isEmpty { result.connect(label, relationship, other) }
            }
        }
    }

    /// Deleted nodes are gone for good, or come back with the values that they have now.
    private func noteDepartures(from before: NaiveGraph) {
        for (label, node) in before.nodes where node.isDoomed && working.nodes[label] == nil { departed[label] = node }
    }
}

extension NaiveGraph.Node {
    var withoutLinks: NaiveGraph.Node {
        var node = self
        node.links = [:]
        return node
    }
}

extension NaiveGraph {
    /// Without deleted nodes that nothing leads to.
    var withoutTraces: NaiveGraph {
        var graph = self
        for (label, node) in nodes where node.isDoomed {
            graph.nodes[label] = node.links.isEmpty ? nil : NaiveGraph.Node(kind: node.kind, values: [:], links: node.links, isDoomed: true)
        }
        return graph
    }
}
