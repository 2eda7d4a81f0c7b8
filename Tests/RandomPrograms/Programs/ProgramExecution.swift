import CoreData

/// One program while it runs: two contexts of a store and a child of the first, and what each of them ought to show.
final class ProgramExecution {
    /// What was done, in words.
    private(set) var transcript: [String] = []
    private(set) var difference: String?
    var stored = NaiveGraph()
    private(set) var sides: [ProgramSide] = []
    /// What is stored while a save is suspended that counts already.
    var storedBeforeSave: NaiveGraph?
    private var nextLabel = 0
    /// One for each context, and one by which it is looked what is stored.
    private let coordinators: [NSPersistentStoreCoordinator]

    /// Whether the store holds its answers back for ``ServerGate``.
    let asksGate: Bool

    init(_ settings: ProgramSettings, in coordinators: [NSPersistentStoreCoordinator], asksGate: Bool) {
        self.coordinators = coordinators
        self.asksGate = asksGate
        for index in 0..<3 {
            let context = NSManagedObjectContext(.privateQueue)
            if index == 2 { context.parent = sides[0].context } else { context.persistentStoreCoordinator = coordinators[index] }
            let side = ProgramSide(context, name: ["first", "second", "child"][index], settings, index)
            if index == 2 { side.parent = sides[0] }
            sides.append(side)
        }
        // Of what another coordinator saves no context is told.
        sides[1].context.automaticallyMergesChangesFromParent = settings.mergesByItself && coordinators[0] === coordinators[1]
        sides[2].context.automaticallyMergesChangesFromParent = settings.childMergesByItself
        for side in sides { side.listen() }
    }

    private struct Difference: Error {}

    /// Carries out steps until one of them shows a difference. Answers whether there is none.
    func run(_ steps: [ProgramStep]) -> Bool {
        var rest = steps[...]
        while let step = rest.popFirst() {
            do {
                try carryOut(step, &rest)
            } catch {
                if difference == nil { difference = "\(error)" }
                return false
            }
        }
        return true
    }

    /// What the child of a context has to know of a save.
    func noteSaved(_ side: ProgramSide, since before: NaiveGraph) {
        if side === sides[0] { sides[2].announced.formUnion(stored.changedLabels(since: before)) }
        sides[2].isStale = true
    }

    func note(_ text: String) throws {
        difference = text
        throw Difference()
    }

    func say(_ side: ProgramSide, _ text: String) { transcript.append("\(side.name): \(text)") }

    // MARK: Steps

    func carryOut(_ step: ProgramStep) throws {
        let side = sides[step.side]
        // What leads to deleted objects of the parent is for the parent to mend.
        if let parent = side.parent, parent.working.holdsDenials { return }
        try side.context.performAndWait {
            if step.kind != .save && step.kind != .merge { try catchUp(side, step.choices.last ?? 0) }
            var choices = Choices(step.choices)
            try carryOut(step.kind, side, &choices)
        }
        if step.side == 0 || step.kind == .save { sides[2].isStale = true }
        try letChildMerge()
    }

    func letChildMerge() throws {
        let child = sides[2]
        if child.context.automaticallyMergesChangesFromParent { try child.context.performAndWait { try letChildMerge(child) } }
    }

    /// The child has merged what its parent has saved or merged: that was given to its queue. Of what else the parent has changed it is not told.
    private func letChildMerge(_ side: ProgramSide) throws {
        let announced = side.announced
        if announced.isEmpty { return }
        side.announced = []
        let parent = side.parent!.working
        let current = parent.withoutDoomed
        let labels = Set(side.base.nodes.keys).union(current.nodes.keys)
        // Of a deletion it is told once that is saved.
        let isTold = labels.allSatisfy { label in
            if side.base.nodes[label] == current.nodes[label] { return true }
            return announced.contains(label) && (current.nodes[label] != nil || stored.nodes[label] == nil)
        }
        guard isTold, !parent.holdsDenials, !side.isTorn else { return side.isTorn = true }
        side.bringUpToDate(with: current)
        side.isStale = false
        say(side, "(merges by itself)")
        try compare(side)
    }

