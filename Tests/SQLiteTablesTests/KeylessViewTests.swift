import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Views without a key in SQLite files") struct KeylessViewTests {
    private static let script = """
        CREATE TABLE visits (id INTEGER PRIMARY KEY, place TEXT COLLATE NOCASE, seen REAL, extra BLOB);
        INSERT INTO visits (place, seen, extra) VALUES ('Rome', 1.5, x'00'), ('rome', 1.5, x'00'), ('Rome', 1.5, x'00'), ('Oslo', NULL, NULL);
        CREATE VIEW places AS SELECT place, seen, extra FROM visits;
        """

    private static func names(_ file: OthersFile) throws -> [String] {
        let context = try file.open()
        return try context.performAndWait {
            try context.found("Places").map { $0.objectID.uriRepresentation().lastPathComponent + " \($0.value(forKey: "place") ?? "")" }
                .sorted()
        }
    }

    @Test("Each row is an object that is read only, also among equal rows, and has its name as long as its values") func views() throws {
        let file = try OthersFile(Self.script)
        let draft = try file.draft()
        #expect(draft.notes.contains { $0.hasPrefix("The view places has no key: its objects are read only") }, "\(draft.notes)")
        let before = try Self.names(file)
        expect(Set(before.map { $0.prefix { $0 != " " } }).count, equals: 4)
        let context = try file.open(draft.model)
        try context.performAndWait {
            try expect(context.found("Places", "seen == 1.5").count, equals: 3)
            try expect(context.number("Places", "place == 'Oslo'"), equals: 1)
            let row = try context.one("Places", "place == 'Oslo'")
            context.refresh(row, mergeChanges: false)
            expect(row.value(forKey: "place") as? String, equals: "Oslo")
            row.setValue("Bergen", forKey: "place")
            #expect(throws: (any Error).self) { try context.save() }
        }
        try file.execute("UPDATE visits SET id = id + 10; VACUUM; UPDATE visits SET place = 'Bergen' WHERE place = 'Oslo';")
        let after = try Self.names(file)
        expect(Set(before).intersection(after).count, equals: 3)
        #expect(after.contains { $0.hasSuffix("-1 Bergen") })
    }

    @Test("A view of two hundred columns has rows with names") func wide() throws {
        let columns = (0..<200).map { "\($0) AS c\($0)" }.joined(separator: ", ")
        let file = try OthersFile("CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIEW wide AS SELECT \(columns);")
        let context = try file.open()
        try context.performAndWait { try expect(context.found("Wide", "c199 == 199").count, equals: 1) }
    }
}
