import CoreData
import StoreConformance
import TestSupport
import Testing

@Suite("The kit names the faults of stores") struct FaultTests {
    @Test("Each fault that is planted in the guide's store", arguments: FaultyGuideStore.Fault.allCases)
    func named(_ fault: FaultyGuideStore.Fault) throws {
        let behaviour = try #require(Behaviour.all.first { $0.sentence == fault.behaviour })
        // Without the fault, the store has the behaviour.
        expect(ConformanceReport(on: Stores.faultyGuide(nil), [behaviour]).findings.map(\.outcome), equals: [.passed])
        let report = ConformanceReport(on: Stores.faultyGuide(fault), [behaviour])
        expect(report.failures.map(\.behaviour.sentence), equals: [fault.behaviour])
        #expect(report.text.contains("expected: \(fault.behaviour)") && report.text.contains("look at:"))
    }

    @Test("A report says what was expected, what was found and where to look")
    func report() throws {
        let behaviours = Behaviour.all.filter {
            $0.sentence.hasPrefix("A limit gives") || $0.sentence.hasPrefix("A count agrees") || $0.requires.contains(.keepsMetadata)
        }
        let report = ConformanceReport(on: Stores.faultyGuide(.ignoredLimit), behaviours)
        expect(report.findings.map(\.outcome), equals: [.notAsked, .failed, .passed])
        #expect(
            report.text.hasPrefix("Guide, ignoredLimit: 1 of 2 behaviours, 1 not asked.\n\n✘ Fetching\n  expected: A limit gives so many"))
        #expect(report.text.contains("found:    limit 1: found [\"Alpha\", \"alpha\""))
        #expect(report.text.contains("look at:  fetchLimit of the request"))
        #expect(report.markdown.contains("| A count agrees with the fetch | passed |  |  |"))
        #expect(report.markdown.contains("| not asked |"))
    }

    @Test("Stores in files survive processes that are killed", arguments: [Stores.sqlite, Stores.xml, Stores.binary])
    func kills(_ store: StoreUnderTest) throws {
        var store = store
        let name = store.name
        store.child = { directory in
            let process = BuiltProgram.storeWriter("conformance", name, directory.path)
            return process
        }
        let behaviour = try #require(Behaviour.all.first { $0.sentence.hasPrefix("A process that is killed") })
        #expect(behaviour.applies(to: store) && !behaviour.applies(to: Stores.sqlite))
        try behaviour.run(on: store)
    }
}
