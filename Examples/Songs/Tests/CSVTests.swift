import CoreData
import Testing

@testable import Songs

struct CSVTests {
    private let url = URL(fileURLWithPath: "/x.csv")

    private func parse(_ text: String, pieces size: Int = .max) throws -> [[String?]] {
        var parser = CSVParser(url: url)
        var records: [[String?]] = []
        let bytes = Data(text.utf8)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, size == .max ? bytes.count : start + size)
            try parser.parse(bytes[start..<end]) { records.append($0.fields.map { $0.isNil ? nil : $0.text }) }
            start = end
        }
        try parser.finish { records.append($0.fields.map { $0.isNil ? nil : $0.text }) }
        return records
    }

    @Test(arguments: [1, 2, 3, 7, .max])
    func recordsAreTheSameInPiecesOfAnySize(size: Int) throws {
        let text = "a,b,c\r\n\"x,\"\"y\"\"\",\"two\r\nlines\",\n\n\"\",é💿,\"\"\"\"\r\nlast,,"
        let expected: [[String?]] = [["a", "b", "c"], ["x,\"y\"", "two\r\nlines", nil], ["", "é💿", "\""], ["last", nil, nil]]
        try #expect(parse(text, pieces: size) == expected)
    }

    @Test func placesCountLinesCharactersAndBytes() throws {
        var parser = CSVParser(url: url)
        var records: [CSVRecord] = []
        let text = "é,\"a\nb\",c\n\nd,e"
        try parser.parse(Data(text.utf8)) { records.append($0) }
        try parser.finish { records.append($0) }
        #expect(records.map(\.line) == [1, 4])
        #expect(records[0].fields.map(\.position.column) == [1, 3, 4])
        #expect(records[0].fields.map(\.position.line) == [1, 1, 2])
        let bytes = Array(text.utf8)
        #expect(records.map { String(decoding: bytes[$0.range], as: UTF8.self) } == ["é,\"a\nb\",c\n", "d,e"])
    }

    @Test func whatIsWrittenIsReadBack() throws {
        let fields: [String?] = ["plain", nil, "", ",", "\"", "a\nb", "a\rb", " space ", "\u{FEFF}", "é"]
        for usesCarriageReturns in [false, true] {
            let line = CSVWriter(usesCarriageReturns: usesCarriageReturns).line(fields.map { CSVField(text: $0 ?? "", isQuoted: $0 == "") })
            try #expect(parse(String(decoding: line, as: UTF8.self)) == [fields])
        }
    }
}
