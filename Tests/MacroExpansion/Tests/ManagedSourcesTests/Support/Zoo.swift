#if ManagedAccessors
import Foundation
import TestSupport

@testable import ManagedSources

/// A module of random declarations, and one that it depends on.
struct Zoo {
    enum Build: String, CaseIterable {
        case debug, optimized, resilient

        var options: [String] {
            switch self {
            case .debug: ["-Onone"]
            case .optimized: ["-O", "-wmo"]
            case .resilient: ["-enable-library-evolution"]
            }
        }
    }

    struct CompilerFailure: Error { let output: String }

    static let compiler: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/swiftc" }.first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let scratch: ScratchFolder
    private var folder: String { scratch.url.path }
    private let build: Build
    private let module = "ZooOfTheTests"
    private var sources: [String: String] = [:]

    init(seed: UInt64, classes: Int, build: Build) throws {
        scratch = try ScratchFolder("ManagedZoo")
        self.build = build
        var keeper = ZooKeeper(seed: seed)
        for index in 0..<(classes + 9) / 10 {
            sources["Zoo\(index).swift"] = keeper.file(index: index, classes: min(10, classes - index * 10))
        }
        sources["Common.swift"] = ZooKeeper.common
        try write("Other.swift", ZooKeeper.other)
        for (name, text) in sources { try write(name, text) }
    }

    func remove() { scratch.remove() }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
    }

    func symbolsWritten() throws -> Set<String> {
        let files = sources.map { SourceFile(path: "\(folder)/\($0)", text: $1, module: module) }
        let table = SymbolTable(
            files: files, module: module, dependencies: [SymbolTable.Module(name: "OtherZoo", paths: ["\(folder)/Other.swift"])])
        let writer = AccessorWriter(table: table)
        return Set(try files.flatMap { try writer.symbols(for: $0) })
    }

    func symbolsWantedByTheCompiler() throws -> Set<String> {
        try compile(["-emit-module", "-c", "-module-name", "OtherZoo", "-wmo", "Other.swift", "-o", "Other.o"])
        try compile(["-c", "-module-name", module, "-wmo"] + build.options + sources.keys.sorted() + ["-o", "zoo.o"])
        let nm = try Self.tool("nm")
        let output = try run(nm, ["-u", "zoo.o"])
        return Set(output.split(whereSeparator: \.isWhitespace).map(String.init).filter { $0.hasPrefix("$s") })
    }

    /// Whether a symbol that the compiler wants is one of the zoo's own: others lead to types and functions of the libraries. Of the members of
    /// other modules' types some are not recognised, as names are abbreviated.
    static func isOwn(_ symbol: String) -> Bool { symbol.hasPrefix("$s13ZooOfTheTests") || symbol.contains("13ZooOfTheTestsE") }

    private static func tool(_ name: String) throws -> String {
        let beside = (compiler ?? "").replacingOccurrences(of: "/swiftc", with: "/llvm-\(name)")
        return FileManager.default.isExecutableFile(atPath: beside) ? beside : "/usr/bin/\(name)"
    }

    private func compile(_ arguments: [String]) throws {
        _ = try run(
            Self.compiler ?? "swiftc",
            arguments + ["-swift-version", "5", "-package-name", "zoo", "-parse-as-library", "-I", ".", "-suppress-warnings"])
    }

    private func run(_ path: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CompilerFailure(output: text) }
        return text
    }
}
#endif
