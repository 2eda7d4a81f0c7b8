internal import CSQLite
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Reads the rows of one entity from statements whose first columns are the key, the entity and the version, followed by those of its properties.
// Used by the thread that has the reader.
final class SQLiteTableRows {
    private enum Kind {
        case attribute(SQLStorage, NSAttributeDescription, SQLiteColumnForm)
        case toOne(SQLEntity)
    }
    /// A column and the place of its value.
    private struct Step {
        let column: Int32
        let place: RowPlace
        let kind: Kind
        /// The table and the column, for messages.
        let name: String
    }

    let entity: SQLEntity
    /// The columns in a SELECT from a table named `t`.
    let list: String
    private let table: MappedTable<SQLiteTableDialect>
    private let steps: [Step]
    private let writer: PackedRowWriter
    private let token: StoreToken
    private let path: String

    init(_ entity: SQLEntity, _ mapping: SQLiteTables.Mapped, token: StoreToken, path: String) {
        (self.entity, self.token, self.path) = (entity, token, path)
        let table = mapping.table(entity)
        self.table = table
        let identity = entity.identity
        list = ([identity.key, identity.entity, identity.version] + entity.rowColumns).map { "t.\($0)" }.joined(separator: ", ")
        let places = entity.entity.rowPlaces
        var steps: [Step] = []
        var column: Int32 = 3
        for (index, property) in entity.entity.frozenParts.properties.enumerated() {
            switch (entity.properties[index], property) {
            case (.attribute(let stored), let attribute as NSAttributeDescription):
                if case .attribute(let source, let form)? = table.values[index] {
                    steps.append(
                        Step(
                            column: column, place: places[index], kind: .attribute(stored.storage, attribute, form), name: source.type.place
                        ))
                }
                column += 1
            case (.toOne, let relationship as NSRelationshipDescription):
                if let destination = relationship.destinationEntity.flatMap(mapping.schema.entity) {
                    let name = if case .toOne(let key)? = table.values[index] { key.columns[0].type.place } else { table.relation.name }
                    steps.append(Step(column: column, place: places[index], kind: .toOne(destination), name: name))
                }
                column += 1
            default: continue
            }
        }
        self.steps = steps
        writer = PackedRowWriter(entity.entity)
    }

    // MARK: Keys

    /// Returns the key in a column.
    ///
    /// - Throws: Code 134060 for a value that is no key.
    func reference(_ statement: OpaquePointer, _ column: Int32) throws -> NSManagedObjectID.Reference {
        switch (entity.keyKind, sqlite3_column_type(statement, column)) {
        case (.integer, SQLITE_INTEGER): return .integer(sqlite3_column_int64(statement, column))
        case (.text, SQLITE_TEXT): return .string(SQLStatement.text(statement, column))
        default:
            let columns = table.key.columns.map(\.name).joined(separator: ", ")
            let value = SQLiteColumnValue.raw(sqlite3_column_value(statement, column))
            throw CoreDataError.make(
                NSCoreDataError, "A row of \(table.relation.name) has no key.",
                reason: "Its key (\(columns)) holds \(value.shown): SQLite takes values of any kind.",
                next: "Fix the row, or name other columns as “\(MappingKey.key)” in the user info of “\(entity.entity.name ?? "?")”.",
                info: [NSFilePathErrorKey: path])
        }
    }

    func id(_ statement: OpaquePointer, _ column: Int32) throws -> NSManagedObjectID {
        NSManagedObjectID(entity: entity.entity, token: token, reference: try reference(statement, column))
    }

    // MARK: Rows

    /// Returns the slots of a statement's current row. The reader holds its block until it reads the next row.
    ///
    /// - Throws: Code 134060 for a value that does not have its column's form.
    func read(_ statement: OpaquePointer) throws -> UnsafeMutableRawPointer {
        let id = try id(statement, 0)
        writer.begin()
        do {
            for step in steps { try set(step, statement) }
        } catch {
            writer.cancel()
            throw named(error, id)
        }
        return writer.end(id, version: sqlite3_column_int64(statement, 2))
    }

