#if ManagedAccessors
import Testing

@testable import ManagedSources

struct CollectionMethodTests {
    @Test(
        "The name of a method tells what it does",
        arguments: [
            ("addToTracks", ["_"], nil, CollectionMethod.add(key: "tracks")), ("removeFromTracks", ["_"], nil, .remove(key: "tracks")),
            ("insertIntoTracks", ["_", "at"], nil, .insert(key: "tracks")), ("removeFromTracks", ["at"], nil, .removeAt(key: "tracks")),
            ("replaceTracks", ["at", "with"], nil, .replace(key: "tracks")), ("addTracksObject", ["_"], nil, .add(key: "tracks")),
            ("removeTracks", ["_"], nil, .remove(key: "tracks")), ("primitiveTitle", [], nil, .primitiveValue(key: "title")),
            ("setPrimitiveTitle", ["_"], nil, .setPrimitiveValue(key: "title")),
            ("put", ["_"], "addTracksObject:", .add(key: "tracks")), ("put", ["_"], "removeTracks:", .remove(key: "tracks")),
            ("put", ["_", "at"], "insertObject:inTracksAtIndex:", .insert(key: "tracks")),
            ("put", ["_", "at"], "insertTracks:atIndexes:", .insert(key: "tracks")),
            ("put", ["at"], "removeObjectFromTracksAtIndex:", .removeAt(key: "tracks")),
            ("put", ["at"], "removeTracksAtIndexes:", .removeAt(key: "tracks")),
            ("put", ["at", "with"], "replaceObjectInTracksAtIndex:withObject:", .replace(key: "tracks")),
            ("put", ["at", "with"], "replaceTracksAtIndexes:withTracks:", .replace(key: "tracks")),
        ] as [(String, [String], String?, CollectionMethod)])
    func known(name: String, labels: [String], objectiveCName: String?, method: CollectionMethod) {
        #expect(CollectionMethod(name: name, labels: labels.map { $0 == "_" ? nil : $0 }, objectiveCName: objectiveCName) == method)
    }

    @Test(
        "A method does what its name tells",
        arguments: [
            ("addToTracks(_ value: Track)", "addObjects(ManagedAccess.members(value), toRelationship: \"tracks\")"),
            ("removeFromTracks(_ values: NSSet)", "removeObjects(ManagedAccess.members(values), fromRelationship: \"tracks\")"),
            (
                "insertIntoTracks(_ value: Track, at index: Int)",
                "insertObjects(ManagedAccess.members(value), at: ManagedAccess.indexes(index), intoRelationship: \"tracks\")"
            ),
            ("removeFromTracks(at index: Int)", "removeObjects(at: ManagedAccess.indexes(index), fromRelationship: \"tracks\")"),
            (
                "replaceTracks(at index: Int, with value: Track)",
                "replaceObjects(at: ManagedAccess.indexes(index), with: ManagedAccess.members(value), inRelationship: \"tracks\")"
            ),
            ("setPrimitiveTitle(_ value: String?)", "setPrimitiveValue(value, forKey: \"title\")"),
            ("primitiveTitle() -> String?", "ManagedAccess.primitive(\"primitiveTitle\", of: \"title\", as: String?.self)"),
        ])
    func code(declaration: String, call: String) {
        let translated = TranslationTests.translate("class Album: NSManagedObject { @NSManaged func \(declaration) }")
        #expect(translated.problems.isEmpty)
        #expect(translated.source.replacing("`", with: "").contains(call), "\(translated.source)")
    }

    @Test(
        "Other methods are not Core Data's",
        arguments: [("play", ["_"]), ("addtracks", ["_"]), ("addToTracks", []), ("insertIntoTracks", ["_"]), ("address", ["_"])])
    func unknown(name: String, labels: [String]) {
        #expect(CollectionMethod(name: name, labels: labels.map { $0 == "_" ? nil : $0 }, objectiveCName: nil) == nil)
    }
}
#endif
