#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import SQLQueries

/// Writes the rows of one entity: its statements and their parameters.
// Immutable; the texts of updates are in a `LockedBox`.
final class EntityWriter: @unchecked Sendable {
    enum Kind {
        case attribute(SQLStorage, NSAttributeDescription)
        /// The destination; whether a second column has its entity; the column of the position in the inverse's order.
        case toOne(SQLEntity, hasEntityColumn: Bool, order: SQLIdentifier?)
    }
    /// A slot and its columns.
    struct Step {
        let property: NSPropertyDescription
        let slotIndex: Int
        let slot: RowLayout.Slot
        let columns: [SQLIdentifier]
        let kind: Kind
    }

    /// A slot and how it is copied: mostly as the bytes of the row, without an intermediate value.
    private struct CopyStep {
        enum Form {
            case integer, boolean, double, text, uuid
            /// The form of the step at this index.
            case other(Int)
        }
        let slot: RowLayout.Slot
        let form: Form
    }

    let entity: SQLEntity
    private let steps: [Step]
    private let copySteps: [CopyStep]
    private let columnCount: Int
    private let schema: SQLSchema
    private let token: StoreToken
    /// The to-one relationships that are written with the position in the inverse's order.
    private let placed: [NSRelationshipDescription]
    let insert: String
    let copy: String
    /// The slots of dates, which are rounded.
    let dateSlots: [RowLayout.Slot]
    /// The statements that update some properties, by these properties: a program mostly changes the same ones.
    private let updates = LockedBox<[PropertySet: UpdateStatement]>([:])
    private static let updateLimit = 100

    init(_ entity: SQLEntity, schema: SQLSchema, token: StoreToken) {
        self.entity = entity
        self.schema = schema
        self.token = token
        let frozen = entity.entity.frozenParts
        var steps: [Step] = []
        for (index, property) in frozen.properties.enumerated() {
            let slot = frozen.layout.slots[index]
            switch entity.properties[index] {
            case .attribute(let place):
                guard let attribute = property as? NSAttributeDescription else { continue }
                steps.append(
                    Step(
                        property: property, slotIndex: index, slot: slot, columns: [place.column],
                        kind: .attribute(place.storage, attribute)))
            case .toOne(let place):
                guard let relationship = property as? NSRelationshipDescription,
                    let destination = relationship.destinationEntity.flatMap(schema.entity)
                else { continue }
                let order = Self.orderColumn(relationship, schema)
                steps.append(
                    Step(
                        property: property, slotIndex: index, slot: slot,
                        columns: [place.column, place.entityColumn, order].compactMap { $0 },
                        kind: .toOne(destination, hasEntityColumn: place.entityColumn != nil, order: order)))
            case .toMany, .unstored: continue
            }
        }
        self.steps = steps
        copySteps = steps.enumerated().map { index, step in
            let form: CopyStep.Form =
                switch step.kind {
                case .attribute(.integer, _): .integer
                case .attribute(.boolean, _): .boolean
                case .attribute(.double, _): .double
                case .attribute(.text, _): .text
                case .attribute(.uuid, _): .uuid
                case .attribute, .toOne: .other(index)
                }
            return CopyStep(slot: step.slot, form: form)
        }
        placed = steps.compactMap { step in
            guard case .toOne(_, _, _?) = step.kind else { return nil }
            return step.property as? NSRelationshipDescription
        }
        dateSlots = steps.compactMap { step in
            guard case .attribute(.date, _) = step.kind else { return nil }
            return step.slot
        }
        let identity = entity.identity
        let columns = [identity.key, identity.entity, identity.version] + steps.flatMap(\.columns)
        let list = columns.map(\.sql).joined(separator: ", ")
        columnCount = columns.count
        insert = "INSERT INTO \(entity.table) (\(list)) VALUES (\((1...columns.count).map { "$\($0)" }.joined(separator: ", ")))"
        copy = "COPY \(entity.table) (\(list)) FROM STDIN (FORMAT binary)"
    }

    /// Returns the column of the position among the rows of a to-one relationship's destination.
    private static func orderColumn(_ relationship: NSRelationshipDescription, _ schema: SQLSchema) -> SQLIdentifier? {
        guard let inverse = relationship.storedInverse, inverse.isToMany, inverse.isOrdered,
            let owner = inverse.entity.flatMap(schema.entity), case .toMany(.foreignKey(let key)) = owner[inverse]
        else { return nil }
        return key.orderColumn
    }

    // MARK: Statements

    /// Returns the values of a new row, in the order of ``insert`` and ``copy``.
    func values(of row: Row, key: Int64, orders: inout SQLOrderPositions) throws -> [BinaryValue] {
        var values: [BinaryValue] = [.integer(key), .integer(entity.number), .integer(row.version)]
        for step in steps { values += try self.values(step, row, key, &orders) }
        return values
    }

    /// Returns the row as `COPY` takes it.
    func appendCopy(of row: Row, key: Int64, orders: inout SQLOrderPositions, to bytes: inout [UInt8]) throws {
        bytes.append(bigEndian: UInt16(truncatingIfNeeded: columnCount))
        bytes.appendField(UInt64(bitPattern: key))
        Self.appendMedium(entity.number, to: &bytes)
        bytes.appendField(UInt64(bitPattern: row.version))
        for step in copySteps {
            let place = row.slots + step.slot.location.offset
            switch step.form {
            case .other(let index): try appendCopy(of: steps[index], row, key, &orders, to: &bytes)
            case _ where row.isNil(at: step.slot): bytes.append(bigEndian: UInt32.max)
            case .integer: bytes.appendField(place.load(as: UInt64.self))
            case .double: bytes.appendField(place.load(as: Double.self).bitPattern)
            case .boolean: BinaryValue.boolean(place.load(as: Int64.self) != 0).appendField(to: &bytes)
            case .text: PostgreSQLText.appendField(row.text(at: step.slot), to: &bytes)
            case .uuid: BinaryValue.uuid(place.load(as: UUID.self)).appendField(to: &bytes)
            }
        }
    }

