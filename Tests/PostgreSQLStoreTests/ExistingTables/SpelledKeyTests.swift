#if PostgreSQL
import CoreData
import Foundation
import TableCases
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Keys of a database that are spelled in several ways") struct SpelledKeyTests {
    private static let rows = """
        INSERT INTO team VALUES ('red', 'Reds'), ('Blue', 'Blues');
        INSERT INTO player VALUES (1, 'RED'), (2, 'red'), (3, 'Red'), (4, 'BLUE'), (5, NULL);
        """
    private static let collation = """
        CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE team (code text COLLATE anycase PRIMARY KEY, name text);
        CREATE TABLE player (id integer PRIMARY KEY, team_code text COLLATE anycase REFERENCES team (code));
        \(rows)
        """
    private static let numbers = """
        CREATE TABLE team (code numeric PRIMARY KEY, name text);
        CREATE TABLE player (id integer PRIMARY KEY, team_code numeric REFERENCES team (code));
        INSERT INTO team VALUES (1.0, 'Reds'), (2, 'Blues');
        INSERT INTO player VALUES (1, 1), (2, 1.0), (3, 1.000), (4, 2.0), (5, NULL);
        """

    @Test("A row is one object, whatever those that refer to it have written", arguments: [collation, numbers])
    func reading(_ script: String) async throws { try await check(try await LibraryDatabase(script)) }

    @Test("A key of the extension's type without capitals is one object") func citext() async throws {
        let database = try await LibraryDatabase("")
        let isThere = try await database.texts("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'")
        if isThere.isEmpty { return print("The server has no citext.") }
        // Its schema is not searched.
        try await database.execute(
            """
            CREATE SCHEMA IF NOT EXISTS extensions; CREATE EXTENSION IF NOT EXISTS citext SCHEMA extensions;
            CREATE TABLE team (code extensions.citext PRIMARY KEY, name text);
            CREATE TABLE player (id integer PRIMARY KEY, team_code extensions.citext REFERENCES team (code));
            \(Self.rows)
            """)
        try await check(database)
    }

    @Test("However keys are spelled, relationships are those that the database finds, also after random saves") func random() async throws {
        let seed = TestSeed.current(for: "Spellings in a database")
        for round in TestRounds(seconds: 1, atLeast: 4) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let spellings = RandomSpellings(using: &random)
            let collation = "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
            let database = try await LibraryDatabase(
                collation + spellings.script(key: "text COLLATE anycase", reference: "text COLLATE anycase"))
            let context = try await database.open()
            for save in 0..<3 {
                let changes = SeededGenerator(seed: random.next())
                var wanted: [[String]] = []
                for query in RandomSpellings.queries { wanted.append(try await database.texts(query)) }
                let found = try await context.perform {
                    let found = try RandomSpellings.contents(of: context)
                    var changes = changes
                    try RandomSpellings.change(context, using: &changes)
                    try context.save()
                    return found
                }
                expect(found, equals: wanted, "COREDATA_TEST_SEED=\(seed), round \(round), save \(save)")
            }
        }
    }

    private func check(_ database: LibraryDatabase) async throws {
        let context = try await database.open()
        try await context.perform {
            let players = try context.found("Player", nil, by: "id")
            let teams = players.map { ($0.value(forKey: "team") as? NSManagedObject)?.value(forKey: "name") as? String }
            expect(teams, equals: ["Reds", "Reds", "Reds", "Blues", nil])
            expect(Set(players.compactMap { ($0.value(forKey: "team") as? NSManagedObject)?.objectID }).count, equals: 2)
            try expect(context.found("Player", "team.name == 'Reds'").count, equals: 3)
            let red = try context.one("Team", "name == 'Reds'")
            try expect(context.found("Player", "team == %@", [red]).count, equals: 3)
            context.refreshAllObjects()
            expect((red.value(forKey: "players") as? Set<NSManagedObject>)?.count, equals: 3)
            red.setValue("Red ones", forKey: "name")
            players[0].setValue(try context.one("Team", "name == 'Blues'"), forKey: "team")
            try context.save()
            try expect(context.found("Player", "team.name == 'Blues'").count, equals: 2)
        }
        expect(try await database.texts("SELECT name FROM team ORDER BY 1"), equals: ["Blues", "Red ones"])
    }
}
#endif
