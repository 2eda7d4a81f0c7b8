internal import Foundation

/// An error that says whether trying again may help: the errors of a backend conform where they know.
///
/// A change that fails for a reason that may pass stays in the queue and is sent again; one that was refused is set aside for the application.
/// Of errors that do not conform, those of `NSURLErrorDomain` and `NSPOSIXErrorDomain` may pass, as may those that they are the cause of. An error
/// that a call throws as a whole may pass too, for a number of attempts. `URLError.userAuthenticationRequired`, and an error that ``needsCredentials``, let
/// all changes wait until the credentials are others.
public protocol PassingError: Error {
    /// Whether trying again may help.
    var mayPass: Bool { get }
    /// The time to wait before that; nil where nothing is known of it.
    var retryAfter: Duration? { get }
    /// Whether the backend could not be reached at all, so that no other change has to be tried now.
    var isOffline: Bool { get }
    /// Whether a refusal with this error says that an earlier attempt of the same change, whose answer was lost, was not saved either. One for credentials, or
    /// for now, does not: the backend has not looked at the change.
    var settlesEarlierAttempts: Bool { get }
    /// Whether the backend does not take the credentials of the request, so that nothing else has to be tried before somebody has signed in.
    var needsCredentials: Bool { get }
}

extension PassingError {
    /// Nil: nothing is known of the time.
    public var retryAfter: Duration? { nil }
    /// False: the backend was reached.
    public var isOffline: Bool { false }
    /// What may pass was not looked at.
    public var settlesEarlierAttempts: Bool { !mayPass }
    /// False: the credentials were taken.
    public var needsCredentials: Bool { false }
}

/// What an error says of trying again.
struct Prospect: Equatable {
    /// Nil where it does not say.
    var mayPass: Bool?
    var retryAfter: Duration?
    var isOffline = false
    var settlesEarlierAttempts = true
    var needsCredentials = false

    init(_ error: any Error) {
        self.init(of: error)
        // Somebody may sign in; and the backend has not looked at the change.
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
