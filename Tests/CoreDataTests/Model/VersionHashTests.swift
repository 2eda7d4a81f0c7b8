import CoreData
import Platform
import TestSupport
import Testing

@testable import ObjectGraph

@Suite("Version hashes") struct VersionHashTests {
    /// What an edit changes, and what takes it back.
    struct Edit: CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (NSManagedObjectModel) -> Void
        let takeBack: @Sendable (NSManagedObjectModel) -> Void

        init(
            _ name: String, _ make: @escaping @Sendable (NSManagedObjectModel) -> Void,
            back: @escaping @Sendable (NSManagedObjectModel) -> Void
        ) { (testDescription, self.make, takeBack) = (name, make, back) }
    }

    /// `Song`, which inherits from `Item`, with an attribute, a composite and a relationship to `Band`.
    private static func model() -> NSManagedObjectModel {
        let item = NSEntityDescription(name: "Item", properties: [NSAttributeDescription(name: "key", type: .uuid)])
        let band = NSEntityDescription(name: "Band", properties: [NSAttributeDescription(name: "name", type: .string)])
        let song = NSEntityDescription(name: "Song")
        let length = NSCompositeAttributeDescription()
        length.name = "length"
        length.elements = [NSAttributeDescription(name: "seconds", type: .integer32)]
        let of = NSRelationshipDescription(name: "band", destination: band)
        let songs = NSRelationshipDescription(name: "songs", destination: song, toMany: true)
        of.inverse(to: songs)
        band.properties += [songs]
        item.subentities = [song]
        song.properties = [NSAttributeDescription(name: "title", type: .string), length, of]
        return NSManagedObjectModel(entities: [band, item, song])
    }

    private static func entity(_ name: String, _ model: NSManagedObjectModel) -> NSEntityDescription {
        model.entities.first { $0.name == name }!
    }
    private static func property(_ name: String, _ model: NSManagedObjectModel) -> NSPropertyDescription {
        model.entities.lazy.flatMap(\.declaredProperties).first { $0.name == name }!
    }

    /// Edits after which the hash of `Song` is another.
    static let edits = [
        Edit("optional", { property("title", $0).isOptional = false }, back: { property("title", $0).isOptional = true }),
        Edit("transient", { property("title", $0).isTransient = true }, back: { property("title", $0).isTransient = false }),
        Edit("name of an attribute", { property("title", $0).name = "text" }, back: { property("text", $0).name = "title" }),
        Edit("modifier", { property("title", $0).versionHashModifier = "2" }, back: { property("title", $0).versionHashModifier = nil }),
        Edit(
            "type", { (property("title", $0) as? NSAttributeDescription)?.attributeType = .binaryDataAttributeType },
            back: { (property("title", $0) as? NSAttributeDescription)?.attributeType = .stringAttributeType }),
        Edit(
            "element of a composite",
            { (property("length", $0) as? NSCompositeAttributeDescription)?.elements[0].attributeType = .doubleAttributeType },
            back: { (property("length", $0) as? NSCompositeAttributeDescription)?.elements[0].attributeType = .integer32AttributeType }),
        Edit(
            "count", { (property("band", $0) as? NSRelationshipDescription)?.minCount = 1 },
            back: { (property("band", $0) as? NSRelationshipDescription)?.minCount = 0 }),
        Edit("name of the inverse", { property("songs", $0).name = "pieces" }, back: { property("pieces", $0).name = "songs" }),
        Edit("name of the destination", { entity("Band", $0).name = "Group" }, back: { entity("Group", $0).name = "Band" }),
        Edit("superentity", { property("key", $0).isOptional = false }, back: { property("key", $0).isOptional = true }),
        Edit("name of the superentity", { entity("Item", $0).name = "Thing" }, back: { entity("Thing", $0).name = "Item" }),
        Edit("abstract", { entity("Song", $0).isAbstract = true }, back: { entity("Song", $0).isAbstract = false }),
        Edit(
            "another property", { entity("Song", $0).properties += [NSAttributeDescription(name: "new", type: .string)] },
            back: { entity("Song", $0).properties.removeLast() }),
    ]

    @Test("are other ones after an edit of what stores keep, and the old ones when it is taken back", arguments: edits)
    func edit(_ edit: Edit) {
        let model = Self.model()
        let song = Self.entity("Song", model)
        let hash = song.versionHash
        expect(song.versionHash, equals: hash)
        edit.make(model)
        #expect(song.versionHash != hash)
        edit.takeBack(model)
        expect(song.versionHash, equals: hash)
        let other = Self.model()
        expect(withExtendedLifetime(other) { Self.entity("Song", other).versionHash }, equals: hash)
    }

    @Test("that Apple's tools have computed hold as long as the entity is as it was", arguments: edits)
    func adopted(_ edit: Edit) throws {
        let model = Self.model()
        let hash = Data(repeating: 7, count: 32)
        for entity in model.entities { entity.adopt(versionHash: hash) }
        let song = Self.entity("Song", model)
        song.userInfo = ["note": "of no store's concern"]
        song.managedObjectClassName = "Music.Song"
        expect(song.versionHash, equals: hash)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        expect(Self.entity("Song", copy).versionHash, equals: hash)
        edit.make(model)
        #expect(song.versionHash != hash)
        expect(song.versionHash, equals: song.ownVersionHash)
        edit.make(copy)
        #expect(Self.entity("Song", copy).versionHash != hash)
        edit.takeBack(copy)
        expect(Self.entity("Song", copy).versionHash, equals: hash)
    }

    @Test("are computed once for an entity that nobody edits") func once() {
        let model = Self.model()
        let song = Self.entity("Song", model)
        _ = song.versionHash
        let state = HashState(of: song)
        song.madeHash.withLock { $0 = (state, Data([1])) }
        expect(withExtendedLifetime(model) { song.versionHash }, equals: Data([1]))
    }
}
