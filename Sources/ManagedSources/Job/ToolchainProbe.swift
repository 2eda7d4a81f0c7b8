#if ManagedAccessors
internal import Foundation

/// Tests whether a compiler refers to the accessors of `@NSManaged` declarations by the symbols that ``AccessorWriter`` writes.
///
/// The symbols follow Swift's stable mangling, but nothing guarantees that `@NSManaged` leaves them undefined. The probe compiles, links
/// and runs a small program with such declarations once for each compiler.
public struct ToolchainProbe: Sendable {
    private let compiler: String

    /// Creates a probe of a compiler from the path of its `swiftc`.
    public init(compiler: String) { self.compiler = compiler }

    /// The advice for a user whose compiler fails the probe.
    public static let advice = """
        error: this Swift compiler does not refer to the accessors of @NSManaged as the ManagedAccessors plugin writes them. \
        Move the files with @NSManaged into a folder, and list it in the target's `exclude:` in Package.swift: the plugin then compiles copies of \
        them, in which the accessors are plain Swift.
        """

    /// Compiles, links and runs the program.
    ///
    /// - Parameter folder: The directory for the program.
    /// - Returns: Nil on success, otherwise the output of the compiler or the program.
    /// - Throws: An error of the file system, or of starting the compiler.
    public func failure(in folder: String) throws -> String? {
        let source = folder + "/Probe.swift"
        let program = folder + "/Probe"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Self.program().write(toFile: source, atomically: true, encoding: .utf8)
        if let failure = try run(compiler, ["-module-name", "Probe", "-parse-as-library", source, "-o", program]) { return failure }
        return try run(program, [])
    }

    private func run(_ path: String, _ arguments: [String]) throws -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : "\(path) ended with \(process.terminationStatus):\n\(text)"
    }

    /// Returns the program, which uses each kind of symbol once.
    static func program() throws -> String {
        let declarations = """
            import Foundation

            enum Kind: Int16 { case first, second }
            final class Probe: NSObject {
                @NSManaged var title: String
                @NSManaged var released: Date?
                @NSManaged var kind: Kind
                @NSManaged private(set) var tags: [String: Int]
                @NSManaged func addToTags(_ value: String)
                static nonisolated(unsafe) var written: [Any] = []
            }
            @main struct Program {
                static func main() {
                    let probe = Probe()
                    probe.title = "written"
                    probe.kind = .second
                    probe.addToTags("tag")
                    let path: WritableKeyPath<Probe, Date?> = \\Probe.released
                    var copy = probe
                    copy[keyPath: path] = Date(timeIntervalSinceReferenceDate: 7)
                    let isWritten = Probe.written.count == 4 && Probe.written[0] as? String == "written" && Probe.written[2] as? String == "tag"
                    guard isWritten, probe.title == "read", probe.kind == .first, probe.released == nil, probe.tags == ["read": 1] else { exit(1) }
                }
            }

            """
        let file = SourceFile(path: "Probe.swift", text: declarations, module: "Probe")
        let table = SymbolTable(files: [file], module: "Probe")
        let symbols = try AccessorWriter(table: table).symbols(for: file)
        let bodies: [(type: String, value: String)] = [
            ("String", "\"read\""), ("Date?", "nil"), ("Kind", ".first"), ("[String: Int]", "[\"read\": 1]"),
        ]
        var thunks = "extension Probe {\n"
        for (index, body) in bodies.enumerated() {
            thunks += "    @_silgen_name(\"\(symbols[index * 2])\") final func get\(index)() -> \(body.type) { \(body.value) }\n"
            thunks += "    @_silgen_name(\"\(symbols[index * 2 + 1])\") final func set\(index)(_ value: consuming \(body.type)) "
            thunks += "{ let value: Any = value as Any; Probe.written.append(value) }\n"
        }
        thunks += "    @_silgen_name(\"\(symbols[8])\") final func add(_ value: String) { Probe.written.append(value) }\n}\n"
        return declarations + thunks
    }
}
#endif
