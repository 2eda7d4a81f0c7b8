import CoreData
import FileStores
import TestSupport
import Testing

@Suite("Numbers of JSON files") struct ExactNumberTests {
    @Test("Whole numbers with a point or an exponent are exact to the last of 64 bits, and one that is not whole is refused")
    func wholeNumbers() throws {
        let scratch = try Scratch()
        let entity = NSEntityDescription(name: "Sample")
        entity.properties = [
            NSAttributeDescription(name: "count", type: .integer64), NSAttributeDescription(name: "name", type: .string),
        ]
        let model = NSManagedObjectModel(entities: [entity])
        let cases: [(text: String, value: Int64)] = [
            ("9007199254740993.0", 9_007_199_254_740_993), ("123456789012345679e0", 123_456_789_012_345_679), ("1e3", 1000),
            ("9223372036854775807.00", .max), ("-9.223372036854775808e18", .min), ("90071992547409930e-1", 9_007_199_254_740_993),
        ]
        let rows = cases.enumerated().map { #"{"id": \#($0), "name": "\#($0)", "count": \#($1.text)}"# }.joined(separator: ",\n")
        try scratch.write(#"{"Sample": [\#(rows)]}"#, "samples.json")
        let context = try open(JSONStore.description(at: scratch.url("samples.json")), model)
        expect(try context.all("Sample", by: "name").map { $0.value(forKey: "count") as? Int64 }, equals: cases.map(\.value))
        for text in ["9007199254740993.5", "9223372036854775808.0", "1e-1"] {
            try scratch.write(#"{"Sample": [{"id": 1, "name": "x", "count": \#(text)}]}"#, "wrong.json")
            #expect(throws: (any Error).self, "\(text)") {
                try open(JSONStore.description(at: scratch.url("wrong.json")), model).all("Sample", by: "name")
            }
        }
    }
}
