import CoreData

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension ProgramStep {
    /// Whether the step can be carried out on one context while a save of it is suspended, with no need to wait for that.
    var isForSuspension: Bool {
        switch kind {
        case .insert, .setAttribute, .setToOne, .setToMany, .addMember, .removeMember, .reorder, .delete, .process, .rollback, .look,
            .undo, .redo:
            true
        case .save, .merge, .refresh, .refreshMerging, .refreshAll, .reset: false
        }
    }
}

extension ProgramExecution {
    /// Carries out a step, by `await` where the store can hold its answers back: then some of the steps after it are carried out meanwhile.
    func carryOut(_ step: ProgramStep, _ rest: inout ArraySlice<ProgramStep>) throws {
        let side = sides[step.side]
        guard asksGate, step.choices[0] % 4 != 0, sides.map(\.suspendedReads).reduce(0, +) < 3 else { return try carryOut(step) }
        switch step.kind {
        case .save where side.parent == nil && !side.isRefreshing:
            try saveSuspended(side, &rest, fails: step.choices[1] % 4 == 0)
        case .process: try readSuspended(.load, side, step, &rest)
        case .refresh where !side.isRefreshing, .refreshMerging where !side.isRefreshing: try readSuspended(.refresh, side, step, &rest)
        case .refreshAll where !side.isRefreshing: try readSuspended(.refreshAll, side, step, &rest)
        case .look: try readSuspended(step.choices[1] % 3 == 0 ? .load : .fetch, side, step, &rest)
        default: try carryOut(step)
        }
    }

    /// Saves by `await`, and carries out steps of the same context while the server holds its answer back.
    ///
    /// From the moment the save has begun, the context counts as saved: that is all that the naive graph knows of it.
    ///
    /// - Parameter fails: whether the server refuses the save: then everything is pending again.
    private func saveSuspended(_ side: ProgramSide, _ rest: inout ArraySlice<ProgramStep>, fails: Bool) throws {
        let context = side.context
        let deletes = try context.performAndWait {
            try catchUp(side, 0)
            context.processPendingChanges()
            return side.working.nodes.contains { $1.isDoomed }
        }
        try letChildMerge()
        if side.working.isDenied { return }
        say(side, "save by await\(fails ? ", which fails" : "")")
        side.posted = nil
        let gate = ServerGate()
        let answer = CallResult<Void>()
        Task.detached { await ServerGate.$current.withValue(gate) { await answer.set { try await context.saveAsynchronously() } } }
        defer {
            // Whatever has been found, nothing goes on when the program is over.
            gate.open()
            while answer.value == nil { sched_yield() }
        }
        while gate.question == nil, answer.value == nil { sched_yield() }
        let before = stored
        let (base, taken, saved) = (side.base, side.working, side.saved)
        stored = side.working.withoutDoomed
        side.saved.formUnion(taken.changedLabels(since: base))
        side.didSave(side.working)
        let isHeld = gate.question != nil
        if isHeld {
            side.isSuspended = true
            storedBeforeSave = before
            defer {
                side.isSuspended = false
                storedBeforeSave = nil
            }
            try carryOutMeanwhile(side, &rest, deletes: deletes)
        }
        let isRefused = fails && isHeld
        gate.open(failure: isRefused ? NSError(domain: "server", code: 503) : nil)
        while answer.value == nil { sched_yield() }
        say(side, isRefused ? "(the save has failed)" : "(the save is done)")
        if isRefused {
            guard case .failure(let error as NSError)? = answer.value, error.domain == "server" else {
                return try note("\(side.name): the save does not fail")
            }
            stored = before
            side.saved = saved
            try context.performAndWait {
                side.takeBack(taken, base: base)
                try compare(side)
            }
            sides[2].isStale = true
            try letChildMerge()
            return try compareStore()
        }
        if case .failure(let error)? = answer.value { return try note("\(side.name): the save fails: \(error)") }
        noteSaved(side, since: before)
        try tell(of: before, from: side)
        try context.performAndWait { try compare(side) }
        try letChildMerge()
        try compareStore()
    }

    /// Steps of a context whose save is suspended.
    private func carryOutMeanwhile(_ side: ProgramSide, _ rest: inout ArraySlice<ProgramStep>, deletes: Bool) throws {
        var count = 0
        while count < 5, let step = rest.first, step.isForSuspension {
            count += 1
            rest.removeFirst()
            if deletes, step.kind == .undo || step.kind == .redo { continue }
            if step.kind == .look, step.choices[0] % 4 != 0 {
                try readSuspended(step.choices[1] % 3 == 0 ? .load : .fetch, side, step, &rest)
                continue
            }
            try side.context.performAndWait {
                var choices = Choices(step.choices)
                try carryOut(step.kind, side, &choices)
                try compare(side)
            }
        }
    }
}

extension ProgramSide {
    /// A save has failed: what it has taken is pending again, with what was changed since.
    fileprivate func takeBack(_ taken: NaiveGraph, base: NaiveGraph) {
        // To go back over a save that did not come about is not laid down.
        context.undoManager?.removeAllActions()
        forgetUndo()
        for (label, node) in taken.nodes where node.isDoomed { working.nodes[label] = node }
        // What was new and has been deleted since was never saved.
        working.delete(working.nodes.filter { $1.isDoomed && base.nodes[$0] == nil }.keys.sorted(), saved: base)
        self.base = base
        adoptTouched()
    }
}

/// What has become of an asynchronous call.
// `result` is guarded by its mutex.
final class CallResult<Value: Sendable>: Sendable {
    private let result = GuardedState<Result<Value, any Error>?>(nil)
    var value: Result<Value, any Error>? { result.withLock { $0 } }

    func set(_ body: @Sendable () async throws -> Value) async {
        let new: Result<Value, any Error>
        do { new = .success(try await body()) } catch { new = .failure(error) }
        result.withLock { $0 = new }
    }
}
