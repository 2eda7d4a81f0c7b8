#if WebBackend
extension WebClient {
    /// Creates a client over the network, with the connections that all such clients share.
    ///
    /// - Parameters:
    ///   - baseURL: The address of the service, whose origin receives credentials.
    ///   - options: The options of the client.
    /// - Throws: ``TransportError`` if an address cannot be parsed, or has a password before the host.
    public convenience init(baseURL: String, options: Options = Options()) throws(TransportError) {
        try self.init(baseURL: baseURL, transport: AsyncHTTPClientTransport(), options: options)
    }
}
#endif
