internal import ExampleSupport
internal import Foundation

/// The domain of errors of the palette stores: `NSError`s with the requested URL under `NSURLErrorKey`, and a cause under
/// `NSUnderlyingErrorKey`.
public let PaletteErrorDomain = "PaletteErrorDomain"

/// The codes in ``PaletteErrorDomain``.
public enum PaletteErrorCode: Int, Sendable {
    /// No answer arrived: no connection, or a timeout.
    case unreachable = 1
    /// The answer has an HTTP status that is not a success.
    case status = 2
    /// The answer, or the file, is not the JSON that was expected.
    case malformedAnswer = 3
    /// The fetch is not supported by the store.
    case unanswerableFetch = 4
    /// The store was added without the URL that it needs.
    case noPlace = 5
}

extension PaletteErrorCode: ServiceErrorCode {
    package static var domain: String { PaletteErrorDomain }
}
