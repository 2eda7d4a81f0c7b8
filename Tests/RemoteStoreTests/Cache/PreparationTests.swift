import CSQLite
import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Cache: what is done to its connections") struct PreparationTests {
    struct WrongKey: Error {}

    @Test("Each connection is prepared before anything else is done to it, also those of a migration")
    func prepared() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let handles = Guarded<Set<OpaquePointer>>([])
        let preparation = SQLiteConnectionPreparation { connection in
            // It has an effect on a file without tables only.
            guard sqlite3_exec(connection, "PRAGMA page_size = 1024", nil, nil, nil) == SQLITE_OK else { throw WrongKey() }
            handles.withValue { _ = $0.insert(connection) }
        }
        let shop = try CachedShop(at: url, .networkOnly) { $0.fileOptions[SQLiteConnectionPreparationOption] = preparation }
        try expect(shop.context.texts(fetchRequest("Album")).count, equals: 5)
        #expect(handles.withValue { $0.count } >= 1)
        try shop.coordinator.remove(shop.store)
        let header = try Data(contentsOf: url).prefix(18)
        expect(Array(header.suffix(2)), equals: [4, 0])
    }

    @Test("A key that is wrong is the error of opening, and leaves the file as it is")
    func refused() throws {
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("shop.sqlite")
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let refusing = SQLiteConnectionPreparation { _ in throw WrongKey() }
        let error = failure {
            _ = try CachedShop(at: url) { $0.fileOptions[SQLiteConnectionPreparationOption] = refusing }
        }
        expect(error.map { "\($0)".contains("WrongKey") }, equals: true, "\(String(describing: error))")
        let shop = try CachedShop(at: url, .networkOnly)
        try expect(shop.context.texts(fetchRequest("Album")).count, equals: 5)
    }

    @Test("A file that is encrypted has no external files: a model that asks for them is refused")
    func external() throws {
        var options = CachedStoreOptions()
        options.fileOptions[SQLiteConnectionPreparationOption] = SQLiteConnectionPreparation { _ in }
        let folder = try ScratchFolder("cache")
        defer { folder.remove() }
        let url = folder.file("photos.sqlite")
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let given = options
        let error = failure {
            try NSPersistentStoreCoordinator(managedObjectModel: UploadWorld.model()).addCachedStore(
                UploadServer(), at: url, options: given)
        }
        expect(error?.code, equals: NSPersistentStoreOpenError)
        expect(error?.localizedFailureReason?.contains("not encrypted"), equals: true)
    }
}
