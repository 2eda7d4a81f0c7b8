internal import CSQLite
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import PropertyLists
internal import SQLQueries

/// The origins of a store's rows, shared by all of its readers: rows of one table have the same origin.
// Immutable.
final class SQLOrigins: Sendable {
    let schema: SQLSchema
    /// The origins by entity number.
    let byNumber: [Int64: RowOrigin]

    /// - Parameter rows: The cache in which faults find their rows; for a view, that of the original store.
    init(_ schema: SQLSchema, token: StoreToken, rows: SQLRowCache) {
        self.schema = schema
        let store = RowOriginStore(schema.entities.map { ($0.number, $0.entity) }, token: token, rows: rows)
        byNumber = Dictionary(
            // Bounded: entities of the model, with numbers of their own.
            uniqueKeysWithValues: schema.entities.map { ($0.number, RowOrigin($0.entity, table: $0.rootNumber, store: store)) })
    }
}

/// Converts values between columns and slots if they differ: IDs, UUIDs, URLs, decimals, archives, files.
// Used by the thread that has its reader.
final class SQLValues {
    let schema: SQLSchema
    private let token: StoreToken
    private let path: String
    /// The directory of external data files.
    private lazy var externalFiles = SQLiteFiles.externalFiles(of: store)
    private let store: URL?
    /// The last created ID: objects fetched together often have the same destination.
    private var lastID: NSManagedObjectID?
    private let origins: SQLOrigins

    init(origins: SQLOrigins, token: StoreToken, path: String, store: URL?) {
        schema = origins.schema
        self.origins = origins
        self.token = token
        self.path = path
        self.store = store
    }

    // MARK: IDs

    /// Returns the ID of a row of an entity.
    func id(_ key: Int64, of entity: NSEntityDescription) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(key))
    }

    /// Returns the origin of an entity's rows.
    func origin(of entity: SQLEntity) -> RowOrigin { origins.byNumber[entity.number].known("each entity of the schema has an origin") }

    /// Returns the entity number of a to-one relationship's destination.
    @inline(__always) func number(_ stored: Int64, _ destination: SQLEntity) -> Int64 {
        stored == destination.number || schema.entity(numbered: stored) == nil ? destination.number : stored
    }

    /// Returns the ID of a to-one relationship's destination.
    ///
    /// - Parameter number: The number of its entity; 0 if there is only one.
    func id(_ key: Int64, _ number: Int64, _ destination: SQLEntity) -> NSManagedObjectID {
        let entity = number == 0 || number == destination.number ? destination : schema.entity(numbered: number) ?? destination
        if let lastID, case .integer(key) = lastID.reference, lastID.owningEntity === entity.entity { return lastID }
        let id = id(key, of: entity.entity)
        lastID = id
        return id
    }

    // MARK: Reading

    /// Returns the value of a column that is not NULL.
    func read(
        _ statement: OpaquePointer, _ column: Int32, _ storage: SQLStorage, _ attribute: NSAttributeDescription
    ) throws -> StorableValue {
        switch storage {
        case .integer: return .integer(sqlite3_column_int64(statement, column))
        case .boolean: return .integer(sqlite3_column_int64(statement, column) == 0 ? 0 : 1)
        case .double: return .double(sqlite3_column_double(statement, column))
        case .date:
            let seconds = sqlite3_column_double(statement, column)
            guard seconds.isFinite else { throw unreadable(attribute, "its column holds no finite time") }
            return .double(seconds)
        case .text: return .string(SQLStatement.text(statement, column))
        case .data: return .data(SQLStatement.data(statement, column))
        case .externalData: return try externalData(SQLStatement.data(statement, column), attribute).map { .data($0) } ?? .null
        case .uuid:
            let bytes = SQLStatement.data(statement, column)
            if bytes.count == 36, let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) { return .uuid(uuid) }
            guard bytes.count == 16 else { throw unreadable(attribute, "its column holds \(bytes.count) bytes, which are not a UUID") }
            return .uuid(bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) })
        case .uri:
            let text = SQLStatement.text(statement, column)
            // Apple's URLs may be empty; this is the one way to one here.
            guard let url = text.isEmpty ? URLComponents().url : URL(string: text) else {
                throw unreadable(attribute, "its column holds “\(text)”, which is not a URL")
            }
            return .box(Box(url))
        case .decimal: return .box(Box(try SQLArchives.decimal(statement, column, attribute, path)))
        case .transformable, .composite: return .box(Box(try SQLArchives.value(SQLStatement.data(statement, column), attribute, path)))
        }
    }

    func unreadable(_ attribute: NSAttributeDescription, _ reason: String) -> NSError {
        SQLArchives.unreadable(attribute, reason, path)
    }

    /// Returns the error of a value with its row.
    func error(_ error: any Error, in row: NSManagedObjectID) -> any Error {
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain, case .integer(let key) = row.reference else { return error }
        var info = error.userInfo
        let place = " The row is that with Z_PK \(key) in \(schema.entity(row.owningEntity)?.table.name ?? "its table")."
        for part in [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey] {
            info[part] = (info[part] as? String).map { $0 + place }
        }
        info[NSAffectedObjectsErrorKey] = [row]
        return NSError(domain: error.domain, code: error.code, userInfo: info)
    }

    // MARK: External values

    /// Returns the bytes of a value that may be external; nil if its file is missing.
    ///
    /// Stores may be copied without their external files: a missing file must not prevent reading all other values.
    private func externalData(_ stored: Data, _ attribute: NSAttributeDescription) throws -> Data? {
        switch stored.first {
        case 1: return Data(stored.dropFirst())
        case 2:
            guard let externalFiles, let name = SQLExternalFiles.name(in: stored) else {
                throw unreadable(attribute, "its value is in a file without a valid name")
            }
            let file = externalFiles.appendingPathComponent(name)
            do {
                // A file is never changed once a row names it, so a large one may stay on the disk until it is needed.
                var status = stat()
                let isLarge = stat(file.path, &status) == 0 && Int(status.st_size) >= MappedPages.threshold
                return try RegularFile.data(file, options: isLarge ? .alwaysMapped : [])
            } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                Log.store.error("A value of “\(attribute)” is nil, for its file is not there: \(file.path). Put the file back.")
                return nil
            } catch {
                throw CoreDataError.make(
                    CocoaError.Code.fileReadUnknown.rawValue, "A value of “\(attribute)” cannot be read.",
                    reason: "Its file \(file.path) cannot be opened.", next: "Check the permissions of the file.", cause: error)
            }
        default: return stored
        }
    }
}
