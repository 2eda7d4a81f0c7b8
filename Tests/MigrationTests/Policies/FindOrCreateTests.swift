import CoreData
import Foundation
import TestSupport
import Testing

@testable import Migration

/// Policies that look for an object which they, or others, have made before they make one.
@Suite struct FindOrCreateTests {
    private static func manager(_ place: String, limit: Int? = nil) -> NSMigrationManager {
        let manager = NSMigrationManager.library()
        manager.batchSize = 7
        if let limit { manager.heldLimit = limit }
        manager.userInfo = ["place": place]
        return manager
    }

    private static func mapping(_ indexes: [Int] = [1]) -> NSMappingModel {
        let mapping = LibraryVersions.mapping()
        for index in indexes { mapping.entityMappings[index].entityMigrationPolicyClassName = "FindingPolicy" }
        return mapping
    }

    private static func genres(_ folder: MappingFolder) throws -> [String] {
        try LibraryVersions.withStore(folder.new, LibraryVersions.new()) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Genre")).map {
                "\($0.value(forKey: "name") ?? "-") \(($0.value(forKey: "books") as? Set<NSManagedObject>)?.count ?? 0)"
            }
        }.sorted()
    }

    @Test(arguments: ["registered", "inserted", "fetched"])
    func whatAPolicyHasMadeManyBatchesAgoIsFoundWhereItLooks(place: String) throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 20)
        try Self.manager(place).migrate(folder, Self.mapping())
        try expect(Self.genres(folder), equals: ["crime 40", "verse 20"])
        try expect(LibraryVersions.lines(at: folder.new), equals: LibraryVersions.expected(authors: 20, genres: true))
    }

    @Test(arguments: ["registered", "inserted"])
    func whatThePolicyOfAnotherMappingHasMadeIsFound(place: String) throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 20)
        // Authors get a genre, too, whose name books look for.
        try Self.manager(place).migrate(folder, Self.mapping([0, 1, 2]))
        try expect(Self.genres(folder), equals: ["crime 40", "verse 20"])
    }

    @Test func aPolicyThatLooksOnlyLaterFindsWhatWasMadeBefore() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 20)
        let mapping = Self.mapping([2])
        mapping.entityMappings[1].entityMigrationPolicyClassName = "GenrePolicy"
        try Self.manager("registered").migrate(folder, mapping)
        try expect(Self.genres(folder), equals: ["crime 40", "verse 20"])
    }

    @Test func moreObjectsThanAreHeldAreAnErrorThatNamesTheWayOut() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 20)
        let error = migrationFailure { try Self.manager("registered", limit: 30).migrate(folder, Self.mapping()) }
        expect(error?.code, equals: NSEntityMigrationPolicyError)
        #expect(error?.localizedDescription.contains("at most 30 are held") == true, "\(String(describing: error))")
        #expect(error?.localizedRecoverySuggestion?.contains("fetch request") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.new.path))
        // Nothing is held for a policy that does not look.
        try Self.manager("fetched", limit: 30).migrate(folder, Self.mapping())
        try expect(Self.genres(folder), equals: ["crime 40", "verse 20"])
    }

    @Test func aMigrationThatWasKilledFindsWhatItHadMade() throws {
        let folder = try MappingFolder()
        try LibraryVersions.fill(folder.old, authors: 20)
        for calls in [1, 20, 45, 60, 130] {
            let first = Self.manager("registered")
            first.userInfo?["calls"] = calls
            let error = migrationFailure { try first.migrate(folder, Self.mapping([1, 2])) }
            expect(error?.code, equals: NSMigrationCancelledError)
            let second = Self.manager("registered")
            try second.migrate(folder, Self.mapping([1, 2]))
            try expect(Self.genres(folder), equals: ["crime 40", "verse 20"], "\(calls)")
            try NSPersistentStoreCoordinator(managedObjectModel: LibraryVersions.new())
                .destroyPersistentStore(at: folder.new, ofType: NSSQLiteStoreType)
        }
    }
}

/// Gives books a genre, which it makes where it finds none.
final class FindingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager)
        throws
    {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        if let calls = manager.userInfo?["calls"] as? Int {
            manager.userInfo?["calls"] = calls - 1
            if calls == 1 { manager.cancelMigrationWithError(NSError(domain: "test", code: 1)) }
        }
        let isBook = sInstance.entity.name == "Book"
        let name = isBook ? sInstance.value(forKey: "genre") as? String : "verse"
        guard let name else { return }
        let genre =
            try Self.found(name, manager) ?? NSEntityDescription.insertNewObject(forEntityName: "Genre", into: manager.destinationContext)
        genre.setValue(name, forKey: "name")
        guard isBook, let book = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        else { return }
        book.setValue(genre, forKey: "genre")
    }

    private static func found(_ name: String, _ manager: NSMigrationManager) throws -> NSManagedObject? {
        let context = manager.destinationContext
        func isWanted(_ object: NSManagedObject) -> Bool {
            !object.isFault && object.entity.name == "Genre" && object.value(forKey: "name") as? String == name
        }
        switch manager.userInfo?["place"] as? String {
        case "registered": return context.registeredObjects.first(where: isWanted)
        case "inserted": return context.insertedObjects.first(where: isWanted)
        default:
            let request = NSFetchRequest<NSManagedObject>(entityName: "Genre")
            request.predicate = NSPredicate(format: "name == %@", name)
            return try context.fetch(request).first
        }
    }
}
