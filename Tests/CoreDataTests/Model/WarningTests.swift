import Foundation
import Logging
import TestSupport
import Testing

@testable import ObjectGraph

/// Warnings about models, of which a program makes many coordinators.
@Suite struct WarningTests {
    @Test func aWarningIsLoggedOnce() {
        let lines = LogLines()
        let logger = Logger(label: "test") { _ in LogLinesHandler(lines: lines) }
        let message = "a warning of \(UUID())"
        for _ in 0..<5 { Log.warnOnce(logger, message) }
        Log.warnOnce(logger, message + " and another one")
        expect(lines.all, equals: ["warning: \(message)", "warning: \(message) and another one"])
    }
}
