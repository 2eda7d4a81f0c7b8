public import RemoteStore
public import WebTransport

extension TransportError: PassingError {
    /// Whether a retry may help: the network or the service was not available.
    public var mayPass: Bool {
        switch kind {
        case .cannotConnect, .timedOut, .lost, .unauthorized, .rateLimited: true
        case .untrusted, .tooLarge, .malformed, .redirected, .notRecorded, .invalid: false
        }
    }

    /// Whether the service could not be reached.
    public var isOffline: Bool {
        switch kind {
        case .cannotConnect, .timedOut, .lost: true
        case .unauthorized: isTemporary
        default: false
        }
    }

    /// Whether a user has to sign in before the request can be sent.
    public var needsCredentials: Bool { kind == .unauthorized && !isTemporary }
}
