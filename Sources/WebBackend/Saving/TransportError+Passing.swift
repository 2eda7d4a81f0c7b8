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
        case .cannotConnect, .timedOut, .lost, .unauthorized: true
        default: false
        }
    }
}
