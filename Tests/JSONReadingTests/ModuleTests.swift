import Testing

@testable import JSONReading
