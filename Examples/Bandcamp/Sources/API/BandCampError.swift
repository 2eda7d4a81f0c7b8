internal import ExampleSupport
internal import Foundation

/// The domain of the errors that talking to Bandcamp makes: `NSError`s whose user info has the address that was asked under
/// `NSURLErrorKey`, and a cause below them under `NSUnderlyingErrorKey`.
public let BandCampErrorDomain = "BandCampErrorDomain"

/// The codes in ``BandCampErrorDomain``.
public enum BandCampErrorCode: Int, Sendable {
    /// No answer came: no connection, or not in time.
    case unreachable = 1
    /// The answer has an HTTP status that is not a success.
    case status = 2
    /// The answer is not the JSON that was expected.
    case malformedAnswer = 3
    /// The answer is an error that the service wrote.
    case refused = 4
    /// The service knows no such band, album or track.
    case unknownIdentifier = 5
    /// The fetch asks something that the service cannot answer, and that cannot be finished here either.
    case unanswerableFetch = 6
}

extension BandCampErrorCode: ServiceErrorCode {
    package static var domain: String { BandCampErrorDomain }
}

extension Error {
    /// Whether this is the service's word that it has no such thing.
    var isUnknownIdentifier: Bool {
        let error = self as NSError
        return error.domain == BandCampErrorDomain && error.code == BandCampErrorCode.unknownIdentifier.rawValue
    }
}
