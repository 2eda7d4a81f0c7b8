internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// Reads the rows of one entity from a statement's columns into a block of rows.
///
/// Strings, data and to-one references are packed, without allocation, see `Row+Packing.swift`.
// Used by the thread that has the store's reader.
final class SQLRowReader {
    /// A column of a plain value and its slot. It contains no references, which would be counted for each row.
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
        case data
        case uuid

        init?(_ storage: SQLStorage) {
            switch storage {
            case .integer: self = .integer
            case .boolean: self = .boolean
            case .double: self = .double
            case .date: self = .date
            case .text: self = .text
            case .data: self = .data
            case .uuid: self = .uuid
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
        /// The column of the destination's entity; -1 if the destination has no subentities.
        let entityColumn: Int32
        let slot: RowLayout.Slot
        let destination: SQLEntity
        let number: Int64
    }

    let origin: RowOrigin
    private let layout: RowLayout
    private let plainSteps: UnsafeMutableBufferPointer<PlainStep>
    private let steps: [Step]
    private let keys: [Key]
    private let values: SQLValues
    /// The block for the next rows, while there is space.
    @exclusivity(unchecked) private var block: RowBlock?
    @exclusivity(unchecked) private var nextBlockSize = 1024
    /// The size of the slots.
    private let slotsSize: Int
    /// The usual space for strings of a row; a larger row is moved to another block.
    private static let usualTexts = 512

    /// - Parameter columns: The indexes of the columns in the statements.
    init(_ entity: SQLEntity, columns: [SQLIdentifier: Int], schema: SQLSchema, values: SQLValues) {
        self.values = values
        origin = values.origin(of: entity)
        layout = entity.entity.frozen!.layout
        slotsSize = layout.wordCount * 8
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
                keys.append(
                    Key(column: Int32(column), entityColumn: entityColumn, slot: slot, destination: target, number: target.number))
            case .toMany, .unstored: continue
            }
        }
        self.plainSteps = .allocate(capacity: plainSteps.count)
        _ = self.plainSteps.initialize(from: plainSteps)
        self.steps = steps
        self.keys = keys
    }

    deinit { plainSteps.deallocate() }

    /// Reads a statement's current row. The reader retains its block until the next row.
    func read(_ statement: OpaquePointer, number: Int64, version: Int64) throws -> UnsafeMutableRawPointer {
        var room = block.map(\.room) ?? 0
        if room < slotsSize + RowPrefix.size + Self.usualTexts { room = startBlock(slotsSize + RowPrefix.size + Self.usualTexts) }
        var slots = block.unchecked("a block with room has just been started").place(size: 0, number: number, version: version)
        slots.copyMemory(from: layout.nilRow.unchecked("a layout that is in use has one").slots, byteCount: slotsSize)
        var size = slotsSize
        // Space is left for the next row to be aligned to a word.
        var limit = room - RowPrefix.size - 7
        for step in plainSteps {
            let column = step.column
            let place = slots + step.location.offset
            switch step.storage {
            case .integer:
                let value = sqlite3_column_int64(statement, column)
                if value == 0, sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                place.storeBytes(of: value, as: Int64.self)
            case .boolean:
                let value = sqlite3_column_int64(statement, column)
                if value == 0, sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                place.storeBytes(of: value == 0 ? 0 : 1, as: Int64.self)
            case .double:
                let value = sqlite3_column_double(statement, column)
                if value == 0, sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                place.storeBytes(of: value, as: Double.self)
            case .date:
                let seconds = sqlite3_column_double(statement, column)
                if seconds == 0, sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                // Foundation stops the program at a date without a finite time.
                guard seconds.isFinite else {
                    finish(slots, size)
                    throw unreadable(step.slotIndex, number, "its column holds no finite time")
                }
                place.storeBytes(of: seconds, as: Double.self)
            case .text:
                // Reading from the value costs less than from the statement; one thread at a time has both.
                let value = sqlite3_column_value(statement, column)
                guard let bytes = sqlite3_value_text(value) else { continue }
                let count = Int(sqlite3_value_bytes(value))
                if size + count > limit { (slots, limit) = move(slots, size, to: size + count) }
                pack(bytes, count, at: step.location, in: slots, &size)
            case .data:
                guard let bytes = sqlite3_column_blob(statement, column) else {
                    // An empty blob is not NULL.
                    if sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                    break
                }
                let count = Int(sqlite3_column_bytes(statement, column))
                if count > PackedBytes.longestData {
                    place.initializeMemory(as: Data.self, to: Data(bytes: bytes, count: count))
                    noteReference(slots)
                } else {
                    if size + count > limit { (slots, limit) = move(slots, size, to: size + count) }
                    pack(bytes, count, at: step.location, in: slots, &size)
                }
            case .uuid:
                guard let bytes = sqlite3_column_blob(statement, column) else {
                    if sqlite3_column_type(statement, column) == SQLITE_NULL { continue }
                    finish(slots, size)
                    throw unreadable(step.slotIndex, number, "its column holds no bytes, which are not a UUID")
                }
                if sqlite3_column_bytes(statement, column) == 16 {
                    place.copyMemory(from: bytes, byteCount: 16)
                } else {
                    do { place.storeBytes(of: try parseUUIDText(statement, column, step.slotIndex, number), as: UUID.self) } catch {
                        finish(slots, size)
                        throw error
                    }
                }
            }
            let null = SlotPointer(slots).bits(step.location.nullOffset)
            null.pointee &= ~step.location.nullMask
        }
        for key in keys {
            let target = sqlite3_column_int64(statement, key.column)
            if target == 0, sqlite3_column_type(statement, key.column) == SQLITE_NULL { continue }
            let entity =
                key.entityColumn < 0 ? key.number : values.number(sqlite3_column_int64(statement, key.entityColumn), key.destination)
            if let word = RowOriginStore.packed(target, ofEntity: entity) {
                (slots + key.slot.location.offset).storeBytes(of: word, as: UInt64.self)
                setPacked(key.slot.location, slots)
            } else {
                let id = values.id(target, entity, key.destination)
                (slots + key.slot.location.offset).initializeMemory(as: AnyObject?.self, to: id)
                noteReference(slots)
            }
            SlotPointer(slots).bits(key.slot.location.nullOffset).pointee &= ~key.slot.location.nullMask
        }
        if !steps.isEmpty { try readOthers(statement, slots, size) }
        finish(slots, size)
        return slots
    }

    /// Completes the row. A row that cannot be read is completed, too: it is not returned, and its contents are released with its block.
    @inline(__always) private func finish(_ slots: UnsafeMutableRawPointer, _ size: Int) {
        let whole = (size + 7) & ~7
        SlotPointer(slots).prefix.pointee.size |= UInt32(truncatingIfNeeded: whole)
        block.unchecked("a row is being read").commit(size: whole)
        SlotPointer(slots).checkRow()
    }

    /// Copies bytes behind the slots.
    @inline(__always) private func pack(
        _ bytes: UnsafeRawPointer, _ count: Int, at location: SlotLocation, in slots: UnsafeMutableRawPointer, _ size: inout Int
    ) {
        (slots + size).copyMemory(from: bytes, byteCount: count)
        (slots + location.offset).storeBytes(
            of: UInt64(truncatingIfNeeded: size) | UInt64(truncatingIfNeeded: count) &<< 32, as: UInt64.self)
        setPacked(location, slots)
        size &+= count
    }

    @inline(__always) private func setPacked(_ location: SlotLocation, _ slots: UnsafeMutableRawPointer) {
        SlotPointer(slots).bits(location.nullOffset &+ 8).pointee |= location.nullMask
    }

    @inline(__always) private func noteReference(_ slots: UnsafeMutableRawPointer) {
        SlotPointer(slots).prefix.pointee.size |= RowPrefix.referenceBit
        block.unchecked("a row is being read").noteReferences()
    }

    /// Creates a new block with at least a number of bytes. A reader of many rows creates larger blocks, so that a single row takes no
    /// more than it needs.
    ///
    /// - Returns: The number of available bytes.
    @inline(never) private func startBlock(_ least: Int) -> Int {
        let size = (max(least, nextBlockSize) + 7) & ~7
        nextBlockSize = min(RowBlock.standardSize, nextBlockSize * 2)
        block = RowBlock.make(layout, origin: origin, byteCount: size)
        return size
    }

    /// Moves the row being read to a block with more space.
    @inline(never) private func move(
        _ slots: UnsafeMutableRawPointer, _ size: Int, to newSize: Int
    ) -> (slots: UnsafeMutableRawPointer, limit: Int) {
        let old = block
        let prefix = SlotPointer(slots).prefix.pointee
        let room = startBlock(newSize + RowPrefix.size + Self.usualTexts)
        let moved = block.unchecked("it has just been started").place(size: 0, number: prefix.number, version: prefix.version)
        moved.copyMemory(from: slots, byteCount: size)
        if prefix.size & RowPrefix.referenceBit != 0 { noteReference(moved) }
        withExtendedLifetime(old) {}
        return (moved, room - RowPrefix.size - 7)
    }

    private func attribute(_ slotIndex: Int) -> NSAttributeDescription {
        origin.entity.frozen!.properties[slotIndex] as! NSAttributeDescription
    }

    @inline(never) private func unreadable(_ slotIndex: Int, _ number: Int64, _ reason: String) -> any Error {
        values.error(values.unreadable(attribute(slotIndex), reason), in: origin.id(number))
    }

    /// Parses a UUID in text form.
    @inline(never) private func parseUUIDText(
        _ statement: OpaquePointer, _ column: Int32, _ slotIndex: Int, _ number: Int64
    ) throws -> UUID {
        do {
            guard case .uuid(let uuid) = try values.read(statement, column, .uuid, attribute(slotIndex)) else {
                throw values.unreadable(attribute(slotIndex), "its column holds no UUID")
            }
            return uuid
        } catch {
            throw values.error(error, in: origin.id(number))
        }
    }

    private func readOthers(_ statement: OpaquePointer, _ slots: UnsafeMutableRawPointer, _ size: Int) throws {
        let row = Row(block: block.unchecked("a row is being read"), slots: slots)
        do {
            for step in steps {
                if sqlite3_column_type(statement, step.column) == SQLITE_NULL { continue }
                let value = try values.read(statement, step.column, step.storage, step.attribute)
                noteReference(slots)
                row.store(value, in: step.slot)
            }
        } catch {
            // The row is not returned, and its contents are released with its block.
            finish(slots, size)
            throw values.error(error, in: origin.id(SlotPointer(slots).prefix.pointee.number))
        }
    }
}

