import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import CoreDataMacroPlugin

/// The source that the macros write.
struct ExpansionTests {
    private func expect(
        _ source: String, expandsTo expanded: String, diagnostics: [DiagnosticSpec] = [],
        location: Testing.SourceLocation = #_sourceLocation
    ) {
        assertMacroExpansion(
            source, expandedSource: expanded, diagnostics: diagnostics,
            macroSpecs: [
                "ManagedObject": MacroSpec(type: ManagedObjectMacro.self, conformances: ["Identifiable"]),
                "Attribute": MacroSpec(type: AttributeMacro.self), "Transient": MacroSpec(type: AttributeMacro.self),
                "Relationship": MacroSpec(type: RelationshipMacro.self), "FetchedProperty": MacroSpec(type: FetchedPropertyMacro.self),
                "Ignored": MacroSpec(type: MarkMacro.self), "Element": MacroSpec(type: MarkMacro.self),
                "Composite": MacroSpec(type: CompositeMacro.self, conformances: ["CompositeValue"]),
            ]
        ) { Issue.record("\($0.message)", sourceLocation: location) }
    }

    @Test func plainPropertiesBecomeAttributes() {
        expect(
            """
            @ManagedObject final class Album: NSManagedObject {
                var title: String = ""
                var released: Date?
            }
            """,
            expandsTo: """
                final class Album: NSManagedObject {
                    var title: String {
                        get {
                            self[ManagedProperty<String>("title")]
                        }
                        set {
                            self[ManagedProperty<String>("title")] = newValue
                        }
                    }
                    var released: Date? {
                        get {
                            self[ManagedProperty<(Date)?>("released")]
                        }
                        set {
                            self[ManagedProperty<(Date)?>("released")] = newValue
                        }
                    }

                    override class var entityDeclaration: EntityDeclaration? {
                        EntityDeclaration(
                            Album.self, name: "Album",
                            properties: [
                                .property("title", (String).self, isOptional: false, default: ""),
                                .property("released", (Date).self, isOptional: true),
                            ])
                    }

                    class func fetchRequest() -> NSFetchRequest<Album> {
                        NSFetchRequest<Album>(entityName: "Album")
                    }
                }

                extension Album: Identifiable {
                }
                """)
    }

    @Test func whatTheAttributesSayIsPassedOn() {
        expect(
            """
            @ManagedObject("Record", .unique("code"), originalName: "LP") public class Album: Work {
                @Attribute(.unique, .length(1 ... 9), originalName: "id") var code: String? = "x"
                @Transient var isPlaying: Bool = false
                @Attribute(.codable, name: "places") var stores: [Place] = []
                @Attribute(.transformable(by: "MoodTransformer")) var mood: Mood?
                @FetchedProperty("a == $FETCH_SOURCE.a", configure: { $0.fetchLimit = 5 }) var similar: [Album]
                @Ignored var cache = 1
            }
            """,
            expandsTo: """
                public class Album: Work {
                    var code: String? {
                        get {
                            self[ManagedProperty<(String)?>("code")]
                        }
                        set {
                            self[ManagedProperty<(String)?>("code")] = newValue
                        }
                    }
                    var isPlaying: Bool {
                        get {
                            self[ManagedProperty<Bool>("isPlaying")]
                        }
                        set {
                            self[ManagedProperty<Bool>("isPlaying")] = newValue
                        }
                    }
                    var stores: [Place] {
                        get {
                            codableValue("places", as: ([Place]).self) ?? []
                        }
                        set {
                            setCodableValue(newValue, "places")
                        }
                    }
                    var mood: Mood? {
                        get {
                            objectValue("mood", as: (Mood).self)
                        }
                        set {
                            setValue(newValue, forKey: "mood")
                        }
                    }
                    var similar: [Album] {
                        get {
                            fetchedObjects("similar")
                        }
                    }
                    var cache = 1

                    public override class var entityDeclaration: EntityDeclaration? {
                        EntityDeclaration(
                            Album.self, name: "Record", options: [.unique("code")], originalName: "LP",
                            properties: [
                                .property("code", (String).self, isOptional: true, default: "x", options: [.unique, .length(1 ... 9)], originalName: "id"),
                                .property("isPlaying", (Bool).self, isOptional: false, default: false, options: [.transient]),
                                .codable("places", ([Place]).self, isOptional: false, default: [], options: [.codable]).called("stores"),
                                .object("mood", (Mood).self, isOptional: true, options: [.transformable(by: "MoodTransformer"), .valueClass("Mood")]),
                                .fetched("similar", Album.self, "a == $FETCH_SOURCE.a", configure: {
                                        $0.fetchLimit = 5
                                    }),
                            ])
                    }

                    public class func fetchRequest() -> NSFetchRequest<Album> {
                        NSFetchRequest<Album>(entityName: "Record")
                    }
                }

                extension Album: Identifiable {
                }
                """)
    }

    @Test func toManyRelationshipsGetTheMethodsThatXcodeGenerates() {
        expect(
            """
            @ManagedObject final class Album: NSManagedObject {
                @Relationship(deleteRule: .cascade, inverse: \\Track.album) var tracks: Set<Track>
            }
            """,
            expandsTo: """
                final class Album: NSManagedObject {
                    var tracks: Set<Track> {
                        get {
                            self[ManagedProperty<Set<Track>>("tracks")]
                        }
                        set {
                            self[ManagedProperty<Set<Track>>("tracks")] = newValue
                        }
                    }

                    override class var entityDeclaration: EntityDeclaration? {
                        EntityDeclaration(
                            Album.self, name: "Album",
                            properties: [
                                .relationship("tracks", Set<Track>.self, isOptional: false, deleteRule: .cascade, inverse: .to(\\Track.album, "album")),
                            ])
                    }

                    class func fetchRequest() -> NSFetchRequest<Album> {
                        NSFetchRequest<Album>(entityName: "Album")
                    }

                    func addToTracks(_ value: Track) {
                        addObjects([value], toRelationship: "tracks")
                    }

                    func addToTracks(_ values: Set<Track>) {
                        addObjects(values, toRelationship: "tracks")
                    }

                    func removeFromTracks(_ value: Track) {
                        removeObjects([value], fromRelationship: "tracks")
                    }

                    func removeFromTracks(_ values: Set<Track>) {
                        removeObjects(values, fromRelationship: "tracks")
                    }
                }

                extension Album: Identifiable {
                }
                """)
    }

    @Test func anAttributeOutsideAManagedObjectIsAnError() {
        expect(
            "struct Album {\n    @Attribute var title: String\n}", expandsTo: "struct Album {\n    var title: String\n}",
            diagnostics: [
                DiagnosticSpec(
                    message: "@Attribute belongs on a property of a class that is marked @ManagedObject.", line: 2, column: 5)
            ])
    }

    @Test func aCompositeOfAClassIsAnError() {
        expect(
            "@Composite class Place {}", expandsTo: "class Place {}",
            diagnostics: [
                DiagnosticSpec(message: "@Composite makes a composite attribute of a structure; this is none.", line: 1, column: 1)
            ])
    }
}
