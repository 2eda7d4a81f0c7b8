#if PostgreSQL
internal import Foundation
internal import MappedTables
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The columns of a SELECT of an entity's rows, and their conversion to rows.
///
/// The first three columns are the key, the entity number and the version, followed by those of the entity and its subentities.
// Immutable.
final class RowPlan: @unchecked Sendable {
    /// A slot and its column. It has no references, which would be counted for each value.
    struct Step {
        enum Form {
            case integer, boolean, double, date, text, data, uuid
            /// The form of the kind at this index.
            case other(Int)
        }
        let column: Int
        let place: RowPlace
        let form: Form
    }
    /// A property whose form alone does not tell how to read it.
    enum Kind {
        case attribute(SQLStorage, NSAttributeDescription)
        /// The destination and its keys, and the column of its entity if it may be one of several.
        case toOne(NSEntityDescription, SQLKeyKind, entityColumn: Int?)
    }
    /// How the rows of one entity are read.
    // Immutable.
    final class Shape: @unchecked Sendable {
        let entity: NSEntityDescription
        let steps: [Step]
        let kinds: [Kind]

        init(_ entity: SQLEntity, _ columns: [SQLIdentifier: Int], _ schema: SQLSchema) {
            let places = entity.entity.rowPlaces
            var steps: [Step] = []
            var kinds: [Kind] = []
            func other(_ kind: Kind) -> Step.Form {
                kinds.append(kind)
                return .other(kinds.count - 1)
            }
            for (index, property) in entity.entity.frozenParts.properties.enumerated() {
                switch entity.properties[index] {
                case .attribute(let attribute):
                    guard let column = columns[attribute.column], let description = property as? NSAttributeDescription else { continue }
                    let form: Step.Form =
                        switch attribute.storage {
                        case .integer: .integer
                        case .boolean: .boolean
                        case .double: .double
                        case .date: .date
                        case .text: .text
                        case .data, .externalData: .data
                        case .uuid: .uuid
                        case .uri, .decimal, .transformable, .composite: other(.attribute(attribute.storage, description))
                        }
                    steps.append(Step(column: column, place: places[index], form: form))
                case .toOne(let key):
                    guard let column = columns[key.column], let destination = (property as? NSRelationshipDescription)?.destinationEntity
                    else { continue }
                    let kind = Kind.toOne(
                        destination, schema.entity(destination)?.keyKind ?? .integer,
                        entityColumn: key.entityColumn.flatMap { columns[$0] })
                    steps.append(Step(column: column, place: places[index], form: other(kind)))
                case .toMany, .unstored: continue
                }
            }
            (self.entity, self.steps, self.kinds) = (entity.entity, steps, kinds)
        }
    }

    let entity: SQLEntity
    let columns: [SQLIdentifier]
    let shapes: [Int64: Shape]
    /// Whether columns hold unchanged texts, and not the form of ``PostgreSQLText``.
    let isVerbatim: Bool
    static let firstColumn = 3

    init(_ entity: SQLEntity, schema: SQLSchema, isVerbatim: Bool) {
        self.entity = entity
        self.isVerbatim = isVerbatim
        let kinds = entity.numbers.compactMap(schema.entity(numbered:))
        var columns: [SQLIdentifier] = []
        var places: [SQLIdentifier: Int] = [:]
        for column in kinds.flatMap(\.rowColumns) where places[column] == nil {
            places[column] = Self.firstColumn + columns.count
            columns.append(column)
        }
        self.columns = columns
        shapes = Dictionary(
            // Bounded: the numbers of the entities are those of the schema.
            uniqueKeysWithValues: kinds.map { ($0.number, Shape($0, places, schema)) })
    }