    func carryOut(_ kind: ProgramStep.Kind, _ side: ProgramSide, _ choices: inout Choices) throws {
        switch kind {
        case .merge: try merge(side)
        case .save: try save(side)
        case .rollback:
            say(side, "roll back")
            side.context.rollback()
            side.working = side.base
            side.touched = []
            side.forgetUndo()
            try compare(side)
        case .reset:
            say(side, "reset")
            side.context.reset()
            side.working = side.base
            side.touched = []
            side.forgetUndo()
            try compare(side)
        case .refreshAll:
            say(side, "refresh all")
            side.context.refreshAllObjects()
        case .process:
            say(side, "process pending changes")
            side.context.processPendingChanges()
        case .undo, .redo: try undo(side, isRedo: kind == .redo)
        case .look: try look(side, &choices)
        default: try edit(kind, side, &choices)
        }
    }

    /// Changes the graph, as one group for undo.
    private func edit(_ kind: ProgramStep.Kind, _ side: ProgramSide, _ choices: inout Choices) throws {
        let objects = try side.objects()
        guard objects.keys.sorted() == side.working.living else {
            return try note("\(side.name): \(objects.keys.sorted()) are there, expected \(side.working.living)")
        }
        let before = side.working
        let count = side.undoManager?.undoCount ?? 0
        side.undoManager?.beginUndoGrouping()
        var edit = ProgramEdit(side: side, objects: objects, choices: choices)
        let text = kind == .insert ? edit.insert(nextLabel) : edit.carryOut(kind)
        if kind == .insert { nextLabel += 1 }
        side.undoManager?.endUndoGrouping()
        guard let text else { return }
        if kind != .refresh { side.noteTouched(since: before) }
        say(side, text)
        if kind == .refresh || kind == .refreshMerging { return }
        if let manager = side.undoManager, manager.undoCount > count { side.remember(before) }
    }

    private func undo(_ side: ProgramSide, isRedo: Bool) throws {
        guard let change = side.nextUndo(isRedo: isRedo), !isMistakable(change, side) else { return }
        side.dropUndo(isRedo: isRedo)
        say(side, isRedo ? "redo" : "undo")
        let before = side.working
        let count = side.undoManager.map { isRedo ? $0.undoCount : $0.redoCount } ?? 0
        if isRedo { side.context.redo() } else { side.context.undo() }
        side.goBack(over: change)
        // Where nothing was left to go back to, nothing can be done again.
        if let manager = side.undoManager, (isRedo ? manager.undoCount : manager.redoCount) > count {
            side.rememberWayBack(before, isRedo: isRedo)
        }
    }

    /// Whether an undo would bring back, as a new object of the same label, what others have inserted again, or have changes of and do not know to
    /// be deleted.
    private func isMistakable(_ change: ProgramSide.Change, _ side: ProgramSide) -> Bool {
        let back = Set(change.before.living).subtracting(change.after.living)
        if !back.isDisjoint(with: side.working.living) { return true }
        let deleted = change.before.living.filter { stored.nodes[$0] == nil }
        return sides.contains { side in
            !side.working.changedLabels(since: side.base).isDisjoint(with: deleted.filter { side.base.nodes[$0] != nil })
        }
    }

    // MARK: Between contexts

    /// A context that works shows the newest.
    func catchUp(_ side: ProgramSide, _ choice: Int) throws {
        if let parent = side.parent, side.isStale {
            try parent.context.performAndWait { try catchUp(parent, choice) }
            let current = parent.working.withoutDoomed
            side.isStale = false
            if choice % 4 < 2, side.context.hasChanges, knows(side, current), !side.isTorn {
                say(side, "(take over what the parent has)")
                side.context.refreshAllObjects()
                side.bringUpToDate(with: current)
                return try compare(side)
            }
            if side.context.hasChanges { side.context.rollback() }
            if choice % 2 == 0 { side.context.reset() } else { side.context.refreshAllObjects() }
            say(side, choice % 2 == 0 ? "(start anew by a reset)" : "(start anew by a rollback and a refresh)")
            side.forgetUndo()
            side.isTorn = false
            side.base = current
            side.working = current
            side.touched = []
        }
        if !side.waiting.isEmpty { try merge(side) }
    }

