import CoreData
import TestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An asynchronous call that changes nothing: what it brings meets what has changed meanwhile.
enum ProgramCall { case fetch, load, refresh, refreshAll }

extension ProgramExecution {
    /// Fetches, loads or refreshes by `await`, and carries out steps of all contexts while the server holds its answers back, one after the other.
    ///
    /// For the naive graph nothing happens but those steps.
    func readSuspended(_ call: ProgramCall, _ side: ProgramSide, _ step: ProgramStep, _ rest: inout ArraySlice<ProgramStep>) throws {
        if let parent = side.parent, parent.working.holdsDenials { return }
        let isSaving = side.isSuspended
        var choices = Choices(Array(step.choices.dropFirst(2)))
        var chance = SeededGenerator(seed: UInt64(choices.next()))
        let fetch = ProgramFetch(&choices)
        let picks = choices.next()
        let context = side.context
        // Objects of the context, for use on its queue.
        let objects = try context.performAndWait {
            if !isSaving { try catchUp(side, step.choices.last ?? 0) }
            let objects = try side.objects()
            if !isSaving, Bool.random(using: &chance) { context.refreshAllObjects() }
            return Unchecked(side.working.living.filter { ($0 + picks) % 3 != 0 }.compactMap { objects[$0] })
        }
        if !isSaving { try letChildMerge() }
        if call == .refresh && objects.value.isEmpty { return }
        if side.suspendedReads == 0, !isSaving { side.saved = [] }
        let gate = ServerGate(answersAtOnce: Bool.random(using: &chance))
        let paths = ProgramFetch.somePaths(picks)
        say(
            side,
            "\(call) by await\(call == .fetch ? ": \(fetch.text)" : call == .load ? ": \(paths)" : "")\(gate.answersAtOnce ? ", answered at once" : "")"
        )
        let answer = CallResult<ProgramFetch.Found?>()
        let task = Task.detached {
            await ServerGate.$current.withValue(gate) {
                await answer.set {
                    switch call {
                    case .fetch: return try await fetch.carryOut(in: context)
                    case .load: for path in paths { try await context.load(objects.value, path) }
                    case .refresh: try await context.refreshAsynchronously(objects.value[0], mergeChanges: true)
                    case .refreshAll: try await context.refreshAllObjectsAsynchronously()
                    }
                    return nil
                }
            }
        }
        side.suspendedReads += 1
        let wasRefreshing = side.isRefreshing
        side.isRefreshing = wasRefreshing || call == .refresh || call == .refreshAll
        defer {
            gate.open()
            while answer.value == nil { sched_yield() }
            side.suspendedReads -= 1
            side.isRefreshing = wasRefreshing
        }
        let known = Set(side.working.nodes.keys)
        let parentBefore = side.parent?.working
        var views: [ProgramFetch.View] = []
        var fetches = 0
        var wasFetch = false
        var end = ProgramEnd.success
        var isAlone = true
        var asked: NaiveGraph?
        while true {
            while gate.question == nil, answer.value == nil { sched_yield() }
            if wasFetch, let asked {
                fetches += 1
                let own = side.working.changedLabels(since: side.base).union(side.touched).union(side.saved)
                views = [ProgramFetch.View(stored: asked, working: side.working, own: own, known: known)]
                // What keeps changing is fetched synchronously in the end.
                if fetches >= 3 { views.append(ProgramFetch.View(stored: shown(to: side), working: side.working, own: own, known: known)) }
            }
            guard let question = gate.question else { break }
            wasFetch = question.hasPrefix("fetch")
            asked = shown(to: side)
            for _ in 0..<Int.random(in: 0...3, using: &chance) {
                guard try carryOutWhileReading(side, isSaving, &rest) else { break }
                isAlone = false
            }
            if !gate.answersAtOnce { asked = shown(to: side) }
            switch Int.random(in: 0..<16, using: &chance) {
            case 0:
                end = .cancelled
                task.cancel()
                gate.release()
            case 1 where end == .success:
                end = .failed
                gate.open(failure: NSError(domain: "server", code: 503))
            default: gate.release()
            }
        }
        say(side, "(the \(call) is done\(end == .success ? "" : ", \(end)"))")
        if let parent = side.parent, parent.working != parentBefore {
            side.isStale = true
            side.isTorn = true
        }
        try check(answer.value!, of: call, fetch, side, end, side.parent == nil || (isAlone && fetch.countsPending) ? views : [])
        try context.performAndWait {
            if !isSaving { try catchUp(side, step.choices.first ?? 0) }
            try compare(side)
        }
        if !isSaving { try letChildMerge() }
    }

    /// What a context is shown of what is stored.
    private func shown(to side: ProgramSide) -> NaiveGraph { side.parent?.working.withoutDoomed ?? storedBeforeSave ?? stored }

    /// A step while a call is suspended. Answers whether there was one that can be carried out.
    private func carryOutWhileReading(_ side: ProgramSide, _ isSaving: Bool, _ rest: inout ArraySlice<ProgramStep>) throws -> Bool {
        guard let step = rest.first else { return false }
        if !isSaving {
            rest.removeFirst()
            try carryOut(step, &rest)
            return true
        }
        // The save is for its own context; what an undo has to wait for is decided there.
        guard step.isForSuspension, step.kind != .undo, step.kind != .redo else { return false }
        rest.removeFirst()
        try side.context.performAndWait {
            var choices = Choices(step.choices)
            try carryOut(step.kind, side, &choices)
            try compare(side)
        }
        return true
    }

    /// How a call is made to end.
    enum ProgramEnd { case success, cancelled, failed }

    private func check(
        _ result: Result<ProgramFetch.Found?, any Error>, of call: ProgramCall, _ fetch: ProgramFetch, _ side: ProgramSide,
        _ end: ProgramEnd, _ views: [ProgramFetch.View]
    ) throws {
        switch (result, end) {
        case (.failure(let error), .cancelled) where error is CancellationError: return
        case (.failure(let error as NSError), .failed) where error.domain == "server": return
        case (.failure(let error), _): return try note("\(side.name): the \(call) fails: \(error)")
        case (.success, .failed): return try note("\(side.name): the \(call) does not fail")
        case (.success(let found), _):
            guard let found, !views.isEmpty else { return }
            var labels: [Int]?
            var count = 0
            switch found {
            case .count(let number): count = number
            case .ids(let ids):
                count = ids.count
                labels = side.context.performAndWait { ids.map { side.context.object(with: $0).value(forKey: "label") as? Int ?? -1 } }
            }
            let differences = views.map { fetch.difference(labels, count: count, $0) }
            if let text = differences[0], differences.allSatisfy({ $0 != nil }) { try note("\(side.name), \(fetch.text): \(text)") }
        }
    }
}
