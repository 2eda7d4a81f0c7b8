import CoreData
import Foundation
import ModelCodeGeneration
import TestSupport
import Testing

/// What is generated is what Xcode generates, with accessors in place of `@NSManaged`.
struct GeneratedCodeTests {
    private func compile(_ entities: String) throws -> ModelCompilation {
        let folder = try ModelFolder()
        return try withExtendedLifetime(folder) { try ModelCompilation(folder.model(entities), module: "MusicApp") }
    }

    /// The declared type of a property of an entity with the one attribute.
    private func type(of attribute: String) throws -> String {
        let compilation = try compile(
            #"<entity name="Song" representedClassName="Song" codeGenerationType="class"><attribute name="value" \#(attribute)/></entity>"#)
        let line = try #require(
            try compilation.source("Song+CoreDataProperties.swift").split(separator: "\n").first { $0.contains("var value:") })
        return String(line.drop { $0 != ":" }.dropFirst(2).dropLast(2))
    }

    @Test(
        "An attribute has the type that Xcode gives it",
        arguments: [
            (#"attributeType="Integer 16" usesScalarValueType="YES""#, "Int16"),
            (#"attributeType="Integer 16" usesScalarValueType="NO""#, "NSNumber?"),
            (#"attributeType="Integer 32" usesScalarValueType="YES""#, "Int32"),
            (#"attributeType="Integer 64" usesScalarValueType="YES""#, "Int64"),
            (#"attributeType="Double" usesScalarValueType="YES""#, "Double"), (#"attributeType="Float" optional="YES""#, "NSNumber?"),
            (#"attributeType="Float" usesScalarValueType="YES" optional="YES""#, "Float"),
            (#"attributeType="Boolean" usesScalarValueType="YES""#, "Bool"),
            (#"attributeType="String""#, "String?"), (#"attributeType="String" optional="YES""#, "String?"),
            (#"attributeType="Binary""#, "Data?"),
            (#"attributeType="Date" usesScalarValueType="NO""#, "Date?"),
            (#"attributeType="Date" usesScalarValueType="YES""#, "TimeInterval"),
            (#"attributeType="UUID" usesScalarValueType="NO""#, "UUID?"), (#"attributeType="URI""#, "URL?"),
            (#"attributeType="Decimal""#, "NSDecimalNumber?"),
            (#"attributeType="Transformable" valueTransformerName="T""#, "NSObject?"),
            (#"attributeType="Transformable" valueTransformerName="T" customClassName="NSAttributedString""#, "NSAttributedString?"),
            (#"attributeType="Transformable" valueTransformerName="T" customClassName="[String]""#, "[String]?"),
            (#"attributeType="String" derived="YES" derivationExpression="now()""#, "String?"),
            (#"attributeType="Undefined" transient="YES""#, "NSObject?"),
        ])
    func attributeTypes(attribute: String, expected: String) throws {
        try expect(type(of: attribute), equals: expected)
    }

    @Test("A composite is a dictionary") func composites() throws {
        let compilation = try compile(
            """
            <entity name="Song" representedClassName="Song" codeGenerationType="class"><attribute name="place" attributeType="Composite" composite="Place"/></entity>
            <composite name="Place"><attribute name="city" optional="YES" attributeType="String"/></composite>
            """)
        #expect(try compilation.source("Song+CoreDataProperties.swift").contains("public var place: [String: Any]? {"))
    }

    private static let library = """
        <entity name="Work" representedClassName="MusicWork" isAbstract="YES" codeGenerationType="class">
            <attribute name="title" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Album" representedClassName=".Album" parentEntity="Work" codeGenerationType="category">
            <relationship name="tracks" optional="YES" toMany="YES" ordered="YES" deletionRule="Cascade" destinationEntity="Track" inverseName="album"/>
        </entity>
        <entity name="Track" representedClassName="MusicApp.Track" parentEntity="Work" codeGenerationType="class">
            <attribute name="default" optional="YES" attributeType="String"/>
            <relationship name="album" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="tracks"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="tracks"/>
        </entity>
        <entity name="Tag" representedClassName="Tag">
            <relationship name="tracks" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Track" inverseName="tags"/>
            <fetchedProperty name="hits" optional="YES"><fetchRequest name="f" entity="Track" predicateString="title == 'x'"/></fetchedProperty>
        </entity>
        <entity name="Plain" syncable="YES" codeGenerationType="class"/>
        """

    @Test("The setting of an entity decides between class, extension and nothing") func kinds() throws {
        let compilation = try compile(Self.library)
        expect(
            Set(compilation.sources.map(\.name)),
            equals: [
                "MusicWork+CoreDataClass.swift", "MusicWork+CoreDataProperties.swift", "Album+CoreDataProperties.swift",
                "Track+CoreDataClass.swift", "Track+CoreDataProperties.swift",
            ])
        #expect(compilation.diagnostics.filter(\.isError).isEmpty)
    }

    @Test("A class inherits from the class of the parent entity") func superclasses() throws {
        let compilation = try compile(Self.library)
        #expect(try compilation.source("MusicWork+CoreDataClass.swift").contains("public class MusicWork: NSManagedObject {"))
        #expect(try compilation.source("Track+CoreDataClass.swift").contains("public class Track: MusicWork {"))
    }

    @Test("An extension has the properties that the entity itself declares, and a fetch request") func extensions() throws {
        let album = try compile(Self.library).source("Album+CoreDataProperties.swift")
        #expect(album.contains("@nonobjc public class func fetchRequest() -> NSFetchRequest<Album> {"))
        #expect(album.contains(#"return NSFetchRequest<Album>(entityName: "Album")"#))
        #expect(album.contains("public var tracks: NSOrderedSet? {"))
        #expect(!album.contains("title"))
        let track = try compile(Self.library).source("Track+CoreDataProperties.swift")
        #expect(track.contains("public var album: Album? {"))
        #expect(track.contains("public var tags: NSSet? {"))
        #expect(track.contains("public var `default`: String? {"))
    }

    @Test("An ordered relationship has the ten methods of Xcode, another one four") func members() throws {
        let album = try compile(Self.library).source("Album+CoreDataProperties.swift")
        for head in [
            "insertIntoTracks(_ value: Track, at idx: Int)", "removeFromTracks(at idx: Int)",
            "insertIntoTracks(_ values: [Track], at indexes: NSIndexSet)", "removeFromTracks(at indexes: NSIndexSet)",
            "replaceTracks(at idx: Int, with value: Track)", "replaceTracks(at indexes: NSIndexSet, with values: [Track])",
            "addToTracks(_ value: Track)", "removeFromTracks(_ value: Track)", "addToTracks(_ values: NSOrderedSet)",
            "removeFromTracks(_ values: NSOrderedSet)",
        ] {
            #expect(album.contains("public func \(head) {"), "\(head)")
        }
        let track = try compile(Self.library).source("Track+CoreDataProperties.swift")
        expect(track.matches(of: /public func/).count, equals: 4)
        #expect(track.contains("public func addToTags(_ values: NSSet) {"))
    }

    @Test("The class at the top of an inheritance is identifiable, those below inherit it") func identifiable() throws {
        let compilation = try compile(Self.library)
        #expect(try compilation.source("MusicWork+CoreDataProperties.swift").contains("extension MusicWork: Identifiable {"))
        #expect(try !compilation.source("Track+CoreDataProperties.swift").contains("Identifiable"))
    }

    @Test("The same model gives the same code") func deterministic() throws {
        try expect(compile(Self.library).sources, equals: compile(Self.library).sources)
    }
}
