import CoreData

/// The changes of a round.
extension GivingWayProgram {
    /// Changes things in a context, and notes what it shows then. Returns what is wrong with what it shows, or nil.
    func edit(_ index: Int) throws -> String? {
        let context = contexts[index]
        var things = try things(context)
        _ = links(things)
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let labels = things.keys.sorted()
            guard let label = labels.randomElement(using: &random), let object = things[label], Int.random(in: 0..<4, using: &random) != 0
            else {
                insert(index, &things)
                continue
            }
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let code = code()
                say(index, "code of \(label) is \(code.map(String.init) ?? "nil")")
                object.setValue(code, forKey: "code")
            case 1:
                say(index, "delete \(label)")
                // Without an inverse, what leads to it would deny the save.
                for other in things.values where other.value(forKey: "pointer") as? NSManagedObject === object {
                    other.setValue(nil, forKey: "pointer")
                }
                context.delete(object)
                context.processPendingChanges()
                deleted[index].insert(label)
                things[label] = nil
            default: if let difference = relate(index, label, things) { return difference }
            }
        }
        shown[index] = links(things)
        return nil
    }

    private func code() -> Int? { Int.random(in: 0..<6, using: &random) == 0 ? nil : Int.random(in: 0..<5, using: &random) }

    private func insert(_ index: Int, _ things: inout [Int: NSManagedObject]) {
        let kind = Bool.random(using: &random) ? "Region" : "Place"
        let code = code()
        let label = nextLabel
        let object = contexts[index].insert(kind, ["name": "\(label)", "code": code.map { $0 as Any } ?? NSNull()])
        say(index, "insert \(kind) \(label), code \(code.map(String.init) ?? "nil")")
        things[label] = object
        name(object, label)
        nextLabel += 1
    }

    private func relate(_ index: Int, _ label: Int, _ things: [Int: NSManagedObject]) -> String? {
        let relationship = Self.relationships.randomElement(using: &random)!
        let object = things[label]!
        if !relationship.isToMany {
            let other = Int.random(in: 0..<5, using: &random) == 0 ? nil : things.keys.sorted().randomElement(using: &random)
            say(index, "\(relationship.name) of \(label) is \(other.map(String.init) ?? "nil")")
            object.setValue(other.map { things[$0]! }, forKey: relationship.name)
        } else {
            var members = labels(object.value(forKey: relationship.name))
            if let unknown = members.first(where: { things[$0] == nil }) {
                return "\(relationship.name) of \(label) are \(members) to \(index), which does not show \(unknown)"
            }
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                guard let other = things.keys.sorted().randomElement(using: &random) else { continue }
                if members.contains(other), Int.random(in: 0..<3, using: &random) == 0 {
                    members.removeAll { $0 == other }
                } else if !members.contains(other) {
                    members.append(other)
                }
            }
            say(index, "\(relationship.name) of \(label) are \(members)")
            let objects = members.map { things[$0]! }
            object.setValue(relationship.isOrdered ? NSOrderedSet(array: objects) : Set(objects), forKey: relationship.name)
        }
        return nil
    }
}
