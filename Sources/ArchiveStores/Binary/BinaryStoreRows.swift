internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The rows of an entity in a binary store: the number of each object, and its values in the order of the entity's list of properties, each preceded
/// by a byte for its kind.
enum BinaryStoreRows {
    struct Failure: Error {
        let reason: String
    }

    private static let none: UInt8 = 0
    private static let integer: UInt8 = 1
    private static let double: UInt8 = 2
    private static let bytes: UInt8 = 3
    private static let reference: UInt8 = 4
    private static let references: UInt8 = 5

    /// Writes rows.
    final class Writer {
        let entities: [(entity: NSEntityDescription, columns: [ArchiveColumn])]
        private let positions: [ObjectIdentifier: Int]
        private let rawArchives: Set<ArchiveContents.RawArchive>
        private static let chunkSize = 1 << 20

        init(_ entities: [NSEntityDescription], _ rawArchives: Set<ArchiveContents.RawArchive>) throws {
            let concrete = entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
            self.entities = try concrete.map { ($0, try ArchiveColumn.columns(of: $0)) }
            self.rawArchives = rawArchives
            positions = Dictionary(concrete.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        }

        /// Calls `body` with the rows of an entity, in parts of about a megabyte.
        func forEachChunk(of position: Int, _ rows: StoredRows, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
            let (entity, columns) = entities[position]
            var chunk = ByteWriter(capacity: 1 << 12)
            try rows.forEachRow(of: entity, includingSubentities: false) { row in
                try write(row, columns, to: &chunk)
                if chunk.count < Self.chunkSize { return }
                try chunk.withUnsafeBytes(body)
                chunk.truncate(to: 0)
            }
            if chunk.count > 0 { try chunk.withUnsafeBytes(body) }
        }

        private func write(_ row: Row, _ columns: [ArchiveColumn], to chunk: inout ByteWriter) throws {
            let number = row.knownObjectID.number.known("rows of the store have numbers")
            chunk.append(short: UInt64(number))
            for column in columns {
                if let relationship = column.relationship {
                    let ids = row.relatedIDs(relationship)
                    if column.kind.isToOne {
                        chunk.append(ids.isEmpty ? none : BinaryStoreRows.reference)
                        if let id = ids.first { try write(id, to: &chunk) }
                    } else {
                        chunk.append(BinaryStoreRows.references)
                        chunk.append(short: UInt64(ids.count))
                        for id in ids { try write(id, to: &chunk) }
                    }
                    continue
                }
                if column.isNil(in: row) {
                    chunk.append(none)
                    continue
                }
                switch column.kind {
                case .integer, .boolean:
                    chunk.append(integer)
                    chunk.append(signed: column.integer(in: row))
                case .double, .float, .date:
                    chunk.append(double)
                    chunk.append(fixed: column.double(in: row).bitPattern)
                default:
                    chunk.append(bytes)
                    let isRaw = !rawArchives.isEmpty && rawArchives.contains(.init(number: number, slotIndex: column.property.slotIndex))
                    try writeBytes(column, row, isRaw, to: &chunk)
                }
            }
        }

        private func writeBytes(_ column: ArchiveColumn, _ row: Row, _ isRaw: Bool, to chunk: inout ByteWriter) throws {
            switch column.kind {
            case .text: column.withText(in: row) { chunk.append(counted: UnsafeRawBufferPointer($0)) }
            case .data: column.withData(in: row) { chunk.append(counted: $0) }
            case .uuid: withUnsafeBytes(of: column.uuid(in: row).uuid) { chunk.append(counted: $0) }
            case .decimal: chunk.append((row.box(at: column.slot)?.value as? Decimal ?? 0).description)
            case .url: chunk.append((row.box(at: column.slot)?.value as? URL)?.absoluteString ?? "")
            case .archive: try column.archive(in: row, isRaw: isRaw).withUnsafeBytes { chunk.append(counted: $0) }
            case .integer, .boolean, .double, .float, .date, .toOne, .toMany: break
            }
        }

        private func write(_ id: NSManagedObjectID, to chunk: inout ByteWriter) throws {
            guard let position = positions[ObjectIdentifier(id.owningEntity)], let number = id.number else {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "\(id) cannot be referred to.", reason: "The store does not have its entity.",
                    next: "Relate objects of one store only.", info: [NSAffectedObjectsErrorKey: [id]])
            }
            chunk.append(short: UInt64(position))
            chunk.append(short: UInt64(number))
        }
    }

