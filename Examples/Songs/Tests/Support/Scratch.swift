import CoreData
import Songs
import TestSupport

/// A temporary directory that lives as long as the instance.
final class Scratch {
    private let scratch: ScratchFolder
    var directory: URL { scratch.url }
    /// The file of songs.
    var csv: URL { directory.appendingPathComponent("Songs.csv") }

    /// Creates a directory with a copy of the sample, with `text`, or, for nil, without a file.
    init(_ text: String? = "") throws {
        scratch = try ScratchFolder("Songs")
        if text == "" {
            try FileManager.default.copyItem(at: SongLibrary.sampleFile, to: csv)
        } else if let text {
            try Data(text.utf8).write(to: csv)
        }
    }

    /// Returns the text of the file.
    func text() throws -> String { String(decoding: try Data(contentsOf: csv), as: UTF8.self) }

    /// Opens the file with a new coordinator, like another process.
    func open(_ kind: SongLibrary.Kind) throws -> NSPersistentContainer { try SongLibrary.open(csv: csv, kind: kind) }

    /// Opens the file and runs `body` in a context.
    func run<Result>(_ kind: SongLibrary.Kind, _ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
        let container = try open(kind)
        let context = container.newBackgroundContext()
        return try withExtendedLifetime((self, container)) { try context.performAndWait { try body(context) } }
    }

    func setPermissions(_ mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: csv.path)
    }
}

extension NSPersistentContainer {
    var incrementalStore: MyIncrementalStore { persistentStoreCoordinator.persistentStores[0] as! MyIncrementalStore }
}

extension NSManagedObjectContext {
    /// Returns the objects of a class that match a predicate, sorted by a key.
    func all<Object: NSManagedObject>(_ type: Object.Type, _ predicate: NSPredicate? = nil, by key: String? = nil) throws -> [Object] {
        let request = NSFetchRequest<Object>()
        request.predicate = predicate
        request.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return try fetch(request)
    }

    func song(_ name: String) throws -> Song { try all(Song.self, NSPredicate(format: "name == %@", name))[0] }
}

/// Returns the error of `body`; nil when it throws none.
func failure(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}
