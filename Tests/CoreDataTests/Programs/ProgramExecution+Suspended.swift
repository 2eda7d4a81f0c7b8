import CoreData
import Synchronization

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
    /// Saves by `await`, and carries out steps of the same context while the server holds its answer back.
    ///
    /// From the moment the save has begun, the context counts as saved: that is all that the naive graph knows of it.
    ///
    /// - Parameter fails: whether the server refuses the save: then everything is pending again.
    func saveSuspended(_ side: ProgramSide, _ steps: [ProgramStep], _ server: ServerStore, fails: Bool) throws {
        let context = side.context
        let deletes = try context.performAndWait {
            try catchUp(side, 0)
            context.processPendingChanges()
            return side.working.nodes.contains { $1.isDoomed }
        }
        if side.working.isDenied { return }
        say(side, "save by await\(fails ? ", which fails" : "")")
        server.configure { $0.heldBack = ["save"] }
        side.posted = nil
        let answer = SaveResult()
        Task.detached {
            do {
                try await context.save()
                answer.set(.success(()))
            } catch {
                answer.set(.failure(error))
            }
        }
        defer {
            // Whatever has been found, nothing goes on when the program is over.
            server.release()
            while answer.value == nil { sched_yield() }
        }
        while server.heldCount == 0, answer.value == nil { sched_yield() }
        let before = stored
        let (base, taken) = (side.base, side.working)
        stored = side.working.withoutDoomed
        side.didSave(side.working)
        if server.heldCount > 0 {
            side.isSuspended = true
            defer { side.isSuspended = false }
            for step in steps where !(deletes && (step.kind == .undo || step.kind == .redo)) {
                try context.performAndWait {
                    var choices = Choices(step.choices)
                    try carryOut(step.kind, side, &choices)
                    try compare(side)
                }
            }
        }
        let isRefused = fails && server.heldCount > 0
        if isRefused { server.configure { $0.failure = NSError(domain: "server", code: 503) } }
        server.release()
        while answer.value == nil { sched_yield() }
        server.configure { $0.failure = nil }
        say(side, isRefused ? "(the save has failed)" : "(the save is done)")
        if isRefused {
            guard case .failure(let error as NSError)? = answer.value, error.domain == "server" else {
                return try note("\(side.name): the save does not fail")
            }
            stored = before
            try context.performAndWait {
                side.takeBack(taken, base: base)
                try compare(side)
            }
            sides[2].isStale = true
            return try compareStore()
        }
        if case .failure(let error)? = answer.value { return try note("\(side.name): the save fails: \(error)") }
        noteSaved(side, since: before)
        try tell(of: before, from: side)
        try context.performAndWait { try compare(side) }
        if sides[2].context.automaticallyMergesChangesFromParent { try sides[2].context.performAndWait { try letChildMerge(sides[2]) } }
        try compareStore()
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

/// What has become of a save.
// `result` is guarded by its mutex.
private final class SaveResult: Sendable {
    private let result = Synchronization.Mutex<Result<Void, any Error>?>(nil)
    var value: Result<Void, any Error>? { result.withLock { $0 } }
    func set(_ new: Result<Void, any Error>) { result.withLock { $0 = new } }
}
