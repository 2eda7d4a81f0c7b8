#if WebBackend
extension WebClient {
    /// Creates a client over the network, on the connections that all such clients share.
    ///
    /// - Parameters:
    ///   - baseURL: The address of the service: it says to which origin credentials may go.
    ///   - options: What the client does besides sending requests.
    /// - Throws: ``TransportError`` where an address cannot be read, or has a password before the host.
    public convenience init(baseURL: String, options: Options = Options()) throws(TransportError) {
        try self.init(baseURL: baseURL, transport: AsyncHTTPClientTransport(), options: options)
    }
}
#endif
