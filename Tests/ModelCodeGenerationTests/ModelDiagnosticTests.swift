import CoreData
import Foundation
import ModelCodeGeneration
import TestSupport
import Testing

/// What is wrong with a model is told once, in the place where it stands.
struct ModelDiagnosticTests {
    private func diagnostics(_ entities: String, isStrict: Bool = false) throws -> [ModelDiagnostic] {
        let folder = try ModelFolder()
        do {
            return try withExtendedLifetime(folder) {
                try ModelCompilation(folder.model(entities), module: "MusicApp", isStrict: isStrict).diagnostics
            }
        } catch let diagnostic as ModelDiagnostic { return [diagnostic] }
    }

    @Test("A malformed model is one error with file and line") func malformed() throws {
        let found = try diagnostics("<entity name=\"Song\">\n<attribute name=\"title\" attributeType=\"Sting\"/>\n</entity>")
        let error = try #require(found.first)
        #expect(found.count == 1 && error.isError && error.line == 4)
        #expect(error.file.hasSuffix("Music.xcdatamodeld/Music.xcdatamodel/contents"))
        #expect(error.description.contains("contents:4: error: <attribute> “title”: “Sting” is not a type of attributes"))
    }

    @Test("XML that ends too early is one error") func truncated() throws {
        let found = try diagnostics("<entity name=\"Song\">")
        #expect(found.count == 1 && found[0].isError && found[0].line != nil)
    }

    @Test("A model without a current version is one error") func noCurrentVersion() throws {
        let folder = try ModelFolder()
        let url = try folder.model("Music", versions: ["One": "", "Two": ""], current: nil)
        let error = #expect(throws: ModelDiagnostic.self) {
            try withExtendedLifetime(folder) { try ModelCompilation(url, module: "MusicApp") }
        }
        expect(error?.message.contains("Name a version: One, Two."), equals: true)
    }

    @Test(
        "A property that no coordinator accepts has an error at its declaration",
        arguments: [
            (#"<attribute name="p" attributeType="Undefined"/>"#, "has no type"),
            (
                #"<relationship name="p" maxCount="1" destinationEntity="Nothing"/>"#,
                "leads to no entity of the model. Add the entity “Nothing”"
            ),
            (#"<attribute name="hash" attributeType="String"/>"#, "the name is that of a member of every managed object"),
            (#"<attribute name="two words" attributeType="String"/>"#, "this cannot be the name of a property"),
        ])
    func errors(property: String, expected: String) throws {
        let found = try diagnostics(
            "<entity name=\"Other\"/>\n<entity name=\"Song\" representedClassName=\"Song\" codeGenerationType=\"class\">\n\(property)\n</entity>"
        )
        let errors = found.filter(\.isError)
        #expect(errors.count == 1 && errors[0].line == 5 && errors[0].message.contains(expected), "\(found)")
        #expect(found.filter { $0.line == 5 && !$0.isError && $0.message.contains("every managed object") }.isEmpty)
    }

    @Test(
        "A property that is probably not as meant has a warning at its declaration",
        arguments: [
            (#"<relationship name="p" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Song"/>"#, "It has no inverse"),
            (
                #"<relationship name="p" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Song" inverseName="p"/>"#,
                "Its delete rule is No Action"
            ), (#"<attribute name="p" attributeType="Integer 16" usesScalarValueType="YES"/>"#, "It is not optional and has no default"),
            (#"<attribute name="p" attributeType="Transformable" optional="YES"/>"#, "It names no value transformer"),
            (#"<attribute name="p" attributeType="String" derived="YES" optional="YES"/>"#, "It is derived and has no expression"),
        ])
    func warnings(property: String, expected: String) throws {
        let found = try diagnostics("<entity name=\"Song\">\n\(property)\n</entity>")
        expect(found.count, equals: 1, "\(found)")
        #expect(found[0].line == 4 && !found[0].isError && found[0].message.hasPrefix("Song.p: \(expected)"), "\(found)")
    }

    @Test(
        "What is none of its attribute's type is a warning at the property, and an error in a strict compilation",
        arguments: [
            (#"<attribute name="p" optional="YES" attributeType="Integer 32" defaultValueString="NO"/>"#, "Its default value, “NO”"),
            (#"<attribute name="p" optional="YES" attributeType="Double" minValueString="low"/>"#, "Its bound “low” (minValueString)"),
        ])
    func mistypedValues(property: String, expected: String) throws {
        for isStrict in [false, true] {
            let found = try diagnostics("<entity name=\"Song\">\n\(property)\n</entity>", isStrict: isStrict)
            expect(found.count, equals: 1, "\(found)")
            #expect(found[0].line == 4 && found[0].isError == isStrict && found[0].message.hasPrefix("Song.p: \(expected)"), "\(found)")
        }
    }

    @Test("A required relationship whose inverse nullifies it is a warning") func requiredAndNullified() throws {
        let found = try diagnostics(
            """
            <entity name="Album"><relationship name="band" maxCount="1" deletionRule="Nullify" destinationEntity="Band" inverseName="albums"/></entity>
            <entity name="Band"><relationship name="albums" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Album" inverseName="band"/></entity>
            """)
        expect(
            found.map(\.message),
            equals: found.map(\.message).filter { $0.hasPrefix("Album.band: It is not optional, and “Band.albums” nullifies it") })
        expect(found.count, equals: 1)
    }

    @Test("Two entities that generate one class, and a class that no class can be called, are errors") func classNames() throws {
        let twice = try diagnostics(
            """
            <entity name="A" representedClassName="Song" codeGenerationType="class"/>
            <entity name="B" representedClassName="Song" codeGenerationType="class"/>
            """)
        #expect(twice.count == 1 && twice[0].isError && twice[0].message.contains("generated for “A” already"))
        let unnamed = try diagnostics(#"<entity name="A" representedClassName="My Song" codeGenerationType="class"/>"#)
        #expect(unnamed.count == 1 && unnamed[0].isError && unnamed[0].message.contains("“My Song” cannot be the name of a class"))
    }
}
