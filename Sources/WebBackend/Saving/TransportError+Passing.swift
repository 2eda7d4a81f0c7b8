public import RemoteStore
public import WebTransport

extension TransportError: PassingError {
    /// Whether trying again may help: the network or the service was not there.
    public var mayPass: Bool {
        switch kind {
        case .cannotConnect, .timedOut, .lost, .unauthorized, .rateLimited: true
        case .untrusted, .tooLarge, .malformed, .redirected, .notRecorded, .invalid: false
        }
    }

    /// Whether the service could not be reached at all.
    public var isOffline: Bool {
        switch kind {
        case .cannotConnect, .timedOut, .lost: true
        case .unauthorized: isTemporary
        default: false
        }
    }

    /// Whether somebody has to sign in before the request can be sent.
    public var needsCredentials: Bool { kind == .unauthorized && !isTemporary }
}
