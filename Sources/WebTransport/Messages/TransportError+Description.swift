public import Foundation

extension TransportError: LocalizedError {
    /// The request and the reason, for users of the error as an `NSError`.
    public var errorDescription: String? { description }
}
