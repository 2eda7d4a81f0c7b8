#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Partitioned tables of another program") struct PartitionTests {
    private static let tables = """
        CREATE TABLE rooms (id serial PRIMARY KEY, name text NOT NULL);
        CREATE TABLE sensors (id integer PRIMARY KEY, label text NOT NULL, room_id integer REFERENCES rooms) PARTITION BY HASH (id);
        CREATE TABLE sensors_0 PARTITION OF sensors FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE sensors_1 PARTITION OF sensors FOR VALUES WITH (MODULUS 2, REMAINDER 1);
        CREATE TABLE readings (
            sensor_id integer NOT NULL REFERENCES sensors, day date NOT NULL, value integer, PRIMARY KEY (sensor_id, day))
            PARTITION BY RANGE (day);
        CREATE TABLE readings_2001 PARTITION OF readings FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
        CREATE TABLE readings_2002 PARTITION OF readings FOR VALUES FROM ('2002-01-01') TO ('2003-01-01');
        CREATE TABLE notes (id serial, year integer NOT NULL, text text) PARTITION BY RANGE (year);
        CREATE TABLE notes_old PARTITION OF notes FOR VALUES FROM (0) TO (2000);
        CREATE TABLE visits (id integer PRIMARY KEY, place text, seen integer NOT NULL) PARTITION BY RANGE (id);
        CREATE TABLE visits_low PARTITION OF visits FOR VALUES FROM (0) TO (1000);
        CREATE TABLE visits_high PARTITION OF visits FOR VALUES FROM (1000) TO (2000);
        INSERT INTO rooms (name) VALUES ('kitchen'), ('cellar');
        INSERT INTO sensors SELECT n, 's' || n, n % 2 + 1 FROM generate_series(1, 8) n;
        INSERT INTO readings SELECT s, '2001-12-28'::date + d, s * 100 + d FROM generate_series(1, 8) s, generate_series(0, 9) d;
        INSERT INTO visits SELECT n * 300, 'p' || n, 0 FROM generate_series(0, 5) n;
        """

    @Test("They are one entity each, without their partitions, and are walked to and from") func walking() async throws {
        let database = try await LibraryDatabase(Self.tables)
        let draft = try await database.draft()
        expect(draft.model.entities.compactMap(\.name).sorted(), equals: ["Notes", "Readings", "Rooms", "Sensors", "Visits"])
        // Nothing names its rows.
        expect(draft.model.entitiesByName["Notes"]?.userInfo?["keyColumns"] as? String, equals: "*")
        #expect(draft.unmapped.isEmpty && draft.notes.allSatisfy { !$0.contains("notes_old") })
        let context = try await database.open()
        try await context.perform {
            let sensors = try context.found("Sensors", by: "id")
            expect(sensors.map { $0.value(forKey: "label") as? String }, equals: (1...8).map { "s\($0)" })
            expect((sensors[2].value(forKey: "room") as? NSManagedObject)?.value(forKey: "name") as? String, equals: "cellar")
            expect((sensors[2].value(forKey: "readings") as? Set<NSManagedObject>)?.count, equals: 10)
            let late = try context.found("Readings", "sensor.room.name == 'kitchen' AND modulus:by:(value, 100) > 5")
            expect(Set(late.compactMap { $0.value(forKey: "value") as? Int }).count, equals: 16)
        }
    }

    @Test("A foreign key that all partitions have is a relationship, and notes say of one that only some have") func references()
        async throws
    {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE customers (id integer PRIMARY KEY, name text);
            CREATE TABLE shops (id integer PRIMARY KEY, city text);
            CREATE TABLE payments (
                id integer, paid date, customer_id integer NOT NULL, shop_id integer, PRIMARY KEY (id, paid)) PARTITION BY RANGE (paid);
            CREATE TABLE payments_2001 PARTITION OF payments FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
            CREATE TABLE payments_late PARTITION OF payments FOR VALUES FROM ('2002-01-01') TO ('2004-01-01') PARTITION BY RANGE (paid);
            CREATE TABLE payments_2002 PARTITION OF payments_late FOR VALUES FROM ('2002-01-01') TO ('2003-01-01');
            CREATE TABLE payments_2003 PARTITION OF payments_late FOR VALUES FROM ('2003-01-01') TO ('2004-01-01');
            ALTER TABLE payments_2001 ADD CONSTRAINT payer FOREIGN KEY (customer_id) REFERENCES customers ON DELETE CASCADE;
            ALTER TABLE payments_late ADD CONSTRAINT late_payer FOREIGN KEY (customer_id) REFERENCES customers ON DELETE CASCADE;
            ALTER TABLE payments_2002 ADD CONSTRAINT place FOREIGN KEY (shop_id) REFERENCES shops;
            CREATE TABLE receipts (
                id integer PRIMARY KEY, payment integer, paid date, FOREIGN KEY (payment, paid) REFERENCES payments_2001 (id, paid));
            INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo');
            INSERT INTO payments VALUES (1, '2001-05-05', 1), (2, '2002-05-05', 2), (3, '2003-05-05', 1);
            """)
        let draft = try await database.draft()
        let payments = try #require(draft.model.entitiesByName["Payments"])
        expect(payments.relationshipsByName.keys.sorted(), equals: ["customer"])
        expect(payments.relationshipsByName["customer"]?.inverseRelationship?.deleteRule, equals: .cascadeDeleteRule)
        #expect(payments.attributesByName["shopId"] != nil)
        #expect(
            draft.notes.contains {
                $0.hasPrefix("The foreign key place of payments_2002, a partition of payments, to shops is not that of every partition")
            }, "\(draft.notes)")
        #expect(
            draft.unmapped.contains { $0.hasPrefix("The foreign key receipts_payment_paid_fkey of receipts: it leads to payments_2001") },
            "\(draft.unmapped)")
        let context = try await database.open(draft.model)
        try await context.perform {
            let ada = try context.one("Customers", "ANY payments.id == 3")
            expect((ada.value(forKey: "payments") as? Set<NSManagedObject>)?.count, equals: 2)
        }
    }

    @Test("Rows are inserted, changed and deleted in the partitions that they belong to, and others' changes are conflicts")
    func saving() async throws {
        let database = try await LibraryDatabase(Self.tables)
        let context = try await database.open()
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        try await context.perform {
            let new = context.insert("Sensors", ["id": 20, "label": "new"])
            new.setValue(try context.one("Rooms", "name == 'cellar'"), forKey: "room")
            for (day, value) in [(0.0, 1), (400.0, 2)] {
                context.insert(
                    "Readings", ["day": Date(timeIntervalSinceReferenceDate: day * 86_400), "value": value]
                ).setValue(new, forKey: "sensor")
            }
            try context.found("Readings", "sensor.id == 4").forEach(context.delete)
            try context.one("Sensors", "id == 5").setValue("five", forKey: "label")
            try context.found("Visits").forEach { $0.setValue(1, forKey: "seen") }
            try context.save()
        }
        #expect(
            try await database.texts(
                """
                SELECT concat_ws('|', (SELECT count(*) FROM readings_2001), (SELECT count(*) FROM readings_2002),
                    (SELECT string_agg(label, ',' ORDER BY id) FROM sensors WHERE id IN (5, 20)), (SELECT sum(seen) FROM visits_low),
                    (SELECT sum(seen) FROM visits_high))
                """) == ["29|43|five,new|4|2"])
        try await context.perform {
            let mine = try context.one("Visits", "place == 'p5'")
            expect(mine.value(forKey: "seen") as? Int, equals: 1)
            // Another context changes the row.
            try other.performAndWait {
                try other.existingObject(with: mine.objectID).setValue(7, forKey: "seen")
                try other.save()
            }
            mine.setValue("elsewhere", forKey: "place")
            do {
                try context.save()
                Issue.record("Nobody has noticed")
            } catch { expect((error as NSError).code, equals: 133020, "\(error)") }
        }
    }
}
#endif
