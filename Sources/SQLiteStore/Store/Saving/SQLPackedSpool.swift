internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// Keeps the rows of a batch insert between the program's handler, which is called without a lock, and the transaction, which needs one. It keeps
/// them as the bytes that its statement binds, so that no object or row is made for them again.
///
/// It serves entities whose columns hold only numbers, dates and text, and with which no other row can conflict; ``SQLBatchSpool`` serves all. Few
/// rows stay in memory; many go to a temporary file without a name, so that a batch of any size takes the memory of one chunk.
// Used by one thread.
final class SQLPackedSpool {
    private struct Step {
        let location: SlotLocation
        /// Otherwise it is a number.
        let isText: Bool
        let isReal: Bool
    }
    /// The number of bytes after which rows go to the file.
    static let chunkSize = 1 << 20

    let entity: SQLEntity
    /// The number of rows.
    private(set) var count = 0
    private let columns: [SQLIdentifier]
    private let steps: [Step]
    // Owned, and freed with the object. Rows of variable size lie one behind the other: first the bits of the nil values, then the other values,
    // where a text begins with its length.
    @exclusivity(unchecked) private var bytes = UnsafeMutableRawPointer.allocate(byteCount: SQLPackedSpool.chunkSize, alignment: 8)
    @exclusivity(unchecked) private var capacity = SQLPackedSpool.chunkSize
    @exclusivity(unchecked) private var used = 0
    /// The number of rows in the bytes.
    @exclusivity(unchecked) private var rows = 0
    /// The file, which belongs to the spool.
    private var file: UnsafeMutablePointer<FILE>?
    private var chunks: [(rows: Int, bytes: Int)] = []

    /// Nil for an entity with other columns, and for one with uniqueness constraints.
    init?(_ description: NSEntityDescription, of store: SQLiteStore) throws {
        entity = try store.sqlEntity(description)
        let frozen = description.frozenParts
        var columns: [SQLIdentifier] = []
        var steps: [Step] = []
        for (index, property) in frozen.properties.enumerated() {
            // Relationships stay empty: their columns are left out.
            guard case .attribute(let place) = entity.properties[index] else { continue }
            let location = frozen.layout.slots[index].location
            switch place.storage {
            case .integer, .boolean: steps.append(Step(location: location, isText: false, isReal: false))
            case .double, .date: steps.append(Step(location: location, isText: false, isReal: true))
            case .text: steps.append(Step(location: location, isText: true, isReal: false))
            default: return nil
            }
            if property is NSDerivedAttributeDescription { return nil }
            columns.append(place.column)
        }
        guard frozen.uniqueness.isEmpty, !steps.isEmpty, steps.count <= 64 else { return nil }
        self.columns = columns
        self.steps = steps
    }

    deinit {
        bytes.deallocate()
        if let file { fclose(file) }
    }

    // MARK: Adding

    /// Adds a row, whose values are copied.
    ///
    /// - Throws: An error if there is no space for a temporary file.
    func add(_ row: Row) throws {
        if used >= Self.chunkSize { try spill() }
        let slots = row.slots
        reserve(8 + 8 * steps.count)
        let start = used
        used += 8
        var nils: UInt64 = 0
        for index in steps.indices {
            let step = steps[index]
            if slots.load(fromByteOffset: step.location.nullOffset, as: UInt64.self) & step.location.nullMask != 0 {
                nils |= 1 << UInt64(index)
            } else if !step.isText {
                bytes.storeBytes(of: slots.load(fromByteOffset: step.location.offset, as: UInt64.self), toByteOffset: used, as: UInt64.self)
                used += 8
            } else if step.location.isPacked(slots) {
                add(PackedBytes.bytes(slots, step.location.offset), before: index)
            } else {
                SlotPointer(slots).place(step.location.offset, of: String.self).pointee.withUTF8 { add($0, before: index) }
            }
        }
        bytes.storeBytes(of: nils, toByteOffset: start, as: UInt64.self)
        count += 1
        rows += 1
    }

