import CoreData
import Foundation
import TestSupport
import Testing

/// Paths behind an element of an ordered relationship, which SQL has no words for.
@Suite("Paths behind elements") struct ElementPathTests {
    private func model() -> NSManagedObjectModel {
        let (album, track) = (NSEntityDescription(), NSEntityDescription())
        (album.name, track.name) = ("Album", "Track")
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        tracks.isOrdered = true
        let albumOfTrack = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: albumOfTrack)
        album.properties = [NSAttributeDescription(name: "title", type: .string), tracks]
        track.properties = [NSAttributeDescription(name: "title", type: .string), albumOfTrack]
        return NSManagedObjectModel(entities: [album, track])
    }

    private func context(_ type: String, _ url: URL?) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for (title, names) in [("first", ["a", "b", "c"]), ("second", ["b", "a"]), ("empty", [])] {
                let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
                album.setValue(title, forKey: "title")
                let tracks = names.map { name in
                    let track = NSEntityDescription.insertNewObject(forEntityName: "Track", into: context)
                    track.setValue(name, forKey: "title")
                    return track
                }
                album.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            }
            try context.save()
        }
        return context
    }

    @Test(
        "They are evaluated in memory, where the request allows it",
        arguments: [
            ("tracks[0].title == 'a'", ["first"]), ("tracks[FIRST].title == 'b'", ["second"]), ("tracks[LAST].title == 'a'", ["second"]),
            ("tracks[2].title == 'c'", ["first"]), ("tracks[2].title == nil", ["empty", "second"]), ("tracks[-1].title != nil", []),
            ("tracks[0].album.title == 'second'", ["second"]), ("tracks[0].album == SELF", ["first", "second"]),
            ("ANY tracks[0].album.tracks.title == 'c'", ["first"]), ("tracks[1].album.tracks.@count == 2", ["second"]),
            ("tracks[SIZE] == 2 AND tracks[1].title == 'a'", ["second"]),
        ]) func paths(format: String, expected: [String]) throws
    {
        let scratch = try ScratchFolder("elements")
        defer { scratch.remove() }
        let folder = scratch.url
        for (type, url) in [(NSSQLiteStoreType, folder.appendingPathComponent("a.sqlite")), (NSInMemoryStoreType, nil)] {
            let context = try context(type, url)
            let found = try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Album")
                request.predicate = NSPredicate(format: format)
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                request.allowsEvaluationInMemory = true
                return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
            }
            expect(found, equals: expected, "\(type)")
        }
    }
}
