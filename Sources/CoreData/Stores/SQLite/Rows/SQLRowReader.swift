internal import CSQLite
internal import Foundation

/// Reads the rows of one entity out of a statement's columns, straight into slots.
// Immutable; used under the lock of its store.
final class SQLRowReader {
    /// A column of a plain value and the slot it goes to. It holds no references, which would be counted for each row.
    private struct PlainStep {
        let column: Int32
        let storage: PlainStorage
        let location: SlotLocation
        let slotIndex: Int
    }
    private enum PlainStorage {
        case integer
        case boolean
        case double
        case date
        case text

        init?(_ storage: SQLStorage) {
            switch storage {
            case .integer: self = .integer
            case .boolean: self = .boolean
            case .double: self = .double
            case .date: self = .date
            case .text: self = .text
            default: return nil
            }
        }
    }
    /// A column of another value.
    private struct Step {
        let column: Int32
        let slot: RowLayout.Slot
        let storage: SQLStorage
        let attribute: NSAttributeDescription
    }
    /// The columns of a to-one relationship.
    private struct Key {
        let column: Int32
        /// -1 where the destination has no subentities.
        let entityColumn: Int32
        let slot: RowLayout.Slot
        let destination: SQLEntity
    }

    let entity: NSEntityDescription
    /// What the keys of its IDs have in common.
    let family: Int64
    private let layout: RowLayout
    private let plainSteps: UnsafeMutableBufferPointer<PlainStep>
    private let steps: [Step]
    private let keys: [Key]
    private let values: SQLValues

    /// - Parameter columns: where each column stands in the statements.
    init(_ entity: SQLEntity, columns: [SQLIdentifier: Int], schema: SQLSchema, values: SQLValues) {
        self.entity = entity.entity
        self.values = values
        layout = entity.entity.frozen!.layout
        family = NSManagedObjectID.family(of: entity.entity)
        var plainSteps: [PlainStep] = []
        var steps: [Step] = []
        var keys: [Key] = []
        for (index, property) in entity.entity.frozen!.properties.enumerated() {
            let slot = layout.slots[index]
            switch entity.properties[index] {
            case .attribute(let place):
                guard let column = columns[place.column], let attribute = property as? NSAttributeDescription else { continue }
                if let storage = PlainStorage(place.storage) {
                    plainSteps.append(PlainStep(column: Int32(column), storage: storage, location: slot.location, slotIndex: index))
                } else {
                    steps.append(Step(column: Int32(column), slot: slot, storage: place.storage, attribute: attribute))
                }
            case .toOne(let place):
                guard let column = columns[place.column], let destination = (property as? NSRelationshipDescription)?.destinationEntity,
                    let target = schema.entity(destination)
                else { continue }
                let entityColumn = place.entityColumn.flatMap { columns[$0] }.map(Int32.init) ?? -1
                keys.append(Key(column: Int32(column), entityColumn: entityColumn, slot: slot, destination: target))
            case .toMany, .unstored: continue
            }
        }
        self.plainSteps = .allocate(capacity: plainSteps.count)
        _ = self.plainSteps.initialize(from: plainSteps)
        self.steps = steps
        self.keys = keys
    }

    deinit { plainSteps.deallocate() }

