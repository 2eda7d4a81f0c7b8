import CSQLite
import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Which objects the records of an import are.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ImportedIdentityTests {
    private let pad: Pad
    private let model: String

    init() throws {
        pad = try Pad()
        let party = NSEntityDescription(name: "Party")
        party.properties = ["code", "name"].map { NSAttributeDescription(name: $0, type: .string) }
        party.isAbstract = true
        party.uniquenessConstraints = [["code"]]
        let person = NSEntityDescription(name: "Person", properties: [NSAttributeDescription(name: "email", type: .string)])
        person.uniquenessConstraints = [["email"]]
        let company = NSEntityDescription(name: "Company")
        let employer = NSRelationshipDescription(name: "employer", destination: company)
        let staff = NSRelationshipDescription(name: "staff", destination: person, toMany: true)
        employer.inverse(to: staff)
        person.properties.append(employer)
        company.properties.append(staff)
        party.subentities = [person, company]
        let note = NSEntityDescription(
            name: "Note",
            properties: [
                NSAttributeDescription(name: "text", type: .string), NSAttributeDescription(name: "weight", type: .double),
                NSAttributeDescription(name: "kind", type: .string, defaultValue: "plain"),
            ])
        let tag = NSEntityDescription(
            name: "Tag",
            properties: [
                NSAttributeDescription(name: "label", type: .string), NSAttributeDescription(name: "color", type: .string),
                NSAttributeDescription(name: "lang", type: .string, isOptional: false, defaultValue: "en"),
            ])
        tag.uniquenessConstraints = [["label", "lang"]]
        let slot = NSEntityDescription(
            name: "Slot",
            properties: [
                NSAttributeDescription(name: "number", type: .integer64, isOptional: false, defaultValue: 7),
                NSAttributeDescription(name: "owner", type: .string),
            ])
        slot.uniquenessConstraints = [["number"]]
        model = pad.file("Model.xcdatamodel").path
        try ModelConversion.write(NSManagedObjectModel(entities: [party, person, company, note, tag, slot]), to: model)
    }

    /// Imports text, and returns what the import says.
    private func run(_ text: String, _ store: String = "s.sqlite", key: String? = nil, writes: Bool = true) throws -> String {
        let file = pad.file("x.json")
        try Data(text.utf8).write(to: file)
        do {
            let outcome = try StoreImport.run(file.path, into: pad.url.path + "/" + store, model: model, key: key, writes: writes)
            return "\(outcome.added) \(outcome.changed) \(outcome.unchanged)"
        } catch { return (error as NSError).localizedDescription }
    }

    /// Expects the same mistake of a trial and of an import that writes, and that nothing is written.
    private func expectMistake(_ text: String, _ expected: String..., key: String? = nil, in store: String = "s.sqlite") throws {
        let before = try Pad.contents(of: pad.url)["s.sqlite"]
        let tried = try run(text, store, key: key, writes: false)
        for part in expected { #expect(tried.contains(part), "\(tried)") }
        try expect(Pad.contents(of: pad.url)["s.sqlite"], equals: before)
        try expect(run(text, store, key: key), equals: tried)
        try expect(run(text, store, key: key, writes: false), equals: tried)
    }

    private func values(_ entity: String, _ columns: String, _ store: String = "s.sqlite") throws -> [String] {
        let output = CollectedOutput()
        let open = try StoreReference(pad.url.path + "/" + store, model: model).open()
        try QueryPrinter(Query(QueryText(entity, columns: columns), in: open), to: output).write(.csv)
        return output.text.split(separator: "\n").dropFirst().map { line in
            String(line.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)[1])
        }.sorted()
    }

    // MARK: Two records, one object

    @Test func twoRecordsThatAreOneObjectByTwoKeysAreAMistakeThatNamesBoth() throws {
        try expect(run(#"{"Person": [{"code": "P1", "email": "a@x", "name": "Ala"}]}"#), equals: "1 0 0")
        // The key of the parent entity, and the entity's own.
        try expectMistake(
            #"{"Person": ["# + "\n" + #"{"code": "P1", "name": "first"},"# + "\n" + #"{"code": "P9", "email": "a@x", "name": "second"}]}"#,
            "Nothing is imported: 1 mistake.", "x.json, line 3, Person: The record in x.json, line 2 is the same object by its email.")
        try expect(values("Person", "code,name"), equals: ["P1,Ala"])
    }

    @Test func recordsOfOneLineAreToldApartByTheirColumns() throws {
        try expect(run(#"{"Person": [{"code": "P1", "email": "a@x"}]}"#), equals: "1 0 0")
        try expectMistake(
            #"{"Person": [{"code": "P1", "name": "ä"}, {"code": "P9", "email": "a@x"}]}"#,
            "x.json, line 1, column 42, Person: The record in x.json, line 1 is the same object by its email.")
    }

    @Test func aRecordWithAnIdentityAndOneWithAKeyThatAreOneObjectAreAMistake() throws {
        try expect(run(#"{"Person": [{"$id": "Person/p1", "code": "P1", "email": "a@x"}]}"#), equals: "1 0 0")
        for text in [
            #"{"Person": [{"$id": "Person/p1", "name": "first"}, {"email": "a@x", "name": "second"}]}"#,
            #"{"Person": [{"email": "a@x", "name": "second"}, {"$id": "Person/p1", "name": "first"}]}"#,
        ] {
            try expectMistake(text, "The record in x.json, line 1 is the same object")
        }
        // By the key that was asked for, too.
        try expect(run(#"{"Note": [{"$id": "Note/p1", "text": "a"}]}"#), equals: "1 0 0")
        try expectMistake(
            #"{"Note": [{"$id": "Note/p1", "weight": 1}, {"text": "a", "weight": 2}]}"#,
            "The record in x.json, line 1 is the same object by its text.", key: "text")
    }

    @Test func twoRecordsThatWouldShareAUniqueValueAreAMistakeAlsoWhereOneHasItInTheStoreOnly() throws {
        try expect(run(#"{"Person": [{"$id": "Person/p1", "code": "P1"}, {"$id": "Person/p2", "code": "P2"}]}"#), equals: "2 0 0")
        try expectMistake(
            #"{"Person": [{"$id": "Person/p1", "name": "as it was"}, {"$id": "Person/p2", "code": "P1"}]}"#,
            "The record in x.json, line 1 has the same code.")
        // What is exchanged is no conflict.
        try expect(run(#"{"Person": [{"$id": "Person/p1", "code": "P2"}, {"$id": "Person/p2", "code": "P1"}]}"#), equals: "0 2 0")
    }

    @Test func aKeyThatSeveralObjectsOfTheStoreHaveIsAMistake() throws {
        try expect(run(#"{"Note": [{"text": "a", "weight": 1}, {"text": "a", "weight": 2}]}"#), equals: "2 0 0")
        try expectMistake(#"{"Note": [{"text": "a", "weight": 3}]}"#, "The store has several objects with this text", key: "text")
    }

    // MARK: Defaults

    @Test func anAttributeOfAConstraintThatARecordLacksHasItsDefault() throws {
        let text = #"{"Tag": [{"label": "x", "color": "red"}], "Slot": [{"owner": "a"}]}"#
        try expect(run(text), equals: "2 0 0")
        try expect(run(text, writes: false), equals: "0 0 2")
        try expect(run(text), equals: "0 0 2")
        try expect(run(#"{"Tag": [{"label": "x", "lang": "de"}, {"label": "x", "color": "blue"}]}"#), equals: "1 1 0")
        try expect(values("Tag", "label,lang,color"), equals: ["x,de,", "x,en,blue"])
        // Nil is no default.
        #expect(try run(#"{"Tag": [{"label": "x", "lang": null}]}"#).contains("Tag.lang"))
        try expectMistake(#"{"Tag": [{"label": "y"}, {"label": "y", "lang": "en"}]}"#, "The record in x.json, line 1 is the same object")
        // Nothing makes the values of another key unique: a default identifies nobody.
        try expect(run(#"{"Note": [{"text": "a"}, {"text": "b"}]}"#, key: "kind"), equals: "2 0 0")
        try expect(run(#"{"Note": [{"text": "c"}]}"#, key: "kind"), equals: "1 0 0")
        // An object that is known keeps the values that its record does not have.
        try expect(run(#"{"Tag": [{"$id": "Tag/p1", "color": "green"}, {"$id": "Tag/p2", "color": "red"}]}"#), equals: "0 2 0")
    }

    // MARK: Keys that are asked for

    @Test func aKeyThatNoRecordsEntityHasIsAnErrorWithTheAttributesThatThereAre() throws {
        let note = #"{"Note": [{"text": "a", "weight": 1}]}"#
        try expect(run(note), equals: "1 0 0")
        try expectMistake(
            note, "Nothing is imported: “txet” after --key is no attribute of these objects.", "Did you mean “text”?",
            "Note has: kind, text, weight.", key: "txet")
        // A relationship is none, nor is an attribute of another entity.
        try expectMistake(#"{"Person": [{"code": "P1"}]}"#, "“employer” after --key", "Person has: code, email, name.", key: "employer")
        try expectMistake(note, "“code” after --key", key: "code")
        // Where one of the entities has it, it is for that one, and for related objects.
        try expect(run(#"{"Note": [{"text": "b"}], "Tag": [{"label": "y"}]}"#, key: "label"), equals: "2 0 0")
        try expect(run(#"{"Company": [{"code": "C1", "name": "Can"}]}"#), equals: "1 0 0")
        try expect(run(#"{"Person": [{"email": "c@x", "employer": "Can"}]}"#, key: "name"), equals: "1 0 0")
        let failed = try CommandProcess(["import", pad.url.path + "/s.sqlite", pad.file("x.json").path, "--key", "nmae"])
        expect(failed.code, equals: 1)
        #expect(failed.errors.contains("Did you mean “name”?"), "\(failed.errors)")
    }

    // MARK: Texts that are canonically equal

    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    @Test(arguments: ["s.sqlite", "s.xml", "s.binary", "s.json"]) func canonicallyEqualTextsAreTwoValues(store: String) throws {
        let both = #"{"Person": [{"code": "\#(Self.composed)", "name": "1"}, {"code": "\#(Self.decomposed)", "name": "2"}]}"#
        try expect(run(both, store, writes: false), equals: "2 0 0")
        try expect(run(both, store), equals: "2 0 0")
        try expect(run(both, store), equals: "0 0 2")
        // One after another, too.
        try expect(run(#"{"Person": [{"code": "\#(Self.composed)!"}]}"#, store), equals: "1 0 0")
        try expect(run(#"{"Person": [{"code": "\#(Self.decomposed)!"}]}"#, store), equals: "1 0 0")
        // Another spelling is another value.
        try expect(run(#"{"Person": [{"code": "\#(Self.composed)", "name": "\#(Self.composed)"}]}"#, store), equals: "0 1 0")
        try expect(run(#"{"Person": [{"code": "\#(Self.composed)", "name": "\#(Self.decomposed)"}]}"#, store), equals: "0 1 0")
        let names = try values("Person", "name", store)
        #expect(names.contains { $0.utf8.elementsEqual(Self.decomposed.utf8) }, "\(names)")
        // What is exported is imported, and copied.
        let open = try StoreReference(pad.url.path + "/" + store, model: model).open()
        try expect(StoreExport(open).write(to: pad.file("all.json").path), equals: 4)
        let text = try String(contentsOf: pad.file("all.json"), encoding: .utf8)
        for copy in ["copy.sqlite", "copy.xml"] { try expect(run(text, copy), equals: "4 0 0") }
        let source = StoreReference(pad.url.path + "/" + store, model: model, decodesTransformables: true)
        for copy in ["second.sqlite", "second.binary", "second.csv", "second/"] {
            try expect(StoreCopying(source).copy(to: pad.url.path + "/" + copy), equals: 4)
        }
    }

    @Test func canonicallyEqualTextsAreTwoValuesInTablesOfOtherPrograms() throws {
        let url = pad.file("tables.sqlite")
        try Plain.execute("CREATE TABLE k (id INTEGER PRIMARY KEY, name TEXT UNIQUE)", url)
        func run(_ text: String, writes: Bool) throws -> String {
            try Data(text.utf8).write(to: pad.file("y.json"))
            let outcome = try StoreImport.run(pad.file("y.json").path, into: url.path, writes: writes)
            return "\(outcome.added) \(outcome.changed) \(outcome.unchanged)"
        }
        let both = #"{"K": [{"name": "\#(Self.composed)"}, {"name": "\#(Self.decomposed)"}]}"#
        try expect(run(both, writes: false), equals: "2 0 0")
        try expect(run(both, writes: true), equals: "2 0 0")
        try expect(run(both, writes: false), equals: "0 0 2")
        try expect(run(#"{"K": [{"name": "\#(Self.composed)!"}]}"#, writes: true), equals: "1 0 0")
        try expect(run(#"{"K": [{"name": "\#(Self.decomposed)!"}]}"#, writes: true), equals: "1 0 0")
        try expect(StoreExport(StoreReference(url.path).open()).write(to: pad.file("k.json").path), equals: 4)
        try expect(StoreImport.run(pad.file("k.json").path, into: url.path, writes: true), equals: .init(unchanged: 4))
        for copy in ["k.csv", "k/"] { try expect(StoreCopying(StoreReference(url.path)).copy(to: pad.url.path + "/" + copy), equals: 4) }
    }

    // MARK: Tables of other programs

    @Test func aTrialInTablesOfAnotherProgramKnowsTheURIsOfTheirObjects() throws {
        let url = pad.file("tables.sqlite")
        try Plain.execute(
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER REFERENCES author(id));
            CREATE TABLE log (msg TEXT, n INT);
            INSERT INTO author VALUES (1, 'Lem'), (2, 'Ala');
            INSERT INTO book VALUES (1, 'Solaris', 1), (2, 'x', 2);
            INSERT INTO log VALUES ('a', 1), ('b', 2);
            """, url)
        let before = try Data(contentsOf: url)
        for (entity, count) in [("Author", 2), ("Book", 2), ("Log", 2), ("", 6)] {
            let file = pad.file("\(entity)all.json").path
            let names = entity.isEmpty ? [] : [entity]
            try expect(StoreExport(StoreReference(url.path).open(), entities: names).write(to: file), equals: count)
            try expect(StoreImport.run(file, into: url.path, writes: false), equals: .init(unchanged: count))
            try expect(StoreImport.run(file, into: url.path, writes: true), equals: .init(unchanged: count))
        }
        try expect(Data(contentsOf: url), equals: before)
        // The errors of a trial name the store that was asked for.
        let id = try StoreReference(url.path).open().store.identifier ?? ""
        try Data(#"{"Book": [{"$id": "x-coredata://\#(id)/Book/p1", "title": "y", "author": "x-coredata://\#(id)/Author/p9"}]}"#.utf8)
            .write(to: pad.file("z.json"))
        let error = #expect(throws: NSError.self) { try StoreImport.run(pad.file("z.json").path, into: url.path, writes: false) }
        #expect(error?.localizedDescription.contains("“x-coredata://\(id)/Author/p9” is no object of the files") == true)
    }
}
