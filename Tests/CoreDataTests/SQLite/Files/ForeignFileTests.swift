import CoreData
import Foundation
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph
@testable import Predicates
@testable import SQLQueries
@testable import SQLiteStore

/// Files as others leave them: every one is one that somebody else's program may have written.
@Suite struct ForeignFileTests {
    private static func model() -> NSManagedObjectModel {
        let note = NSEntityDescription(name: "Note")
        note.properties = [
            NSAttributeDescription(name: "text", type: .string), NSAttributeDescription(name: "number", type: .integer32),
            NSAttributeDescription(name: "price", type: .decimal), NSAttributeDescription(name: "day", type: .date),
            NSAttributeDescription(name: "key", type: .uuid), NSAttributeDescription(name: "link", type: .uri),
            NSAttributeDescription(name: "size", type: .double),
        ]
        let parent = NSRelationshipDescription(name: "parent", destination: note)
        let children = NSRelationshipDescription(name: "children", destination: note, toMany: true)
        parent.inverse(to: children)
        let tags = NSRelationshipDescription(name: "tags", destination: note, toMany: true)
        let tagged = NSRelationshipDescription(name: "tagged", destination: note, toMany: true)
        tags.inverse(to: tagged)
        note.properties += [parent, children, tags, tagged]
        return NSManagedObjectModel(entities: [note])
    }

    /// A store with notes “a”, “b” and “c”, to which somebody else has done something.
    private static func store(_ sql: String) throws -> Scratchpad {
        let pad = try Scratchpad()
        try {
            let context = try pad.context(model(), options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
            try context.performAndWait {
                for text in ["a", "b", "c"] {
                    _ = context.insert("Note", ["text": text, "number": 1, "price": Decimal(1), "size": 1.0, "key": UUID()])
                }
                try context.save()
            }
        }()
        try pad.execute(sql)
        return pad
    }

    /// Edits, deletes and inserts a note, and looks at the file afterwards.
    private static func edit(_ pad: Scratchpad, _ location: SourceLocation = #_sourceLocation) throws {
        let context = try pad.context(model())
        try context.performAndWait {
            let notes = try context.all("Note").sorted { ($0.value(forKey: "text") as! String) < ($1.value(forKey: "text") as! String) }
            expect(notes.map { $0.value(forKey: "text") as? String }, equals: ["a", "b", "c"], sourceLocation: location)
            notes[0].setValue("A", forKey: "text")
            context.delete(notes[1])
            _ = context.insert("Note", ["text": "d"])
            try context.save()
            notes[2].setValue("C", forKey: "text")
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.predicate = NSPredicate(format: "text == 'd'")
            update.propertiesToUpdate = ["text": "D"]
            try context.execute(update)
        }
        let texts = try pad.texts("SELECT ZTEXT FROM ZNOTE ORDER BY 1")
        expect(texts, equals: [["A"], ["C"], ["D"]], sourceLocation: location)
        try expect(pad.texts("PRAGMA integrity_check"), equals: [["ok"]], sourceLocation: location)
    }

    @Test(arguments: ["NULL", "'abc'", "1.5", "-5", "9223372036854775807", "-9223372036854775808"])
    func rowsWithOddVersionsAreSaved(_ version: String) throws { try Self.edit(Self.store("UPDATE ZNOTE SET Z_OPT = \(version)")) }

    @Test(arguments: [
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 0", "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL", "UPDATE Z_PRIMARYKEY SET Z_MAX = 'abc'",
        "DELETE FROM Z_PRIMARYKEY", "UPDATE ZNOTE SET Z_PK = -Z_PK WHERE ZTEXT = 'a'",
        "INSERT INTO Z_PRIMARYKEY VALUES (17001, 'NSCKDatabaseMetadata', 0, 0), (900, 'Note', 0, 0), (901, 'Gone', 0, 5)",
    ])
    func keysAreNotGivenTwiceWhateverTheFileSaysOfThem(_ sql: String) throws { try Self.edit(Self.store(sql)) }

    @Test(arguments: [
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807", "UPDATE ZNOTE SET Z_PK = 9223372036854775807 WHERE ZTEXT = 'a'",
    ])
    func aTableWithoutKeysThatAreLeftIsAnErrorWhenInsertingAndNothingElse(_ sql: String) throws {
        let pad = try Self.store(sql)
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let new = context.insert("Note", ["text": "new"])
            let error = try #require(failure { try context.save() })
            #expect(error.code == NSPersistentStoreSaveError && error.localizedDescription.contains("ZNOTE"))
            context.delete(new)
            try context.all("Note").first?.setValue("changed", forKey: "text")
            try context.save()
        }
        try expect(pad.texts("SELECT count(*) FROM ZNOTE WHERE ZTEXT = 'changed'"), equals: [["1"]])
    }

