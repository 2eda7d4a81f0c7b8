internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// The option of a store opened for reading that also leaves the shared-memory file (`-shm`) unchanged: a `Bool`.
///
/// While such a store is open, the same process cannot open its file for writing: SQLite shares the mapping of that file.
package let SQLiteKeepsFilesOption = "SQLiteKeepsFilesOption"

/// The options of a SQLite store.
package struct SQLiteOptions {
    /// The default limit, in bytes, of the memory that only the cache retains.
    static let standardCacheLimit = 32 << 20

    let timeout: TimeInterval
    /// The pragma statements requested by the program.
    let pragmas: [(name: String, sql: String)]
    /// The maximum memory of rows that only the cache retains, in bytes.
    let cacheLimit: Int
    /// The maximum number of connections that read concurrently; nil for the machine's own.
    let readerLimit: Int?
    let analyzes: Bool
    let vacuums: Bool
    /// The preparation of each connection before any other use.
    let preparation: SQLiteConnectionPreparation?
    /// Whether reading leaves the files beside the store unchanged, see ``SQLiteKeepsFilesOption``.
    let keepsFiles: Bool

    /// - Throws: Code 134080 for invalid pragmas.
    init(_ options: [AnyHashable: Any]?) throws {
        timeout = (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout
        cacheLimit = max(0, (options?[SQLiteRowCacheLimitOption] as? NSNumber)?.intValue ?? Self.standardCacheLimit)
        readerLimit = (options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber).map { max(1, min(1000, $0.intValue)) }
        analyzes = (options?[NSSQLiteAnalyzeOption] as? NSNumber)?.boolValue ?? (options?[NSSQLiteAnalyzeOption] as? Bool) ?? false
        vacuums = (options?[NSSQLiteManualVacuumOption] as? NSNumber)?.boolValue ?? (options?[NSSQLiteManualVacuumOption] as? Bool) ?? false
        preparation = options?[SQLiteConnectionPreparationOption] as? SQLiteConnectionPreparation
        keepsFiles = options?[SQLiteKeepsFilesOption] as? Bool ?? false
        guard let given = options?[NSSQLitePragmasOption] else {
            pragmas = []
            return
        }
        let values: [String: Any]
        switch given {
        case let dictionary as [String: Any]: values = dictionary
        case let dictionary as [AnyHashable: Any]:
            values = Dictionary(dictionary.map { ("\($0.key.base)", $0.value) }, uniquingKeysWith: { first, _ in first })
        case let dictionary as NSDictionary:
            var found: [String: Any] = [:]
            for (key, value) in dictionary { found["\(key)"] = value }
            values = found
        default: throw Self.noPragma("\(given)")
        }
        pragmas = try values.sorted { $0.key < $1.key }.map { name, value in
            let text = "\(value)"
            // A pragma takes no bound parameters: both must be plain words or numbers.
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isWord), !text.isEmpty,
                text.utf8.allSatisfy({ Self.isWord($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
            else { throw Self.noPragma("\(name) = \(text)") }
            // SQLite takes any other word for one of these settings, and a program would rely on one that is not in effect.
            if name.lowercased() == "synchronous", !Self.synchronousSettings.contains(text.lowercased()) {
                throw Self.noPragma("\(name) = \(text)")
            }
            return (name.lowercased(), "PRAGMA \(name) = \(text)")
        }
    }

    private static let synchronousSettings: Set = ["off", "normal", "full", "extra", "0", "1", "2", "3"]

    private static func isWord(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_")
    }

    private static func noPragma(_ text: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOpenError, "The store cannot be opened.", reason: "“\(text)” under NSSQLitePragmasOption is not a pragma.",
            next: "Give a dictionary such as [\"synchronous\": \"FULL\"].")
    }
}
