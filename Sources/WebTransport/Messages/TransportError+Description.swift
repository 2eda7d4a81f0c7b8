public import Foundation

extension TransportError: LocalizedError {
    /// The request and the reason: what users of the error as an `NSError` are told.
    public var errorDescription: String? { description }
}
