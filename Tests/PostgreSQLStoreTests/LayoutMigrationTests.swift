#if PostgreSQL
import CoreData
import Foundation
import TestSupport
import Testing

@testable import PostgreSQLStore

@Suite("Migration of a store's own tables") struct LayoutMigrationTests {
    /// The URL of a database of these tests: building indexes waits for the open transactions of others.
    private static let database = Task { try await server().database() }

    /// The versions of a model.
    enum Version { case first, second, incompatible }

    static func model(_ version: Version) -> NSManagedObjectModel {
        let isNew = version != .first
        func attribute(
            _ name: String, _ type: NSAttributeDescription.AttributeType, optional: Bool = true, from former: String? = nil,
            value: Any? = nil
        ) -> NSAttributeDescription {
            let attribute = NSAttributeDescription(name: name, type: type, isOptional: optional, defaultValue: value)
            if isNew { attribute.renamingIdentifier = former }
            return attribute
        }
        func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
            one.inverse(to: other)
            other.destinationEntity?.properties.append(one)
            one.destinationEntity?.properties.append(other)
        }
        let artist = NSEntityDescription(name: "Artist")
        let album = NSEntityDescription(name: isNew ? "Record" : "Album")
        let single = NSEntityDescription(name: "Single")
        let tag = NSEntityDescription(name: "Tag")
        album.subentities = [single]
        if isNew { album.renamingIdentifier = "Album" }
        artist.properties = [
            attribute(isNew ? "fullName" : "name", version == .incompatible ? .date : .string, optional: false, from: "name"),
            attribute("age", isNew ? .integer64 : .integer16), attribute("score", isNew ? .decimal : .double),
        ]
        album.properties = [attribute("title", .string, optional: false), attribute("year", .integer32)]
        single.properties = [attribute("side", .string)]
        tag.properties = [attribute("label", .string)]
        pair(
            NSRelationshipDescription(name: "artist", destination: artist),
            NSRelationshipDescription(name: "albums", destination: album, toMany: true, isOrdered: true))
        pair(
            NSRelationshipDescription(name: "tags", destination: tag, toMany: true),
            NSRelationshipDescription(name: isNew ? "records" : "albums", destination: album, toMany: true))
        if isNew { tag.relationshipsByName["records"]?.renamingIdentifier = "albums" }
        pair(
            NSRelationshipDescription(name: isNew ? "producers" : "producer", destination: artist, toMany: isNew),
            NSRelationshipDescription(name: "produced", destination: album, toMany: true))
        if isNew { album.relationshipsByName["producers"]?.renamingIdentifier = "producer" }
        if !isNew {
            let venue = NSEntityDescription(name: "Venue")
            venue.properties = [attribute("city", .string)]
            pair(
                NSRelationshipDescription(name: "venue", destination: venue),
                NSRelationshipDescription(name: "albums", destination: album, toMany: true))
            return NSManagedObjectModel(entities: [artist, album, single, tag, venue])
        }
        artist.properties.append(attribute("rating", .integer32, optional: false, value: 3))
        single.properties.append(attribute("speed", .integer16, value: 45))
        artist.uniquenessConstraints = [["fullName"]]
        album.indexes = [
            NSFetchIndexDescription(
                name: "byYear",
                elements: [NSFetchIndexElementDescription(property: album.properties[1], collationType: .binary)])
        ]
        // Its number comes first: all others change.
        let agent = NSEntityDescription(name: "Agent")
        agent.properties = [attribute("name", .string)]
        return NSManagedObjectModel(entities: [agent, artist, album, single, tag])
    }

    private func open(_ version: Version, _ options: PostgreSQLStoreOptions) async throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(version))
        try await coordinator.addPostgreSQLStore(at: try await Self.database.value, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func filled(_ options: PostgreSQLStoreOptions, artists: [String] = ["Nina", "Miles"]) async throws {
        let context = try await open(.first, options)
        try await context.perform {
            let people = artists.map { context.insert("Artist", ["name": $0, "age": 40, "score": 2.5]) }
            let tags = ["jazz", "live"].map { context.insert("Tag", ["label": $0]) }
            let venue = context.insert("Venue", ["city": "Paris"])
            for index in 0..<6 {
                let album = context.insert(index % 3 == 0 ? "Single" : "Album", ["title": "T\(index)", "year": 1960 + index])
                album.setValue(people[index % 2], forKey: "artist")
                album.setValue(Set([tags[index % 2]]), forKey: "tags")
                album.setValue(index < 4 ? people[1] : nil, forKey: "producer")
                album.setValue(venue, forKey: "venue")
                if index % 3 == 0 { album.setValue("A", forKey: "side") }
            }
            // An order of its own.
            people[0].setValue(
                NSOrderedSet(array: (people[0].value(forKey: "albums") as? NSOrderedSet)?.array.reversed() ?? []), forKey: "albums")
            try context.save()
        }
    }

    private func migrating(_ options: PostgreSQLStoreOptions) -> PostgreSQLStoreOptions {
        var options = options
        options.migratesAutomatically = true
        return options
    }

    /// Returns what the catalogue says about the tables, as texts.
    private func catalogue(_ options: PostgreSQLStoreOptions) async throws -> [String] {
        let url = try await Self.database.value
        let settings = try ConnectionSettings(
            try #require(URL(string: url)), schema: options.schema, statementTimeout: nil, password: nil)
        let pool = ConnectionPool(settings, limit: 1, timeout: 30)
        defer { pool.close() }
        return try await pool.with { connection in
            let result = try await connection.query(
                """
                SELECT concat_ws(' ', table_name, column_name, data_type, collation_name, column_default, is_nullable) FROM information_schema.columns
                    WHERE table_schema = $1
                UNION ALL SELECT concat_ws(' ', conrelid::regclass, contype, pg_get_constraintdef(oid)) FROM pg_constraint
                    WHERE connamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
                UNION ALL SELECT regexp_replace(indexdef, 'INDEX \\S+ ON', 'INDEX ON') FROM pg_indexes WHERE schemaname = $1
                UNION ALL SELECT 'entity ' || number || name FROM coredata_entities
                UNION ALL SELECT 'sequence ' || sequencename FROM pg_sequences WHERE schemaname = $1 ORDER BY 1
                """, [.text(options.schema)])
            return (0..<result.rowCount).map { result.text($0, 0).replacing(options.schema + ".", with: "") }
        }
    }

    @Test("Everything is there in the newer version, whose tables are those of a new store") func migration() async throws {
        let options = freshOptions()
        try await filled(options)
        let context = try await open(.second, migrating(options))
        try await context.perform {
            let nina = try context.one("Artist", "fullName == 'Nina'")
            expect(nina.value(forKey: "age") as? Int, equals: 40)
            expect(nina.value(forKey: "score") as? NSDecimalNumber, equals: NSDecimalNumber(string: "2.5"))
            expect(nina.value(forKey: "rating") as? Int, equals: 3)
            let titles = (nina.value(forKey: "albums") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "title") as? String
            }
            expect(titles, equals: ["T4", "T2", "T0"])
            let records = try context.found("Record", by: "title")
            expect(records.compactMap(\.entity.name), equals: ["Single", "Record", "Record", "Single", "Record", "Record"])
            expect(records.map { ($0.value(forKey: "producers") as? Set<NSManagedObject>)?.count }, equals: [1, 1, 1, 1, 0, 0])
            expect(
                records.compactMap { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.first?.value(forKey: "label") as? String },
                equals: ["jazz", "live", "jazz", "live", "jazz", "live"])
            try expect(context.found("Single", "speed == 45 AND side == 'A'").count, equals: 2)
            try expect(context.found("Tag", "ANY records.title == 'T5'").count, equals: 1)
            context.insert("Record", ["title": "New"]).setValue(nina, forKey: "artist")
            _ = context.insert("Agent", ["name": "Smith"])
            try context.save()
            _ = context.insert("Artist", ["fullName": "Nina"])
            #expect(throws: NSError.self) { try context.save() }
        }
        let fresh = freshOptions()
        _ = try await open(.second, fresh)
        let (migrated, new) = (try await catalogue(options), try await catalogue(fresh))
        expect(Set(migrated).symmetricDifference(new).sorted(), equals: [])
        expect(migrated.count, equals: new.count)
    }

    @Test("Of several servers that start at once, one migrates") func together() async throws {
        let options = freshOptions()
        try await filled(options)
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let context = try await open(.second, migrating(options))
                    return try await context.perform { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Record")) }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        expect(counts, equals: Array(repeating: 6, count: 8))
    }

    @Test("A dry run returns the statements and changes nothing") func dryRun() async throws {
        let options = freshOptions()
        try await filled(options)
        let before = try await catalogue(options)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(.second))
        let url = try await Self.database.value
        let statements = try await coordinator.statementsMigratingPostgreSQLStore(at: url, options: options)
        #expect(
            statements.contains("ALTER TABLE \"artist\" RENAME COLUMN \"name\" TO \"coredata_old_1\"")
                || statements.contains { $0.contains("RENAME COLUMN \"name\"") })
        #expect(statements.contains("ALTER TABLE \"artist\" ADD COLUMN \"rating\" bigint DEFAULT 3"))
        #expect(try await catalogue(options) == before)
        _ = try await open(.second, migrating(options))
        #expect(try await coordinator.statementsMigratingPostgreSQLStore(at: url, options: options).isEmpty)
    }

    private func code(_ version: Version, _ options: PostgreSQLStoreOptions) async -> Int? {
        do {
            _ = try await open(version, options)
            return nil
        } catch { return (error as NSError).code }
    }

    @Test("A store of another version is refused where it is not, cannot or must not be migrated") func refusals() async throws {
        let options = freshOptions()
        try await filled(options)
        #expect(await code(.second, options) == NSPersistentStoreIncompatibleVersionHashError)
        #expect(await code(.incompatible, migrating(options)) == NSInferredMappingModelError)
        #expect(await code(.second, migrating(options)) == nil)
        // The program of the older version does not take the store back.
        #expect(await code(.first, migrating(options)) == NSPersistentStoreIncompatibleVersionHashError)
        #expect(await code(.second, options) == nil)
    }

    @Test("Rows that the newer version forbids leave everything as it was") func forbidden() async throws {
        let options = freshOptions()
        try await filled(options, artists: ["Nina", "Nina"])
        let before = try await catalogue(options)
        #expect(await code(.second, migrating(options)) == NSMigrationError)
        #expect(try await catalogue(options) == before)
        #expect(await code(.first, options) == nil)
    }

    @Test("The history names entities and properties as the newer version does") func history() async throws {
        var options = freshOptions()
        options.tracksHistory = true
        try await filled(options)
        let context = try await open(.second, migrating(options))
        try await context.perform {
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
            let transactions = try #require((result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
            let changes = transactions.flatMap { $0.changes ?? [] }
            let counts = Dictionary(changes.map { ($0.changedObjectID.entity.name ?? "", 1) }, uniquingKeysWith: +)
            expect(counts, equals: ["Artist": 2, "Record": 4, "Single": 2, "Tag": 2])
        }
    }

    @Test("A container migrates as its description says") func container() async throws {
        let options = freshOptions()
        try await filled(options)
        let container = NSPersistentContainer(name: "Music", managedObjectModel: Self.model(.second))
        let url = try await Self.database.value
        let description = NSPersistentStoreDescription(postgreSQL: try #require(URL(string: url)), options: options)
        container.persistentStoreDescriptions = [description]
        let error: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { continuation.resume(returning: $1) }
        }
        #expect(error == nil)
    }
}
#endif
