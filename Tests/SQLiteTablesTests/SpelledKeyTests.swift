import CoreData
import Foundation
import TableCases
import TestSupport
import Testing

@Suite("Keys of a file that are spelled in several ways") struct SpelledKeyTests {
    private static let script = """
        CREATE TABLE team (code TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, name TEXT);
        CREATE TABLE player (id INTEGER PRIMARY KEY, team_code TEXT REFERENCES team (code));
        CREATE TABLE office (team_code TEXT COLLATE RTRIM PRIMARY KEY NOT NULL, town TEXT);
        CREATE TABLE desk (id INTEGER PRIMARY KEY, office TEXT UNIQUE REFERENCES office (team_code));
        CREATE TABLE cup (id INTEGER PRIMARY KEY);
        CREATE TABLE team_cup (team TEXT NOT NULL REFERENCES team (code), cup_id INTEGER NOT NULL REFERENCES cup (id), PRIMARY KEY (team, cup_id));
        INSERT INTO team VALUES ('red', 'Reds'), ('Blue', 'Blues');
        INSERT INTO player VALUES (1, 'RED'), (2, 'red'), (3, 'Red'), (4, 'BLUE'), (5, NULL);
        INSERT INTO office VALUES ('x ', 'York'); INSERT INTO desk VALUES (1, 'x');
        INSERT INTO cup VALUES (1), (2); INSERT INTO team_cup VALUES ('RED', 1), ('blue', 1), ('rEd', 2);
        """

    @Test("A row is one object, whatever those that refer to it have written") func reading() throws {
        let context = try OthersFile(Self.script).open()
        try context.performAndWait {
            let players = try context.found("Player", nil, by: "id")
            let teams = players.map { ($0.value(forKey: "team") as? NSManagedObject)?.value(forKey: "name") as? String }
            expect(teams, equals: ["Reds", "Reds", "Reds", "Blues", nil])
            expect(Set(players.compactMap { ($0.value(forKey: "team") as? NSManagedObject)?.objectID }).count, equals: 2)
            try expect(context.number("Player", "team.name == 'Reds'"), equals: 3)
            let red = try context.one("Team", "name == 'Reds'")
            try expect(context.number("Player", "team == %@", [red]), equals: 3)
            try expect(context.number("Team", "players.@count == 3"), equals: 1)
            context.refreshAllObjects()
            expect((red.value(forKey: "players") as? Set<NSManagedObject>)?.count, equals: 3)
            expect((red.value(forKey: "cups") as? Set<NSManagedObject>)?.count, equals: 2)
            try expect(context.number("Cup", "ANY teams.name == 'Reds'"), equals: 2)
            let desk = try context.one("Desk", "office.town == 'York'")
            try expect(context.one("Office", "desk == %@", [desk]).value(forKey: "desk") as? NSManagedObject === desk, equals: true)
        }
    }

    @Test("However keys are spelled, relationships are those that the database finds, also after random saves") func random() throws {
        let seed = TestSeed.current(for: "Spellings in a file")
        for round in TestRounds(seconds: 1, atLeast: 5) {
            var random = SeededGenerator(seed: seed &+ UInt64(round))
            let spellings = RandomSpellings(using: &random)
            let references = ["TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM"]
            let file = try OthersFile(spellings.script(key: "TEXT COLLATE NOCASE", reference: references[random.below(3)]))
            let context = try file.open()
            for save in 0..<3 {
                try context.performAndWait {
                    let found = try RandomSpellings.contents(of: context)
                    try expect(
                        found, equals: RandomSpellings.queries.map(file.texts), "COREDATA_TEST_SEED=\(seed), round \(round), save \(save)")
                    try RandomSpellings.change(context, using: &random)
                    try context.save()
                }
            }
        }
    }

    @Test("Rows that spell a key in another way are found when they are saved") func saving() throws {
        let file = try OthersFile(Self.script)
        let context = try file.open()
        try context.performAndWait {
            let (red, blue) = (try context.one("Team", "name == 'Reds'"), try context.one("Team", "name == 'Blues'"))
            for player in try context.found("Player", "id == 1") { player.setValue(blue, forKey: "team") }
            red.setValue([try context.one("Cup", "id == 2")] as Set<NSManagedObject>, forKey: "cups")
            red.setValue("Red ones", forKey: "name")
            try context.save()
        }
        try expect(
            file.texts("SELECT id || coalesce(team_code, '-') FROM player ORDER BY id"), equals: ["1Blue", "2red", "3Red", "4BLUE", "5-"])
        try expect(file.texts("SELECT team || cup_id FROM team_cup ORDER BY 1"), equals: ["blue1", "rEd2"])
    }

    @Test(
        "An object is found by its key as a JSON array in any writing",
        arguments: [#"[7,"red"]"#, #"[7, "red"]"#, #"["7","red"]"#, #"[ 7 , "r\u0065d" ]"#])
    func written(_ key: String) throws {
        let file = try OthersFile(
            "CREATE TABLE seats (number INTEGER, colour TEXT, taken INTEGER, PRIMARY KEY (number, colour)); INSERT INTO seats VALUES (7, 'red', 1);"
        )
        let context = try file.open()
        try context.performAndWait {
            let seat = try context.one("Seats", "number == 7")
            let uri = seat.objectID.uriRepresentation().absoluteString
            let place = try #require(uri.range(of: "/Seats/p"))
            let text = try #require(key.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            let id = try #require(context.persistentStoreCoordinator?.managedObjectID(for: uri[..<place.upperBound] + text))
            expect(id, equals: seat.objectID)
        }
    }
}
