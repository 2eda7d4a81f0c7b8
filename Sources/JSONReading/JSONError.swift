public import Foundation

/// The error of text that violates RFC 8259, or exceeds a limit.
public struct JSONError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The expected input, or the mistake.
    public var reason: String
    /// The place, in bytes from the start.
    public var offset: Int
    /// The line, counted from 1.
    public var line: Int
    /// The column in bytes, counted from 1.
    public var column: Int

    /// Creates an error.
    public init(_ reason: String, offset: Int, line: Int, column: Int) {
        self.reason = reason
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// The reason and the place.
    public var description: String { "\(reason) (line \(line), column \(column))" }
    /// The same as ``description``.
    public var errorDescription: String? { description }
}