    /// Reads rows.
    struct Reader {
        private let store: BinaryStore
        let rows: StoredRows
        private(set) var lastNumber: Int64 = 0
        private(set) var rawArchives: Set<ArchiveContents.RawArchive> = []
        private let known: [String: NSEntityDescription]
        private var entities: [NSEntityDescription] = []
        private var ids: [Int64: NSManagedObjectID] = [:]
        private var isRead: Set<Int64> = []
        private var columns: [Int: (all: [ArchiveColumn], named: [ArchiveColumn], missing: [ArchiveColumn], writer: PackedRowWriter)] = [:]

        init(_ store: BinaryStore) throws {
            self.store = store
            rows = StoredRows(for: store)
            known = Dictionary(
                store.entities.compactMap { entity in entity.name.map { ($0, entity) } }, uniquingKeysWith: { first, _ in first })
        }

        mutating func begin(_ names: [String]) throws {
            entities = try names.map { name in
                guard let entity = known[name], !entity.isAbstract else {
                    throw Failure(reason: "The model has no entity “\(name)” with objects.")
                }
                return entity
            }
        }

        private mutating func prepare(_ position: Int, _ names: [String]) throws {
            if columns[position] != nil { return }
            let entity = entities[position]
            let all = try ArchiveColumn.columns(of: entity)
            let named = try names.map { name in
                guard let column = all.first(where: { $0.name == name }) else {
                    throw Failure(reason: "“\(entity)” has no property “\(name)” in the model.")
                }
                return column
            }
            guard Set(names).count == names.count else { throw Failure(reason: "A property of “\(entity)” is there twice.") }
            columns[position] = (all, named, all.filter { !names.contains($0.name) }, PackedRowWriter(entity))
        }

        /// Reads the rows of an entity.
        mutating func read(_ chunk: UnsafeRawBufferPointer, _ position: Int, _ names: [String]) throws {
            try prepare(position, names)
            guard let (_, named, missing, writer) = columns[position] else { return }
            var bytes = ByteReader(chunk)
            do {
                while bytes.remaining > 0 {
                    let number = try number(&bytes)
                    guard isRead.insert(number).inserted else { throw Failure(reason: "The object \(number) is there twice.") }
                    let id = try id(position, number)
                    writer.begin()
                    for column in named { try read(column, number, into: writer, from: &bytes) }
                    for column in missing { setNone(column, writer) }
                    try rows.load(Row(writer.end(id, version: 1)))
                }
            } catch let failure as Failure {
                writer.cancel()
                throw failure
            } catch {
                writer.cancel()
                throw Failure(reason: (error as NSError).localizedFailureReason ?? "\(error)")
            }
        }

        private mutating func number(_ bytes: inout ByteReader) throws -> Int64 {
            let number = try bytes.short()
            guard number > 0, number <= UInt64(ArchiveContents.largestNumber) else {
                throw Failure(reason: "The number of an object is wrong.")
            }
            lastNumber = max(lastNumber, Int64(number))
            return Int64(number)
        }

        private mutating func id(_ position: Int, _ number: Int64) throws -> NSManagedObjectID {
            if let id = ids[number] {
                guard id.owningEntity === entities[position] else { throw Failure(reason: "The object \(number) is of two entities.") }
                return id
            }
            let id = store.objectID(for: entities[position], number: number)
            ids[number] = id
            return id
        }

        private func setNone(_ column: ArchiveColumn, _ writer: PackedRowWriter) {
            switch column.kind {
            case .toOne: writer.set(nil, at: column.place)
            case .toMany: writer.set([], at: column.place)
            default: writer.setNil(column.place)
            }
        }

