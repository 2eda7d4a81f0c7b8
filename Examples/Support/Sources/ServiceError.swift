package import Foundation

/// The kinds of failure that an example reports: the codes of one error domain.
package protocol ServiceErrorCode: RawRepresentable where RawValue == Int {
    /// The domain that the codes belong to.
    static var domain: String { get }
}

extension NSError {
    /// Makes the error of a request that failed, or of a store that cannot do what it was asked.
    ///
    /// - Parameters:
    ///   - code: what kind of failure it is.
    ///   - url: the address that was asked, or the file. The error begins with it and has it under `NSURLErrorKey`.
    ///   - reason: what went wrong, a sentence.
    ///   - cause: the error below this one; it stands under `NSUnderlyingErrorKey`.
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
