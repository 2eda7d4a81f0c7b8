import CoreData
import StoreConformance
import TestSupport
import Testing

@Suite("Stores behave as Core Data's do") struct ConformanceTests {
    @Test("Each behaviour on each store that it can be asked of", arguments: Stores.all, Behaviour.all)
    func behaviour(_ store: StoreUnderTest, _ behaviour: Behaviour) throws {
        guard behaviour.applies(to: store) else { return }
        try behaviour.run(on: store)
    }

    @Test("A store that loses what it is given fails")
    func wrongStore() throws {
        let forgetful = StoreUnderTest(name: "Forgetful", capabilities: [.anyModel, .durable]) { try Stores.inMemory.open($0) }
        let durable = try #require(Behaviour.all.first { $0.requires == .durable })
        #expect(throws: (any Error).self) { try durable.run(on: forgetful) }
        #expect(!durable.applies(to: Stores.inMemory))
    }

    @Test("Each mistake that stores make is found", arguments: RecordStore.Mistake.allCases)
    func mistakes(_ mistake: RecordStore.Mistake) throws {
        let store = Stores.records(mistake)
        let broken = Behaviour.all.filter { behaviour in
            guard behaviour.applies(to: store) else { return false }
            do {
                try behaviour.run(on: store)
                return false
            } catch { return true }
        }
        let sentence =
            switch mistake {
            case .readsOneByOne: "Walking from many objects to one and from there to many finds all, in a handful of calls"
            case .sortsRelationships: "An ordered relationship keeps its order"
            case .roundsDecimals: "Decimal numbers of 38 digits come back digit for digit"
            case .cutsTextAtNUL: "Text comes back scalar by scalar: empty, NUL, emoji, accents, line ends, quotes"
            case .forgetsDeletes: "Deleting 10 of many leaves the others, here and elsewhere"
            case .forgetsNil: "An attribute of every type can be set to nil again"
            case .countsNoVersions: "The version counts the edits that were saved"
            case .writesAtOnce: "An object keeps a permanent ID that was obtained before the save"
            }
        #expect(broken.map(\.sentence).contains(sentence), "Found were: \(broken)")
        // A mistake shows where it is made, and does not break everything.
        #expect(broken.count < Behaviour.all.count / 2)
    }

    @Test("Documentation/Behaviours.md is the list of them")
    func document() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Documentation/Behaviours.md")
        let wanted = """
            # Behaviours

            What every store and context must do, and on which stores it is tried by `StoreConformanceTests`. “–” asks what a store does not
            claim to do. This list is generated: `WRITE_BEHAVIOURS=1 swift test --filter StoreConformanceTests`.

            \(BehaviourReport(on: Stores.all).markdown)
            """
        if ProcessInfo.processInfo.environment["WRITE_BEHAVIOURS"] != nil { try Data(wanted.utf8).write(to: file) }
        try expect(String(contentsOf: file, encoding: .utf8), equals: wanted, "Write it anew with WRITE_BEHAVIOURS=1.")
    }
}
