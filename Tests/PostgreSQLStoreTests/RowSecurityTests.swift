#if PostgreSQL
import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import PostgreSQLStore

/// Settings of transactions, by which policies of the database tell tenants apart.
@Suite("Row-level security") struct RowSecurityTests {
    /// A store whose table is under a policy, and a user whom the policy is for.
    private struct Tenants {
        let options: PostgreSQLStoreOptions
        let owner: NSPersistentStoreCoordinator
        /// The coordinator of the user, over one connection.
        let user: NSPersistentStoreCoordinator
        let pool: ConnectionPool

        static func model() -> NSManagedObjectModel {
            let note = NSEntityDescription(name: "Note")
            let line = NSEntityDescription(name: "Line")
            let lines = NSRelationshipDescription(name: "lines", destination: line, toMany: true)
            let parent = NSRelationshipDescription(name: "note", destination: note)
            parent.inverse(to: lines)
            func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
                NSAttributeDescription(name: name, type: type)
            }
            note.properties = [attribute("tenant", .string), attribute("number", .integer64), attribute("mark", .integer64), lines]
            line.properties = [attribute("tenant", .string), attribute("text", .string), parent]
            return NSManagedObjectModel(entities: [note, line])
        }

        init() async throws {
            var options = freshOptions()
            owner = try await coordinator(options, Self.model())
            pool = try rawPool(options)
            let (schema, role) = (options.schema, "user_" + options.schema)
            try await pool.with { connection in
                try await connection.execute(
                    """
                    CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role);
                    GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO \(role); GRANT ALL ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role);
                    ALTER TABLE note ENABLE ROW LEVEL SECURITY; ALTER TABLE line ENABLE ROW LEVEL SECURITY;
                    CREATE POLICY tenants ON note USING (tenant = current_setting('app.tenant'));
                    CREATE POLICY tenants ON line USING (tenant = current_setting('app.tenant'));
                    """)
            }
            options.connectionLimit = 1
            // Beside tests that compute for minutes, a request may wait long for its turn.
            options.connectionTimeout = 300
            self.options = options
            user = try await coordinator(options, Self.model(), url: server().url.replacing("tester", with: role))
        }

        func context(_ tenant: String) throws -> NSManagedObjectContext {
            PostgreSQLStoreTests.context(try user.coordinator(databaseSettings: ["app.tenant": tenant]))
        }