    /// Whether all that the child has read is still in the parent: of a deletion it learns by a merge only.
    private func knows(_ side: ProgramSide, _ current: NaiveGraph) -> Bool {
        side.base.nodes.keys.allSatisfy { current.nodes[$0] != nil }
    }

    private func merge(_ side: ProgramSide) throws {
        if let parent = side.parent { return try parent.context.performAndWait { try merge(parent) } }
        let waiting = side.waiting
        if waiting.isEmpty { return }
        say(side, "merge \(waiting.count) saves")
        side.waiting = []
        if side === sides[0] { sides[2].announced.formUnion(side.foreign) }
        for info in waiting { side.merge(info) }
        side.bringUpToDate(with: stored)
        sides[2].isStale = sides[2].isStale || side === sides[0]
        try compare(side)
    }

    private func save(_ side: ProgramSide) throws {
        if side.parent != nil { return try saveChild(side) }
        side.context.processPendingChanges()
        let conflicting = side.working.changedLabels(since: side.base).intersection(side.foreign)
        if side.wouldInsertUnread(conflicting, stored) { return }
        // What others have related may deny a deletion before conflicts are looked for: that depends on whether it was read before.
        let mayBeDenied = !side.working.isDenied && side.isDenied(by: stored)
        let isHeldUp = side.working.isDenied || (side.policy == .errorMergePolicyType && !conflicting.isEmpty)
        var rule = NaiveMerge(base: side.base, working: side.working, stored: stored)
        rule.policy = side.naivePolicy
        rule.conflicting = conflicting
        var merged = rule.merged()
        merged.deleteAgain(saved: stored)
        // What others have related to a deleted object may deny its deletion, too.
        let isDenied = isHeldUp ? side.working.isDenied : merged.isDenied
        let fails = isHeldUp || isDenied
        let settled = rule.withoutReturns(merged)
        // It would not show whether conflicts have been settled.
        if mayBeDenied, isDenied, !side.isAlike(settled, stored) { return }
        say(side, "save\(side.waiting.isEmpty ? "" : " (\(side.waiting.count) saves not merged, policy \(side.policy))")")
        side.posted = nil
        if side.naivePolicy == .keepEverything || side.naivePolicy == .overwrite { side.noteLinks(with: stored) }
        side.saved.formUnion(side.working.changedLabels(since: side.base))
        do {
            try side.context.save()
            if fails {
                try note("\(side.name): the save succeeds, but \(isDenied ? "a delete is denied" : "\(conflicting) are in conflict")")
            }
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
            let denials = [NSValidationRelationshipDeniedDeleteError, NSValidationMultipleErrorsError]
            let isExpected = fails && (isDenied ? denials : [NSManagedObjectMergeError]).contains(error.code)
            let isDeniedAtOnce = mayBeDenied && denials.contains(error.code)
            guard isExpected || isDeniedAtOnce else { return try note("\(side.name): the save fails: \(error)") }
            transcript[transcript.count - 1] += ": fails"
            if !isHeldUp, isExpected { side.didSettle(settled, stored) }
            if !side.waiting.isEmpty { try merge(side) }
            return try compare(side)
        }
        let before = stored
        stored = merged.withoutDoomed
        if side === sides[0] { sides[2].announced.formUnion(stored.changedLabels(since: before)) }
        side.didSave(merged)
        try tell(of: before, from: side)
        if !side.waiting.isEmpty { try merge(side) }
        try compareStore()
    }

