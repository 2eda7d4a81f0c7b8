import JSONReading
import TestSupport
import Testing

@Suite("Errors and limits of JSON") struct ErrorTests {
    @Test("An error names the place: offset, line and column in bytes")
    func places() throws {
        let cases: [(text: String, offset: Int, line: Int, column: Int)] = [
            ("", 0, 1, 1), ("x", 0, 1, 1), ("  x", 2, 1, 3), ("[1,\n2,\n x]", 8, 3, 2), ("[1,\r\n2,\r\n x]", 10, 3, 2),
            ("[1,\r2,\r x]", 8, 3, 2), ("[\n\n\n\n]x", 6, 5, 2), ("{\"é\":1,\n\"日\":x}", 15, 2, 7), ("[\"a\nb\"]", 3, 1, 4),
            ("[\"a\\x\"]", 3, 1, 4), ("[1.x]", 3, 1, 4), ("[01]", 1, 1, 2), ("[-]", 2, 1, 3), ("[tru]", 1, 1, 2), ("[falsy]", 1, 1, 2),
            ("{\"a\" 1}", 5, 1, 6), ("{\"a\":1 \"b\"}", 7, 1, 8), ("[1", 2, 1, 3), ("[\"abc", 5, 1, 6), ("{}\n\n{}", 4, 3, 1),
            ("[\"\\ud800\"]", 2, 1, 3), ("[\"a\\n\\udc00\"]", 5, 1, 6), ("[1e]", 3, 1, 4), ("[1e+]", 4, 1, 5),
        ]
        for one in cases {
            let found = try #require(error(one.text), "\(one.text)")
            #expect(found.offset == one.offset && found.line == one.line && found.column == one.column, "\(one.text): \(found)")
            expect(found.description, equals: "\(found.reason) (line \(one.line), column \(one.column))")
            // Skipping finds the same fault.
            #expect(throws: found, "\(one.text)") {
                try scan(one.text) { scanner in
                    try scanner.skipValue()
                    try scanner.end()
                }
            }
        }
    }

    @Test("The place of a byte that is no UTF-8 is that of its character's first byte")
    func encodings() {
        let before = Array("[\n\"é".utf8)
        for wrong in [[0xFF], [0xC3, 0x22], [0xE2, 0x82, 0x22], [0xF0, 0x9F, 0x98, 0x22], [0xED, 0xA0, 0x80, 0x22]] as [[UInt8]] {
            #expect(throws: JSONError("The string is not valid UTF-8", offset: 5, line: 2, column: 4)) {
                try read(before + wrong + Array("\"]".utf8))
            }
            #expect(throws: JSONError("The string is not valid UTF-8", offset: 5, line: 2, column: 4)) { try skip(before + wrong) }
        }
    }

    @Test("A byte order mark is refused by name")
    func byteOrderMark() {
        expect(error("\u{FEFF}{}")?.reason.contains("byte order mark"), equals: true)
        expect(error("\u{FEFF}{}")?.offset, equals: 0)
        #expect(throws: JSONError.self) { try read([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) }
    }

    @Test("A document may be as deep as the limit allows, not deeper, however it is read")
    func depth() throws {
        for limit in [0, 1, 2, 63, 64, 65, 127, 128, 129, 200, 1000] {
            for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"":"#, "}]")] {
                let step = open.hasPrefix("[{") ? 2 : 1
                for levels in [limit - 2, limit - 1, limit, limit + 1, limit + 2, limit + 200] where levels > 0 && levels % step == 0 {
                    let text = String(repeating: open, count: levels / step) + "1" + String(repeating: close, count: levels / step)
                    let bytes = Array(text.utf8)
                    let limits = JSONLimits(depth: limit)
                    expect(((try? read(bytes, limits: limits)) != nil), equals: (levels <= limit), "\(levels) of \(limit)")
                    expect(((try? skip(bytes, limits: limits)) != nil), equals: (levels <= limit), "\(levels) of \(limit)")
                }
            }
        }
        let text = "[\n[1],[[1]]]"
        expect(
            error(text, limits: JSONLimits(depth: 2)),
            equals: JSONError("More than 2 objects and arrays stand in one another here", offset: 7, line: 2, column: 6))
        #expect(error("[[],[],{},[{}],{}]", limits: JSONLimits(depth: 3)) == nil)
    }

    @Test("A million brackets are refused at the limit, in little memory")
    func bombs() {
        for open in ["[", #"{"a":"#, "[[{\"\":"] {
            let bytes = Array(String(repeating: open, count: 1_000_000).utf8)
            #expect(throws: JSONError.self) { try read(bytes) }
            #expect(throws: JSONError.self) { try skip(bytes) }
        }
    }

    @Test("A document may be as long as the limit allows, not longer")
    func length() {
        #expect(error("[1,2]", limits: JSONLimits(length: 5)) == nil)
        expect(error("[1,2]", limits: JSONLimits(length: 4))?.reason, equals: "The document has 5 bytes; 4 are allowed")
        expect(error("", limits: JSONLimits(length: 0))?.reason, equals: "Expected a value, found no document at all")
    }

    @Test("A document without memory is an empty one")
    func nothing() throws {
        #expect(throws: JSONError("Expected a value, found no document at all", offset: 0, line: 1, column: 1)) {
            var scanner = try JSONScanner(UnsafeRawBufferPointer(start: nil, count: 0))
            try scanner.skipValue()
        }
    }
}
