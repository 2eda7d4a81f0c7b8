#if ManagedAccessors
/// A problem in a source file, printed like a compiler's error or warning.
public struct SourceProblem: Error, Equatable, CustomStringConvertible, Sendable {
    /// The file.
    public let path: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int
    /// The unsupported declaration, and an alternative.
    public let message: String

    /// Whether the build continues.
    public var isWarning = false

    /// `path:line:column: error: message`, which build systems and editors recognize.
    public var description: String { "\(path):\(line):\(column): \(isWarning ? "warning" : "error"): \(message)" }
}

/// The reason why a type has no known symbol, and a remedy.
struct TypeProblem: Error {
    let reason: String
}
#endif