    func tell(of before: NaiveGraph, from side: ProgramSide) throws {
        guard let info = side.posted else { return }
        let other = side === sides[0] ? sides[1] : sides[0]
        other.foreign.formUnion(stored.changedLabels(since: before))
        guard other.context.automaticallyMergesChangesFromParent else { return other.waiting.append(info) }
        // The merge was given to its queue by the save.
        try other.context.performAndWait {
            other.bringUpToDate(with: stored)
            say(other, "(merges by itself)")
            try compare(other)
        }
    }

    private func saveChild(_ side: ProgramSide) throws {
        let parent = side.parent!
        try parent.context.performAndWait { try catchUp(parent, 0) }
        if side.isTorn || side.working.isDenied || parent.working.holdsDenials || !knows(side, parent.working.withoutDoomed) { return }
        // Whether this denies a deletion depends on whether the child had read it before.
        if side.isDenied(by: parent.working.withoutDoomed) { return }
        say(side, "save into the parent")
        let before = parent.working
        let changes = NaiveMerge(base: side.base, working: side.sentWorking, stored: parent.working.withoutDoomed)
        let count = parent.undoManager?.undoCount ?? 0
        // The undo manager belongs to the parent's queue.
        try parent.context.performAndWait {
            parent.undoManager?.beginUndoGrouping()
            try side.context.save()
            parent.undoManager?.endUndoGrouping()
        }
        var merged = changes.merged()
        let doomed = merged.nodes.filter(\.value.isDoomed).keys.sorted()
        for label in doomed { merged.nodes[label]!.isDoomed = false }
        merged.delete(doomed, saved: parent.base)
        for (label, node) in before.nodes where node.isDoomed { merged.nodes[label] = node }
        parent.working = merged
        parent.context.performAndWait { parent.adoptTouched() }
        if let manager = parent.undoManager, manager.undoCount > count { parent.remember(before) }
        // What the parent has changed besides shows once the child starts anew.
        side.isTorn = merged.withoutDoomed != side.working.withoutDoomed
        side.base = merged.withoutDoomed
        side.working = side.base
        side.touched = []
        // What the child would bring back is another object than the one that its parent is about to delete.
        side.context.undoManager?.removeAllActions()
        side.forgetUndo()
        try parent.context.performAndWait { try compare(parent) }
    }

    // MARK: Comparing

    func compareStore() throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinators[2]
        context.stalenessInterval = 0
        try context.performAndWait {
            let (shown, _) = try ProgramSide.read(context)
            try report(shown, stored, "the store")
        }
    }

    func compare(_ side: ProgramSide) throws {
        let (shown, objects) = try ProgramSide.read(side.context)
        try report(shown, side.working.shown, side.name)
        if let text = side.flagDifference(objects) { try note("\(side.name): \(text)") }
    }

    private func report(_ shown: NaiveGraph, _ expected: NaiveGraph, _ place: String) throws {
        for label in Set(shown.nodes.keys).union(expected.nodes.keys).sorted() where shown.nodes[label] != expected.nodes[label] {
            func text(_ node: NaiveGraph.Node?) -> String {
                guard let node else { return "nothing" }
                let values = node.values.sorted { $0.key < $1.key }.map { "\($0) \($1)" }
                return (["\(node.kind)"] + values + node.links.sorted { $0.key < $1.key }.map { "\($0) \($1)" }).joined(separator: ", ")
            }
            try note("\(place), \(label): shown \(text(shown.nodes[label])); expected \(text(expected.nodes[label]))")
        }
    }

    /// Everything that a context shows, and a fetch with predicate, order, limit and offset.
    private func look(_ side: ProgramSide, _ choices: inout Choices) throws {
        say(side, "look")
        try compare(side)
        if let text = try side.fetchDifference(&choices) { try note("\(side.name): \(text)") }
    }
}

extension NaiveGraph {
    /// Whether something still leads to a deleted node.
    var holdsDenials: Bool { nodes.contains { $1.isDoomed && $1.links["guards"] != nil } }

    /// As a context shows it: without the nodes that are deleted; what denies a deletion leads to its node until the save.
    var shown: NaiveGraph {
        var graph = self
        for (label, node) in nodes where node.isDoomed { graph.nodes[label] = nil }
        return graph
    }
}
