import CoreData
import Foundation

extension TableCase {
    private static let codes = """
        CREATE TABLE part (id INTEGER PRIMARY KEY, code TEXT UNIQUE, tag VARCHAR(3) NOT NULL UNIQUE CHECK (length(tag) = 3),
            shelf INTEGER NOT NULL, place INTEGER NOT NULL, UNIQUE (shelf, place));
        INSERT INTO part VALUES (1, 'c1', 'aaa', 1, 1), (2, 'c2', 'bbb', 1, 2), (3, 'c3', 'ccc', 1, 3), (4, NULL, 'ddd', 2, 1);
        """

    /// Gives objects the values that other objects have had.
    private static func move(_ key: String, _ moves: [Int: Int]) -> @Sendable (NSManagedObjectContext) throws -> Void {
        { context in
            let parts = try context.byID("Part")
            let values = parts.mapValues { $0.value(forKey: key) }
            for (id, from) in moves { parts[id]?.setValue(values[from] ?? nil, forKey: key) }
        }
    }

    private static func list(_ column: String) -> String { "SELECT id || \(column) FROM part ORDER BY id" }

    static let uniqueness: [TableCase] = [
        TableCase(
            "two rows exchange unique values", codes, query: list("coalesce(code, '-')"), expected: ["1c2", "2c1", "3c3", "4-"],
            change: move("code", [1: 2, 2: 1])),
        TableCase(
            "three rows exchange unique values, and one gives its up", codes, query: list("coalesce(code, '-')"),
            expected: ["1c2", "2c3", "3-", "4c1"], change: move("code", [1: 2, 2: 3, 3: 4, 4: 1])),
        TableCase(
            "three rows exchange unique values that are never NULL and that a rule checks", codes, query: list("tag"),
            expected: ["1bbb", "2ccc", "3aaa", "4ddd"], change: move("tag", [1: 2, 2: 3, 3: 1])),
        TableCase(
            "rows exchange places that are unique together", codes, query: list("'/' || shelf || '/' || place"),
            expected: ["1/1/3", "2/1/2", "3/1/1", "4/2/1"], change: move("place", [1: 3, 3: 1])),
        TableCase(
            "a row is put before others, whose positions count on",
            """
            CREATE TABLE song (id INTEGER PRIMARY KEY, position INTEGER NOT NULL UNIQUE CHECK (position > 0));
            INSERT INTO song VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5);
            """, query: "SELECT id FROM song ORDER BY position", expected: ["5", "9", "1", "2", "3", "4"]
        ) { context in
            let songs = try context.byID("Song")
            for id in 1...4 { songs[id]?.setValue(id + 2, forKey: "position") }
            songs[5]?.setValue(1, forKey: "position")
            context.make("Song", ["id": 9, "position": 2])
        },
        TableCase(
            "a deleted row's unique value is another's, which has referred to it",
            """
            CREATE TABLE page (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, old_id INTEGER REFERENCES page (id) ON DELETE SET NULL);
            INSERT INTO page VALUES (1, 'home', NULL), (2, 'draft', 1);
            """, query: "SELECT id || slug FROM page ORDER BY 1", expected: ["2home"]
        ) { context in
            let pages = try context.byID("Page")
            if let old = pages[1] { context.delete(old) }
            pages[2]?.setValue("home", forKey: "slug")
        },
        TableCase(
            "a row gives its unique value to the new one that it refers to",
            """
            CREATE TABLE page (id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, next_id INTEGER REFERENCES page (id));
            INSERT INTO page VALUES (1, 'home', NULL);
            """, query: "SELECT id || slug || coalesce(next_id, 0) FROM page ORDER BY 1", expected: ["1old2", "2home0"]
        ) { context in
            let first = try context.byID("Page")[1]
            first?.setValue(context.make("Page", ["id": 2, "slug": "home"]), forKey: "next")
            first?.setValue("old", forKey: "slug")
        },
        TableCase(
            "a row is replaced by one with its unique value, and what refers to it moves",
            """
            CREATE TABLE rack (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
            CREATE TABLE box (id INTEGER PRIMARY KEY, rack_id INTEGER NOT NULL REFERENCES rack (id) ON DELETE CASCADE);
            INSERT INTO rack VALUES (1, 'left'); INSERT INTO box VALUES (1, 1), (2, 1);
            """, query: "SELECT b.id || label || r.id FROM box b JOIN rack r ON r.id = rack_id ORDER BY 1",
            expected: ["1left2", "2left2"]
        ) { context in
            let new = context.make("Rack", ["id": 2, "label": "left"])
            for box in try context.byID("Box").values { box.setValue(new, forKey: "rack") }
            if let old = try context.byID("Rack")[1] { context.delete(old) }
        },
        TableCase(
            "rows exchange the rows that belong to one of them alone",
            """
            CREATE TABLE seat (id INTEGER PRIMARY KEY);
            CREATE TABLE guest (id INTEGER PRIMARY KEY, seat_id INTEGER NOT NULL UNIQUE REFERENCES seat (id));
            INSERT INTO seat VALUES (1), (2), (3); INSERT INTO guest VALUES (1, 1), (2, 2);
            """, query: "SELECT id || '-' || seat_id FROM guest ORDER BY 1", expected: ["1-2", "2-1"]
        ) { context in
            let (guests, seats) = (try context.byID("Guest"), try context.byID("Seat"))
            guests[1]?.setValue(seats[2], forKey: "seat")
            guests[2]?.setValue(seats[1], forKey: "seat")
        },
        TableCase(
            "another row is the one that may be there once, by a partial index",
            """
            CREATE TABLE address (id INTEGER PRIMARY KEY, owner INTEGER NOT NULL CHECK (owner > 0), is_main INTEGER NOT NULL, word TEXT);
            CREATE UNIQUE INDEX address_main ON address (owner) WHERE is_main = 1;
            INSERT INTO address VALUES (1, 7, 1, 'a'), (2, 7, 0, 'b'), (3, 8, 1, 'c'), (4, 8, 0, 'd');
            """, query: "SELECT id || '-' || is_main FROM address ORDER BY 1", expected: ["1-0", "2-1", "3-0", "4-1"]
        ) { context in
            let addresses = try context.byID("Address")
            for id in [2, 4] { addresses[id]?.setValue(1, forKey: "isMain") }
            for id in [1, 3] { addresses[id]?.setValue(0, forKey: "isMain") }
        },
        TableCase(
            "rows exchange values in a partial index",
            """
            CREATE TABLE job (id INTEGER PRIMARY KEY, slot INTEGER NOT NULL, is_open INTEGER NOT NULL);
            CREATE UNIQUE INDEX job_slot ON job (slot) WHERE is_open = 1;
            INSERT INTO job VALUES (1, 1, 1), (2, 2, 1), (3, 1, 0);
            """, query: "SELECT id || '-' || slot FROM job ORDER BY 1", expected: ["1-2", "2-1", "3-2"]
        ) { context in
            let jobs = try context.byID("Job")
            for (id, slot) in [1: 2, 2: 1, 3: 2] { jobs[id]?.setValue(slot, forKey: "slot") }
        },
        TableCase(
            "rows exchange values in an index of an expression, with capitals",
            """
            CREATE TABLE person (id INTEGER PRIMARY KEY, mail TEXT NOT NULL);
            CREATE UNIQUE INDEX person_mail ON person (lower(mail));
            INSERT INTO person VALUES (1, 'ada@x'), (2, 'bob@x');
            """, query: "SELECT id || mail FROM person ORDER BY 1", expected: ["1BOB@x", "2Ada@x"]
        ) { context in
            let people = try context.byID("Person")
            people[1]?.setValue("BOB@x", forKey: "mail")
            people[2]?.setValue("Ada@x", forKey: "mail")
        },
        TableCase(
            "2,000 positions count on",
            { database in
                let numbers =
                    database == .sqlite
                    ? "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, i FROM n"
                    : "SELECT i, i FROM generate_series(1, 2000) AS i"
                return "CREATE TABLE entry (id INTEGER PRIMARY KEY, position INTEGER NOT NULL UNIQUE); INSERT INTO entry \(numbers);"
            }, query: "SELECT count(*) FROM entry WHERE position = id % 2000 + 1", expected: ["2000"]
        ) { context in
            for (id, entry) in try context.byID("Entry") { entry.setValue(id % 2000 + 1, forKey: "position") }
        },
        TableCase(
            "what belongs to one row alone is given to another, by a table of pairs",
            """
            CREATE TABLE key (id INTEGER PRIMARY KEY); CREATE TABLE ring (id INTEGER PRIMARY KEY);
            CREATE TABLE key_ring (key_id INTEGER NOT NULL UNIQUE REFERENCES key (id), ring_id INTEGER NOT NULL REFERENCES ring (id),
                PRIMARY KEY (key_id, ring_id));
            INSERT INTO key VALUES (1), (2), (3); INSERT INTO ring VALUES (1), (2); INSERT INTO key_ring VALUES (1, 1), (2, 1), (3, 2);
            """, query: "SELECT ring_id || '-' || key_id FROM key_ring ORDER BY 1", expected: ["1-1", "1-3", "2-2"]
        ) { context in
            let (keys, rings) = (try context.byID("Key"), try context.byID("Ring"))
            rings[1]?.setValue(Set([1, 3].compactMap { keys[$0] }), forKey: "keys")
            rings[2]?.setValue(Set([2].compactMap { keys[$0] }), forKey: "keys")
        },
    ]
}
