import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// What `diff` says of stores that are no copies of each other.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct DifferenceTests {
    private let pad: Pad

    init() throws { pad = try Pad() }

    /// Makes a model of companies with inherited unique codes and of persons who work for them.
    private func model(
        _ name: String, company further: [NSPropertyDescription] = [], entities: [NSEntityDescription] = [], partyIsAbstract: Bool = true
    ) throws -> String {
        let party = NSEntityDescription(name: "Party", properties: [NSAttributeDescription(name: "code", type: .string)])
        party.isAbstract = partyIsAbstract
        party.uniquenessConstraints = [["code"]]
        let company = NSEntityDescription(name: "Company", properties: further)
        let person = NSEntityDescription(name: "Person", properties: [NSAttributeDescription(name: "name", type: .string)])
        let employer = NSRelationshipDescription(name: "employer", destination: company)
        let staff = NSRelationshipDescription(name: "staff", destination: person, toMany: true)
        employer.inverse(to: staff)
        person.properties.append(employer)
        company.properties.append(staff)
        party.subentities = [company, person]
        let path = pad.file(name + ".xcdatamodel").path
        try ModelConversion.write(NSManagedObjectModel(entities: [party, company, person] + entities), to: path)
        return path
    }

    /// Makes a store of records in JSON.
    private func store(_ name: String, _ model: String, _ text: String) throws -> StoreReference {
        let file = pad.file(name + ".json")
        try Data(text.utf8).write(to: file)
        let place = pad.file(name).path
        _ = try StoreImport.run(file.path, into: place, model: model, writes: true)
        return StoreReference(place, model: model)
    }

    private func difference(
        _ first: StoreReference, _ second: StoreReference, key: String? = nil, entity: String? = nil, format: OutputFormat = .table
    ) throws -> (text: String, isDifferent: Bool) {
        let output = CollectedOutput()
        let stores = try [first, second].map { try $0.open() }
        let isDifferent = try StoreDifference(stores[0], stores[1], key: key).write(format, entity: entity, to: output)
        return (output.text, isDifferent)
    }

    @Test func objectsAreTheSameByUniqueValuesThatTheirEntityInherits() throws {
        let model = try model("M")
        let first = try store("a.sqlite", model, #"{"Company": [{"code": "C1"}], "Person": [{"code": "P1", "employer": "C1"}]}"#)
        // Other keys.
        let second = try store(
            "b.sqlite", model,
            #"{"Company": [{"$id": "Company/p5", "code": "C1"}], "Person": [{"$id": "Person/p9", "code": "P1", "employer": "C1"}]}"#)
        try expect(difference(first, second).text, equals: "The stores are equal.\n")
        try expect(StoreCopying(first).copy(to: pad.file("c.xml").path), equals: 2)
        let copy = StoreReference(pad.file("c.xml").path, model: model)
        try expect(difference(first, copy).text, equals: "The stores are equal.\n")
        try expect(difference(copy, second, key: "code").text, equals: "The stores are equal.\n")
    }

    @Test func objectsWithTheSameKeyOrNoneAreAllCompared() throws {
        let model = try model("M")
        let text = #"{"Person": [{"code": null, "name": "a"}, {"code": null, "name": "b"}, {"code": "P1", "name": "c"}]}"#
        let (first, second) = (try store("a.sqlite", model, text), try store("b.sqlite", model, text))
        try expect(difference(first, second).text, equals: "The stores are equal.\n")
        let third = try store(
            "c.sqlite", model, #"{"Person": [{"code": null, "name": "a"}, {"code": null, "name": "x"}, {"code": "P1", "name": "c"}]}"#)
        let (found, isDifferent) = try difference(first, third)
        #expect(isDifferent && found.contains("    name: \"b\" → \"x\"\n") && found.hasSuffix("1 changed.\n"), "\(found)")
        // Two with one value of the key that was asked for.
        let twice = #"{"Person": [{"name": "a", "code": "1"}, {"name": "a", "code": "2"}]}"#
        let (fourth, fifth) = (try store("d.sqlite", model, twice), try store("e.sqlite", model, twice))
        try expect(difference(fourth, fifth, key: "name").text, equals: "The stores are equal.\n")
        try expect(difference(fifth, first, key: "name").text.hasSuffix("2 added, 1 removed, 1 changed.\n"), equals: true)
    }

    @Test func textsThatAreCanonicallyEqualAreTwoValues() throws {
        let model = try model("M")
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let first = try store("a.sqlite", model, #"{"Person": [{"code": "1", "name": "\#(composed)"}, {"code": "\#(composed)"}]}"#)
        let second = try store("b.sqlite", model, #"{"Person": [{"code": "1", "name": "\#(decomposed)"}, {"code": "\#(decomposed)"}]}"#)
        try expect(difference(first, second).text.hasSuffix("1 added, 1 removed, 1 changed.\n"), equals: true)
    }

    @Test func whatOnlyOneModelHasIsNamedAndNoStoresAreEqualWhereItHasValues() throws {
        let sector = NSEntityDescription(name: "Sector", properties: [NSAttributeDescription(name: "title", type: .string)])
        let partner = NSRelationshipDescription(name: "partners", destination: sector, toMany: true)
        let old = try model("Old", company: [NSAttributeDescription(name: "vat", type: .string)])
        let further = [NSAttributeDescription(name: "taxID", type: .string), NSAttributeDescription(name: "size", type: .integer64)]
        let new = try model("New", company: further + [partner], entities: [sector])
        let first = try store("a.sqlite", old, #"{"Company": [{"code": "C1", "vat": "123"}, {"code": "C2", "vat": null}]}"#)
        let second = try store(
            "b.sqlite", new,
            #"{"Company": [{"code": "C1", "taxID": "1", "partners": ["Sector/p1"]}, {"code": "C2", "taxID": "2"}],"#
                + #" "Sector": [{"$id": "Sector/p1"}]}"#)
        let (text, isDifferent) = try difference(first, second)
        expect(
            text,
            equals: """
                Only the second store has the entity Sector.
                Only the first store has the attribute Company.vat, with values in 1 object.
                Only the second store has the relationship Company.partners, with values in 1 object.
                Only the second store has the attribute Company.size, without values.
                Only the second store has the attribute Company.taxID, with values in 2 objects.
                What both stores have is equal.

                """)
        #expect(isDifferent)
        let command = try CommandProcess(["diff", first.place, second.place])
        expect(command.output, equals: text)
        expect(command.code, equals: 1)
        let json = try CommandProcess(["diff", first.place, second.place, "--format", "json"])
        expect(json.code, equals: 1)
        try expect(SchemaCheck().mistakes(json.output, "diff"), equals: [])
        #expect(json.output.contains(#"{"entity":"Company","property":"taxID","count":2}"#), "\(json.output)")
        // The other way, and with one entity only.
        let back = try difference(second, first, entity: "Company")
        #expect(back.isDifferent && back.text.contains("Only the second store has the attribute Company.vat, with values in 1 object.\n"))
    }

    @Test func propertiesThatHaveNoValuesAreNamedAndMakeNoDifference() throws {
        let old = try model("Old")
        let new = try model("New", company: [NSAttributeDescription(name: "taxID", type: .string)])
        let text = #"{"Company": [{"code": "C1"}]}"#
        let (first, second) = (try store("a.sqlite", old, text), try store("b.sqlite", new, text))
        let found = try difference(first, second)
        expect(
            found.text,
            equals: "Only the second store has the attribute Company.taxID, without values.\nThe stores are equal.\n")
        #expect(!found.isDifferent)
    }

    @Test func objectsOfAnEntityThatIsAbstractInTheOtherModelAreDifferences() throws {
        let (abstract, plain) = (try model("Abstract"), try model("Plain", partyIsAbstract: false))
        let first = try store("a.sqlite", abstract, #"{"Company": [{"code": "C1"}]}"#)
        let second = try store("b.sqlite", plain, #"{"Company": [{"code": "C1"}], "Party": [{"code": "X"}]}"#)
        try expect(difference(first, second).text.hasSuffix("1 added.\n"), equals: true)
        try expect(difference(second, first).text.hasSuffix("1 removed.\n"), equals: true)
    }

    @Test func aKeyThatNoComparedEntityHasIsAnErrorWithTheAttributesThatThereAre() throws {
        let note = NSEntityDescription(name: "Note", properties: [NSAttributeDescription(name: "text", type: .string)])
        let model = try model("M", entities: [note])
        let store = try store("a.sqlite", model, #"{"Person": [{"code": "1"}], "Note": [{"text": "a"}]}"#)
        func failure(_ key: String, _ entity: String? = nil) -> String {
            do { return try difference(store, store, key: key, entity: entity).text } catch {
                return (error as NSError).localizedDescription
            }
        }
        let wrong = failure("txet")
        #expect(wrong.hasPrefix("The stores are not compared: “txet” after --key is no attribute of these objects."), "\(wrong)")
        #expect(wrong.contains("Did you mean “text”?") && wrong.contains("Note has: text."), "\(wrong)")
        #expect(failure("staff").contains("“staff” after --key is no attribute"))
        #expect(failure("text", "Person").contains("Person has: code, name."))
        expect(failure("text"), equals: "The stores are equal.\n")
        // Related objects are named by it.
        expect(failure("code", "Person"), equals: "The stores are equal.\n")
        for format in ["table", "json"] {
            let failed = try CommandProcess(["diff", store.place, store.place, "--key", "txet", "--format", format])
            expect(failed.code, equals: 1)
            #expect(failed.errors.contains("Did you mean “text”?") && failed.output.isEmpty, "\(failed.errors)\(failed.output)")
        }
    }
}
