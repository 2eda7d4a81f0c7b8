import CoreData

/// Changes a context's objects and the naive graph alike.
struct ProgramEdit {
    let side: ProgramSide
    let objects: [Int: NSManagedObject]
    var choices: Choices

    private typealias Relationship = ProgramModel.Relationship

    private var labels: [Int] { side.working.living }

    private func labels(of kind: ProgramModel.Kind) -> [Int] { labels.filter { side.working.nodes[$0]!.kind.isKind(of: kind) } }

    /// Inserts a node, often with an attribute or a relationship.
    mutating func insert(_ label: Int) -> String {
        let kind: ProgramModel.Kind = [.node, .node, .leaf, .branch][choices.next() % 4]
        let object = NSEntityDescription.insertNewObject(forEntityName: kind.rawValue, into: side.context)
        object.setValue(label, forKey: "label")
        let parent = choices.next() % 2 == 0 ? choices.pick(labels) : nil
        side.working.nodes[label] = NaiveGraph.Node(kind: kind)
        if let parent {
            object.setValue(objects[parent], forKey: "parent")
            side.working.set(label, ProgramModel.relationship(named: "parent"), to: [parent])
        }
        return "insert \(kind) \(label)" + (parent.map { " with parent \($0)" } ?? "")
    }

    /// Answers what was done, in words; nil where there is nothing to do it with.
    mutating func carryOut(_ kind: ProgramStep.Kind) -> String? {
        guard let label = choices.pick(labels), let object = objects[label] else { return nil }
        switch kind {
        case .setAttribute: return setAttribute(label, object)
        case .setToOne, .setToMany, .addMember, .removeMember: return relate(kind, label, object)
        case .reorder: return reorder(label, object)
        case .delete: return delete(label)
        case .refresh, .refreshMerging: return refresh(label, object, isMerging: kind == .refreshMerging)
        default: return nil
        }
    }

    private mutating func setAttribute(_ label: Int, _ object: NSManagedObject) -> String? {
        guard let attribute = choices.pick(ProgramModel.attributes(of: side.working.nodes[label]!.kind)) else { return nil }
        let number = choices.next() % 7
        let value: Int? = number == 6 && attribute != "number" ? nil : number
        side.working.nodes[label]!.values[attribute] = value
        side.touched.insert(label)
        object.setValue(attribute == "name" ? value.map { "n\($0)" } : value, forKey: attribute)
        return "set \(attribute) of \(label) to \(value.map(String.init) ?? "nil")"
    }

    // MARK: Relationships

    private mutating func relate(_ kind: ProgramStep.Kind, _ label: Int, _ object: NSManagedObject) -> String? {
        let fitting = ProgramModel.relationships(of: side.working.nodes[label]!.kind).filter { $0.isToMany == (kind != .setToOne) }
        guard let relationship = choices.pick(fitting) else { return nil }
        let candidates = labels(of: relationship.destination)
        switch kind {
        case .setToOne:
            let target = choices.next() % 4 == 0 ? nil : choices.pick(candidates)
            object.setValue(target.map { objects[$0]! }, forKey: relationship.name)
            side.working.set(label, relationship, to: target.map { [$0] } ?? [])
            return "set \(relationship.name) of \(label) to \(target.map(String.init) ?? "nil")"
        case .setToMany:
            let targets = choices.some(candidates)
            let members = targets.map { objects[$0]! }
            object.setValue(relationship.isOrdered ? NSOrderedSet(array: members) : Set(members), forKey: relationship.name)
            side.working.set(label, relationship, to: targets)
            return "set \(relationship.name) of \(label) to \(targets)"
        case .addMember:
            guard let target = choices.pick(candidates) else { return nil }
            if side.working.targets(label, relationship).contains(target) {
                // What comes into a relationship that was never read counts as added; the naive graph does not know what was read.
                _ = (object.value(forKey: relationship.name), objects[target]!.value(forKey: relationship.inverseName))
            }
            if relationship.isOrdered {
                object.mutableOrderedSetValue(forKey: relationship.name).add(objects[target]!)
            } else {
                object.mutableSetValue(forKey: relationship.name).add(objects[target]!)
            }
            side.working.connect(label, relationship, target)
            return "add \(target) to \(relationship.name) of \(label)"
        default:
            let members = side.working.targets(label, relationship).filter { objects[$0] != nil }
            guard let target = choices.pick(members) else { return nil }
            object.removeObjects([objects[target]!], fromRelationship: relationship.name)
            side.working.disconnect(label, relationship, target)
            return "remove \(target) from \(relationship.name) of \(label)"
        }
    }

    private mutating func reorder(_ label: Int, _ object: NSManagedObject) -> String? {
        let queue = ProgramModel.relationship(named: "queue")
        let owners = labels.filter { side.working.targets($0, queue).count > 1 }
        guard let owner = choices.pick(owners) else { return nil }
        let order = side.working.targets(owner, queue)
        let moved = choices.next() % order.count
        let place = choices.next() % order.count
        var changed = order
        changed.insert(changed.remove(at: moved), at: place)
        objects[owner]!.mutableOrderedSetValue(forKey: "queue").moveObjects(at: [moved], to: place)
        side.working.nodes[owner]!.links["queue"] = changed
        return "move \(order[moved]) in queue of \(owner) to \(place)"
    }

    // MARK: Objects

    private mutating func delete(_ label: Int) -> String {
        var doomed = [label]
        if choices.next() % 3 == 0, let other = choices.pick(labels), other != label { doomed.append(other) }
        for label in doomed { side.context.delete(objects[label]!) }
        side.context.processPendingChanges()
        side.working.delete(doomed, saved: side.base)
        return "delete \(doomed)"
    }

    private func refresh(_ label: Int, _ object: NSManagedObject, isMerging: Bool) -> String? {
        // It would lose its label.
        if !isMerging, side.base.nodes[label] == nil { return nil }
        side.context.refresh(object, mergeChanges: isMerging)
        if !isMerging {
            var rule = NaiveMerge(base: side.base, working: side.working, stored: side.base)
            rule.policy = .rollback
            rule.conflicting = [label]
            side.working = rule.merged()
            side.working.deleteAgain(saved: side.base)
            side.adoptTouched()
        }
        return "refresh \(label)\(isMerging ? ", merging" : "")"
    }
}