    @Test(arguments: [
        "PRAGMA page_size = 512; VACUUM", "PRAGMA page_size = 65536; VACUUM", "PRAGMA auto_vacuum = 0; VACUUM",
        "PRAGMA auto_vacuum = 1; VACUUM",
        "PRAGMA journal_mode = WAL; UPDATE ZNOTE SET ZNUMBER = 2", "ALTER TABLE ZNOTE ADD COLUMN ZMORE; CREATE INDEX MORE ON ZNOTE (ZMORE)",
        "CREATE VIEW VNOTE AS SELECT * FROM ZNOTE", "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)",
        "DROP TABLE Z_MODELCACHE", "UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'", "UPDATE Z_MODELCACHE SET Z_CONTENT = 'abc'",
        "UPDATE Z_METADATA SET Z_VERSION = 2", "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA",
        "UPDATE Z_METADATA SET Z_PLIST = NULL", "UPDATE ZNOTE SET ZPARENT = 987654", "INSERT INTO Z_1TAGS VALUES (1, 987654), (987654, 1)",
        "CREATE VIRTUAL TABLE Z_RT USING rtree(id, a, b); CREATE TRIGGER R AFTER UPDATE ON ZNOTE BEGIN INSERT OR REPLACE INTO Z_RT "
            + "VALUES (NEW.Z_PK, 1, 2); END",
    ])
    func filesOfEveryKindAreEdited(_ sql: String) throws { try Self.edit(Self.store(sql)) }

    @Test func columnsOfPairsAreKnownByTheirNamesWhateverTheirOrder() throws {
        let pad = try Self.store(
            "INSERT INTO Z_1TAGS (Z_1TAGGED, Z_1TAGS) SELECT a.Z_PK, b.Z_PK FROM ZNOTE a, ZNOTE b WHERE a.ZTEXT = 'a' AND b.ZTEXT = 'b'")
        func tags(_ text: String) throws -> [String?] {
            let context = try pad.context(Self.model())
            return try context.performAndWait {
                let note = try #require(try context.all("Note").first { $0.value(forKey: "text") as? String == text })
                return (note.value(forKey: "tags") as? Set<NSManagedObject> ?? []).map { $0.value(forKey: "text") as? String }
            }
        }
        let before = [try tags("a"), try tags("b")]
        #expect(Set(before) == [["b"], []] || Set(before) == [["a"], []])
        try pad.execute(
            "CREATE TABLE OTHER (Z_7TAGS INTEGER, Z_7TAGGED1 INTEGER, PRIMARY KEY (Z_7TAGS, Z_7TAGGED1));"
                + "INSERT INTO OTHER SELECT Z_1TAGS, Z_1TAGGED FROM Z_1TAGS; DROP TABLE Z_1TAGS; ALTER TABLE OTHER RENAME TO Z_1TAGS")
        expect([try tags("a"), try tags("b")], equals: before)
    }

