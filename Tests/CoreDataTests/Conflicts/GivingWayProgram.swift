import CoreData
import RandomPrograms
import TestSupport

/// Rounds in which two contexts of one store change things whose codes are unique, with relationships of every kind, and save one after the other.
///
/// What nobody has cut must be there after every save, between the objects themselves or those that they have given way to; and what both contexts show
/// at the end must be what is stored.
final class GivingWayProgram {
    struct Link: Hashable {
        let from: Int
        let relationship: String
        let to: Int

        /// The same link seen from its other end.
        var reversed: Link? { GivingWayModel.relationship(relationship).inverseName.map { Link(from: to, relationship: $0, to: from) } }
    }

    /// All but the to-many relationship without an inverse, whose objects have one owner in a SQLite store and many in memory.
    static let relationships = GivingWayModel.relationships.filter { $0.inverseName != nil || !$0.isToMany }

    let coordinator: NSPersistentStoreCoordinator
    let contexts: [NSManagedObjectContext]
    private let policies: [NSMergePolicyType]
    private let alwaysMerges: Bool
    var random: SeededGenerator
    var nextLabel = 0
    /// Things by what they are, for their attributes are taken over with the rest: the labels of saved ones, and those of new ones.
    private(set) var savedLabels: [NSManagedObjectID: Int] = [:]
    private(set) var newLabels: [ObjectIdentifier: Int] = [:]
    /// All that were ever new: their addresses are not used again.
    private var named: [NSManagedObject] = []
    private(set) var transcript: [String] = []

    // What happens in a round.