    /// The columns in a SELECT, qualified by a table.
    func list(of table: String) -> String {
        let identity = entity.identity
        return ([identity.key, identity.entity, identity.version] + columns).map { "\(table).\($0.sql)" }.joined(separator: ", ")
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

/// Reads the rows of results into blocks.
// Used by one task.
final class RowReader {
    private let plan: RowPlan
    private let isVerbatim: Bool
    private let schema: SQLSchema
    private let token: StoreToken
    private var writers: [Int64: PackedRowWriter] = [:]
    /// The entity, shape and writer of the last row: most rows have the entity of the one before.
    private var last: (number: Int64, shape: RowPlan.Shape, writer: PackedRowWriter)?
    /// The last created ID of a destination: consecutive rows often have the same.
    private var lastID: NSManagedObjectID?

    init(_ plan: RowPlan, schema: SQLSchema, token: StoreToken) {
        (self.plan, self.schema, self.token) = (plan, schema, token)
        isVerbatim = plan.isVerbatim
    }

    /// Returns the slots of a row; nil for a row of another entity. The reader holds its block until it reads the next row.
    ///
    /// - Throws: Code 134060 for a value that cannot be read.
    func read(_ result: QueryResult, _ row: Int) throws -> UnsafeMutableRawPointer? {
        let number = result.integer(row, 1)
        if last?.number != number {
            guard let shape = plan.shapes[number] ?? (plan.entity.isAlone ? plan.shapes[plan.entity.number] : nil) else { return nil }
            let writer = writers[number] ?? PackedRowWriter(shape.entity)
            writers[number] = writer
            last = (number, shape, writer)
        }
        guard let (_, shape, writer) = last else { return nil }
        writer.begin()
        do {
            for step in shape.steps { try set(step, shape, result, row, writer) }
        } catch {
            writer.cancel()
            throw error
        }
        let id = NSManagedObjectID(entity: shape.entity, token: token, reference: plan.entity.keyKind.reference(result, row, 0))
        return writer.end(id, version: result.integer(row, 2))
    }

    /// Returns the ID of a row; nil for a row of another entity.
    func id(_ result: QueryResult, _ row: Int) -> NSManagedObjectID? {
        let shape = plan.shapes[result.integer(row, 1)] ?? (plan.entity.isAlone ? plan.shapes[plan.entity.number] : nil)
        return shape.map { NSManagedObjectID(entity: $0.entity, token: token, reference: plan.entity.keyKind.reference(result, row, 0)) }
    }

    /// Returns the error of a value with its row.
    func named(_ error: any Error, _ id: NSManagedObjectID, of mapping: Mapping?) -> any Error {
        let error = error as NSError
        guard error.domain == NSCocoaErrorDomain else { return error }
        var info = error.userInfo
        let table = mapping?.table(plan.entity)
        let name = table?.relation.name ?? plan.entity.table.name
        let key = table?.key.columns.map(\.name).joined(separator: ", ") ?? "id"
        let place = " The row is that of \(name) whose \(key) is \(id.reference.shown)."
        for part in [NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey] {
            info[part] = (info[part] as? String).map { $0 + place }
        }
        info[NSAffectedObjectsErrorKey] = [id]
        return NSError(domain: error.domain, code: error.code, userInfo: info)
    }

    @inline(__always) private func set(
        _ step: RowPlan.Step, _ shape: RowPlan.Shape, _ result: QueryResult, _ row: Int, _ writer: PackedRowWriter
    ) throws {
        guard !result.isNull(row, step.column) else { return writer.setNil(step.place) }
        let bytes = result.bytes(row, step.column)
        switch step.form {
        // Columns of other programs have integers of all sizes.
        case .integer:
            writer.set(
                bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : result.integer(row, step.column), at: step.place)
        case .boolean: writer.set(bytes[0] == 0 ? 0 : 1 as Int64, at: step.place)
        case .double: writer.set(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))), at: step.place)
        case .date: writer.set(ColumnValues.seconds(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))), at: step.place)
        case .text:
            if !isVerbatim, PostgreSQLText.isEscaped(bytes) {
                var text = PostgreSQLText.decoded(bytes)
                text.withUTF8 { writer.set(utf8: UnsafeRawBufferPointer($0), at: step.place) }
            } else {
                writer.set(utf8: bytes, at: step.place)
            }
        case .data: writer.set(data: bytes, at: step.place)
        case .uuid: writer.set(.uuid(bytes.loadUnaligned(as: UUID.self)), at: step.place)
        case .other(let number): try set(shape.kinds[number], step, bytes, result, row, writer)
        }
    }

    private func set(
        _ kind: RowPlan.Kind, _ step: RowPlan.Step, _ bytes: UnsafeRawBufferPointer, _ result: QueryResult, _ row: Int,
        _ writer: PackedRowWriter
    ) throws {
        switch kind {
        case .attribute(.transformable, let attribute) where result.type(of: step.column) == PostgreSQLType.text:
            writer.set(.box(Box(try JSONColumn.value(bytes, attribute))), at: step.place)
        case .attribute(let storage, let attribute): writer.set(try ColumnValues.value(bytes, storage, attribute), at: step.place)
        case .toOne(let destination, let kind, let entityColumn):
            let key = kind.reference(result, row, step.column)
            var entity = destination
            if let entityColumn, !result.isNull(row, entityColumn) {
                entity = schema.entity(numbered: result.integer(row, entityColumn))?.entity ?? destination
            }
            writer.set(id(key, of: entity), at: step.place)
        }
    }

    private func id(_ key: NSManagedObjectID.Reference, of entity: NSEntityDescription) -> NSManagedObjectID {
        if let lastID, key == lastID.reference, lastID.owningEntity === entity { return lastID }
        let id = NSManagedObjectID(entity: entity, token: token, reference: key)
        lastID = id
        return id
    }
}
#endif
