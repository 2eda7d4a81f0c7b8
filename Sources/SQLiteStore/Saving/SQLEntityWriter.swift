internal import CSQLite
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// Writes the rows of one entity: its statements, and the binding of slots to parameters.
// Used under the write lock.
final class SQLEntityWriter {
    /// A slot and its columns.
    struct Step {
        let property: NSPropertyDescription
        let slotIndex: Int
        let slot: RowLayout.Slot
        let columns: [SQLIdentifier]
        let kind: Kind
    }
    /// The data of a step for a plain value, without references, which would be counted for each row.
    fileprivate struct PlainStep {
        enum Kind {
            case integer
            case double
            case text
            /// A form that the step itself defines.
            case other
        }
        let kind: Kind
        let location: SlotLocation

        init(_ step: Step) {
            location = step.slot.location
            guard case .attribute(let storage, _) = step.kind else {
                kind = .other
                return
            }
            switch storage {
            case .integer, .boolean: kind = .integer
            case .double, .date: kind = .double
            case .text: kind = .text
            default: kind = .other
            }
        }
    }
    /// The steps of one statement.
    struct Steps {
        let all: [Step]
        fileprivate let plain: [PlainStep]

        init(_ steps: [Step]) {
            all = steps
            plain = steps.map(PlainStep.init)
        }
    }
    enum Kind {
        case attribute(SQLStorage, NSAttributeDescription)
        /// The destination. If it has subentities, a second column contains the entity number. If the inverse is ordered, the last column contains
        /// the position.
        case toOne(SQLEntity, hasEntityColumn: Bool, order: SQLIdentifier?)
    }

    let entity: SQLEntity
    private let steps: [Step]
    /// The steps of a statement that writes all columns.
    let allSteps: Steps
    private let schema: SQLSchema
    private let token: StoreToken
    /// The files of large values; nil if they are stored in their rows.
    private let externalFiles: SQLExternalFiles?
    private var updates: [ChangeKey: Update] = [:]
    /// The insert statements by number of rows.
    private var inserts: [Insert: String] = [:]
    private struct Insert: Hashable {
        let count: Int
        let areNew: Bool
    }
    /// The number of parameters of a row in ``insert(_:)``.
    let columnCount: Int
    /// The derived attributes that are computed from the row.
    private let derived: [Derived]
    /// The to-one relationships that are written with the position in the inverse's order.
    private let placed: [NSRelationshipDescription]
    var derives: Bool { !derived.isEmpty }

    private struct Derived {
        let attribute: NSAttributeDescription
        let slot: RowLayout.Slot
        let value: CompiledKeyPath
    }

    private struct ChangeKey: Hashable {
        let low: UInt64
        let high: [UInt64]
    }
    /// The statement that updates some columns.
    final class Update {
        /// Updates one row: the last three parameters are the new version, the key and the version that was read.
        let sql: String
        let steps: Steps
        /// The columns whose values may be external.
        let externalColumns: [SQLIdentifier]
        /// The number of parameters of a row in ``many(_:)``.
        let columnCount: Int
        private let table: SQLIdentifier
        private let columns: [SQLIdentifier]
        private var known: [Int: String] = [:]

        fileprivate init(_ table: SQLIdentifier, _ steps: Steps, externalColumns: [SQLIdentifier]) {
            self.table = table
            self.externalColumns = externalColumns
            self.steps = steps
            columns = steps.all.flatMap(\.columns)
            columnCount = columns.count + 2
            sql = SQLVersionedUpdate.one((columns + [.version]).map { "\($0) = ?" }, of: table)
        }

        /// Returns the statement that writes a number of rows. For each it takes the key, the version that was read, and the values.
        func many(_ count: Int) -> String {
            if let sql = known[count] { return sql }
            let sql = SQLVersionedUpdate.many(count, columns, of: table)
            known[count] = sql
            return sql
        }
    }