    private func set(_ step: Step, _ statement: OpaquePointer) throws {
        let column = step.column
        if sqlite3_column_type(statement, column) == SQLITE_NULL { return writer.setNil(step.place) }
        switch step.kind {
        case .attribute(let storage, let attribute, let form):
            switch (storage, form.kind) {
            case (.text, _):
                try check(statement, column, form, SQLITE_TEXT)
                let value = sqlite3_column_value(statement, column)
                let bytes = sqlite3_value_text(value)
                writer.set(utf8: UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), at: step.place)
            default: writer.set(try value(statement, column, storage, attribute, form), at: step.place)
            }
        case .toOne(let destination):
            let reference: NSManagedObjectID.Reference
            switch (destination.keyKind, sqlite3_column_type(statement, column)) {
            case (.integer, SQLITE_INTEGER): reference = .integer(sqlite3_column_int64(statement, column))
            case (.text, SQLITE_TEXT): reference = .string(SQLStatement.text(statement, column))
            default:
                throw SQLiteColumnValue.mismatch(
                    SQLiteColumnValue.raw(sqlite3_column_value(statement, column)), destination.keyKind == .integer ? 1 : 5, step.name)
            }
            writer.set(NSManagedObjectID(entity: destination.entity, token: token, reference: reference), at: step.place)
        }
    }

    private func check(_ statement: OpaquePointer, _ column: Int32, _ form: SQLiteColumnForm, _ types: Int32...) throws {
        if types.contains(sqlite3_column_type(statement, column)) { return }
        throw SQLiteColumnValue.mismatch(SQLiteColumnValue.raw(sqlite3_column_value(statement, column)), form.code, form.place)
    }

    /// Returns the value of an attribute.
    func value(
        _ statement: OpaquePointer, _ column: Int32, _ storage: SQLStorage, _ attribute: NSAttributeDescription
    ) throws -> StorableValue {
        guard case .attribute(_, let form)? = table.values[attribute.slotIndex] else { return .null }
        return try value(statement, column, storage, attribute, form)
    }

    private func value(
        _ statement: OpaquePointer, _ column: Int32, _ storage: SQLStorage, _ attribute: NSAttributeDescription, _ form: SQLiteColumnForm
    ) throws -> StorableValue {
        switch storage {
        case .integer:
            try check(statement, column, form, SQLITE_INTEGER)
            let number = sqlite3_column_int64(statement, column)
            guard attribute.integers.contains(number) else {
                throw SQLArchives.unreadable(attribute, "\(form.place) holds \(number), which the attribute does not", path)
            }
            return .integer(number)
        case .boolean:
            try check(statement, column, form, SQLITE_INTEGER)
            let number = sqlite3_column_int64(statement, column)
            guard number == 0 || number == 1 else { throw SQLiteColumnValue.mismatch(.integer(number), form.code, form.place) }
            return .integer(number)
        case .double, .date:
            try check(statement, column, form, SQLITE_FLOAT, SQLITE_INTEGER)
            return .double(sqlite3_column_double(statement, column))
        case .text:
            try check(statement, column, form, SQLITE_TEXT)
            return .string(SQLStatement.text(statement, column))
        case .data, .externalData:
            try check(statement, column, form, SQLITE_BLOB)
            return .data(SQLStatement.data(statement, column))
        case .uuid:
            let bytes = SQLStatement.data(statement, column)
            guard bytes.count == 16 else {
                throw SQLiteColumnValue.mismatch(SQLiteColumnValue.raw(sqlite3_column_value(statement, column)), form.code, form.place)
            }
            return .uuid(bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) })
        case .uri:
            try check(statement, column, form, SQLITE_TEXT)
            let text = SQLStatement.text(statement, column)
            guard let url = text.isEmpty ? URLComponents().url : URL(string: text) else {
                throw SQLArchives.unreadable(attribute, "\(form.place) holds “\(text)”, which is not a URL", path)
            }
            return .box(Box(url))
        case .decimal:
            // Numbers that no other number equals are bytes with their numeral.
            if case .decimal = form.kind, sqlite3_column_type(statement, column) == SQLITE_TEXT {
                throw SQLiteColumnValue.mismatch(.text(SQLStatement.text(statement, column)), form.code, form.place)
            }
            return .box(Box(try SQLArchives.decimal(statement, column, attribute, path)))
        case .transformable where form.kind == .json:
            try check(statement, column, form, SQLITE_TEXT, SQLITE_INTEGER, SQLITE_FLOAT)
            var text = SQLStatement.text(statement, column)
            return .box(Box(try text.withUTF8 { try JSONColumn.value(UnsafeRawBufferPointer($0), attribute) }))
        case .transformable, .composite:
            try check(statement, column, form, SQLITE_BLOB)
            return .box(Box(try SQLArchives.value(SQLStatement.data(statement, column), attribute, path)))
        }
    }

    /// Returns the error of a value with its row.
    private func named(_ error: any Error, _ id: NSManagedObjectID) -> any Error {
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain else { return error }
        var info = error.userInfo
        let key = table.key.columns.map(\.name).joined(separator: ", ")
        let place = " The row is that of \(table.relation.name) whose \(key) is \(id.reference.shown)."
        for part in [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey] {
            info[part] = (info[part] as? String).map { $0 + place }
        }
        info[NSAffectedObjectsErrorKey] = [id]
        info[NSFilePathErrorKey] = path
        return NSError(domain: error.domain, code: error.code, userInfo: info)
    }
}

extension NSAttributeDescription {
    /// The integers that the attribute holds.
    var integers: ClosedRange<Int64> {
        switch attributeType {
        case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }
}
