import Testing

@testable import WebTransport