    @Test func aPairThatATableHasTwiceIsOneObject() throws {
        let pad = try Self.store(
            "DROP TABLE Z_1TAGS; CREATE TABLE Z_1TAGS (Z_1TAGGED INTEGER, Z_1TAGS INTEGER);"
                + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
                + "INSERT INTO Z_1TAGS SELECT a.Z_PK, b.Z_PK FROM ZNOTE a, ZNOTE b, n")
        for isPrepared in [false, true] {
            let context = try pad.context(Self.model())
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                if isPrepared { request.relationshipKeyPathsForPrefetching = ["tags"] }
                for note in try context.fetch(request) { expect((note.value(forKey: "tags") as? Set<NSManagedObject>)?.count, equals: 3) }
                if isPrepared {
                    context.delete(try #require(try context.fetch(request).first))
                    try context.save()
                }
            }
        }
        try expect(pad.texts("SELECT count(*) FROM (SELECT DISTINCT * FROM Z_1TAGS)"), equals: [["4"]])
    }

    @Test(arguments: ["UTF-16le", "UTF-16be"]) func textsInOtherEncodingsAreReadAndWritten(_ encoding: String) throws {
        let pad = try Scratchpad()
        let whole = try Self.store("")
        try pad.execute("PRAGMA encoding = '\(encoding)'; CREATE TABLE T (A)")
        // The definitions and rows of the one file go into the other.
        let other = try SQLiteFiles.connectForReading(whole.store, timeout: 5)
        for row in try other.texts("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL") { try pad.execute(row[0] ?? "") }
        try pad.execute("DROP TABLE T")
        for row in try other.texts("SELECT name FROM sqlite_master WHERE type = 'table'") {
            let table = row[0] ?? ""
            for values in try other.texts("SELECT * FROM \(table)").indices {
                let list = try other.texts("SELECT name FROM pragma_table_info('\(table)')").map { "quote(\($0[0] ?? ""))" }
                let texts = try other.texts("SELECT \(list.joined(separator: ", ")) FROM \(table) LIMIT 1 OFFSET \(values)")[0]
                try pad.execute("INSERT INTO \(table) VALUES (\(texts.map { $0 ?? "NULL" }.joined(separator: ", ")))")
            }
        }
        try expect(pad.texts("PRAGMA encoding"), equals: [[encoding]])
        try Self.edit(pad)
    }

