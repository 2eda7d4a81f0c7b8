import JSONReading
import TestSupport
import Testing

/// The table of what is JSON and what is not, in the manner of JSONTestSuite.
@Suite("What is JSON") struct JSONCaseTests {
    @Test("What is JSON is accepted, what is not is refused, however it is read and wherever it lies")
    func verdicts() {
        for one in JSONCase.all {
            let accepted = one.verdict == .accepted
            for shift in [0, 1, 5] {
                expect(((try? read(one.bytes, shift: shift)) != nil), equals: accepted, "reading \(one.name)")
                expect(((try? skip(one.bytes, shift: shift)) != nil), equals: accepted, "skipping \(one.name)")
                expect(((try? walk(one.bytes, shift: shift)) != nil), equals: accepted, "walking through \(one.name)")
            }
        }
        #expect(JSONCase.all.count - JSONCase.generated.count > 300)
    }

    @Test("White space around a document, much or little, changes no verdict")
    func whitespace() {
        // A byte order mark is told only at the beginning; with space before it is no mark but no value either.
        for one in JSONCase.all {
            for (before, after) in [
                ("\n", ""), ("", " \r\n"), ("  \t", String(repeating: " ", count: 17)), (String(repeating: " ", count: 30), "\n"),
            ] {
                let bytes = Array(before.utf8) + one.bytes + Array(after.utf8)
                expect(((try? read(bytes)) != nil), equals: (one.verdict == .accepted), "\(one.name)")
                expect(((try? skip(bytes)) != nil), equals: (one.verdict == .accepted), "\(one.name)")
            }
        }
    }

    @Test("What is JSON is JSON as an element and a member too; what is not spoils what it stands in")
    func nesting() throws {
        for one in JSONCase.all where !one.name.contains("nested_arrays") && one.bytes.count < 10_000 {
            let array = Array(#"[{"a":[1,2]},"#.utf8) + one.bytes + Array(#",{"title of the thing":null,"id":7}]"#.utf8)
            let object = Array(#"{"name":"#.utf8) + one.bytes + Array(#","a":0}"#.utf8)
            guard one.verdict == .accepted else {
                // What is cut may be mended by what follows, to a document of another shape.
                #expect((try? read(array).array?.count) != 3 || (try? read(object)["name"]) == nil, "\(one.name)")
                #expect(((try? read(array)) == nil) == ((try? skip(array)) == nil), "\(one.name)")
                #expect(((try? read(array)) == nil) == ((try? walk(array)) == nil), "\(one.name)")
                continue
            }
            let value = try read(one.bytes)
            try expect(read(array)[1], equals: value, "\(one.name)")
            try expect(walk(array)[1], equals: value, "\(one.name)")
            try expect(read(object)["name"], equals: value, "\(one.name)")
            try expect(walk(object), equals: read(object), "\(one.name)")
            #expect(throws: Never.self, "\(one.name)") { try skip(array) }
        }
    }

    @Test("A document that is cut anywhere is refused, unless it is a number or white space is all that was cut")
    func cuts() throws {
        for one in JSONCase.all where one.verdict == .accepted && one.bytes.count < 1000 {
            let value = try read(one.bytes)
            for count in 0..<one.bytes.count {
                let part = Array(one.bytes[..<count])
                let found = try? read(part)
                #expect((found == nil) == ((try? skip(part)) == nil), "\(one.name) cut to \(count)")
                guard let found, found != value else { continue }
                #expect(found.double != nil || found.integer != nil, "\(one.name) cut to \(count)")
            }
        }
    }

    @Test("No name is in the table twice, and each decision says why")
    func table() {
        expect(Set(JSONCase.all.map(\.name)).count, equals: JSONCase.all.count)
        for one in JSONCase.all { expect(one.name.hasPrefix("i_"), equals: (one.decision?.isEmpty == false)) }
    }
}