    init(_ entity: SQLEntity, schema: SQLSchema, token: StoreToken, rows: RowSchema, externalFiles: SQLExternalFiles?) throws {
        self.entity = entity
        self.schema = schema
        self.token = token
        self.externalFiles = externalFiles
        let frozen = entity.entity.frozen!
        let derivations = SQLDerivations(schema)
        derived = try frozen.properties.compactMap { property in
            guard let attribute = property as? NSDerivedAttributeDescription,
                case .local(let expression) = derivations.derivation(of: attribute, entity)
            else { return nil }
            return Derived(
                attribute: attribute, slot: frozen.layout.slots[attribute.slotIndex], value: try CompiledKeyPath(expression, for: rows))
        }
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
        allSteps = Steps(steps)
        placed = steps.compactMap { step in
            guard case .toOne(_, _, _?) = step.kind else { return nil }
            return step.property as? NSRelationshipDescription
        }
        columnCount = 2 + steps.reduce(0) { $0 + $1.columns.count }
    }

    /// Returns the column of the position among the rows of a to-one relationship's destination.
    private static func orderColumn(_ relationship: NSRelationshipDescription, _ schema: SQLSchema) -> SQLIdentifier? {
        guard let inverse = relationship.storedInverse, inverse.isToMany, inverse.isOrdered,
            let owner = inverse.entity.flatMap(schema.entity), case .toMany(.foreignKey(let key)) = owner[inverse]
        else { return nil }
        return key.orderColumn
    }

    // MARK: Statements

    /// Returns the statement that inserts a number of rows.
    ///
    /// - Parameter areNew: Whether the rows have consecutive keys, of which the first is the first parameter, and the version 1. Otherwise each row
    ///   begins with its key and its version.
    func insert(_ count: Int, areNew: Bool) -> String {
        let key = Insert(count: count, areNew: areNew)
        if let known = inserts[key] { return known }
        let columns = [SQLIdentifier.primaryKey, .entity, .version] + steps.flatMap(\.columns)
        // The entity is the same for all rows.
        func row(_ index: Int) -> String {
            let start = areNew ? ["?1 + \(index)", "\(entity.number)", "1"] : ["?", "\(entity.number)", "?"]
            return "(" + (start + Array(repeating: "?", count: columns.count - 3)).joined(separator: ", ") + ")"
        }
        let sql =
            "INSERT INTO \(entity.table) (\(columns.map(\.sql).joined(separator: ", "))) VALUES "
            + (0..<count).map(row).joined(separator: ", ")
        inserts[key] = sql
        return sql
    }

    /// Returns the statement that updates changed properties.
    func update(_ changed: PropertySet) -> Update {
        let key = ChangeKey(low: changed.low, high: changed.high)
        if let known = updates[key] { return known }
        let derivations = SQLDerivations(schema)
        let steps = steps.filter { step in
            guard let attribute = step.property as? NSDerivedAttributeDescription else { return changed.contains(step.slotIndex) }
            switch derivations.derivation(of: attribute, entity) {
            case .local: return true
            case .triggers: return false
            case .none: return changed.contains(step.slotIndex)
            }
        }
        let update = Update(
            entity.table, Steps(steps),
            externalColumns: entity.externalColumns.filter { column in steps.contains { $0.columns == [column] } })
        updates[key] = update
        return update
    }

    /// Returns the properties that an update writes. A relationship with an unchanged destination is omitted if the row has a position in the
    /// inverse's order: the destination may have nothing to save, and no position to assign.
    @inline(__always) func properties(of changes: [StoreChange], _ index: Int) -> PropertySet {
        placed.isEmpty ? changes[index].changed : propertiesApartFromPlaces(of: changes[index])
    }

    private func propertiesApartFromPlaces(of change: StoreChange) -> PropertySet {
        var changed = change.changed
        guard let row = change.row, let base = change.base else { return changed }
        for relationship in placed where changed.contains(relationship.slotIndex) {
            let slot = row.layout.slots[relationship.slotIndex]
            let (new, old) = (row.objectID(at: slot), base.objectID(at: slot))
            if new == nil && old == nil || new.map({ id in old?.namesSameObject(as: id) ?? false }) ?? false {
                changed.remove(relationship.slotIndex)
            }
        }
        return changed
    }

    // MARK: Values

    /// Computes the derived attributes of a row, which must be exclusive to the save.
    func derive(_ row: Row) throws {
        for derived in derived {
            let value = try derived.value.value(of: row.subject)
            row.store(AttributeCheck.conform(value.any, to: derived.attribute) ?? .null, in: derived.slot)
        }
    }

