import Testing

@testable import WebBackend