    @Test func metadataInXMLAreReadAndKeepWhatTheApplicationHasPutThere() throws {
        let pad = try Self.store("")
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store)
        metadata[NSStoreUUIDKey] = nil
        metadata["application"] = ["list": [1, true, "text"] as [Any], "day": Date(timeIntervalSince1970: 0)] as [String: Any]
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0)
        try pad.execute("UPDATE Z_METADATA SET Z_PLIST = \(sqlLiteral(String(decoding: list, as: UTF8.self)))")
        try Self.edit(pad)
        let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: pad.store)
        let application = again["application"] as? [String: Any]
        expect((application?["list"] as? [Any])?.count, equals: 3)
        expect(application?["day"] as? Date, equals: Date(timeIntervalSince1970: 0))
    }

    /// What is read where a column holds something else than its attribute's kind of value.
    @Test(arguments: [
        ("number", "'abc'", "0"), ("number", "'12'", "12"), ("number", "2.0", "2"), ("text", "5", "5"), ("text", "x'6162'", "ab"),
        ("text", "''", ""), ("price", "'NaN'", "NaN"), ("price", "'2.50'", "2.5"), ("price", "x'312E35'", "1.5"), ("size", "'x'", "0.0"),
        ("size", "9e999", "inf"), ("day", "7", "7.0"), ("day", "'8.5'", "8.5"), ("link", "''", ""), ("link", "'a b'", "a%20b"),
        ("key", "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
    ])
    func valuesOfOtherTypesAreTakenAsSQLiteTakesThem(_ attribute: String, _ value: String, _ expected: String) throws {
        let pad = try Self.store("UPDATE ZNOTE SET Z\(attribute.uppercased()) = \(value)")
        let context = try pad.context(Self.model())
        try context.performAndWait {
            let notes = try context.all("Note")
            expect(notes.count, equals: 3)
            for note in notes {
                let text =
                    switch note.value(forKey: attribute) {
                    case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
                    case let url as URL: url.absoluteString
                    case let value?: "\(value)"
                    case nil: "nil"
                    }
                expect(text, equals: expected)
            }
        }
    }

    @Test(arguments: [("price", "'x'"), ("key", "x'0102'"), ("link", "'http://['"), ("day", "9e999")])
    func aValueThatIsNoneIsAnErrorThatNamesAttributeAndFile(_ attribute: String, _ value: String) throws {
        let pad = try Self.store("UPDATE ZNOTE SET Z\(attribute.uppercased()) = \(value) WHERE ZTEXT = 'b'")
        let context = try pad.context(Self.model())
        let error = try #require(failure { try context.performAndWait { _ = try context.all("Note") } })
        #expect(error.localizedDescription.contains("Note.\(attribute)"))
        #expect(error.localizedDescription.contains(pad.store.path))
        #expect(error.localizedDescription.contains("Z_PK 2"))
    }

    @Test func triggersMayCallFunctionsOfCoreDataThatNobodyKnows() throws {
        try Self.edit(
            Self.store(
                "CREATE TRIGGER A AFTER UPDATE ON ZNOTE BEGIN SELECT NSCoreDataSomething('a', NEW.Z_PK); END;"
                    + "CREATE TRIGGER B AFTER INSERT ON ZNOTE BEGIN SELECT nscoredataother(Z_PK) FROM ZNOTE WHERE Z_PK = NEW.Z_PK; END;"
                    + "CREATE TRIGGER C AFTER DELETE ON ZNOTE BEGIN SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue(1); END"))
        // A value that is not known is not made up.
        let pad = try Self.store("CREATE TRIGGER A AFTER UPDATE ON ZNOTE BEGIN UPDATE ZNOTE SET ZSIZE = NSCoreDataSize(1); END")
        let context = try pad.context(Self.model())
        try context.performAndWait {
            try context.all("Note").first?.setValue("changed", forKey: "text")
            expect(failure { try context.save() }?.localizedDescription.contains("NSCoreDataSize"), equals: true)
        }
        try expect(pad.texts("SELECT count(*) FROM ZNOTE WHERE ZTEXT = 'changed'"), equals: [["0"]])
    }

    @Test(arguments: [
        "with space", "per%20cent", "question?mark", "hash#tag", "plus+and&", "ünï😀", "quote'\"", "a;b", "dots..", "back\\slash",
    ])
    func namesOfFilesMayHoldAnything(_ name: String) throws {
        let pad = try Scratchpad()
        let folder = pad.url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appendingPathComponent(name)
        for options in [nil, [NSReadOnlyPersistentStoreOption: true]] as [[AnyHashable: Any]?] {
            let coordinator = try pad.coordinator(Self.model(), options: options, at: place)
            let context = Music.context(coordinator)
            try context.performAndWait {
                if options == nil {
                    _ = context.insert("Note", ["text": "a"])
                    try context.save()
                }
                try expect(context.all("Note").count, equals: 1)
            }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        #expect(FileManager.default.fileExists(atPath: place.path))
    }

    @Test func aStoreIsReachedThroughSymbolicLinks() throws {
        let pad = try Self.store("")
        let links = try Scratchpad()
        let (folder, file) = (links.url.appendingPathComponent("folder"), links.url.appendingPathComponent("file.sqlite"))
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: pad.url)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: pad.store)
        for place in [folder.appendingPathComponent("store.sqlite"), file] {
            let context = Music.context(try pad.coordinator(Self.model(), at: place))
            try context.performAndWait {
                _ = context.insert("Note", ["text": "new"])
                try context.save()
            }
        }
        try expect(pad.texts("SELECT count(*) FROM ZNOTE"), equals: [["5"]])
    }
}