    /// The row that a statement stands at.
    func read(_ statement: OpaquePointer, id: NSManagedObjectID, version: Int64) throws -> Row {
        let row = Row.empty(layout, objectID: id, version: version)
        let slots = row.slots
        for step in plainSteps {
            let column = step.column
            let place = slots + step.location.offset
            switch step.storage {
            case .integer:
                if sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                place.storeBytes(of: sqlite3_column_int64(statement, column), as: Int64.self)
            case .boolean:
                if sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                place.storeBytes(of: sqlite3_column_int64(statement, column) == 0 ? 0 : 1, as: Int64.self)
            case .double:
                if sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                place.storeBytes(of: sqlite3_column_double(statement, column), as: Double.self)
            case .date:
                if sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                let seconds = sqlite3_column_double(statement, column)
                // Foundation stops the program at a date without a finite time.
                guard seconds.isFinite else { throw noFiniteTime(step.slotIndex, id) }
                place.storeBytes(of: seconds, as: Double.self)
            case .text:
                guard let bytes = sqlite3_column_text(statement, column) else { continue }
                let text = String(
                    decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))), as: UTF8.self)
                place.assumingMemoryBound(to: String.self).initialize(to: text)
            }
            let null = (slots + step.location.nullOffset).assumingMemoryBound(to: UInt64.self)
            null.pointee &= ~step.location.nullMask
        }
        if !steps.isEmpty { try readOthers(statement, row) }
        for key in keys {
            if sqlite3_column_type(statement, key.column) == SQLITE_NULL { continue }
            let number = key.entityColumn < 0 ? 0 : sqlite3_column_int64(statement, key.entityColumn)
            row.setObjectID(values.id(sqlite3_column_int64(statement, key.column), number, key.destination), at: key.slot)
        }
        return row
    }

    @inline(never) private func noFiniteTime(_ slotIndex: Int, _ id: NSManagedObjectID) -> any Error {
        let attribute = entity.frozen!.properties[slotIndex] as! NSAttributeDescription
        return values.error(values.unreadable(attribute, "its column holds no finite time"), in: id)
    }

    private func readOthers(_ statement: OpaquePointer, _ row: Row) throws {
        for step in steps {
            if sqlite3_column_type(statement, step.column) == SQLITE_NULL { continue }
            do { row.store(try values.read(statement, step.column, step.storage, step.attribute), in: step.slot) } catch {
                throw row.objectID.map { values.error(error, in: $0) } ?? error
            }
        }
    }
}

/// What a SELECT of an entity's rows asks for, and how its answer is read.
///
/// The first three columns are the key, the entity's number and the version; then come those of the entity and of all that inherit from it.
// Used under the lock of its store.
final class SQLRowPlan {
    let entity: SQLEntity
    let columns: [SQLIdentifier]
    /// The columns, as a SELECT from the table names them.
    let list: String
    /// Selects the row of a key.
    let selectOne: String
    private var keptStatement: SQLStatement?
    /// Selects the rows of many keys; their list follows.
    let selectMany: String
    private let readers: [Int64: SQLRowReader]
    private let only: SQLRowReader?
    static let firstColumn = 3

    init(_ entity: SQLEntity, schema: SQLSchema, values: SQLValues) {
        self.entity = entity
        let kinds = entity.numbers.compactMap(schema.entity(numbered:))
        var columns: [SQLIdentifier] = []
        var places: [SQLIdentifier: Int] = [:]
        for column in kinds.flatMap(\.rowColumns) where places[column] == nil {
            places[column] = Self.firstColumn + columns.count
            columns.append(column)
        }
        self.columns = columns
        list = ([.primaryKey, .entity, .version] + columns).map(\.sql).joined(separator: ", ")
        selectOne = "SELECT \(list) FROM \(entity.table) WHERE Z_PK = ?"
        selectMany = "SELECT \(list) FROM \(entity.table) WHERE Z_PK IN "
        readers = Dictionary(
            uniqueKeysWithValues: kinds.map { ($0.number, SQLRowReader($0, columns: places, schema: schema, values: values)) })
        only = kinds.count == 1 ? readers[kinds[0].number] : nil
    }

    /// The statement that selects the row of a key, kept for the next fault. Whoever steps through it is done before the next comes.
    func statementForOne(_ connection: SQLConnection) throws -> SQLStatement {
        if let keptStatement { return keptStatement }
        let statement = try SQLStatement(selectOne, connection: connection, isKept: true)
        keptStatement = statement
        return statement
    }

    /// The columns, with the name of a table before each.
    func list(of table: String) -> String {
        ([.primaryKey, .entity, .version] + columns).map { "\(table).\($0.sql)" }.joined(separator: ", ")
    }

    /// The reader of rows that are of a number; nil for a number that the entity and those below it do not have.
    @inline(__always) func reader(_ number: Int64) -> SQLRowReader? {
        if let only { return number == entity.number || entity.isAlone ? only : nil }
        return readers[number]
    }
}

extension SQLEntity {
    /// The columns of the entity's rows that hold values.
    var rowColumns: [SQLIdentifier] {
        properties.flatMap { property -> [SQLIdentifier] in
            switch property {
            case .attribute(let attribute): [attribute.column]
            case .toOne(let key): [key.column] + (key.entityColumn.map { [$0] } ?? [])
            case .toMany, .unstored: []
            }
        }
    }
}