/// The columns of a SELECT of an entity's rows, and their readers.
///
/// The first three columns are the key, the entity number and the version, followed by those of the entity and its subentities.
// Used by the thread that has the store's reader.
final class SQLRowPlan {
    let entity: SQLEntity
    let columns: [SQLIdentifier]
    /// The columns in a SELECT from the table.
    let list: String
    /// Selects the row with a key.
    let selectOne: String
    private var keptStatement: SQLStatement?
    /// Selects the rows of many keys, whose list follows.
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
            // Bounded: entities of the model, with numbers of their own.
            uniqueKeysWithValues: kinds.map { ($0.number, SQLRowReader($0, columns: places, schema: schema, values: values)) })
        only = kinds.count == 1 ? readers[kinds[0].number] : nil
    }

    /// Returns the statement that selects the row with a key, cached for faults. Its caller is done before the next one begins.
    func statementForOne(_ connection: SQLConnection) throws -> SQLStatement {
        if let keptStatement { return keptStatement }
        let statement = try SQLStatement(selectOne, connection: connection, isKept: true)
        keptStatement = statement
        return statement
    }

    /// Returns the columns, qualified by a table.
    func list(of table: String) -> String {
        ([.primaryKey, .entity, .version] + columns).map { "\(table).\($0.sql)" }.joined(separator: ", ")
    }

    /// The reader of all rows of the table; nil if it contains rows of several entities.
    var onlyReader: SQLRowReader? { entity.isAlone ? only : nil }

    /// Returns the reader of rows with an entity number; nil for a number outside of the entity and its subentities.
    @inline(__always) func reader(_ number: Int64) -> SQLRowReader? {
        if let only { return number == entity.number || entity.isAlone ? only : nil }
        return readers[number]
    }
}

extension SQLEntity {
    /// The columns of values in the entity's rows.
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