        private mutating func reference(_ column: ArchiveColumn, _ bytes: inout ByteReader) throws -> NSManagedObjectID {
            let position = try bytes.short()
            guard position < UInt64(entities.count) else { throw Failure(reason: "There is no entity \(position).") }
            let entity = entities[Int(position)]
            guard let destination = column.relationship?.destinationEntity, entity === destination || entity.isKindOf(entity: destination)
            else { throw Failure(reason: "“\(column.property)” leads to an object of “\(entity)”.") }
            return try id(Int(position), number(&bytes))
        }

        private mutating func read(
            _ column: ArchiveColumn, _ number: Int64, into writer: PackedRowWriter, from bytes: inout ByteReader
        ) throws {
            func wrong() -> Failure { Failure(reason: "A value of “\(column.property)” is none that it can have.") }
            let tag = try bytes.byte()
            switch (tag, column.kind) {
            case (BinaryStoreRows.references, .toMany):
                let count = try bytes.short()
                guard count <= UInt64(bytes.remaining) else { throw wrong() }
                var ids: [NSManagedObjectID] = []
                ids.reserveCapacity(Int(count))
                for _ in 0..<count { ids.append(try reference(column, &bytes)) }
                // There is one instance for each object.
                guard ids.count < 2 || Set(ids.map(ObjectIdentifier.init)).count == ids.count else {
                    throw Failure(reason: "“\(column.property)” has an object twice.")
                }
                writer.set(ids, at: column.place)
            case (none, .toMany): throw wrong()
            case (none, _): setNone(column, writer)
            case (BinaryStoreRows.reference, .toOne): writer.set(try reference(column, &bytes), at: column.place)
            case (integer, .integer(let range)):
                let value = try bytes.signed()
                guard range.contains(value) else { throw wrong() }
                writer.set(value, at: column.place)
            case (integer, .boolean):
                let value = try bytes.signed()
                guard (0...1).contains(value) else { throw wrong() }
                writer.set(value, at: column.place)
            case (double, .double), (double, .float), (double, .date):
                let value = Double(bitPattern: try bytes.fixed())
                guard !value.isNaN, value.isFinite || !column.kind.isDate else { throw wrong() }
                writer.set(value, at: column.place)
            case (BinaryStoreRows.bytes, .text), (BinaryStoreRows.bytes, .data), (BinaryStoreRows.bytes, .uuid),
                (BinaryStoreRows.bytes, .decimal), (BinaryStoreRows.bytes, .url), (BinaryStoreRows.bytes, .archive):
                if try !set(bytes.countedBytes(), of: column, number, writer) { throw wrong() }
            default: throw wrong()
            }
        }

        /// Sets a value from its bytes; returns false for invalid bytes.
        private mutating func set(
            _ bytes: UnsafeRawBufferPointer, of column: ArchiveColumn, _ number: Int64, _ writer: PackedRowWriter
        ) throws -> Bool {
            switch column.kind {
            case .text:
                guard XMLStoreDocument.firstMistake(bytes) == nil else { return false }
                writer.set(utf8: bytes, at: column.place)
            case .data: writer.set(data: bytes, at: column.place)
            case .uuid:
                guard bytes.count == 16 else { return false }
                writer.set(.uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))), at: column.place)
            case .decimal:
                let text = String(decoding: bytes, as: UTF8.self)
                // Foundation parses numeric prefixes of strings.
                guard let decimal = Decimal(string: text, locale: nil), !decimal.isNaN, decimal.description == text else { return false }
                writer.set(.box(Box(decimal)), at: column.place)
            case .url:
                guard let url = URL(string: String(decoding: bytes, as: UTF8.self)) else { return false }
                writer.set(.box(Box(url)), at: column.place)
            case .archive:
                do {
                    let (value, isRaw) = try column.value(ofArchive: Data(bytes))
                    if isRaw { rawArchives.insert(.init(number: number, slotIndex: column.property.slotIndex)) }
                    writer.set(.box(Box(value)), at: column.place)
                } catch let damage as AttributeArchive.Damage {
                    throw Failure(reason: "The archive in “\(column.property)” is damaged. \(damage.reason)")
                }
            case .integer, .boolean, .double, .float, .date, .toOne, .toMany: return false
            }
            return true
        }
    }
}
