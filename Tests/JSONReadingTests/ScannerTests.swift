import JSONReading
import TestSupport
import Testing

@Suite("Reading JSON value by value") struct ScannerTests {
    @Test("Whoever follows the document reads each value by its kind")
    func kinds() throws {
        try scan(#" { "a" : [ 1 , -2.5e1 , "x" , true , false , null , { } , [ ] ] } "#) { scanner in
            try expect(scanner.peek(), equals: .object)
            try scanner.beginObject()
            try expect(scanner.nextKey()?.string, equals: "a")
            try expect(scanner.peek(), equals: .array)
            try scanner.beginArray()
            #expect(try scanner.nextElement())
            try expect(scanner.peek(), equals: .number)
            try expect(scanner.readInteger(), equals: 1)
            #expect(try scanner.nextElement())
            try expect(scanner.readDouble(), equals: -25)
            #expect(try scanner.nextElement())
            try expect(scanner.peek(), equals: .string)
            #expect(try scanner.readString() == "x")
            #expect(try scanner.nextElement())
            try expect(scanner.peek(), equals: .true)
            #expect(try scanner.readBool())
            #expect(try scanner.nextElement())
            try expect(scanner.peek(), equals: .false)
            #expect(try !scanner.readIfNull())
            #expect(try !scanner.readBool())
            #expect(try scanner.nextElement())
            try expect(scanner.peek(), equals: .null)
            #expect(try scanner.readIfNull())
            #expect(try scanner.nextElement())
            try scanner.beginObject()
            #expect(try scanner.nextKey() == nil)
            #expect(try scanner.nextElement())
            try scanner.beginArray()
            #expect(try !scanner.nextElement())
            #expect(try !scanner.nextElement())
            #expect(try scanner.nextKey() == nil)
            try scanner.end()
            expect(scanner.position, equals: scanner.document.count)
        }
    }

    @Test("Asking for another kind than there is says what is there")
    func otherKinds() throws {
        func reason(_ text: String, _ body: (inout JSONScanner) throws -> Void) -> String? {
            do {
                try scan(text, body)
                return nil
            } catch { return (error as? JSONError)?.reason }
        }
        expect(reason("1") { _ = try $0.readString() }, equals: "Expected a string, found a number")
        expect(reason(#""x""#) { _ = try $0.readNumber() }, equals: "Expected a number, found a string")
        expect(reason(#""x""#) { _ = try $0.readInteger() }, equals: "Expected a number, found a string")
        expect(reason("{}") { try $0.beginArray() }, equals: "Expected an array, found an object")
        expect(reason("[]") { try $0.beginObject() }, equals: "Expected an object, found an array")
        expect(reason("null") { _ = try $0.readBool() }, equals: "Expected true or false, found “n”")
        expect(reason("true") { try $0.readNull() }, equals: "Expected null, found “t”")
        expect(reason("") { _ = try $0.peek() }, equals: "Expected a value, found no document at all")
        expect(reason("[") { try $0.skipValue() }, equals: "Expected a value, found the end of the document")
        expect(reason("1.5") { _ = try $0.readInteger() }, equals: "The number is not an integer of 64 bits")
        expect(reason("9223372036854775808") { _ = try $0.readInteger() }, equals: "The number is not an integer of 64 bits")
        expect(reason("1e400") { _ = try $0.readDouble() }, equals: "The number is beyond what a Double can be")
    }

    @Test("A value that was skipped is read later, and reading goes on where it was")
    func seeking() throws {
        try scan(#"{"type":null,"data":{"n":[1,{"x":"y"}]},"type":"thing"}"#) { scanner in
            var data: Range<Int>?
            var type: String?
            try scanner.beginObject()
            while let key = try scanner.nextKey()?.string {
                if key == "data" {
                    data = try scanner.skipValue()
                } else if try !scanner.readIfNull() {
                    type = try scanner.readString().string
                    // In the middle of the object.
                    let place = scanner.place
                    scanner.seek(to: try #require(data).lowerBound)
                    try expect(scanner.readValue(), equals: ["n": [1, ["x": "y"]]])
                    expect(scanner.position, equals: data?.upperBound)
                    scanner.seek(to: place)
                }
            }
            expect(type, equals: "thing")
            try scanner.end()
        }
    }

    @Test("A place remembers whether an object was just begun, and how deep it is")
    func places() throws {
        try scan("[[1,2]]", limits: JSONLimits(depth: 2)) { scanner in
            try scanner.beginArray()
            _ = try scanner.nextElement()
            try scanner.beginArray()
            let place = scanner.place
            for _ in 0..<3 {
                scanner.seek(to: place)
                var elements: [Int64] = []
                while try scanner.nextElement() { elements.append(try scanner.readInteger()) }
                expect(elements, equals: [1, 2])
                #expect(try !scanner.nextElement())
                try scanner.end()
            }
        }
    }

    @Test("The range of a skipped value is that of its text, without white space")
    func ranges() throws {
        let values = [#""a\nb""#, "12.50", "true", "false", "null", #"{ "a" : [ ] }"#, "[1 , [2]]", #""é""#, "{}"]
        let text = "[ " + values.joined(separator: " ,\n ") + " ]"
        try scan(text) { scanner in
            try scanner.beginArray()
            var found: [String] = []
            while try scanner.nextElement() {
                let range = try scanner.skipValue()
                found.append(String(decoding: scanner.document[range], as: UTF8.self))
            }
            try scanner.end()
            expect(found, equals: values)
        }
    }

    @Test("A key is known after its value was read, as long as no other key was")
    func keys() throws {
        try scan(#"{"plain":1,"esc\u0061ped":"a\nb"}"#) { scanner in
            try scanner.beginObject()
            _ = try scanner.nextKey()
            _ = try scanner.readInteger()
            expect(scanner.key().string, equals: "plain")
            _ = try scanner.nextKey()
            _ = try scanner.readString()
            expect(scanner.key().string, equals: "escaped")
            #expect(try scanner.nextKey() == nil)
            try scanner.end()
        }
    }
}
