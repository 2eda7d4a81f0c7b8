#if WebBackend
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression
internal import NIOPosix
internal import NIOSSL

/// Converts the errors of the underlying libraries to errors of this module.
struct TransportProblem: Sendable {
    /// The request. Its credentials are not included in errors.
    let request: WebRequest
    let limits: TransportLimits

    func error(_ kind: TransportError.Kind, _ detail: String = "") -> TransportError {
        TransportError(kind, request: request.summary, detail: detail)
    }

    func notConnected() -> TransportError { error(.cannotConnect, "There was none within \(limits.connectSeconds) s.") }

    func tooLarge() -> TransportError { error(.tooLarge, "It may have \(limits.maximumBytes) bytes.") }

    /// Returns the error for an error of an underlying library.
    ///
    /// Texts of the library that may contain the value of a header are left out.
    func error(for error: any Error, hasSentHead: Bool) -> TransportError {
        switch error {
        case let error as TransportError: return error
        case let error as HTTPClientError: return self.error(for: error, hasSentHead: hasSentHead)
        case is NIOSSLExtraError: return self.error(.untrusted, "Its certificate is for another host.")
        case let error as NIOSSLError: return self.error(for: error, hasSentHead: hasSentHead)
        case let error as BoringSSLError: return self.error(hasSentHead ? .lost : .cannotConnect, "\(error)")
        case let error as NIOConnectionError:
            let reasons = error.connectionErrors.map { ($0.error as? IOError)?.description ?? "\(type(of: $0.error))" }
            return self.error(
                .cannotConnect,
                error.dnsAError == nil && error.dnsAAAAError == nil
                    ? reasons.joined(separator: " ") : "The host \(error.host) is not known.")
        case let error as StatusCheck.Unknown:
            return self.error(.malformed, "Its status is “\(error.status)”: HTTP has those from 100 to 999.")
        case HTTPParserError.invalidEOFState: return self.error(.lost)
        case let error as HTTPParserError: return self.error(.malformed, "\(error)")
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError:
            return self.error(.malformed, "Its body cannot be decompressed.")
        case ChannelError.connectTimeout: return notConnected()
        case let error as IOError: return self.error(hasSentHead ? .lost : .cannotConnect, error.description)
        default: return self.error(hasSentHead ? .lost : .cannotConnect, "The reason was \(type(of: error)).")
        }
    }

    private func error(for error: HTTPClientError, hasSentHead: Bool) -> TransportError {
        switch error {
        case .deadlineExceeded:
            return hasSentHead
                ? self.error(.timedOut, "It may take \(limits.requestSeconds) s.")
                : self.error(.cannotConnect, "There was none within \(limits.requestSeconds) s.")
        case .readTimeout, .writeTimeout: return self.error(.timedOut)
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            return self.error(.cannotConnect, error.shortDescription)
        case .invalidURL, .emptyHost, .emptyScheme, .bodyLengthMismatch, .contentLengthMissing, .traceRequestWithBody:
            return self.error(.invalid, error.shortDescription)
        case .remoteConnectionClosed: return self.error(hasSentHead ? .lost : .cannotConnect)
        case .alreadyShutdown: return self.error(.invalid, "The client was shut down.")
        default:
            // The error itself has the names and values of headers, which are left out.
            let name = error.shortDescription
            let isOfHeaders = name.lowercased().contains("header")
            return isOfHeaders
                ? self.error(.invalid, "A header has a name or a value that HTTP does not allow.")
                : self.error(hasSentHead ? .lost : .cannotConnect, name)
        }
    }

    private func error(for error: NIOSSLError, hasSentHead: Bool) -> TransportError {
        switch error {
        case .handshakeFailed(let reason):
            let text = "\(reason)"
            return text.contains("CERTIFICATE") || text.contains("UNKNOWN_CA")
                ? self.error(.untrusted, "Its certificate could not be verified.")
                : self.error(.cannotConnect, "The handshake of TLS failed: \(text).")
        case .noCertificateToValidate, .unableToValidateCertificate, .cannotFindPeerIP: return self.error(.untrusted)
        default: return self.error(hasSentHead ? .lost : .cannotConnect, "The reason was \(error).")
        }
    }
}
#endif