    private func appendCopy(
        of step: Step, _ row: Row, _ key: Int64, _ orders: inout SQLOrderPositions, to bytes: inout [UInt8]
    ) throws {
        if case .attribute(let storage, let attribute) = step.kind {
            return try ColumnValues.value(of: row, step.slot, storage, attribute).appendField(to: &bytes)
        }
        for (index, value) in try values(step, row, key, &orders).enumerated() {
            // The entity of a destination is an integer of four bytes, too.
            if index == 1, case .toOne(_, hasEntityColumn: true, _) = step.kind, case .integer(let number) = value {
                Self.appendMedium(number, to: &bytes)
            } else {
                value.appendField(to: &bytes)
            }
        }
    }

    private static func appendMedium(_ number: Int64, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: UInt32(4))
        bytes.append(bigEndian: Int32(truncatingIfNeeded: number))
    }

    /// Returns the statement that updates the changed properties of a row if it still has the version that was read.
    func update(_ change: StoreChange, _ row: Row, key: Int64, orders: inout SQLOrderPositions) throws -> Call {
        let changed = properties(of: change, row)
        return Call(statement(updating: changed).plain, try values(updating: changed, row, key, &orders))
    }

    /// Returns the statement of an update that writes nothing if another transaction holds the row; nil for an update of relationships, which may
    /// wait for other rows.
    func unwaitingUpdate(_ change: StoreChange, _ row: Row, key: Int64) throws -> Call? {
        let changed = properties(of: change, row)
        guard let sql = statement(updating: changed).unwaiting else { return nil }
        var orders = SQLOrderPositions()
        return Call(sql, try values(updating: changed, row, key, &orders))
    }

    /// Returns the parameters of an update: the key, the version that was read, the new one, and the values of the changed properties.
    private func values(
        updating changed: PropertySet, _ row: Row, _ key: Int64, _ orders: inout SQLOrderPositions
    ) throws -> [BinaryValue] {
        var values: [BinaryValue] = [.integer(key), .integer(row.version &- 1), .integer(row.version)]
        for step in steps where changed.contains(step.slotIndex) { values += try self.values(step, row, key, &orders) }
        return values
    }

    private func statement(updating changed: PropertySet) -> UpdateStatement {
        updates.kept(changed, limit: Self.updateLimit) {
            let steps = steps.filter { changed.contains($0.slotIndex) }
            let hasRelationships = steps.contains { if case .toOne = $0.kind { true } else { false } }
            return UpdateStatement(entity, steps.flatMap(\.columns), hasRelationships: hasRelationships)
        }
    }

    /// Returns the properties that an update writes. A relationship with an unchanged destination is omitted if the row has a position in the
    /// inverse's order: the destination may have nothing to save, and no position to assign.
    private func properties(of change: StoreChange, _ row: Row) -> PropertySet {
        var changed = change.changed
        guard let base = change.base else { return changed }
        for relationship in placed where changed.contains(relationship.slotIndex) {
            let slot = row.layout.slots[relationship.slotIndex]
            let (new, old) = (row.objectID(at: slot), base.objectID(at: slot))
            if new == nil && old == nil || new.map({ id in old?.namesSameObject(as: id) ?? false }) ?? false {
                changed.remove(relationship.slotIndex)
            }
        }
        return changed
    }

    private func values(_ step: Step, _ row: Row, _ key: Int64, _ orders: inout SQLOrderPositions) throws -> [BinaryValue] {
        switch step.kind {
        case .attribute(let storage, let attribute): return [try ColumnValues.value(of: row, step.slot, storage, attribute)]
        case .toOne(let destination, let hasEntityColumn, let order):
            let target = try target(of: row, step, destination)
            let nothing = BinaryValue.null(PostgreSQLType.integer)
            var values = [target.map { .integer($0.key) } ?? nothing]
            if hasEntityColumn { values.append(target.map { .integer($0.number) } ?? nothing) }
            if let order {
                let place = target == nil ? nil : orders.take(order, key, in: entity.table)
                values.append(place.map { .integer($0) } ?? nothing)
            }
            return values
        }
    }

    private func target(of row: Row, _ step: Step, _ destination: SQLEntity) throws -> (key: Int64, number: Int64)? {
        guard let id = row.objectID(at: step.slot) else { return nil }
        guard case .integer(let key) = id.reference, id.token === token else { throw Self.elsewhere(id, step.property) }
        if id.owningEntity === destination.entity { return (key, destination.number) }
        return (key, schema.entity(id.owningEntity)?.number ?? destination.number)
    }

    static func elsewhere(_ id: NSManagedObjectID, _ property: NSPropertyDescription) -> NSError {
        CoreDataError.make(
            NSManagedObjectExternalRelationshipError, "“\(property)” cannot be saved.",
            reason: id.isTemporaryID ? "It leads to \(id), which is not saved with it." : "It leads to \(id), which is of another store.",
            next: "Save related objects in one store.", info: [NSAffectedObjectsErrorKey: [id]])
    }
}
#endif
