package import CoreData
import Foundation
package import TestSupport

/// Rows whose foreign keys spell the keys of other rows at random, in columns that are compared without case.
package struct RandomSpellings: Sendable {
    private let codes: [String]
    /// The code that a row has written, by its number; nil for none.
    private let written: [String?]
    private let pairs: [(team: String, cup: Int)]

    package init(using random: inout SeededGenerator) {
        codes = ["red", "Blue", "GREEN", "pInk"].prefix(1 + random.below(4)).map { Self.spelled($0, &random) }
        var written: [String?] = []
        for _ in 0..<(4 + random.below(8)) {
            written.append(random.chance(0.8) ? Self.spelled(codes[random.below(codes.count)], &random) : nil)
        }
        var pairs: [(team: String, cup: Int)] = []
        for code in codes { for cup in 1...3 where random.chance(0.5) { pairs.append((Self.spelled(code, &random), cup)) } }
        (self.written, self.pairs) = (written, pairs)
    }

    private static func spelled(_ code: String, _ random: inout SeededGenerator) -> String {
        String(code.map { Character(random.chance(0.5) ? $0.uppercased() : $0.lowercased()) })
    }

    // MARK: The tables

    /// Returns the statements that make and fill the tables.
    ///
    /// - Parameters:
    ///   - key: The declaration of columns whose values are compared without case.
    ///   - reference: That of the columns that refer to them.
    package func script(key: String, reference: String) -> String {
        let teams = codes.map { "INSERT INTO team VALUES ('\($0)', '\($0.lowercased())')" }
        let players = written.enumerated().map { number, code in
            "INSERT INTO player VALUES (\(number), \(code.map { "'\($0)'" } ?? "NULL"))"
        }
        return
            ([
                "CREATE TABLE team (code \(key) NOT NULL PRIMARY KEY, name text)", "CREATE TABLE cup (id integer PRIMARY KEY)",
                "CREATE TABLE player (id integer PRIMARY KEY, team_code \(reference) REFERENCES team (code) ON DELETE CASCADE)",
                "CREATE TABLE team_cup (team_code \(reference) NOT NULL REFERENCES team (code), cup_id integer NOT NULL REFERENCES cup (id), "
                    + "PRIMARY KEY (team_code, cup_id))",
            ] + teams + players + (1...3).map { "INSERT INTO cup VALUES (\($0))" }
            + pairs.map { "INSERT INTO team_cup VALUES ('\($0.team)', \($0.cup))" }).joined(separator: ";\n") + ";"
    }

    /// Queries for the pairs that the database finds, in the form of ``contents(of:)``.
    package static let queries = [
        "SELECT t.name || ' ' || p.id FROM player p JOIN team t ON t.code = p.team_code ORDER BY t.name, p.id",
        "SELECT t.name || ' ' || c.cup_id FROM team_cup c JOIN team t ON t.code = c.team_code ORDER BY t.name, c.cup_id",
    ]

    /// Returns the pairs that the objects have: by the rows that refer to others, by those that are referred to, and by conditions, which are equal.
    package static func contents(of context: NSManagedObjectContext) throws -> [[String]] {
        context.refreshAllObjects()
        let teams = try context.fetch(fetch("Team", by: "name"))
        func pairs(_ key: String) -> [String] {
            teams.flatMap { team in
                ids(team.value(forKey: key)).map { "\(team.value(forKey: "name") as? String ?? "-") \($0)" }
            }
        }
        let players = try context.fetch(fetch("Player", by: "id"))
        let owned = teams.flatMap { team in
            players.filter { $0.value(forKey: "team") as? NSManagedObject === team }.map {
                "\(team.value(forKey: "name") as? String ?? "-") \($0.value(forKey: "id") as? Int ?? -1)"
            }
        }
        let found = try teams.flatMap { team in
            let request = fetch("Player", by: "id")
            request.predicate = NSPredicate(format: "team == %@ AND team.name == %@", team, team.value(forKey: "name") as? String ?? "-")
            return try context.fetch(request).map {
                "\(team.value(forKey: "name") as? String ?? "-") \($0.value(forKey: "id") as? Int ?? -1)"
            }
        }
        return owned == pairs("players") && owned == found ? [owned, pairs("cups")] : [owned, pairs("players"), found, pairs("cups")]
    }

    private static func fetch(_ entity: String, by key: String) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return request
    }

    private static func ids(_ objects: Any?) -> [Int] {
        ((objects as? Set<NSManagedObject>) ?? []).compactMap { $0.value(forKey: "id") as? Int }.sorted()
    }

    // MARK: Changes

    /// Changes who refers to whom at random. Called on the queue of the context.
    package static func change(_ context: NSManagedObjectContext, using random: inout SeededGenerator) throws {
        let (teams, cups) = (try context.fetch(fetch("Team", by: "name")), try context.fetch(fetch("Cup", by: "id")))
        if teams.isEmpty { return }
        for player in try context.fetch(fetch("Player", by: "id")) where random.chance(0.3) {
            player.setValue(random.chance(0.8) ? teams[random.below(teams.count)] : nil, forKey: "team")
        }
        for team in teams where random.chance(0.5) { team.setValue(Set(cups.filter { _ in random.chance(0.5) }), forKey: "cups") }
        if teams.count > 1, random.chance(0.3) { context.delete(teams[random.below(teams.count)]) }
    }
}
