internal import ExampleSupport
internal import Foundation

/// The domain of errors in communicating with Bandcamp: `NSError`s with the requested URL under `NSURLErrorKey`, and a cause under
/// `NSUnderlyingErrorKey`.
public let BandCampErrorDomain = "BandCampErrorDomain"

/// The codes in ``BandCampErrorDomain``.
public enum BandCampErrorCode: Int, Sendable {
    /// No answer arrived: no connection, or a timeout.
    case unreachable = 1
    /// The answer has an HTTP status that is not a success.
    case status = 2
    /// The answer is not the JSON that was expected.
    case malformedAnswer = 3
    /// The answer is an error that the service wrote.
    case refused = 4
    /// The service does not know the band, album or track.
    case unknownIdentifier = 5
    /// The fetch cannot be answered by the service, and not be completed in memory either.
    case unanswerableFetch = 6
}

extension BandCampErrorCode: ServiceErrorCode {
    package static var domain: String { BandCampErrorDomain }
}

extension Error {
    /// Whether the error reports an unknown identifier.
    var isUnknownIdentifier: Bool {
        let error = self as NSError
        return error.domain == BandCampErrorDomain && error.code == BandCampErrorCode.unknownIdentifier.rawValue
    }
}
