import CoreData
import Testing

/// Many programs over stores of one kind. One that shows a difference is made as short as it can be, and printed.
struct ProgramBatch {
    let seed: UInt64
    let count: Int
    var length = 30
    var first = ProcessInfo.processInfo.environment["COREDATA_TEST_FIRST"].flatMap(Int.init) ?? 0
    let store: ProgramStore
    /// For how long programs are begun; nil for as many as there are.
    var seconds: Double?

    init(seed: UInt64, count: Int, store: ProgramStore) {
        self.seed = seed
        self.count = count
        self.store = store
    }

    /// Runs the programs; the first that shows a difference ends the batch.
    ///
    /// - Returns: how many have been run.
    @discardableResult func run() throws -> Int {
        let model = ProgramModel.make()
        let file = store.isShared ? try store.coordinators(model) : nil
        defer { if let file { store.discard(file) } }
        /// Empty stores.
        func stores() throws -> [NSPersistentStoreCoordinator] {
            guard let file else { return try store.coordinators(model) }
            try ProgramStore.clear(file[0])
            return file
        }
        let start = ContinuousClock.now
        for program in first..<count {
            if let seconds, ContinuousClock.now - start > .seconds(seconds) { return program - first }
            var random = SeededGenerator(seed: seed &+ UInt64(program) &* 7919)
            let settings = ProgramSettings(using: &random)
            let steps = (0..<length).map { _ in ProgramStep.random(using: &random) }
            guard let whole = try failure(of: steps, settings, stores) else { continue }
            let short = try shortened(steps, settings, stores)
            let failed = try failure(of: short, settings, stores)
            Issue.record(
                "\(store.name), seed \(seed), program \(program): \(failed ?? "the difference does not always show; it was \(whole)")")
            return program - first + 1
        }
        return count - first
    }

    /// What a program shows that it should not, with what it does; nil where all is well.
    private func failure(
        of steps: [ProgramStep], _ settings: ProgramSettings, _ stores: () throws -> [NSPersistentStoreCoordinator]
    ) throws -> String? {
        let run = ProgramExecution(settings, in: try stores())
        if run.run(steps) { return nil }
        return (["\(run.difference ?? "?")", "\(settings)"] + run.transcript).joined(separator: "\n  ")
    }

    /// Leaves out steps, many at once at first, as long as the program still shows a difference.
    private func shortened(
        _ steps: [ProgramStep], _ settings: ProgramSettings, _ stores: () throws -> [NSPersistentStoreCoordinator]
    ) throws -> [ProgramStep] {
        var steps = steps
        var size = steps.count / 2
        while size > 0 {
            var start = 0
            var isShorter = false
            while start < steps.count {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if try failure(of: fewer, settings, stores) != nil {
                    steps = fewer
                    isShorter = true
                } else {
                    start += size
                }
            }
            if !isShorter || size > 1 { size /= 2 }
        }
        return steps
    }
}