    /// What was stored when each context has read it, and what each shows with its changes.
    private var known: [Set<Link>] = [[], []]
    var shown: [Set<Link>] = [[], []]
    var deleted: [Set<Int>] = [[], []]
    /// The saved things that the first context has changed and the second has not merged.
    private var changedByOthers: Set<Int> = []

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
        let before = try stored().links
        (known, deleted, changedByOthers) = ([before, before], [[], []], [])
        transcript.append("round")
        for index in 0..<2 {
            if let difference = try contexts[index].performAndWait({ try edit(index) }) { return difference }
        }
        let merges = Bool.random(using: &random) || alwaysMerges
        nonisolated(unsafe) var posted: [AnyHashable: Any]?
        for index in 0..<2 {
            let context = contexts[index]
            if index == 1, let info = posted {
                if merges {
                    if let difference = try context.performAndWait({ try merge(info, into: index) }) { return difference }
                } else {
                    let changed = info[NSManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue] as? Set<NSManagedObjectID>
                    changedByOthers = Set(changed?.compactMap { savedLabels[$0] } ?? [])
                }
            }
            let token = NotificationCenter.default.addObserver(
                forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
            ) { posted = $0.userInfo }
            defer { NotificationCenter.default.removeObserver(token) }
            posted = nil
            if let difference = try context.performAndWait({ try save(index) }) { return difference }
            // The first has no changes any more, whatever the second has saved.
            if index == 1, let posted { contexts[0].performAndWait { Self.merge(posted, into: contexts[0]) } }
            if index == 1, !merges { contexts[1].performAndWait { contexts[1].refreshAllObjects() } }
        }
        return try compare()
    }

    private static func merge(_ info: [AnyHashable: Any], into context: NSManagedObjectContext) {
        context.mergeChanges(
            fromContextDidSave: Notification(name: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, userInfo: info))
    }

    func name(_ object: NSManagedObject, _ label: Int) {
        newLabels[ObjectIdentifier(object)] = label
        named.append(object)
    }

    func say(_ index: Int, _ text: String) { transcript.append("\(index): \(text)") }

    // MARK: Merging

    /// Merges what the other context has saved: the changes of this one are kept.
    private func merge(_ info: [AnyHashable: Any], into index: Int) throws -> String? {
        say(index, "merges")
        let context = contexts[index]
        let (codes, stored) = try stored()
        let new = context.insertedObjects.map(label)
        Self.merge(info, into: context)
        let things = try things(context)
        let after = links(things)
        let difference = GivingWayExpectation(
            policy: .mergeByPropertyObjectTrumpMergePolicyType, known: known[index], shown: shown[index], stored: stored,
            present: Set(codes.keys).union(new), deleted: deleted[index], discarded: [], left: Set(things.keys), kept: after
        ).difference()
        (known[index], shown[index]) = (stored, after)
        return difference.map { "after the merge, \($0)" }
    }

    // MARK: Saving

    private func save(_ index: Int) throws -> String? {
        let context = contexts[index]
        let policy = policies[index]
        let all = try things(context)
        let new = all.filter { $0.value.isInserted }
        let codes = new.mapValues { $0.value(forKey: "code") as? Int }
        // An object that is changed to a code gives way to one that has it, others to one that takes theirs.
        let recoded = all.filter { $0.value.changedValues()["code"] != nil }.mapValues { $0.value(forKey: "code") as? Int }
        let updated = all.filter { $0.value.isUpdated }
        let before = try stored()
        var finalCodes = before.codes
        for (label, code) in recoded where finalCodes[label] != nil { finalCodes[label] = .some(code) }
        // What is overwritten has its old code again, whatever others have changed it to. What is as it was read is not saved.
        if policy == .overwriteMergePolicyType {
            for (label, object) in updated where finalCodes[label] != nil && !object.changedValues().isEmpty {
                finalCodes[label] = .some(object.value(forKey: "code") as? Int)
            }
        }
        // What others have deleted may come back, and meet the constraint anew.
        for (label, object) in updated where before.codes[label] == nil { finalCodes[label] = object.value(forKey: "code") as? Int }
        say(index, "save")
        do { try write(index, present: before.codes.keys) } catch let error as NSError {
            let expected = [NSManagedObjectConstraintMergeError, NSManagedObjectMergeError]
            guard policy == .errorMergePolicyType, expected.contains(error.code) else { return "the save fails: \(error)" }
            say(index, "(fails, rolled back)")
            context.rollback()
            return nil
        }
        if context.hasChanges { return "\(index) has changes after its save" }
        for (label, object) in new where object.managedObjectContext != nil { savedLabels[object.objectID] = label }
        var successors: [Int: Int] = [:]
        for (label, object) in new where object.managedObjectContext == nil {
            guard object.isDeleted else { return "\(label) has left the context and is not deleted" }
            guard let kept = try? context.existingObject(with: object.objectID) else { return "the ID of \(label) leads nowhere" }
            // What others have saved unnoticed may have changed the code once more.
            if index == 0, kept.value(forKey: "code") as? Int != codes[label] { return "the ID of \(label) leads to another code" }
            successors[label] = self.label(kept)
        }
        let after = try stored()
        let holders = Dictionary(
            after.codes.compactMap { label, code in code.map { ($0, label) } }, uniquingKeysWith: { first, _ in first })
        for (label, code) in finalCodes where after.codes[label] == nil && !deleted[index].contains(label) {
            successors[label] = code.flatMap { holders[$0] }
        }
        // Of what the policy discards nothing stays: the changes of what others have changed too, or of what has taken a code.
        let discarded = policy == .rollbackMergePolicyType ? changedByOthers.intersection(updated.keys).union(recoded.keys) : []
        return GivingWayExpectation(
            policy: policy, known: known[index], shown: shown[index], stored: before.links, present: Set(before.codes.keys).union(new.keys),
            deleted: deleted[index], discarded: discarded, left: Set(after.codes.keys), successors: successors, kept: after.links
        ).difference().map { "after the save of \(index), \($0)" }
    }

    /// Saves. A pointer to what others have deleted denies that: it is taken out, as the error says.
    private func write(_ index: Int, present: Dictionary<Int, Int?>.Keys) throws {
        do { try contexts[index].save() } catch let error as NSError {
            let pointers = error.parts.map { ($0, $0.userInfo[NSValidationObjectErrorKey], $0.userInfo[NSValidationValueErrorKey]) }
            for (part, object, target) in pointers {
                guard part.code == NSManagedObjectValidationError, part.key == "pointer", let object = object as? NSManagedObject,
                    let target = target as? NSManagedObject, let label = savedLabels[target.objectID], !present.contains(label)
                else { throw error }
                say(index, "the pointer of \(self.label(object)) to \(label) denies the save, and is nil")
                object.setValue(nil, forKey: "pointer")
            }
            try contexts[index].save()
        }
    }

    // MARK: Comparing

    /// Compares what both contexts show at the end of a round with what is stored.
    private func compare() throws -> String? {
        let (codes, stored) = try stored()
        for (index, context) in contexts.enumerated() {
            let shown = try context.performAndWait { () -> ([Int: Int?], Set<Link>) in
                let things = try things(context)
                return (things.mapValues { $0.value(forKey: "code") as? Int }, links(things))
            }
            if Set(shown.0.keys) != Set(codes.keys) { return "\(index) shows \(shown.0.keys.sorted()), stored are \(codes.keys.sorted())" }
            if shown.1 != stored {
                return "\(index) shows besides \(shown.1.subtracting(stored)), and does not show \(stored.subtracting(shown.1))"
            }
            if shown.0 != codes { return "\(index) shows other codes" }
        }
        let holders = Dictionary(grouping: codes.filter { $0.value != nil }) { $0.value }
        if let twins = holders.first(where: { $0.value.count > 1 }) { return "\(twins.value.map(\.key)) share a code" }
        if let half = stored.first(where: { $0.reversed.map { !stored.contains($0) } ?? false }) {
            return "only one end is stored: \(half)"
        }
        return nil
    }
}
