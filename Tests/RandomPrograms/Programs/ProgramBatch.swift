import CoreData
package import TestSupport

/// Many programs over stores of one kind. One that shows a difference is made as short as it can be.
package struct ProgramBatch: Sendable {
    let seed: UInt64
    let rounds: TestRounds
    var length = 30
    let store: ProgramStore

    /// Runs programs over a store for a number of seconds, and prints the seed.
    ///
    /// `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_ROUNDS` says how many programs one has, `COREDATA_TEST_FIRST` with which of them it begins.
    ///
    /// - Returns: What the programs showed that they should not.
    package static func run(_ store: ProgramStore, seconds: Double) throws -> String? {
        let seed = TestSeed.current(for: "Programs, \(store.name)")
        let (count, difference) = try ProgramBatch(seed: seed, TestRounds(seconds: seconds, atLeast: 5), store: store).run()
        print("Programs, \(store.name), seed \(seed): \(count) were run")
        return difference
    }

    package init(seed: UInt64, _ rounds: TestRounds, store: ProgramStore) {
        self.seed = seed
        self.rounds = rounds
        self.store = store
    }

    /// Runs the programs; the first that shows a difference ends the batch.
    ///
    /// - Returns: how many have been run, and what the last of them showed that it should not, with what it does.
    package func run() throws -> (count: Int, difference: String?) {
        let model = ProgramModel.make()
        let file = store.isKept ? try store.coordinators(model) : nil
        defer { if let file { store.discard(file) } }
        /// Empty stores.
        func stores() throws -> [NSPersistentStoreCoordinator] {
            guard let file else { return try store.coordinators(model) }
            try ProgramStore.clear(file[0])
            return file
        }
        var count = 0
        for program in rounds {
            count += 1
            var random = SeededGenerator(seed: seed &+ UInt64(program) &* 7919)
            let settings = ProgramSettings(using: &random)
            let steps = (0..<length).map { _ in ProgramStep.random(using: &random) }
            guard let whole = try failure(of: steps, settings, stores) else { continue }
            let short = try shortened(steps, settings, stores)
            let failed = try failure(of: short, settings, stores)
            let text = failed ?? "the difference does not always show; it was \(whole)"
            return (count, "\(store.name), seed \(seed), program \(program): \(text)")
        }
        return (count, nil)
    }

    /// What a program shows that it should not, with what it does; nil where all is well.
    private func failure(
        of steps: [ProgramStep], _ settings: ProgramSettings, _ stores: () throws -> [NSPersistentStoreCoordinator]
    ) throws -> String? {
        let run = ProgramExecution(settings, in: try stores(), asksGate: store.asksGate)
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
