import CSQLite
import CoreData
import Foundation
import TestSupport
import Testing

/// A file with tables as other programs make them, which is removed with the object.
// Unchecked: immutable, apart from the file.
final class OthersFile: @unchecked Sendable {
    private let scratch: ScratchFolder
    private var folder: URL { scratch.url }
    let url: URL

    init(_ script: String) throws {
        scratch = try ScratchFolder("tables")
        url = scratch.file("others.sqlite3")
        try execute(script)
    }

    /// The names of all files in the folder.
    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }
    var bytes: Data { get throws { try Data(contentsOf: url) } }

    private func connected<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        var handle: OpaquePointer?
        try #require(sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK)
        defer { sqlite3_close_v2(handle) }
        sqlite3_busy_timeout(handle, 10_000)
        try Self.addUnicase(try #require(handle))
        return try body(try #require(handle))
    }

    /// Gives a connection the collation `unicase`, which only this other program has: without case.
    static func addUnicase(_ handle: OpaquePointer) throws {
        let code = sqlite3_create_collation_v2(
            handle, "unicase", SQLITE_UTF8, nil,
            { _, length, text, otherLength, other in
                func word(_ bytes: UnsafeRawPointer?, _ length: Int32) -> String {
                    String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(length)), as: UTF8.self).lowercased()
                }
                let (first, second) = (word(text, length), word(other, otherLength))
                return first == second ? 0 : first < second ? -1 : 1
            }, nil)
        try #require(code == SQLITE_OK)
    }

    /// Runs statements as another program.
    func execute(_ script: String) throws {
        try connected { handle in
            var message: UnsafeMutablePointer<CChar>?
            let code = sqlite3_exec(handle, script, nil, nil, &message)
            defer { sqlite3_free(message) }
            try #require(code == SQLITE_OK, "\(message.map { String(cString: $0) } ?? "code \(code)")")
        }
    }

    /// Runs a statement, which the database may refuse.
    func tryToExecute(_ script: String) { _ = try? connected { sqlite3_exec($0, script, nil, nil, nil) } }

    /// Returns the first column of a query, as text.
    func texts(_ query: String) throws -> [String] {
        try connected { handle in
            var statement: OpaquePointer?
            try #require(
                sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
            defer { sqlite3_finalize(statement) }
            var found: [String] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                found.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "NULL")
            }
            return found
        }
    }

    func draft() throws -> SQLiteModelDraft { try SQLiteModelDraft(of: url) }

    /// Opens the file with a model; the drafted one by default.
    func open(_ model: NSManagedObjectModel? = nil, isReadOnly: Bool = false, timeout: Double = 5) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try model ?? draft().model)
        try coordinator.addPersistentStore(
            type: .existingSQLite, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: NSNumber(value: isReadOnly), NSPersistentStoreTimeoutOption: NSNumber(value: timeout),
            ])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}

extension NSManagedObjectContext {
    /// Returns the objects of an entity that a predicate finds, sorted. Called on the queue of the context.
    func found(_ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let format { request.predicate = NSPredicate(format: format, argumentArray: arguments) }
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }

    func number(_ entity: String, _ format: String? = nil, _ arguments: [Any] = []) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let format { request.predicate = NSPredicate(format: format, argumentArray: arguments) }
        return try count(for: request)
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

extension OthersFile {
    /// Tables of a library, with what files of other programs have.
    static let library = """
        CREATE TABLE countries (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE authors (
            id INTEGER PRIMARY KEY AUTOINCREMENT, full_name TEXT NOT NULL, country_code TEXT REFERENCES countries ON DELETE SET NULL,
            state TEXT NOT NULL DEFAULT 'calm', extra JSON, fame REAL, born DATE, seen DATETIME NOT NULL DEFAULT '2001-01-01 00:00:00',
            joined TIMESTAMP, mentor_id INTEGER REFERENCES authors (id),
            upper_name TEXT GENERATED ALWAYS AS (upper(full_name)) VIRTUAL);
        CREATE TABLE author_profiles (author_id INTEGER PRIMARY KEY REFERENCES authors ON DELETE CASCADE, photo BLOB, motto VARCHAR(20));
        CREATE TABLE books (
            id CHAR(32) PRIMARY KEY NOT NULL, author_id INTEGER NOT NULL REFERENCES authors ON DELETE CASCADE,
            editor_id INTEGER REFERENCES authors, title VARCHAR(80) NOT NULL, price DECIMAL(8, 2) CHECK (price >= 0),
            is_sold_out BOOLEAN NOT NULL DEFAULT 0, pages SMALLINT, isbn TEXT UNIQUE);
        CREATE TABLE editions (
            book_id CHAR(32) REFERENCES books ON DELETE CASCADE, number INTEGER, year INTEGER, PRIMARY KEY (book_id, number));
        CREATE TABLE copies (
            barcode INTEGER PRIMARY KEY, book CHAR(32) NOT NULL, edition INTEGER NOT NULL, shelf TEXT,
            FOREIGN KEY (edition, book) REFERENCES editions (number, book_id));
        CREATE INDEX copies_edition ON copies (book, edition);
        CREATE TABLE tags (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
        CREATE TABLE book_tags (
            id INTEGER PRIMARY KEY, book_id CHAR(32) NOT NULL REFERENCES books ON DELETE CASCADE, tag_id INTEGER NOT NULL REFERENCES tags,
            UNIQUE (book_id, tag_id));
        CREATE TABLE log (at INTEGER, line TEXT);
        CREATE TABLE measures (id INTEGER PRIMARY KEY, amount REAL NOT NULL, note TEXT) STRICT;
        CREATE VIEW author_totals AS
            SELECT a.id, a.full_name, count(b.id) AS books FROM authors a LEFT JOIN books b ON b.author_id = a.id GROUP BY a.id;
        CREATE VIEW nameless AS SELECT count(*) AS number FROM books;
        INSERT INTO countries VALUES ('PL', 'Poland'), ('JP', 'Japan');
        INSERT INTO authors (full_name, country_code, extra, fame, born, seen, joined) VALUES
            ('Olga', 'PL', '{"prizes": ["Nobel"], "year": 2018}', 0.5, '1962-01-29', '2001-01-01 00:00:10', 978307200),
            ('Haruki', 'JP', NULL, NULL, NULL, '2001-01-01T00:00:20.5Z', NULL);
        UPDATE authors SET mentor_id = 1 WHERE id = 2;
        INSERT INTO author_profiles VALUES (1, x'00ff', 'Walk');
        INSERT INTO books (id, author_id, editor_id, title, price, pages, isbn) VALUES
            ('00000000000000000000000000000001', 1, 2, 'Flights', 12.50, 400, 'a-1'),
            ('00000000000000000000000000000002', 1, NULL, 'Primeval', NULL, 250, 'a-2'),
            ('00000000000000000000000000000003', 2, 1, 'Kafka', 9.99, NULL, NULL);
        INSERT INTO editions VALUES ('00000000000000000000000000000001', 1, 2007), ('00000000000000000000000000000001', 2, 2017);
        INSERT INTO copies (book, edition, shelf) VALUES ('00000000000000000000000000000001', 2, 'A');
        INSERT INTO tags (label) VALUES ('novel'), ('travel');
        INSERT INTO book_tags (book_id, tag_id) VALUES
            ('00000000000000000000000000000001', 1), ('00000000000000000000000000000001', 2), ('00000000000000000000000000000003', 1);
        INSERT INTO log VALUES (1, 'first'), (2, 'second');
        INSERT INTO measures VALUES (1, 3, 'whole'), (2, 2.5, NULL);
        """
}
