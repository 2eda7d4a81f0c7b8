import CoreData

/// Many programs over stores of one kind. One that shows a difference is made as short as it can be.
package struct ProgramBatch: Sendable {
    let seed: UInt64
    let count: Int
    var length = 30
    var first = ProcessInfo.processInfo.environment["COREDATA_TEST_FIRST"].flatMap(Int.init) ?? 0
    let store: ProgramStore
    /// For how long programs are begun; nil for as many as there are.
    package var seconds: Double?

    /// How many programs a run has by the environment, whatever else is asked for.
    package static let programs = ProcessInfo.processInfo.environment["COREDATA_TEST_PROGRAMS"].flatMap(Int.init)

    /// Runs programs over a store for a number of seconds, or the full number of them, of several seeds, where the environment asks for that; each seed is
    /// printed.
    ///
    /// `COREDATA_TEST_SEED` repeats a run, `COREDATA_TEST_PROGRAMS` says how many programs one has, `COREDATA_TEST_FIRST` with which of them it begins. With
    /// `COREDATA_SOAK_PROGRAMS` the programs are as many as `Scripts/soak` asks for.
    ///
    /// - Returns: What the programs showed that they should not.
    package static func run(_ store: ProgramStore, seconds: Double, seeds: Int, count: Int) throws -> [String] {
        let environment = ProcessInfo.processInfo.environment
        let known = environment["COREDATA_TEST_SEED"].flatMap(UInt64.init)
        let soaks = environment["COREDATA_SOAK_PROGRAMS"] != nil
        var differences: [String] = []
        for _ in 0..<(soaks && known == nil ? seeds : 1) {
            let seed = known ?? .random(in: 0...UInt64(UInt32.max))
            print("Programs, \(store.name): COREDATA_TEST_SEED=\(seed)")
            var batch = ProgramBatch(seed: seed, count: programs ?? (soaks ? count : Int.max), store: store)
            if programs == nil, !soaks { batch.seconds = seconds }
            let (count, difference) = try batch.run()
            print("Programs, \(store.name), seed \(seed): \(count) were run")
            if let difference { differences.append(difference) }
        }
        return differences
    }

    package init(seed: UInt64, count: Int, store: ProgramStore) {
        self.seed = seed
        self.count = count
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
        let start = ContinuousClock.now
        for program in first..<count {
            if let seconds, ContinuousClock.now - start > .seconds(seconds) { return (program - first, nil) }
            var random = SeededGenerator(seed: seed &+ UInt64(program) &* 7919)
            let settings = ProgramSettings(using: &random)
            let steps = (0..<length).map { _ in ProgramStep.random(using: &random) }
            guard let whole = try failure(of: steps, settings, stores) else { continue }
            let short = try shortened(steps, settings, stores)
            let failed = try failure(of: short, settings, stores)
            let text = failed ?? "the difference does not always show; it was \(whole)"
            return (program - first + 1, "\(store.name), seed \(seed), program \(program): \(text)")
        }
        return (count - first, nil)
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
