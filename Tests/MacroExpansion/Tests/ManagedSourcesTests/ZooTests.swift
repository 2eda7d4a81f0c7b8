#if ManagedAccessors
import Foundation
import Testing

@testable import ManagedSources

/// Declarations of every kind, made at random, compiled by the compiler of the tests: it must ask for the symbols that are written, and for no other.
///
/// `MANAGED_ZOO_SIZE` sets the number of classes, `MANAGED_ZOO_SEED` repeats a run.
@Suite(.enabled(if: Zoo.compiler != nil, "There is no swiftc on the path."))
struct ZooTests {
    @Test("The compiler asks for exactly the symbols that are written", arguments: Zoo.Build.allCases)
    func symbols(build: Zoo.Build) throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["MANAGED_ZOO_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64.max)
        let size = environment["MANAGED_ZOO_SIZE"].flatMap(Int.init) ?? 30
        print("seed of the zoo: \(seed)")
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
        let folder = NSTemporaryDirectory() + "ManagedProbe-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try ToolchainProbe(compiler: try #require(Zoo.compiler)).failure(in: folder) == nil)
    }

    @Test("A compiler that fails on the probe is told with what it said")
    func failingProbe() throws {
        let folder = NSTemporaryDirectory() + "ManagedProbe-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let failure = try #require(try ToolchainProbe(compiler: "/bin/false").failure(in: folder))
        #expect(failure.contains("/bin/false ended with 1"))
        #expect(ToolchainProbe.advice.contains("exclude:"))
    }
}
#endif
