internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import PropertyLists

/// Reports written rows to a progress, and checks whether it was cancelled.
struct SQLMigrationWork {
    let progress: Progress?
    let path: String

    /// - Throws: Code 134120 once the progress was cancelled.
    func checkCancellation() throws {
        guard progress?.isCancelled ?? false else { return }
        throw CoreDataError.make(
            NSMigrationCancelledError, "The migration of the store at \(path) was cancelled.", reason: "The store is as before.",
            next: "Open it again to migrate it.", info: [NSFilePathErrorKey: path])
    }

    func didWrite(_ count: Int) { progress?.completedUnitCount += Int64(count) }

    /// Runs `body`, during which a statement ends when the progress is cancelled.
    func interrupting<Result>(_ connection: SQLConnection, _ body: () throws -> Result) throws -> Result {
        guard let progress else { return try body() }
        // SQLite has the progress until the handler is removed, while this function holds it.
        sqlite3_progress_handler(
            connection.handle, 20_000, { Unmanaged<Progress>.fromOpaque($0!).takeUnretainedValue().isCancelled ? 1 : 0 },
            Unmanaged.passUnretained(progress).toOpaque())
        defer {
            sqlite3_progress_handler(connection.handle, 0, nil, nil)
            withExtendedLifetime(progress) {}
        }
        do { return try body() } catch {
            try checkCancellation()
            throw error
        }
    }
}

/// The SQL functions of migrations.
enum SQLMigrationFunctions {
    /// Registers the function that returns a value from its own file.
    static func register(on connection: SQLConnection, store: URL) throws {
        guard let folder = SQLiteFiles.externalFiles(of: store) else { return }
        // SQLite owns the reference, and releases it with the function.
        let context = Unmanaged.passRetained(folder as NSURL).toOpaque()
        let code = sqlite3_create_function_v2(
            connection.handle, SQLMigrationConversion.inlineFunction, 1, SQLITE_UTF8, context,
            { context, _, values in
                guard let value = values?[0], sqlite3_value_type(value) != SQLITE_NULL, let bytes = sqlite3_value_blob(value) else {
                    return sqlite3_result_null(context)
                }
                let stored = Data(bytes: bytes, count: Int(sqlite3_value_bytes(value)))
                var result = stored.dropFirst()
                if let name = SQLExternalFiles.name(in: stored), let folder = sqlite3_user_data(context) {
                    let file = (Unmanaged<NSURL>.fromOpaque(folder).takeUnretainedValue() as URL).appendingPathComponent(name)
                    guard let read = try? RegularFile.data(file) else {
                        return sqlite3_result_error(context, "The file \(file.path) of a large value cannot be read.", -1)
                    }
                    result = read
                }
                result.withUnsafeBytes { bytes in
                    sqlite3_result_blob64(
                        context, bytes.baseAddress ?? UnsafeRawPointer(SQLStatement.nothing), UInt64(bytes.count), SQLStatement.transient)
                }
            }, nil, nil, { Unmanaged<NSURL>.fromOpaque($0!).release() })
        if code != SQLITE_OK { throw SQLError.make(connection.handle, code, .writing, path: connection.path) }
    }
}