    @inline(__always) private func add(_ text: UnsafeBufferPointer<UInt8>, before index: Int) {
        reserve(8 + text.count + 8 * (steps.count - index))
        bytes.storeBytes(of: UInt64(text.count), toByteOffset: used, as: UInt64.self)
        if let base = text.baseAddress { (bytes + used + 8).copyMemory(from: base, byteCount: text.count) }
        used += 8 + text.count
    }

    @inline(__always) private func reserve(_ length: Int) { if used &+ length > capacity { grow(length) } }

    @inline(never) private func grow(_ length: Int) {
        capacity = max(capacity * 2, used + length)
        let new = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        new.copyMemory(from: bytes, byteCount: used)
        bytes.deallocate()
        bytes = new
    }

    private func spill() throws {
        if file == nil { file = tmpfile() }
        guard let file, fwrite(bytes, 1, used, file) == used else { throw SQLBatchSpool.failure(entity.entity) }
        chunks.append((rows, used))
        (rows, used) = (0, 0)
    }

    // MARK: Inserting

    /// Inserts the rows with consecutive keys. Call it within a transaction.
    ///
    /// - Throws: SQLite's errors, and an error if the temporary file cannot be read.
    func insert(firstKey: Int64, _ connection: SQLConnection) throws {
        var key = firstKey
        if let file {
            let last = (rows: rows, bytes: used)
            if last.rows > 0 { try spill() }
            rewind(file)
            for chunk in chunks {
                reserve(chunk.bytes)
                guard fread(bytes, 1, chunk.bytes, file) == chunk.bytes else { throw SQLBatchSpool.failure(entity.entity) }
                try insert(chunk.rows, &key, connection)
            }
        } else {
            try insert(rows, &key, connection)
        }
    }

    /// Inserts the rows that are in memory.
    private func insert(_ rows: Int, _ key: inout Int64, _ connection: SQLConnection) throws {
        let limit = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
        let together = max(1, min(100, (limit - 1) / columns.count))
        var place = UnsafeRawPointer(bytes)
        var left = rows
        for size in [together, 10, 1] where size <= together && left >= size {
            try connection.with(statement(size)) { statement in
                while left >= size {
                    statement.bind(key, at: 1)
                    bind(size, at: &place, to: statement.handle)
                    try statement.run()
                    key += Int64(size)
                    left -= size
                }
            }
        }
    }

    /// Binds rows. Texts are not copied: the bytes change only after the statement has run.
    @inline(__always) private func bind(_ rows: Int, at place: inout UnsafeRawPointer, to handle: OpaquePointer) {
        var parameter: Int32 = 2
        for _ in 0..<rows {
            let nils = place.loadUnaligned(as: UInt64.self)
            place += 8
            for index in steps.indices {
                if nils & (1 << UInt64(index)) != 0 {
                    sqlite3_bind_null(handle, parameter)
                } else if steps[index].isText {
                    let length = place.loadUnaligned(as: UInt64.self)
                    sqlite3_bind_text64(
                        handle, parameter, (place + 8).assumingMemoryBound(to: CChar.self), length, nil, UInt8(SQLITE_UTF8))
                    place += 8 + Int(length)
                } else {
                    let word = place.loadUnaligned(as: UInt64.self)
                    if steps[index].isReal {
                        sqlite3_bind_double(handle, parameter, Double(bitPattern: word))
                    } else {
                        sqlite3_bind_int64(handle, parameter, Int64(bitPattern: word))
                    }
                    place += 8
                }
                parameter += 1
            }
        }
    }

    /// Returns the statement that inserts a number of rows: the first parameter is the first key.
    private func statement(_ rows: Int) -> String {
        let list = ([SQLIdentifier.primaryKey, .entity, .version] + columns).map(\.sql).joined(separator: ", ")
        let values = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        let tuples = (0..<rows).map { "(?1 + \($0), \(entity.number), 1, \(values))" }
        return "INSERT INTO \(entity.table) (\(list)) VALUES " + tuples.joined(separator: ", ")
    }
}
