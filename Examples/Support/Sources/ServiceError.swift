package import Foundation

/// The error codes of an example's error domain.
package protocol ServiceErrorCode: RawRepresentable where RawValue == Int {
    /// The domain of the codes.
    static var domain: String { get }
}

extension NSError {
    /// Returns the error of a failed request, or of an unsupported operation of a store.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - url: The requested URL, or the file. The error begins with it and has it under `NSURLErrorKey`.
    ///   - reason: The failure, in a sentence.
    ///   - cause: The underlying error, stored under `NSUnderlyingErrorKey`.
    package static func failure<Code: ServiceErrorCode>(
        _ code: Code, asking url: URL? = nil, _ reason: String, cause: (any Error)? = nil
    ) -> NSError {
        var info: [String: Any] = [NSLocalizedFailureReasonErrorKey: reason]
        info[NSLocalizedDescriptionKey] = url.map { "GET \($0.absoluteString) failed. \(reason)" } ?? reason
        info[NSURLErrorKey] = url
        if let cause { info[NSUnderlyingErrorKey] = cause as NSError }
        return NSError(domain: Code.domain, code: code.rawValue, userInfo: info)
    }
}
