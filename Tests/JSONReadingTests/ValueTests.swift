import JSONReading
import TestSupport
import Testing

@Suite("Values of JSON") struct ValueTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    private func write(_ value: JSONValue, _ options: JSONWriter.Options = []) throws -> String {
        String(decoding: try value.serialized(options), as: UTF8.self)
    }

    @Test("A value that is read equals the literal")
    func literals() throws {
        let value = try parse(#"{"a":[1,-2.5,"x",true,null],"b":{},"c":1e3}"#)
        expect(value, equals: ["a": [1, -2.5, "x", true, .null], "b": [:], "c": .number(1000)])
        expect(value["a"]?[1]?.double, equals: -2.5)
        expect(value["a"]?[0]?.integer, equals: 1)
        expect(value["a"]?[2]?.string, equals: "x")
        expect(value["a"]?[3]?.bool, equals: true)
        expect(value["a"]?[4]?.isNull, equals: true)
        #expect(value["a"]?[5] == nil)
        #expect(value["a"]?[-1] == nil)
        #expect(value["z"] == nil)
        #expect(value[0] == nil)
        expect(value["b"]?.object?.count, equals: 0)
        expect(value["c"]?.integer, equals: 1000)
        expect(value.object?.keys, equals: ["a", "b", "c"])
    }

    @Test("A number is an integer, a double or a text, so that no digit is lost")
    func numbers() throws {
        let cases: [(String, JSONValue)] = [
            ("0", .integer(0)), ("-0", .number(-0.0)), ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .decimal("9223372036854775808")), ("10000000000000000000", .number(1e19)),
            ("18446744073709551615", .decimal("18446744073709551615")), ("0.1", .number(0.1)), ("1.0", .number(1)), ("1.50", .number(1.5)),
            ("3.141592653589793", .number(.pi)), ("3.14159265358979323846", .decimal("3.14159265358979323846")),
            ("5e-324", .number(.leastNonzeroMagnitude)),
            ("4.9e-324", .decimal("4.9e-324")), ("1e400", .decimal("1e400")), ("-1e400", .decimal("-1e400")),
            ("1e-400", .decimal("1e-400")),
            ("0e400", .number(0)), ("0.12345678901234567890123456789012345678", .decimal("0.12345678901234567890123456789012345678")),
            ("1.7976931348623157e308", .number(.greatestFiniteMagnitude)), ("9007199254740993.0", .decimal("9007199254740993.0")),
            ("9007199254740992.0", .number(9_007_199_254_740_992)),
        ]
        for (text, value) in cases {
            let found = try parse(text)
            expect(found, equals: value, "\(text)")
            try expect(parse(write(found)), equals: value, "\(text)")
        }
        try expect(parse("9223372036854775808").double, equals: 9_223_372_036_854_775_808)
        #expect(try parse("1e400").double == nil)
        #expect(JSONValue.number(.infinity).integer == nil)
        #expect(JSONValue.number(0x1p63).integer == nil)
        expect(JSONValue.number(-0x1p63).integer, equals: .min)
        #expect(JSONValue.number(1.5).integer == nil)
    }

    @Test("Objects keep their order, equal those of another order, and let members be set and removed")
    func objects() throws {
        var value = try parse(#"{"b":1,"a":2,"c":3}"#)
        try expect(write(value), equals: #"{"b":1,"a":2,"c":3}"#)
        let other = try parse(#"{"c":3,"b":1,"a":2}"#)
        expect(value, equals: other)
        expect(value.hashValue, equals: other.hashValue)
        #expect(value != (try parse(#"{"c":3,"b":1,"a":1}"#)))
        #expect(value != (try parse(#"{"c":3,"b":1}"#)))
        value["a"] = nil
        value["b"] = "x"
        value["new"] = [1]
        try expect(write(value), equals: #"{"b":"x","c":3,"new":[1]}"#)
        var fresh = JSONValue.null
        fresh["a"] = 1
        expect(fresh, equals: ["a": 1])
    }

    @Test("Of a key that is there twice the last counts, and both are kept")
    func duplicates() throws {
        let value = try parse(#"{"a":1,"b":2,"a":3}"#)
        expect(value["a"], equals: 3)
        try expect(write(value), equals: #"{"a":1,"b":2,"a":3}"#)
        #expect(value != (try parse(#"{"a":3,"b":2,"a":1}"#)))
        #expect(value == (try parse(#"{"b":2,"a":1,"a":3}"#)))
    }

    @Test("Keys are compared by their bytes, not by what Unicode calls equivalent")
    func equivalents() throws {
        let value = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
        expect(value["\u{E9}"], equals: 1)
        expect(value["e\u{301}"], equals: 2)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect((["\u{E9}": 1] as JSONValue) != ["e\u{301}": 1])
    }

    @Test("Only what must be escaped is")
    func escapes() throws {
        let text = String(String.UnicodeScalarView((0..<0x80).map { Unicode.Scalar($0)! })) + "é/日😀\u{2028}"
        let written = try write(.string(text))
        expect(
            written,
            equals: #""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
                + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"#
                + ##" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"##
                + "\u{7F}é/日😀\u{2028}\"")
        try expect(parse(written), equals: .string(text))
    }

    @Test("Keys are sorted and lines broken where that is asked for")
    func options() throws {
        let value: JSONValue = ["b": [1, [:], []], "a": ["d": .null, "c": true], "B": "x"]
        try expect(write(value, .sortedKeys), equals: #"{"B":"x","a":{"c":true,"d":null},"b":[1,{},[]]}"#)
        try expect(
            write(value, [.prettyPrinted, .sortedKeys]),
            equals: """
                {
                  "B": "x",
                  "a": {
                    "c": true,
                    "d": null
                  },
                  "b": [
                    1,
                    {},
                    []
                  ]
                }
                """)
        for options: JSONWriter.Options in [[], .prettyPrinted, .sortedKeys] { try expect(parse(write(value, options)), equals: value) }
    }

    @Test("The writer puts together what it is told in turn")
    func writer() throws {
        var writer = JSONWriter()
        writer.beginArray()
        writer.beginObject()
        writer.key("id")
        writer.integer(7)
        writer.key("list")
        writer.beginArray()
        writer.null()
        writer.bool(false)
        writer.endArray()
        writer.key("raw")
        writer.raw("{}".utf8)
        writer.endObject()
        try writer.number(1e100)
        try writer.decimal("0.10")
        writer.string("x")
        try writer.value(["a": 1])
        writer.endArray()
        expect(String(decoding: writer.bytes, as: UTF8.self), equals: #"[{"id":7,"list":[null,false],"raw":{}},1e+100,0.10,"x",{"a":1}]"#)
    }

    @Test("What JSON has no text for is an error, not something else")
    func errors() {
        for number in [Double.nan, .infinity, -.infinity] {
            #expect(throws: JSONError.self) { try JSONValue.array([1, .number(number)]).serialized() }
        }
        for text in ["", " 1", "1 ", "x", "01", "1.", "NaN", "1,2", "+1", "\n1", "1e"] {
            #expect(throws: JSONError.self, "\(text)") { try JSONValue.decimal(text).serialized() }
        }
        #expect(throws: JSONError("JSON has no text for nan", offset: 2, line: 1, column: 3)) {
            try JSONValue.array([1, .number(.nan)]).serialized()
        }
        expect(JSONValue.number(.nan).description, equals: "(JSON has no text for nan)")
    }
}