    /// Binds the values of a row, with copies of strings and data in `scratch`.
    ///
    /// - Returns: The index after the last parameter.
    @inline(__always) func bind(
        _ steps: Steps, of row: Row, to statement: SQLStatement, from first: Int, scratch: SQLScratch, orders: inout SQLOrderPositions,
        key: Int64
    ) throws -> Int {
        var index = first
        let slots = row.slots
        let handle = statement.handle
        for (number, step) in steps.plain.enumerated() {
            let place = slots + step.location.offset
            if step.kind == .other {
                index = try bind(steps.all[number], of: row, to: handle, at: index, scratch: scratch, orders: &orders, key: key)
                continue
            }
            if slots.load(fromByteOffset: step.location.nullOffset, as: UInt64.self) & step.location.nullMask != 0 {
                sqlite3_bind_null(handle, Int32(truncatingIfNeeded: index))
            } else {
                switch step.kind {
                case .integer: sqlite3_bind_int64(handle, Int32(truncatingIfNeeded: index), place.load(as: Int64.self))
                case .double: sqlite3_bind_double(handle, Int32(truncatingIfNeeded: index), place.load(as: Double.self))
                case .text, .other: scratch.bind(slots, step.location, to: handle, at: index)
                }
            }
            index &+= 1
        }
        return index
    }

    /// Binds a value that is not plain.
    ///
    /// - Returns: The index after its last parameter.
    @inline(never) private func bind(
        _ step: Step, of row: Row, to handle: OpaquePointer, at first: Int, scratch: SQLScratch, orders: inout SQLOrderPositions, key: Int64
    ) throws -> Int {
        switch step.kind {
        case .attribute(let storage, let attribute):
            if row.isNil(at: step.slot) {
                sqlite3_bind_null(handle, Int32(first))
            } else {
                try bindOther(storage, attribute, row, step.slot, handle, first, scratch)
            }
            return first + 1
        case .toOne(let destination, let hasEntityColumn, let order):
            var index = first
            let target = try target(of: row, step, destination)
            if let target {
                sqlite3_bind_int64(handle, Int32(index), target.key)
                if hasEntityColumn { sqlite3_bind_int64(handle, Int32(index + 1), target.number) }
            } else {
                sqlite3_bind_null(handle, Int32(index))
                if hasEntityColumn { sqlite3_bind_null(handle, Int32(index + 1)) }
            }
            index += hasEntityColumn ? 2 : 1
            if let order {
                if target != nil, let place = orders.take(order, key, in: entity.table) {
                    sqlite3_bind_int64(handle, Int32(index), place)
                } else {
                    sqlite3_bind_null(handle, Int32(index))
                }
                index += 1
            }
            return index
        }
    }

    @inline(never) private func bindOther(
        _ storage: SQLStorage, _ attribute: NSAttributeDescription, _ row: Row, _ slot: RowLayout.Slot, _ handle: OpaquePointer,
        _ index: Int, _ scratch: SQLScratch
    ) throws {
        let place = row.slots + slot.location.offset
        switch storage {
        case .uuid: scratch.bind(Data(bytes: place, count: 16), to: handle, at: index)
        case .data: scratch.bind(row.data(at: slot), to: handle, at: index)
        case .externalData:
            let data = row.data(at: slot)
            if let externalFiles, data.count > SQLExternalFiles.threshold {
                scratch.bind(try externalFiles.make(data), to: handle, at: index)
            } else {
                scratch.bind(data, to: handle, at: index, prefix: 1)
            }
        case .uri:
            guard let url = row.box(at: slot)?.value as? URL else { return }
            scratch.bind(text: url.absoluteString, to: handle, at: index)
        case .decimal:
            guard let number = row.box(at: slot)?.value as? Decimal else { return }
            bind(number, to: handle, at: index, scratch)
        case .transformable, .composite:
            guard let value = row.box(at: slot)?.value else { return }
            scratch.bind(try AttributeArchive.data(of: value, attribute), to: handle, at: index)
        case .integer, .boolean, .double, .date, .text: return
        }
    }

    private func bind(_ number: Decimal, to handle: OpaquePointer, at index: Int, _ scratch: SQLScratch) {
        switch SQLDecimal(number) {
        case .integer(let whole): sqlite3_bind_int64(handle, Int32(index), whole)
        case .real(let double): sqlite3_bind_double(handle, Int32(index), double)
        case .numeral(let digits): scratch.bind(digits, to: handle, at: index)
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
