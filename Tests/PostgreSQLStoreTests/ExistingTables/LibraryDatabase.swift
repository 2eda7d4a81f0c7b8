#if PostgreSQL
import CoreData
import Foundation
import Testing

@testable import PostgreSQLStore

/// A schema as other programs make them, in the server of the tests.
struct LibraryDatabase {
    let options: PostgreSQLStoreOptions
    let url: String

    init(_ script: String = Self.script) async throws {
        var options = freshOptions()
        options.layout = .existing
        options.connectionLimit = 4
        self.options = options
        url = try server().url
        try await execute("CREATE SCHEMA \(options.schema)")
        try await execute(script)
    }

    /// A database of that name, whose schema `public` another program has filled.
    init(existing name: String) throws {
        var options = PostgreSQLStoreOptions()
        options.layout = .existing
        options.connectionLimit = 4
        self.options = options
        url = try server().url.replacing("/postgres", with: "/" + name)
    }

    private func connected<Result: Sendable>(_ body: @Sendable (Connection) async throws -> Result) async throws -> Result {
        let pool = try ConnectionPool(try #require(URL(string: url)), options, .existing)
        defer { pool.close() }
        return try await pool.with(body)
    }

    func execute(_ script: String) async throws { try await connected { try await $0.execute(script) } }

    /// Returns the first column of a query, as text.
    func texts(_ query: String) async throws -> [String] {
        try await connected { connection in
            let result = try await connection.query("SELECT coalesce(value::text, 'NULL') FROM (\(query)) AS q (value)")
            return (0..<result.rowCount).map { result.text($0, 0) }
        }
    }

    func draft() async throws -> PostgreSQLModelDraft { try await PostgreSQLModelDraft(of: url, options: options) }

    /// Opens the schema with a model; the drafted one by default.
    func open(_ model: NSManagedObjectModel? = nil, at other: String? = nil, isReadOnly: Bool = false) async throws
        -> NSManagedObjectContext
    {
        let drafted = try await draft().model
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model ?? drafted)
        try await coordinator.addPostgreSQLStore(at: other ?? url, options: options, isReadOnly: isReadOnly)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    static let script = """
        CREATE TYPE mood AS ENUM ('calm', 'cross');
        CREATE DOMAIN short_text AS varchar(20) NOT NULL CHECK (value <> '');
        CREATE TYPE place AS (street text, number integer);
        CREATE TABLE countries (code char(2) PRIMARY KEY, name text NOT NULL);
        CREATE TABLE authors (
            id serial PRIMARY KEY, full_name text NOT NULL, country_code char(2) REFERENCES countries ON DELETE SET NULL,
            state mood NOT NULL DEFAULT 'calm', nicknames text[], scores integer[] NOT NULL DEFAULT '{}', extra jsonb, home place,
            fame real, born date, alarm time, address inet, joined timestamp, seen timestamptz NOT NULL DEFAULT now(),
            mentor_id integer REFERENCES authors, upper_name text GENERATED ALWAYS AS (upper(full_name)) STORED);
        CREATE TABLE author_profiles (
            author_id integer PRIMARY KEY REFERENCES authors ON DELETE CASCADE, photo bytea, motto short_text);
        CREATE TABLE books (
            id uuid PRIMARY KEY DEFAULT gen_random_uuid(), author_id integer NOT NULL REFERENCES authors ON DELETE CASCADE,
            editor_id integer REFERENCES authors, title varchar(80) NOT NULL, price numeric(8, 2) CHECK (price >= 0),
            is_sold_out boolean NOT NULL DEFAULT false, pages smallint, isbn text UNIQUE);
        CREATE TABLE editions (book_id uuid REFERENCES books ON DELETE CASCADE, number integer, year integer, PRIMARY KEY (book_id, number));
        CREATE TABLE copies (
            barcode bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, book uuid NOT NULL, edition integer NOT NULL, shelf text,
            FOREIGN KEY (edition, book) REFERENCES editions (number, book_id));
        CREATE TABLE tags (id bigserial PRIMARY KEY, label text NOT NULL UNIQUE);
        CREATE TABLE book_tags (
            id serial PRIMARY KEY, book_id uuid NOT NULL REFERENCES books ON DELETE CASCADE, tag_id bigint NOT NULL REFERENCES tags,
            UNIQUE (book_id, tag_id));
        CREATE VIEW author_totals AS
            SELECT a.id, a.full_name, count(b.id) AS books FROM authors a LEFT JOIN books b ON b.author_id = a.id GROUP BY a.id;
        CREATE VIEW nameless AS SELECT count(*) AS number FROM books;
        CREATE TABLE log (at timestamptz, line text);
        INSERT INTO countries VALUES ('PL', 'Poland'), ('JP', 'Japan');
        INSERT INTO authors (full_name, country_code, nicknames, scores, extra, home, fame, born, alarm, address, joined, seen)
            VALUES ('Olga', 'PL', '{O,"T, of course"}', '{1,2,3}', '{"prizes": ["Nobel"], "year": 2018}', ROW('Main "St"', 5), 0.5,
                '1962-01-29', '06:30', '10.0.0.1', '2001-01-01 00:00:00', '2001-01-01 00:00:10+00'),
            ('Haruki', 'JP', NULL, DEFAULT, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2001-01-01 00:00:20+00');
        UPDATE authors SET mentor_id = 1 WHERE id = 2;
        INSERT INTO author_profiles VALUES (1, '\\x00ff', 'Walk');
        INSERT INTO books (id, author_id, editor_id, title, price, pages, isbn) VALUES
            ('00000000-0000-0000-0000-000000000001', 1, 2, 'Flights', 12.50, 400, 'a-1'),
            ('00000000-0000-0000-0000-000000000002', 1, NULL, 'Primeval', NULL, 250, 'a-2'),
            ('00000000-0000-0000-0000-000000000003', 2, 1, 'Kafka', 9.99, NULL, NULL);
        INSERT INTO editions VALUES ('00000000-0000-0000-0000-000000000001', 1, 2007), ('00000000-0000-0000-0000-000000000001', 2, 2017);
        INSERT INTO copies (book, edition, shelf) VALUES ('00000000-0000-0000-0000-000000000001', 2, 'A');
        INSERT INTO tags (label) VALUES ('novel'), ('travel');
        INSERT INTO book_tags (book_id, tag_id) VALUES
            ('00000000-0000-0000-0000-000000000001', 1), ('00000000-0000-0000-0000-000000000001', 2),
            ('00000000-0000-0000-0000-000000000003', 1);
        """
}

extension NSManagedObjectContext {
    /// Returns the objects of an entity that a predicate finds, sorted. Called on the queue of the context.
    func found(_ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by key: String? = nil) throws
        -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let format { request.predicate = NSPredicate(format: format, argumentArray: arguments) }
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }

    func one(_ entity: String, _ format: String, _ arguments: [Any] = []) throws -> NSManagedObject {
        let all = try found(entity, format, arguments)
        try #require(all.count == 1)
        return all[0]
    }

    @discardableResult func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}
#endif
