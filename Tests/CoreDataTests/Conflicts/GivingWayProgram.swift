import CoreData

/// Rounds in which two contexts of one store change things whose codes are unique, with relationships of every kind, and save one after the other.
///
/// What nobody has cut must be there afterwards, between the objects themselves or those that they have given way to; and what both contexts show must
/// be what is stored.
final class GivingWayProgram {
    typealias Relationship = GivingWayModel.Relationship

    struct Link: Hashable {
        let from: Int
        let relationship: String
        let to: Int
    }

    /// One end of a relationship that leads to one object.
    struct Place: Hashable {
        let label: Int
        let relationship: String
    }

    /// All but the to-many relationship without an inverse, whose objects have one owner in a SQLite store and many in memory.
    private static let relationships = GivingWayModel.relationships.filter { $0.inverseName != nil || !$0.isToMany }

    private let coordinator: NSPersistentStoreCoordinator
    private let contexts: [NSManagedObjectContext]
    private let policies: [NSMergePolicyType]
    private let alwaysMerges: Bool
    private var random: SeededGenerator
    private var nextLabel = 0
    /// Things by what they are, for their attributes are taken over with the rest: the labels of saved ones, those of new ones, and of whom the things
    /// that are gone have given way to.
    private var savedLabels: [NSManagedObjectID: Int] = [:]
    private var newLabels: [ObjectIdentifier: Int] = [:]
    private var successors: [Int: Int] = [:]
    /// All that were ever new: their addresses are not used again.
    private var kept: [NSManagedObject] = []
    private(set) var transcript: [String] = []

    // What happens in a round.
    private var links: Set<Link> = []
    private var cuts: Set<Link> = []
    private var cutPlaces: Set<Place> = []
    private var deleted: Set<Int> = []
    /// The saved things that have given way to others in the save of the first context, and the links that it has known before.
    private var replaced: Set<Int> = []
    private var known: Set<Link> = []
    /// The saved things that each context has changed.
    private var touched: [Set<Int>] = [[], []]
    private var recoded: [Set<Int>] = [[], []]
    private var made: [[Int: NSManagedObject]] = [[:], [:]]

