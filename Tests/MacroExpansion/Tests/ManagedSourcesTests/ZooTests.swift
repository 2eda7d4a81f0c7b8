#if ManagedAccessors
import Foundation
import TestSupport
import Testing

@testable import ManagedSources

/// Declarations of every kind, made at random, compiled by the compiler of the tests: it must ask for the symbols that are written, and for no other.
///
/// `COREDATA_TEST_ROUNDS` sets the number of classes, `COREDATA_TEST_SEED` repeats a run.
@Suite(.enabled(if: Zoo.compiler != nil, "There is no swiftc on the path."))
struct ZooTests {
    @Test("The compiler asks for exactly the symbols that are written", arguments: Zoo.Build.allCases)
    func symbols(build: Zoo.Build) throws {
        let seed = TestSeed.current(for: "ZooTests, \(build)")
        let size = TestTime.rounds ?? 30
        let zoo = try Zoo(seed: seed, classes: size, build: build)
        defer { zoo.remove() }
        let wanted = try zoo.symbolsWantedByTheCompiler()
        let written = try zoo.symbolsWritten()
        #expect(written.count >= size * 8)
        #expect(wanted.filter(Zoo.isOwn).subtracting(written).sorted() == [], "the compiler wants these; seed \(seed)")
        #expect(written.subtracting(wanted).sorted() == [], "the compiler does not know these; seed \(seed)")
    }

    @Test("A compiler that refers to accessors by the symbols that are written passes the probe")
    func probe() throws {
        let scratch = try ScratchFolder("ManagedProbe")
        defer { scratch.remove() }
        let folder = scratch.file("probe").path
        #expect(try ToolchainProbe(compiler: try #require(Zoo.compiler)).failure(in: folder) == nil)
    }

    @Test("A compiler that fails on the probe is told with what it said")
    func failingProbe() throws {
        let scratch = try ScratchFolder("ManagedProbe")
        defer { scratch.remove() }
        let folder = scratch.file("probe").path
        let failure = try #require(try ToolchainProbe(compiler: "/bin/false").failure(in: folder))
        #expect(failure.contains("/bin/false ended with 1"))
        #expect(ToolchainProbe.advice.contains("exclude:"))
    }
}
#endif