        /// Saves notes of a tenant, with two lines each.
        func fill(_ tenant: String, _ count: Int) async throws {
            let context = try context(tenant)
            try await context.perform {
                for number in 0..<count {
                    let note = context.insert("Note", ["tenant": tenant, "number": number])
                    for part in ["a", "b"] {
                        context.insert("Line", ["tenant": tenant, "text": "\(tenant) \(number) \(part)"]).setValue(note, forKey: "note")
                    }
                }
                try context.save()
            }
        }
    }

    /// Reads in one of several ways, and returns the tenants of what was read.
    private static func read(_ number: Int, _ context: NSManagedObjectContext) async throws -> Set<String> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "number == %d", number % 40)
        func tenants(_ objects: some Sequence<NSManagedObject>) -> Set<String> {
            Set(objects.map { $0.value(forKey: "tenant") as? String ?? "none" })
        }
        switch number % 5 {
        case 0:
            request.returnsObjectsAsFaults = false
            return try await context.perform { tenants(try context.fetch(request)) }
        case 1:
            // Faults, and a relationship.
            request.includesPropertyValues = false
            return try await context.perform {
                let notes = try context.fetch(request)
                let lines = notes.compactMap { $0.value(forKey: "lines") as? Set<NSManagedObject> }.joined()
                expect(lines.count, equals: 2)
                return tenants(notes).union(tenants(lines))
            }
        case 2:
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Line")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["tenant"]
            return try await context.perform { Set(try context.fetch(dictionaries).map { $0["tenant"] as? String ?? "none" }) }
        case 3:
            return try await context.perform {
                try expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Line")), equals: 80)
                let notes = try context.fetch(request)
                context.refreshAllObjects()
                return tenants(notes)
            }
        default:
            return try await context.perform {
                let notes = try context.fetch(request)
                notes.first?.setValue(number, forKey: "mark")
                try context.save()
                return tenants(notes)
            }
        }
    }

    @Test("Thousands of interleaved reads and saves of two tenants over one connection see only their own") func tenants() async throws {
        let tenants = try await Tenants()
        try await tenants.fill("blue", 40)
        try await tenants.fill("red", 40)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tenant in ["blue", "red", "blue", "red"] {
                let context = try tenants.context(tenant)
                // The two contexts of a tenant write the same rows.
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                group.addTask {
                    for number in 0..<1000 {
                        let seen = try await Self.read(number, context)
                        expect(seen, equals: [tenant], "\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        let counts = try await tenants.pool.with { connection in
            let result = try await connection.query("SELECT tenant, count(*), count(DISTINCT number) FROM note GROUP BY 1 ORDER BY 1")
            return (0..<result.rowCount).map { "\(result.text($0, 0)) \(result.integer($0, 1)) \(result.integer($0, 2))" }
        }
        expect(counts, equals: ["blue 40 40", "red 40 40"])
    }

    @Test("What one tenant has loaded is not there for another, and cannot be saved by it") func caches() async throws {
        let tenants = try await Tenants()
        try await tenants.fill("blue", 1)
        let (blue, red) = (try tenants.context("blue"), try tenants.context("red"))
        let uri = try await blue.perform {
            let note = try #require(try blue.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
            expect(note.value(forKey: "tenant") as? String, equals: "blue")
            return note.objectID.uriRepresentation()
        }
        try await red.perform {
            let id = try #require(red.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
            #expect(throws: NSError.self) { try red.existingObject(with: id) }
            // A row of another tenant cannot be made, either.
            red.insert("Note", ["tenant": "blue"])
            let error = #expect(throws: NSError.self) { try red.save() }
            #expect(error.map { "\($0.userInfo)".contains("row-level security") } ?? false)
            red.rollback()
        }
        // Who has no setting is of no tenant: once a session has had one, PostgreSQL says that it is empty.
        let plain = context(tenants.user)
        try await plain.perform { try expect(plain.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")), equals: 0) }
        try await blue.perform { try expect(blue.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")), equals: 1) }
    }

    @Test("Settings end with their transaction; equal ones share a coordinator, and with it what is loaded")
    func transactions() async throws {
        let tenants = try await Tenants()
        try await tenants.fill("blue", 1)
        let store = try #require(tenants.user.persistentStores.first as? DatabaseStore)
        let left = try await store.content.pool.with { connection in
            try await connection.query("SELECT coalesce(current_setting('app.tenant', true), '')").text(0, 0)
        }
        #expect(left.isEmpty)
        expect(store.content.pool.count, equals: 1)
        let blue = try tenants.user.coordinator(databaseSettings: ["app.tenant": "blue"])
        let red = try blue.coordinator(databaseSettings: ["app.tenant": "red"])
        #expect(try tenants.user.coordinator(databaseSettings: ["app.tenant": "blue"]) === blue)
        #expect(red !== blue && red.databaseSettings == ["app.tenant": "red"] && tenants.user.databaseSettings.isEmpty)
        for settings in [["search_path": "public"], ["": "x"], ["app.tenant": "a\0"]] {
            #expect(throws: NSError.self) { try tenants.user.coordinator(databaseSettings: settings) }
        }
    }

    @Test("A container makes contexts of tenants, whose saves are not told to others") func container() async throws {
        let options = freshOptions()
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: Tenants.model())
        let url = try #require(URL(string: server().url))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(postgreSQL: url, options: options)]
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { continuation.resume(returning: $1) }
        }
        #expect(failure == nil)
        let (blue, other) = (
            try container.newBackgroundContext(databaseSettings: ["app.tenant": "blue"]),
            try container.newBackgroundContext(databaseSettings: ["app.tenant": "red"])
        )
        other.automaticallyMergesChangesFromParent = true
        expect(blue.persistentStoreCoordinator?.databaseSettings, equals: ["app.tenant": "blue"])
        #expect(blue.persistentStoreCoordinator !== other.persistentStoreCoordinator)
        try await blue.perform {
            blue.insert("Note", ["tenant": "blue", "number": 7])
            try blue.save()
        }
        await other.perform { #expect(other.registeredObjects.isEmpty) }
        let root = container.newBackgroundContext()
        // No policy keeps the owner of the tables from seeing the row.
        try await root.perform { try expect(root.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")), equals: 1) }
    }

    @Test("Tables of another program are read and saved under policies, with settings of the whole store") func existing() async throws {
        let database = try await LibraryDatabase(
            """
            CREATE TABLE notes (id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, tenant text NOT NULL, word text);
            INSERT INTO notes (tenant, word) VALUES ('blue', 'sea'), ('red', 'fire');
            ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
            CREATE POLICY tenants ON notes USING (tenant = current_setting('app.tenant'));
            CREATE ROLE group_of_blue;
            """)
        try await database.execute(
            "GRANT USAGE ON SCHEMA \(database.options.schema) TO group_of_blue; GRANT ALL ON notes TO group_of_blue")
        var options = database.options
        options.databaseSettings = ["app.tenant": "blue", "role": "group_of_blue"]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try await database.draft().model)
        try await coordinator.addPostgreSQLStore(at: database.url, options: options)
        let context = context(coordinator)
        try await context.perform {
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Notes"))
            expect(notes.map { $0.value(forKey: "word") as? String }, equals: ["sea"])
            notes.first?.setValue("sky", forKey: "word")
            context.insert("Notes", ["tenant": "blue", "word": "ink"])
            try context.save()
        }
        #expect(try await database.texts("SELECT tenant || ' ' || word FROM notes ORDER BY 1") == ["blue ink", "blue sky", "red fire"])
    }
}
#endif
