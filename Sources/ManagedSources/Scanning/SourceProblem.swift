#if ManagedAccessors
/// Something in a source file that keeps its accessors from being written, printed as the compiler prints its errors.
public struct SourceProblem: Error, Equatable, CustomStringConvertible, Sendable {
    /// The file.
    public let path: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int
    /// What does not work, of which declaration, and what to do instead.
    public let message: String

    /// `path:line:column: error: message`, which build systems and editors recognise.
    public var description: String { "\(path):\(line):\(column): error: \(message)" }
}

/// Why a type has no symbol that can be written down, and what to do.
struct TypeProblem: Error {
    let reason: String
}
#endif
