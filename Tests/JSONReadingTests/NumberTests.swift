import Foundation
import JSONReading
import TestSupport
import Testing

@Suite("Numbers of JSON") struct NumberTests {
    private func number<Result>(_ text: String, _ body: (JSONNumber) throws -> Result) throws -> Result {
        try scan(text) { scanner in
            let number = try scanner.readNumber()
            try scanner.end()
            expect(number.text.string, equals: text.trimmingCharacters(in: .whitespaces))
            return try body(number)
        }
    }

    @Test("Integers are those of 64 bits, also where they are written with a point or an exponent")
    func integers() throws {
        let cases: [(String, Int64?)] = [
            ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("42", 42), ("999999999999999999", 999_999_999_999_999_999),
            ("1000000000000000000", 1_000_000_000_000_000_000), ("9223372036854775807", .max), ("9223372036854775808", nil),
            ("-9223372036854775808", .min), ("-9223372036854775809", nil), ("9999999999999999999", nil), ("18446744073709551615", nil),
            ("18446744073709551616", nil), ("99999999999999999999", nil), ("100000000000000000000000000000", nil), ("1.0", 1), ("1.5", nil),
            ("-2.000", -2), ("1e3", 1000), ("1.5e1", 15), ("1.55e1", nil), ("100e-2", 1), ("101e-2", nil), ("0e999999999999999999999", 0),
            ("0.0e-5", 0), ("9.223372036854775807e18", .max), ("9.223372036854775808e18", nil), ("-9.223372036854775808E+18", .min),
            ("1e18", 1_000_000_000_000_000_000), ("1e19", nil), ("92233720368547758070e-1", .max), ("1e-1", nil), ("1e400", nil),
            ("5.00000000000000000000000000", 5), ("5.00000000000000000000000001", nil), ("0.000000000000000000000000001e27", 1),
            ("10000000000000000000000000000000e-31", 1), ("1e-400", nil),
        ]
        for (text, integer) in cases {
            try expect(number(text) { $0.int64 }, equals: integer, "\(text)")
            for after in ["", " ", ",", "]"] where integer != nil {
                try expect(scan(text + after) { try $0.readInteger() }, equals: integer, "\(text)\(after)")
            }
            if integer == nil { #expect(throws: JSONError.self, "\(text)") { try scan(text) { try $0.readInteger() } } }
        }
    }

    @Test("A number keeps its text with all digits, and its range")
    func texts() throws {
        let text = "-12345678901234567890.123456789012345678"
        try scan("[1, \(text) ]") { scanner in
            try scanner.beginArray()
            _ = try scanner.nextElement()
            try expect(scanner.readNumber().range, equals: 1..<2)
            _ = try scanner.nextElement()
            let number = try scanner.readNumber()
            expect(number.text.string, equals: text)
            expect(number.range, equals: 4..<4 + text.count)
            #expect(!number.isInteger)
            #expect(number.isNegative)
            expect(Decimal(string: number.text.string)?.description, equals: text)
        }
    }

    @Test("Doubles are rounded to the nearest, of two to the even one")
    func doubles() throws {
        let texts = [
            "0", "-0", "0.0", "-0.0e5", "1", "0.1", "0.2", "0.3", "1.7976931348623157e308", "1.7976931348623158e308",
            "-1.7976931348623157e308", "4.9e-324", "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308", "2.225073858507201e-308", "9007199254740991", "9007199254740992", "9007199254740993",
            "9007199254740993.0000000000000000000000000000001", "9007199254740994", "9007199254740995", "1e22", "1e23", "1e-22", "1e-23",
            "123456789012345678901234567890", "0.000000000000000000000000000000000000000000000000000000000000001", "1e-400", "0e400",
            "8.5e15", "7.2057594037927933e16", "6.9294956446009195e15", "9214843084008499", "1090544144181609348671888949248",
            "1090544144181609348835077142190", "30078505129381147446200", "1777820000000000000001", "358416272e-33",
            "3e-9999999999999999999999",
            "100000000000000000000000000000000000000000000000000e-50", "0.5000000000000000000000000000000000000000000001",
            "1.00000000000000011102230246251565404236316680908203125", "1.00000000000000011102230246251565404236316680908203124",
            "1.00000000000000011102230246251565404236316680908203126", "1." + String(repeating: "0", count: 500) + "1",
            String(repeating: "9", count: 300), "0." + String(repeating: "0", count: 400) + "1e400",
            "1" + String(repeating: "0", count: 400) + "e-400",
        ]
        for text in texts {
            let found = try #require(try number(text) { $0.double }, "\(text)")
            let expected = try #require(Double(text), "\(text)")
            expect(found.bitPattern, equals: expected.bitPattern, "\(text)")
            try expect(scan(text) { try $0.readDouble() }.bitPattern, equals: expected.bitPattern)
        }
        for text in ["1.7976931348623159e308", "1.8e308", "-1e309", "1e400", "1e99999999999999999999", String(repeating: "9", count: 310)] {
            #expect(try number(text) { $0.double } == nil, "\(text)")
            #expect(throws: JSONError.self, "\(text)") { try scan(text) { try $0.readDouble() } }
            #expect(throws: Never.self) { try skip(Array(text.utf8)) }
        }
    }

    /// A fresh seed each time; `COREDATA_TEST_ROUNDS` says how many texts.
    @Test("Random texts give the doubles that Double(_:) gives")
    func randomDoubles() throws {
        let seed = TestSeed.current(for: "Random doubles of JSON")
        var random = SeededGenerator(seed: seed)
        let budget = TestBudget(seconds: 0.7, atLeast: 1000)
        var (texts, beyond) = (0, 0)
        while budget.isLeft(after: texts) {
            for _ in 0..<100 {
                texts += 1
                let text = self.text(&random)
                let expected = Double(text)!
                let (double, integer) = try number(text) { ($0.double, $0.int64) }
                if !expected.isFinite { beyond += 1 }
                if double?.bitPattern != (expected.isFinite ? expected.bitPattern : nil) {
                    Issue.record("seed \(seed): \(text) is \(double.map { "\($0)" } ?? "none"), not \(expected)")
                }
                if text.utf8.allSatisfy({ $0 == 0x2D || 0x30...0x39 ~= $0 }), integer != Int64(text) {
                    Issue.record("seed \(seed): \(text) is \(integer.map { "\($0)" } ?? "none")")
                }
            }
        }
        print("\(texts) texts equal Double(_:), \(beyond) of them beyond what doubles can be")
    }

    private func text(_ random: inout SeededGenerator) -> String {
        func digits(_ count: Int) -> String { String((0..<count).map { _ in "0123456789".randomElement(using: &random)! }) }
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
            // The shortest text of any double.
            let double = Double(bitPattern: .random(in: 0 ... .max, using: &random))
            return double.isFinite ? double.description : "0.5"
        case 1: return Double.random(in: -1000...1000, using: &random).description
        case 2: return Int64.random(in: .min ... .max, using: &random).description
        case 3:
            // Just at, above or below the middle between two doubles: all digits of it.
            let low = Double.random(in: 1...2, using: &random)
            let bits = low.significandBitPattern * 2 + 1
            var tail = [UInt8](repeating: 0, count: 54)
            // bits / 2^53 in decimal: multiplied by ten, digit for digit.
            var rest = bits
            let mask: UInt64 = 1 << 53 - 1
            for index in tail.indices {
                let product = rest.multipliedFullWidth(by: 10)
                tail[index] = UInt8(product.high << 11 | product.low >> 53)
                rest = product.low & mask
            }
            let text = "1." + tail.map { String($0) }.joined()
            return [text, text + "1", String(text.dropLast()) + "4"].randomElement(using: &random)!
        case 4: return digits(1) + "." + digits(Int.random(in: 1...6, using: &random))
        case 5: return "-" + String(Int.random(in: 1...9, using: &random)) + digits(Int.random(in: 0...30, using: &random))
        default:
            let exponent = Int.random(in: -360...330, using: &random)
            return String(Int.random(in: 0...9, using: &random)) + "." + digits(Int.random(in: 1...40, using: &random))
                + "eE".randomElement(using: &random)!.description
                + (Bool.random(using: &random) && exponent >= 0 ? "+" : "") + String(exponent)
        }
    }
}
