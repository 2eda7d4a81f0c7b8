internal import ExampleSupport
internal import Foundation

/// The domain of the errors of the palette stores: `NSError`s whose user info has the address that was asked under `NSURLErrorKey`, and a
/// cause below them under `NSUnderlyingErrorKey`.
public let PaletteErrorDomain = "PaletteErrorDomain"

/// The codes in ``PaletteErrorDomain``.
public enum PaletteErrorCode: Int, Sendable {
    /// No answer came: no connection, or not in time.
    case unreachable = 1
    /// The answer has an HTTP status that is not a success.
    case status = 2
    /// The answer, or the file, is not the JSON that was expected.
    case malformedAnswer = 3
    /// The fetch asks something that the store cannot answer.
    case unanswerableFetch = 4
    /// The store was added without the address or file that it needs.
    case noPlace = 5
}

extension PaletteErrorCode: ServiceErrorCode {
    package static var domain: String { PaletteErrorDomain }
}
