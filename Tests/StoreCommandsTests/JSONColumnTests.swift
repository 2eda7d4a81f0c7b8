import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Columns of other programs' tables that hold JSON.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct JSONColumnTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Plain.execute(Self.table + Self.rows, pad.store)
    }

    private static let table = "CREATE TABLE notes (id INTEGER PRIMARY KEY, j JSON);"
    private static let rows = #"""
        INSERT INTO notes VALUES (1, '{"k": true, "n": null, "a": "x, \"y\": 1", "b": 2, "c": 3.5, "d": {"z": false, "y": [1, true, []]}}');
        INSERT INTO notes VALUES (2, '[1, 0, true, false, null, "ü"]'), (3, '"text"'), (4, '12'), (5, 'true'), (6, NULL), (7, '{}'), (8, '""');
        """#

    private static let values = [
        #"{"a":"x, \"y\": 1","b":2,"c":3.5,"d":{"y":[1,true,[]],"z":false},"k":true,"n":null}"#, #"[1,0,true,false,null,"ü"]"#, #""text""#,
        "12", "true", "null", "{}", #""""#,
    ]

    private func written(_ form: OutputFormat) throws -> String {
        let output = CollectedOutput()
        try QueryPrinter(Query(QueryText("Notes", sort: "id", columns: "j"), in: StoreReference(pad.store.path).open()), to: output).write(
            form)
        return output.text
    }

    @Test func valuesAreWrittenAsJSONWithKeysInOrder() throws {
        let lines = try written(.json).split(separator: "\n").dropFirst().dropLast()
        let found = lines.map { line in line.components(separatedBy: #""j":"#).last?.replacing(#/},?$/#, with: "") ?? "" }
        expect(found, equals: Self.values)
        let table = try written(.table)
        #expect(table.contains(#"{"a":"x, \"y\": 1","b":2"#), "\(table)")
    }

    @Test func fieldsOfCSVHaveTheTextOfTheJSON() throws {
        let lines = try written(.csv).split(separator: "\n").dropFirst()
        let found = lines.map { line in String(line.drop { $0 != "," }.dropFirst()) }
        let fields = Self.values.map { text in
            text.contains("\"") || text.contains(",") ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
        }
        expect(found, equals: fields.enumerated().map { $0.offset == 5 ? "" : $0.element })
    }

    @Test func theObjectIsShownWithItsJSON() throws {
        let store = try StoreReference(pad.store.path).open()
        let id = try store.read { try #require(store.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Notes")).first).objectID }
        let output = CollectedOutput()
        try ObjectReport(ValueText.short(id).replacing(#/\d+$/#, with: "2"), in: store).write(.table, to: output)
        let lines = output.text.split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix(#"  [1,0,true,false,null,"ü"]"#) }, "\(output.text)")
        // The elements of an array are no objects.
        expect(lines.count, equals: 3)
    }

    @Test func aFileIsEqualToItself() throws {
        for _ in 0..<4 {
            let output = CollectedOutput()
            let stores = try [pad.store, pad.store].map { try StoreReference($0.path).open() }
            #expect(try !StoreDifference(stores[0], stores[1]).write(.table, to: output))
            expect(output.text, equals: "The stores are equal.\n")
        }
        // 1 is no true, whatever their numbers are.
        let other = pad.file("other.sqlite")
        try Plain.execute(Self.table + Self.rows.replacing("[1, 0, true", with: "[1, 0, 1"), other)
        let output = CollectedOutput()
        #expect(try StoreDifference(StoreReference(pad.store.path).open(), StoreReference(other.path).open()).write(.table, to: output))
        #expect(output.text.contains("[1,0,true,") && output.text.contains("→ [1,0,1,"), "\(output.text)")
    }

    @Test(arguments: ["notes.json", "Notes.csv"]) func whatIsExportedIsImported(name: String) throws {
        let files = pad.file(name).path
        try expect(StoreExport(StoreReference(pad.store.path).open()).write(to: files), equals: 8)
        let other = pad.file("other.sqlite")
        try Plain.execute(Self.table, other)
        try expect(StoreImport.run(files, into: other.path, writes: true), equals: .init(added: 8))
        let output = CollectedOutput()
        let query = try Query(QueryText("Notes", sort: "id", columns: "id,j"), in: StoreReference(other.path).open())
        try QueryPrinter(query, to: output).write(.json)
        for (index, value) in Self.values.enumerated() { #expect(output.text.contains(#""j":\#(value)}"#), "\(index): \(output.text)") }
        // Again, nothing is to be changed.
        try expect(StoreImport.run(files, into: pad.store.path, writes: true), equals: .init(unchanged: 8))
    }

    @Test func whatIsNoJSONIsNotImported() throws {
        let file = pad.file("Notes.csv")
        try Data("id,j\n9,{\n".utf8).write(to: file)
        let error = #expect(throws: NSError.self) { try StoreImport.run(file.path, into: pad.store.path, writes: true) }
        #expect(error?.localizedDescription.contains("Notes.csv, line 2, Notes.j: Expected JSON, found") == true, "\(error as Any)")
    }

    @Test func aViewThatCannotBeComputedIsNotCounted() throws {
        try Plain.execute(
            "CREATE TABLE plain (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO plain VALUES (1, '{\"a\": 1}');"
                + "CREATE VIEW bad AS SELECT id, x FROM plain WHERE json_extract(x, '$.a') > 0", pad.store)
        let store = try StoreReference(pad.store.path).open()
        // A view that fails as the file is opened is not in the draft.
        try Plain.execute("INSERT INTO plain VALUES (2, '{')", pad.store)
        let output = CollectedOutput()
        try StoreReport(store).write(.table, to: output)
        #expect(output.text.contains(#/Bad +\?/#) && output.text.contains(#/Notes +8/#), "\(output.text)")
        #expect(output.text.contains("“Bad” cannot be counted: "), "\(output.text)")
        #expect(output.text.contains("malformed JSON"), "\(output.text)")
        let error = #expect(throws: NSError.self) { try Query(QueryText("Bad"), in: store).count() }
        #expect(error?.localizedDescription.contains("“Bad”") == true, "\(error as Any)")
        #expect(error?.localizedDescription.contains("view bad") == true, "\(error as Any)")
        let failed = #expect(throws: NSError.self) { try StoreExport(store).write(to: pad.file("all.json").path) }
        #expect(failed?.localizedDescription.contains("view bad") == true, "\(failed as Any)")
    }
}
