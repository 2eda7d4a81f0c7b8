import CoreData
import Foundation

extension TableCase {
    private static let tree = """
        CREATE TABLE folder (id INTEGER PRIMARY KEY, name TEXT, up_id INTEGER REFERENCES folder (id) ON DELETE CASCADE);
        INSERT INTO folder VALUES (1, 'a', NULL), (2, 'b', 1), (3, 'c', 2), (4, 'd', 1), (5, 'e', NULL);
        """

    /// Two tables that refer to each other, as pairs of rows.
    private static func circle(_ database: Database, _ first: String, _ second: String) -> String {
        let data = """
            INSERT INTO hub VALUES (1, NULL), (2, NULL), (3, NULL); INSERT INTO spoke VALUES (1, 1), (2, 2), (3, 3);
            UPDATE hub SET main_id = id;
            """
        switch database {
        case .sqlite:
            return """
                CREATE TABLE hub (id INTEGER PRIMARY KEY, main_id INTEGER REFERENCES spoke \(first));
                CREATE TABLE spoke (id INTEGER PRIMARY KEY, hub_id INTEGER REFERENCES hub \(second)); \(data)
                """
        case .postgreSQL:
            return """
                CREATE TABLE hub (id INTEGER PRIMARY KEY, main_id INTEGER);
                CREATE TABLE spoke (id INTEGER PRIMARY KEY, hub_id INTEGER REFERENCES hub \(second));
                ALTER TABLE hub ADD FOREIGN KEY (main_id) REFERENCES spoke \(first); \(data)
                """
        }
    }

    private static let circles = [
        ("CASCADE", "ON DELETE CASCADE", "ON DELETE CASCADE"), ("SET NULL", "ON DELETE SET NULL", "ON DELETE SET NULL"),
        ("CASCADE and SET NULL", "ON DELETE CASCADE", "ON DELETE SET NULL"), ("NO ACTION", "", ""),
        ("RESTRICT", "ON DELETE RESTRICT", "ON DELETE RESTRICT"),
    ]

    static let deletions: [TableCase] =
        [
            TableCase(
                "the root of a tree with ON DELETE CASCADE is deleted", tree, query: "SELECT name FROM folder ORDER BY 1", expected: ["e"]
            ) {
                context in
                if let root = try context.byID("Folder")[1] { context.delete(root) }
            },
            TableCase(
                "a tree is deleted, and a row of it moves away", tree, query: "SELECT name FROM folder ORDER BY 1", expected: ["c", "e"]
            ) {
                context in
                let folders = try context.byID("Folder")
                folders[3]?.setValue(folders[5], forKey: "up")
                if let root = folders[1] { context.delete(root) }
            },
            TableCase(
                "a row moves from a deleted row to a new one", tree, query: "SELECT name FROM folder ORDER BY 1",
                expected: ["c", "e", "new"]
            ) { context in
                let folders = try context.byID("Folder")
                folders[3]?.setValue(context.make("Folder", ["id": 9, "name": "new"]), forKey: "up")
                if let root = folders[1] { context.delete(root) }
            },
            TableCase(
                "rows that refer to each other with ON DELETE SET NULL are deleted",
                """
                CREATE TABLE step (id INTEGER PRIMARY KEY, next_id INTEGER REFERENCES step (id) ON DELETE SET NULL);
                INSERT INTO step VALUES (1, NULL), (2, 1), (3, 2), (4, 3); UPDATE step SET next_id = 3 WHERE id = 1;
                """, query: "SELECT id FROM step ORDER BY 1", expected: ["4"]
            ) { context in
                let steps = try context.byID("Step")
                for id in [1, 2, 3] { if let step = steps[id] { context.delete(step) } }
            },
            TableCase(
                "a row is changed whose reference is set to NULL",
                """
                CREATE TABLE club (id INTEGER PRIMARY KEY);
                CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT, club_id INTEGER REFERENCES club (id) ON DELETE SET NULL);
                INSERT INTO club VALUES (1); INSERT INTO member VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1);
                """, query: "SELECT name FROM member WHERE club_id IS NULL ORDER BY 1", expected: ["b", "z"]
            ) { context in
                let members = try context.byID("Member")
                members[1]?.setValue("z", forKey: "name")
                if let gone = members[3] { context.delete(gone) }
                if let club = try context.byID("Club")[1] { context.delete(club) }
            },
            TableCase(
                "a chain of 1,500 rows is deleted",
                { database in
                    let numbers =
                        database == .sqlite
                        ? "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i, nullif(i - 1, 0) FROM n"
                        : "SELECT i, nullif(i - 1, 0) FROM generate_series(1, 1500) AS i"
                    return """
                        CREATE TABLE link (id INTEGER PRIMARY KEY, up_id INTEGER REFERENCES link (id) ON DELETE CASCADE);
                        INSERT INTO link \(numbers); CREATE INDEX link_up ON link (up_id);
                        """
                }, query: "SELECT count(*) FROM link", expected: ["0"]
            ) { context in
                if let first = try context.byID("Link")[1] { context.delete(first) }
            },
            TableCase(
                "a ring of 1,200 rows is deleted",
                { database in
                    let numbers =
                        database == .sqlite
                        ? "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) SELECT i, NULL FROM n"
                        : "SELECT i, NULL FROM generate_series(1, 1200) AS i"
                    return """
                        CREATE TABLE link (id INTEGER PRIMARY KEY, up_id INTEGER REFERENCES link (id) ON DELETE CASCADE);
                        INSERT INTO link \(numbers); UPDATE link SET up_id = id % 1200 + 1; CREATE INDEX link_up ON link (up_id);
                        """
                }, query: "SELECT count(*) FROM link", expected: ["0"]
            ) { context in
                if let first = try context.byID("Link")[1] { context.delete(first) }
            },
            TableCase(
                "a chain of 1,500 new rows is saved",
                "CREATE TABLE link (id INTEGER PRIMARY KEY, up_id INTEGER REFERENCES link (id) ON DELETE CASCADE);",
                query: "SELECT count(*) FROM link a JOIN link b ON b.id = a.up_id", expected: ["1499"]
            ) { context in
                let all = (0..<1500).map { context.make("Link", ["id": $0 + 1]) }
                for (link, next) in zip(all, all.dropFirst()) { link.setValue(next, forKey: "up") }
            },
        ]
        + circles.map { name, first, second in
            TableCase(
                "two tables whose rows refer to each other: \(name)", { circle($0, first, second) },
                query: "SELECT id FROM hub UNION ALL SELECT id FROM spoke ORDER BY 1", expected: ["3", "3"]
            ) { context in
                let (hubs, spokes) = (try context.byID("Hub"), try context.byID("Spoke"))
                for id in [1, 2] {
                    let (hub, spoke) = (hubs[id], spokes[id])
                    if name == "NO ACTION" || name == "RESTRICT" {
                        hub?.setValue(nil, forKey: "main")
                        spoke?.setValue(nil, forKey: "hub")
                    }
                    for object in [hub, spoke].compactMap(\.self) where !object.isDeleted { context.delete(object) }
                }
            }
        }
}