    static let policies: [NSMergePolicyType] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]

    /// - Parameter alwaysMerges: whether the second context merges what the first has saved before it saves: then no versions are in conflict.
    init(seed: UInt64, alwaysMerges: Bool, in coordinator: NSPersistentStoreCoordinator) {
        self.alwaysMerges = alwaysMerges
        random = SeededGenerator(seed: seed)
        self.coordinator = coordinator
        var random = random
        policies = (0..<2).map { _ in Self.policies.randomElement(using: &random)! }
        self.random = random
        contexts = policies.map { GivingWayModel.context(coordinator, $0) }
        for context in contexts where Bool.random(using: &self.random) { context.retainsRegisteredObjects = true }
        for context in contexts where Bool.random(using: &self.random) {
            context.performAndWait { context.undoManager = UndoManager() }
        }
        transcript.append("policies \(policies.map(\.rawValue))")
    }

    /// Runs rounds until one shows a difference, which is returned.
    func run(rounds: Int) throws -> String? {
        for _ in 0..<rounds {
            if let difference = try round() { return ([difference] + transcript).joined(separator: "\n  ") }
        }
        return nil
    }

    private func round() throws -> String? {
        (links, cuts, cutPlaces, deleted, replaced, known) = ([], [], [], [], [], [])
        (touched, recoded, made) = ([[], []], [[], []], [[:], [:]])
        transcript.append("round")
        for index in 0..<2 { try contexts[index].performAndWait { try edit(index) } }
        let merges = Bool.random(using: &random) || alwaysMerges
        nonisolated(unsafe) var posted: [AnyHashable: Any]?
        for index in 0..<2 {
            let context = contexts[index]
            if index == 1, merges, let posted {
                transcript.append("1 merges")
                context.performAndWait { Self.merge(posted, into: context) }
            }
            let token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
            ) { posted = $0.userInfo }
            defer { NotificationCenter.default.removeObserver(token) }
            posted = nil
            if let difference = try context.performAndWait({ try save(index) }) { return difference }
            // The first has no changes any more, whatever the second has saved.
            for id in posted?[NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue] as? Set<NSManagedObjectID> ?? [] {
                // An object that takes over what belonged to another one has changed as well.
                if let label = savedLabels[id] { touched[index].insert(label) }
            }
            if index == 1, let posted { contexts[0].performAndWait { Self.merge(posted, into: contexts[0]) } }
            if index == 1, !merges { contexts[1].performAndWait { contexts[1].refreshAllObjects() } }
        }
        return try compare(merges: merges)
    }

    private static func merge(_ info: [AnyHashable: Any], into context: NSManagedObjectContext) {
        context.mergeChanges(
            fromContextDidSave: Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info))
    }

    // MARK: Editing

    private func edit(_ index: Int) throws {
        let context = contexts[index]
        var things = try things(context)
        links.formUnion(links(things))
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
                recoded[index].insert(label)
            case 1:
                say(index, "delete \(label)")
                let before = links(things)
                // Without an inverse, what leads to it would deny the save.
                for other in things.values where other.value(forKey: "pointer") as? NSManagedObject === object {
                    other.setValue(nil, forKey: "pointer")
                }
                context.delete(object)
                context.processPendingChanges()
                noteCuts(before.subtracting(links(things.filter { $0.key != label })))
                deleted.insert(label)
                things[label] = nil
                continue
            default: relate(index, label, things)
            }
            touched[index].insert(label)
        }
        for (label, object) in things where object.isInserted { made[index][label] = object }
        for (label, object) in things where object.isUpdated { touched[index].insert(label) }
        links.formUnion(links(things))
    }

    private func code() -> Int? { Int.random(in: 0..<6, using: &random) == 0 ? nil : Int.random(in: 0..<5, using: &random) }

    private func insert(_ index: Int, _ things: inout [Int: NSManagedObject]) {
        let kind = Bool.random(using: &random) ? "Region" : "Place"
        let code = code()
        let object = contexts[index].insert(kind, ["name": "\(nextLabel)", "code": code.map { $0 as Any } ?? NSNull()])
        say(index, "insert \(kind) \(nextLabel), code \(code.map(String.init) ?? "nil")")
        things[nextLabel] = object
        newLabels[ObjectIdentifier(object)] = nextLabel
        kept.append(object)
        nextLabel += 1
    }

    private func relate(_ index: Int, _ label: Int, _ things: [Int: NSManagedObject]) {
        let relationship = Self.relationships.randomElement(using: &random)!
        let object = things[label]!
        let before = links(things)
        if !relationship.isToMany {
            let other = Int.random(in: 0..<5, using: &random) == 0 ? nil : things.keys.sorted().randomElement(using: &random)
            say(index, "\(relationship.name) of \(label) is \(other.map(String.init) ?? "nil")")
            object.setValue(other.map { things[$0]! }, forKey: relationship.name)
        } else {
            var members = labels(object.value(forKey: relationship.name))
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
        let after = links(things)
        noteCuts(before.subtracting(after))
    }

    private func noteCuts(_ gone: Set<Link>) {
        for link in gone {
            cuts.insert(link)
            cutPlaces.insert(Place(label: link.from, relationship: link.relationship))
            if let inverse = Self.relationship(link.relationship).inverseName {
                cutPlaces.insert(Place(label: link.to, relationship: inverse))
            }
        }
    }

    private func say(_ index: Int, _ text: String) { transcript.append("\(index): \(text)") }

    // MARK: Saving

    private func save(_ index: Int) throws -> String? {
        let context = contexts[index]
        let all = try things(context)
        links.formUnion(links(all))
        let before = all.filter { $0.value.isInserted }
        if index == 0 { known = links(all) }
        for (label, object) in all where object.isUpdated { touched[index].insert(label) }
        let codes = before.mapValues { $0.value(forKey: "code") as? Int }
        // An object that is changed to a code gives way to one that has it, others to one that takes theirs.
        let changed = all.filter { $0.value.changedValues()["code"] != nil }.mapValues { $0.value(forKey: "code") as? Int }
        var storedCodes = try stored()
        for (label, code) in changed where storedCodes[label] != nil { storedCodes[label] = .some(code) }
        // What is overwritten has its old code again, whatever others have changed it to.
        if policies[index] == .overwriteMergePolicyType {
            for (label, object) in all where object.isUpdated && storedCodes[label] != nil {
                storedCodes[label] = .some(object.value(forKey: "code") as? Int)
            }
        }
        say(index, "save")
        do { try context.save() } catch let error as NSError {
            let expected = [NSManagedObjectConstraintMergeError, NSManagedObjectMergeError]
            guard policies[index] == .errorMergePolicyType, expected.contains(error.code) else { return "the save fails: \(error)" }
            say(index, "(fails, rolled back)")
            context.rollback()
            forgetEdits(index)
            return nil
        }
        if context.hasChanges { return "\(index) has changes after its save" }
        for (label, object) in before where object.managedObjectContext != nil { savedLabels[object.objectID] = label }
        for (label, object) in before where object.managedObjectContext == nil {
            guard object.isDeleted else { return "\(label) has left the context and is not deleted" }
            guard let kept = try? context.existingObject(with: object.objectID) else { return "the ID of \(label) leads nowhere" }
            // What others have saved unnoticed may have changed the code once more.
            if index == 0, kept.value(forKey: "code") as? Int != codes[label] { return "the ID of \(label) leads to another code" }
            successors[label] = self.label(kept)
        }
        let holders = Dictionary(
            try stored().compactMap { label, code in code.map { ($0, label) } }, uniquingKeysWith: { first, _ in first })
        let left = try stored()
        for (label, code) in storedCodes where left[label] == nil && !deleted.contains(label) {
            successors[label] = code.flatMap { holders[$0] }
            if index == 0 { replaced.insert(label) }
        }
        return nil
    }

    /// The codes of what is stored.
    private func stored() throws -> [Int: Int?] {
        let reader = Music.context(coordinator)
        reader.stalenessInterval = 0
        return try reader.performAndWait { try things(reader).mapValues { $0.value(forKey: "code") as? Int } }
    }

    /// What was edited is as if it had never been: nothing of it is expected, and it excuses nothing but what it excuses in the other context.
    private func forgetEdits(_ index: Int) {
        let new = Set(made[index].keys)
        links = links.filter { !new.contains($0.from) && !new.contains($0.to) && !discarded(index).contains($0) }
    }

    /// The links between saved things that only this context has made.
    private func discarded(_ index: Int) -> Set<Link> {
        links.filter { touched[index].contains($0.from) || touched[index].contains($0.to) }
    }

    // MARK: Comparing

    private func compare(merges: Bool) throws -> String? {
        let reader = Music.context(coordinator)
        reader.stalenessInterval = 0
        return try reader.performAndWait {
            let things = try things(reader)
            let stored = links(things)
            for (index, context) in contexts.enumerated() {
                let shown = try context.performAndWait { () -> (Set<Int>, Set<Link>, [Int: Int]) in
                    let things = try self.things(context)
                    return (Set(things.keys), links(things), things.compactMapValues { $0.value(forKey: "code") as? Int })
                }
                if shown.0 != Set(things.keys) { return "\(index) shows \(shown.0.sorted()), stored are \(things.keys.sorted())" }
                if shown.1 != stored {
                    return "\(index) shows besides \(shown.1.subtracting(stored)), and does not show \(stored.subtracting(shown.1))"
                }
                if shown.2 != things.compactMapValues({ $0.value(forKey: "code") as? Int }) { return "\(index) shows other codes" }
            }
            let holders = Dictionary(grouping: things.filter { $0.value.value(forKey: "code") != nil }) { $1.value(forKey: "code") as! Int }
            if let twins = holders.first(where: { $0.value.count > 1 }) {
                return "\(twins.value.map(\.key)) share the code \(twins.key)"
            }
            for link in stored {
                guard let inverse = Self.relationship(link.relationship).inverseName else { continue }
                if !stored.contains(Link(from: link.to, relationship: inverse, to: link.from)) { return "only one end is stored: \(link)" }
            }
            func survivor(_ label: Int) -> Int? {
                var (label, count) = (label, 0)
                while things[label] == nil {
                    guard let next = successors[label], count <= successors.count else { return nil }
                    (label, count) = (next, count + 1)
                }
                return label
            }
            /// What has given way may come back, under a policy that inserts again what others have deleted: what the other context has related to it is
            /// with the one that it gave way to.
            func ends(_ label: Int) -> [Int] {
                let successor = replaced.contains(label) && things[label] != nil ? successors[label].flatMap(survivor) : nil
                return [survivor(label), successor].compactMap(\.self)
            }
            return links.lazy.compactMap { self.missing($0, stored, survivor, ends, merges: merges) }.first
        }
    }

    /// A thing, and all that it has given way to, one after the other.
    private func chain(_ label: Int) -> Set<Int> {
        var chain: Set<Int> = [label]
        var last = label
        while let next = successors[last], chain.insert(next).inserted { last = next }
        return chain
    }

    /// Returns what is wrong with a link that should be stored and is not.
    private func missing(_ link: Link, _ stored: Set<Link>, _ survivor: (Int) -> Int?, _ ends: (Int) -> [Int], merges: Bool) -> String? {
        if cuts.contains(link) || deleted.contains(link.from) || deleted.contains(link.to) { return nil }
        // To a context that links it, a thing that others have replaced is deleted.
        if replaced.contains(link.from) || replaced.contains(link.to), !known.contains(link) { return nil }
        let relationship = Self.relationship(link.relationship)
        // What it has given way to may have been deleted.
        if chain(link.from).union(chain(link.to)).contains(where: deleted.contains) { return nil }
        guard let from = survivor(link.from), let to = survivor(link.to) else {
            return "an end of \(link) is gone, and there is nothing in its place"
        }
        /// Whether the place of a relationship to one object is another's, or was emptied: by somebody, or with what was deleted or cut at its other end.
        func isOccupied(_ label: Int, _ relationship: Relationship) -> Bool {
            if relationship.isToMany { return false }
            func isCut(_ label: Int, _ name: String) -> Bool {
                cutPlaces.contains { survivor($0.label) == label && $0.relationship == name }
            }
            if isCut(label, relationship.name) { return true }
            if stored.contains(where: { $0.from == label && $0.relationship == relationship.name }) { return true }
            return links.contains { rival in
                guard rival.relationship == relationship.name, survivor(rival.from) == label else { return false }
                if deleted.contains(rival.to) || (replaced.contains(rival.to) && !known.contains(rival)) { return true }
                guard let inverse = relationship.inverse, !inverse.isToMany, let other = survivor(rival.to) else { return false }
                return isCut(other, inverse.name)
            }
        }
        for from in ends(link.from) {
            for to in ends(link.to) {
                let kept = Link(from: from, relationship: relationship.name, to: to)
                // Whoever has cut the link between those that stay has cut this one, if that was saved later.
                if stored.contains(kept) || cuts.contains(kept) { return nil }
                if isOccupied(from, relationship) || relationship.inverse.map({ isOccupied(to, $0) }) ?? false { return nil }
            }
        }
        // Of what the policy discards nothing stays: the changes of what others have changed too, or of what has taken a code.
        for index in 0..<2 where policies[index] == .rollbackMergePolicyType {
            let isDiscarded = { (label: Int) in
                self.recoded[index].contains(label) || (!merges && self.touched[0].contains(label) && self.touched[1].contains(label))
            }
            if [link.from, link.to, from, to].contains(where: isDiscarded) { return nil }
            // Nor of what has taken the place of another link first.
            let ends = [(link.from, relationship), (link.to, relationship.inverse ?? relationship)]
            for (label, end) in ends where !end.isToMany {
                if links.contains(where: { $0.from == label && $0.relationship == end.name && isDiscarded($0.to) }) { return nil }
            }
        }
        return "nobody has cut \(link), which should be stored as \(from) \(relationship.name) \(to)"
    }

    // MARK: Reading

    private static func relationship(_ name: String) -> Relationship { GivingWayModel.relationships.first { $0.name == name }! }

    private func things(_ context: NSManagedObjectContext) throws -> [Int: NSManagedObject] {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        return Dictionary(found.map { (label($0), $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func links(_ things: [Int: NSManagedObject]) -> Set<Link> {
        var links: Set<Link> = []
        for (label, object) in things {
            for relationship in Self.relationships {
                // Without an inverse, what leads to a deleted thing still does.
                for other in labels(object.value(forKey: relationship.name)) where other >= 0 {
                    links.insert(Link(from: label, relationship: relationship.name, to: other))
                }
            }
        }
        return links
    }

    private func labels(_ value: Any?) -> [Int] {
        switch value {
        case let object as NSManagedObject: [label(object)]
        case let set as Set<NSManagedObject>: set.map(label).sorted()
        case let ordered as NSOrderedSet: ordered.array.map { label($0 as! NSManagedObject) }
        default: []
        }
    }

    /// The label of a thing; -1 for one that is deleted.
    private func label(_ object: NSManagedObject) -> Int {
        if object.managedObjectContext == nil || object.isDeleted { return -1 }
        // What a fault without a row shows is nothing.
        if !object.isInserted, (try? object.managedObjectContext?.existingObject(with: object.objectID)) == nil { return -1 }
        return savedLabels[object.objectID] ?? newLabels[ObjectIdentifier(object)] ?? -1
    }
}
