import Foundation
import TestSupport
import Testing

@testable import Predicates

@Suite("Regular expressions that take too long") struct MatchLimitTests {
    /// An expression that tries every way to divide a text, and what the text repeats how often.
    private static let costly = [("(a+)+b", "a", 30), ("(a|aa)+b", "a", 44), ("(.*)*x", "ab", 400_000), ("(a|b)*", "ab", 1_000_000)]

    @Test("A text for which a regular expression takes too long is an error that names the clause", arguments: costly)
    func error(expression: String, part: String, count: Int) throws {
        let text = String(repeating: part, count: count)
        let tree = PredicateTree.compare(.path("SELF"), .matches, .constant(.string(expression)))
        let error = #expect(throws: InvalidPredicateError.self) { try [text].filtered(by: tree) }
        let message = error?.message ?? ""
        #expect(message.contains(expression) && message.contains("limit"), "\(message.prefix(500))")
        #expect(message.utf8.count < 500)
        let pattern = try TextPattern(.matches, expression, [], clause: "SELF MATCHES …")
        #expect(throws: InvalidPredicateError.self) {
            try Array(text.utf8).withUnsafeBufferPointer { try pattern.matches($0) }
        }
    }

    @Test(
        "What is compared for somebody who may wait for a time ends with it, and may take its time otherwise",
        arguments: [
            "ANY friends.age > 1000", "ALL friends.age > 0", "ANY friends.name CONTAINS 'x'",
            "SUBQUERY(friends, $x, $x.age > 90).@count > 1",
            "SUBQUERY(friends, $x, $x.age < age).@count > 1", "ANY friends.name MATCHES '(a|b)*c'",
        ])
    func time(format: String) throws {
        let row = Row(age: 1)
        row.friends = (0..<50).map { Row(age: Int64($0), name: String(repeating: "ab", count: 5_000)) }
        try expect([row].ages(format), equals: [])
        let error = #expect(throws: InvalidPredicateError.self) { try TimeLimit.limiting(to: .zero) { _ = try [row].ages(format) } }
        expect(error?.kind, equals: .tooCostly)
        try expect(TimeLimit.limiting(to: .seconds(3_600)) { try [row].ages(format) }, equals: [])
    }

    @Test("Long texts are compared as far as an expression goes through them once")
    func longTexts() throws {
        let text = String(repeating: "ab", count: 500_000)
        for (expression, expected) in [("(?:ab)*+", true), (".*", true), ("[ab]*", true), (".*b", true), ("a[ab]*a", false)] {
            let pattern = try MatchPattern(expression, [], clause: "SELF MATCHES …")
            try expect(pattern.matches(text), equals: expected, "\(expression)")
        }
    }
}

extension Array where Element == String {
    fileprivate func filtered(by tree: PredicateTree) throws -> [String] {
        let compiled = try tree.compiled(for: PlainSchema.shared)
        return try filter { try compiled.matches(plain: $0) }
    }
}
