import JSONReading
import TestSupport
import Testing

@Suite("Strings of JSON") struct StringTests {
    @Test("Each escape stands for its character, in capitals or not")
    func escapes() throws {
        let cases: [(String, String)] = [
            (#"\""#, "\""), (#"\\"#, "\\"), (#"\/"#, "/"), (#"\b"#, "\u{08}"), (#"\f"#, "\u{0C}"), (#"\n"#, "\n"), (#"\r"#, "\r"),
            (#"\t"#, "\t"), (#"\u0000"#, "\0"), (#"\u001f"#, "\u{1F}"), (#"\u0041"#, "A"), (#"\u007F"#, "\u{7F}"), (#"\u0080"#, "\u{80}"),
            (#"\u00e9"#, "é"), (#"\u00E9"#, "é"), (#"\u07ff"#, "\u{7FF}"), (#"\u0800"#, "\u{800}"), (#"\u20AC"#, "€"),
            (#"\uD7FF"#, "\u{D7FF}"), (#"\uE000"#, "\u{E000}"), (#"\uFEFF"#, "\u{FEFF}"), (#"\uFFFF"#, "\u{FFFF}"),
            (#"\uD800\uDC00"#, "\u{10000}"), (#"\ud83d\ude00"#, "😀"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"), (#"\\u0041"#, "\\u0041"),
            (#"\u005cn"#, "\\n"), (#"\u0022"#, "\""),
        ]
        for (escape, character) in cases {
            for before in ["", "a", "1234567", "12345678", "é", "日本語日本語", String(repeating: "x", count: 300)] {
                for after in ["", "z", "12345678", "ü", #"\t"#] {
                    let plain = before + character + (after == #"\t"# ? "\t" : after)
                    let text = try scan("\"\(before)\(escape)\(after)\"") { try Array($0.readString().bytes) }
                    expect(text, equals: Array(plain.utf8), "\(before)\(escape)\(after)")
                }
            }
        }
    }

    @Test("Every Unicode scalar is read as itself, written in UTF-8 or as an escape")
    func scalars() throws {
        var plain: [UInt8] = [0x5B]
        var escaped: [UInt8] = [0x5B]
        var expected: [Unicode.Scalar] = []
        for number in stride(from: UInt32(0x20), through: 0x10FFFF, by: 1) {
            guard let scalar = Unicode.Scalar(number), scalar != "\"", scalar != "\\" else { continue }
            // All of the first 4,096, and of the others every seventh.
            guard number < 0x1000 || number % 7 == 0 else { continue }
            expected.append(scalar)
            plain += Array("\"\(scalar)\",".utf8)
            escaped.append(0x22)
            for unit in UTF16.encode(scalar)! {
                let digits = String(unit, radix: 16, uppercase: number % 2 == 0)
                escaped += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            }
            escaped += [0x22, 0x2C]
        }
        for document in [plain, escaped] {
            let found = try withExactMemory(document + [0x30, 0x5D]) { bytes in
                var scanner = try JSONScanner(bytes)
                var found: [Unicode.Scalar] = []
                try scanner.beginArray()
                while try scanner.nextElement(), try scanner.peek() == .string {
                    found.append(contentsOf: try scanner.readString().string.unicodeScalars)
                }
                return found
            }
            expect(found, equals: expected)
        }
    }

    @Test("Of all sequences of two and three bytes, and of four around each bound, those are accepted that are UTF-8")
    func sequences() {
        func check(_ sequence: [UInt8]) -> Bool {
            let isUTF8 = String(validating: sequence, as: UTF8.self) != nil
            // At the end of the document, and in the middle of it.
            let short = (try? skip([0x22] + sequence + [0x22])) != nil
            let long = (try? skip([0x22] + sequence + Array("abcdefgh\"".utf8))) != nil
            return short == isUTF8 && long == isUTF8
        }
        let bounds: [UInt8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8(0x80)...0xFF {
            #expect(check([first]))
            for second in UInt8(0x23)...0xFF where second != 0x5C {
                if !check([first, second]) { Issue.record("\(first) \(second)") }
                guard bounds.contains(second) else { continue }
                for third in bounds {
                    if !check([first, second, third]) { Issue.record("\(first) \(second) \(third)") }
                    for fourth in bounds where !check([first, second, third, fourth]) {
                        Issue.record("\(first) \(second) \(third) \(fourth)")
                    }
                }
            }
        }
    }

    @Test("A string without escapes lies in the document; one with escapes in the scanner, until the next is read")
    func memory() throws {
        try scan(#"["plain","é日本","a\nb","c\td"]"#) { scanner in
            let document = scanner.document
            func isInDocument(_ text: JSONText) -> Bool {
                text.start >= document.baseAddress! && text.start < document.baseAddress! + document.count
            }
            try scanner.beginArray()
            _ = try scanner.nextElement()
            let plain = try scanner.readString()
            #expect(isInDocument(plain))
            _ = try scanner.nextElement()
            #expect(isInDocument(try scanner.readString()))
            _ = try scanner.nextElement()
            let first = try scanner.readString()
            #expect(!isInDocument(first))
            #expect(first == "a\nb")
            _ = try scanner.nextElement()
            let second = try scanner.readString()
            expect(second.start, equals: first.start)
            expect(second.string, equals: "c\td")
            #expect(plain == "plain")
        }
    }

    @Test("Strings of every length are read whole, with an escape or another character at every place")
    func lengths() throws {
        for length in 0..<70 {
            let plain = String(repeating: "x", count: length)
            try expect(read(Array("\"\(plain)\"".utf8)), equals: .string(plain))
            for place in 0...length {
                for (written, read) in [(#"\n"#, "\n"), ("é", "é"), ("€", "€"), ("😀", "😀"), (#"\ud83d\ude00"#, "😀")] {
                    var (text, expected) = (plain, plain)
                    text.insert(contentsOf: written, at: text.index(text.startIndex, offsetBy: place))
                    expected.insert(contentsOf: read, at: expected.index(expected.startIndex, offsetBy: place))
                    let found = try scan("\"\(text)\"") { try $0.readString().string }
                    if found != expected { Issue.record("\(text)") }
                    let again = try scan("[\"\(text)\",\"\(text)\"]") { scanner in
                        try scanner.skipValue()
                        return scanner.position
                    }
                    expect(again, equals: 2 * text.utf8.count + 7)
                }
            }
        }
    }
}
