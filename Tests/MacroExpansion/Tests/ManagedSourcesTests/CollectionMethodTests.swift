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
        "Other methods are not Core Data's",
        arguments: [("play", ["_"]), ("addtracks", ["_"]), ("addToTracks", []), ("insertIntoTracks", ["_"]), ("address", ["_"])])
    func unknown(name: String, labels: [String]) {
        #expect(CollectionMethod(name: name, labels: labels.map { $0 == "_" ? nil : $0 }, objectiveCName: nil) == nil)
    }
}
#endif
