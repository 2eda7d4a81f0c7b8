import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// What `check` finds, each planted by plain SQL.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct CheckTests {
    private let pad: Pad

    init() throws {
        pad = try Pad()
        try Records.make(pad.store)
    }

    private func rules() throws -> [String] {
        try StoreCheck.findings(in: StoreReference(pad.store.path).open()).map { "\($0.rule) \($0.count)" }
    }

    @Test func aStoreThatWasSavedIsFine() throws {
        try expect(rules(), equals: [])
        let result = try CommandProcess(["check", pad.store.path])
        expect(result.code, equals: 0)
        expect(result.output, equals: "Nothing is wrong.\n")
    }

    @Test(arguments: [
        ("UPDATE ZTRACK SET ZALBUM = 99 WHERE Z_PK = 1", "dangling 1"),
        ("UPDATE ZTRACK SET Z_ENT = 77 WHERE Z_PK = 1", "entity 1"),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Track'", "keys 1"),
        ("UPDATE Z_PRIMARYKEY SET Z_MAX = 'many' WHERE Z_NAME = 'Track'", "keys 1"),
        ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Track'", "keys 1"),
        ("UPDATE ZARTIST SET ZNAME = NULL WHERE ZNAME = 'Neu!'", "required 1"),
        ("UPDATE ZALBUM SET ZYEAR = 'long ago' WHERE ZYEAR = 1975", "type 1"),
        ("UPDATE ZALBUM SET ZCOVER = x'024142433100' WHERE ZYEAR = 1975", "external 1"),
    ]) func eachRuleIsChecked(sql: String, expected: String) throws {
        try Plain.execute(sql, pad.store)
        try expect(rules(), equals: [expected])
        try expect(CommandProcess(["check", pad.store.path]).code, equals: 1)
    }

    @Test func rowsOfNoEntityFailExportsAndCopiesAndNothingIsWritten() throws {
        try Plain.execute("UPDATE ZALBUM SET Z_ENT = 77 WHERE ZYEAR = 1975; UPDATE ZALBUM SET Z_ENT = NULL WHERE ZYEAR = 1972", pad.store)
        try Plain.execute("UPDATE ZTRACK SET Z_ENT = 77 WHERE Z_PK = 1", pad.store)
        let before = try Pad.contents(of: pad.url)
        for command in [["export", "e.json"], ["export", "e/"], ["copy", "c.xml"], ["copy", "c.sqlite"], ["copy", "c/"]] {
            let result = try CommandProcess([command[0], pad.store.path, pad.url.path + "/" + command[1]])
            expect(result.code, equals: 1)
            expect(result.output, equals: "")
            #expect(
                result.errors.contains("2 rows of ZALBUM have an entity (Z_ENT) that is none of the table's")
                    && result.errors.contains("1 row of ZTRACK have an entity"), "\(result.errors)")
            try expect(Pad.contents(of: pad.url), equals: before)
        }
        // One entity without such rows is not exported either: its objects may be related to them.
        #expect(throws: NSError.self) {
            try StoreExport(StoreReference(pad.store.path).open(), entities: ["Artist"]).write(to: pad.file("a.csv").path)
        }
        try expect(Pad.contents(of: pad.url), equals: before)
    }

    @Test func placesInAnOrderAreChecked() throws {
        try Plain.execute("UPDATE ZTRACK SET Z_FOK_ALBUM = 5 WHERE Z_PK IN (1, 2)", pad.store)
        try expect(rules(), equals: ["order 1"])
        try Plain.execute("UPDATE ZTRACK SET Z_FOK_ALBUM = NULL WHERE Z_PK IN (1, 2)", pad.store)
        try expect(rules(), equals: ["order 2"])
    }

    @Test func valuesThatMustBeUniqueAreChecked() throws {
        // The store itself keeps them unique by an index: a file without it may break the rule.
        let store = try StoreReference(pad.store.path).open()
        let indexes = try #require(store.file).rows(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE 'CREATE UNIQUE INDEX%'")
        for case .text(let name) in indexes.map({ $0[0] }) { try Plain.execute("DROP INDEX \(name)", pad.store) }
        try expect(rules(), equals: [])
        try Plain.execute("UPDATE ZARTIST SET ZNAME = 'Neu!'", pad.store)
        try expect(rules(), equals: ["unique 1"])
        // Nil is no value.
        try Plain.execute("UPDATE ZARTIST SET ZNAME = NULL", pad.store)
        try expect(rules(), equals: ["required 2"])
    }

    @Test func bothSidesOfAOneToOneRelationshipAreChecked() throws {
        let (person, passport) = (NSEntityDescription(), NSEntityDescription())
        (person.name, passport.name) = ("Person", "Passport")
        let (own, owner) = (
            NSRelationshipDescription(name: "passport", destination: passport),
            NSRelationshipDescription(name: "owner", destination: person)
        )
        own.inverse(to: owner)
        (person.properties, passport.properties) = ([own], [owner])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [person, passport]))
        let url = pad.file("people.sqlite")
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<2 {
                let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
                person.setValue(NSEntityDescription.insertNewObject(forEntityName: "Passport", into: context), forKey: "passport")
            }
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        func rules() throws -> [String] { try StoreCheck.findings(in: StoreReference(url.path).open()).map { "\($0.rule) \($0.count)" } }
        try expect(rules(), equals: [])
        try Plain.execute("UPDATE ZPASSPORT SET ZOWNER = (SELECT MAX(Z_PK) FROM ZPERSON)", url)
        // One person has a passport of another, and that passport is not its owner's.
        try expect(Set(rules()), equals: ["inverse 1"])
    }

    @Test func filesOfNoObjectAreFound() throws {
        let folder = pad.url.appendingPathComponent(".records_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data([1]).write(to: folder.appendingPathComponent("orphan"))
        try expect(rules(), equals: ["external 1"])
    }

    @Test func aDamagedPageIsFound() throws {
        var data = try Data(contentsOf: pad.store)
        // The last page, whatever it holds.
        data.replaceSubrange((data.count - 4096)..<data.count, with: Data(repeating: 0x5A, count: 4096))
        try data.write(to: pad.store)
        let result = try CommandProcess(["check", pad.store.path])
        expect(result.code, equals: 1)
    }
}
