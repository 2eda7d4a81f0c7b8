internal import Foundation

/// An error that says whether a retry may help. Errors of a backend conform to it if they know.
///
/// A change that fails for a temporary reason stays in the queue and is retried; a change that was refused is set aside for the application. Of the errors that
/// do not conform, those of `NSURLErrorDomain` and `NSPOSIXErrorDomain` count as temporary, as do errors with such an underlying error. An error that a call
/// throws as a whole also counts as temporary, for a number of attempts. `URLError.userAuthenticationRequired`, and an error that ``needsCredentials``, make
/// all changes wait until the credentials have changed.
public protocol PassingError: Error {
    /// Whether a retry may help.
    var mayPass: Bool { get }
    /// The time to wait before a retry; nil if it is not known.
    var retryAfter: Duration? { get }
    /// Whether the backend could not be reached at all, so that no other change needs to be tried now.
    var isOffline: Bool { get }
    /// Whether a refusal with this error implies that an earlier attempt of the same change, whose answer was lost, was not saved either. A refusal because of
    /// credentials, or a temporary one, does not: the backend has not looked at the change.
    var settlesEarlierAttempts: Bool { get }
    /// Whether the backend rejects the credentials of the request, so that nothing else needs to be tried before a user has signed in.
    var needsCredentials: Bool { get }
}

extension PassingError {
    /// Nil: the time is not known.
    public var retryAfter: Duration? { nil }
    /// False: the backend was reached.
    public var isOffline: Bool { false }
    /// True unless the error is temporary: the backend has not looked at a change that failed temporarily.
    public var settlesEarlierAttempts: Bool { !mayPass }
    /// False: the credentials were accepted.
    public var needsCredentials: Bool { false }
}

/// The retry information of an error.
struct Prospect: Equatable {
    /// Nil if the error does not say.
    var mayPass: Bool?
    var retryAfter: Duration?
    var isOffline = false
    var settlesEarlierAttempts = true
    var needsCredentials = false

    init(_ error: any Error) {
        self.init(of: error)
        // A user may sign in, and the backend has not looked at the change.
        if needsCredentials { (mayPass, isOffline, settlesEarlierAttempts) = (true, false, false) }
    }

    private init(of error: any Error) {
        let error = (error as? UnknownOutcome)?.cause ?? error
        if let passing = error as? any PassingError {
            (mayPass, retryAfter, isOffline) = (passing.mayPass, passing.retryAfter, passing.isOffline)
            settlesEarlierAttempts = passing.settlesEarlierAttempts
            needsCredentials = passing.needsCredentials
            return
        }
        if error is CancellationError {
            (mayPass, settlesEarlierAttempts) = (true, false)
            return
        }
        let known = error as NSError
        if known.domain == NSURLErrorDomain,
            [NSURLErrorUserAuthenticationRequired, NSURLErrorUserCancelledAuthentication].contains(known.code)
        {
            needsCredentials = true
        } else if known.domain == NSURLErrorDomain || known.domain == NSPOSIXErrorDomain {
            (mayPass, settlesEarlierAttempts) = (true, false)
            let offline = [
                NSURLErrorNotConnectedToInternet, NSURLErrorCannotConnectToHost, NSURLErrorCannotFindHost, NSURLErrorTimedOut,
                NSURLErrorNetworkConnectionLost, NSURLErrorDNSLookupFailed,
            ]
            isOffline = known.domain == NSPOSIXErrorDomain || offline.contains(known.code)
        } else if let cause = known.userInfo[NSUnderlyingErrorKey] as? any Error {
            self = Prospect(cause)
        }
        if known.domain == NSCocoaErrorDomain, known.code == CredentialsExpiredError { needsCredentials = true }
    }
}
