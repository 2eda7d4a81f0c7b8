import Foundation
import Testing

@testable import Predicates

/// What stops a program says why, also in a release build: `swift test -c release --filter StopProgramTests`.
@Suite("What stops a program") struct StopProgramTests {
    private func isIn(_ bytes: [UInt8]?, _ part: String) -> Bool { String(decoding: bytes ?? [], as: UTF8.self).contains(part) }

    @Test("says why and where on the standard error") func message() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            stopProgram("The \("milk") is sour.")
        }
        #expect(isIn(result?.standardErrorContent, "The milk is sour."))
        #expect(isIn(result?.standardErrorContent, "StopProgramTests.swift"))
    }

    @Test("makes no message where the condition holds") func condition() async {
        func message() -> String {
            Issue.record("The message was made.")
            return ""
        }
        stopProgram(unless: true, message())
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            stopProgram(unless: "milk".isEmpty, "There is \("milk") left.")
        }
        #expect(isIn(result?.standardErrorContent, "There is milk left."))
    }

    @Test("is also a predicate that does not parse, where it cannot throw") func predicate() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "a ==").evaluate(with: ["a": 1])
        }
        #expect(isIn(result?.standardErrorContent, "a =="))
    }
}
