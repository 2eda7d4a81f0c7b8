#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

/// Finds the rows that have the values of uniqueness constraints.
// Used by one task.
final class UniqueOwners {
    private struct Claim: Hashable {
        let constraint: ObjectIdentifier
        let key: UniqueValues
    }
    private let content: StoreContent
    private let connection: Connection
    private var known: [Claim: [Row]] = [:]
    private var asked: [(constraint: UniquenessConstraint, key: [PropertyValue])] = []

    init(_ content: StoreContent, _ connection: Connection) { (self.content, self.connection) = (content, connection) }

    /// Throws if objects of the save violate a uniqueness constraint, with each other or with an object in the store.
    ///
    /// - Throws: ``StoreConflicts``.
    func check(_ changes: StoreChangeSet) async throws {
        // The first pass collects the questions. With missing answers, it can only report conflicts within the save, which the second pass finds
        // again.
        do { try checkUniqueness(changes) } catch is StoreConflicts {}
        if asked.isEmpty { return }
        try await ask()
        try checkUniqueness(changes)
    }

    private func ask() async throws {
        defer { asked = [] }
        for start in stride(from: 0, to: asked.count, by: 500) {
            let part = asked[start..<min(start + 500, asked.count)]
            let questions = part.compactMap { claim in question(claim.constraint, claim.key).map { (claim, $0.plan, $0.call) } }
            let results = try await connection.run(questions.map(\.2), isCancellable: false)
            for ((claim, plan, _), result) in zip(questions, results) {
                let rows = try content.rows(of: result, plan)
                // Equal values may have different archives, which are compared after decoding.
                known[Claim(constraint: ObjectIdentifier(claim.constraint), key: UniqueValues(claim.key))] = rows.filter {
                    claim.constraint.key(of: $0) == claim.key
                }
            }
        }
    }

    // MARK: Rows of consecutive statements

    /// Looks for the rows that have the unique values of new ones.
    func load(_ rows: [Row], of entity: NSEntityDescription) async throws {
        let frozen = entity.frozenParts
        for row in rows {
            for constraint in frozen.uniqueness {
                guard let key = constraint.key(of: row, frozen) else { continue }
                let claim = Claim(constraint: ObjectIdentifier(constraint), key: UniqueValues(key))
                guard known[claim] == nil else { continue }
                known[claim] = []
                asked.append((constraint, key))
            }
        }
        try await ask()
    }

    /// Returns another row that has unique values of a row.
    func owner(of row: Row, _ frozen: FrozenEntity) async throws -> Row? {
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            if owners(of: constraint, key).isEmpty, !asked.isEmpty {
                known[Claim(constraint: ObjectIdentifier(constraint), key: UniqueValues(key))] = []
                try await ask()
            }
            if let owner = owners(of: constraint, key).first(where: { $0.objectID != row.objectID }) { return owner }
        }
        return nil
    }

    /// Records a row that will have its values.
    func add(_ row: Row, _ frozen: FrozenEntity) {
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            known[Claim(constraint: ObjectIdentifier(constraint), key: UniqueValues(key)), default: []].append(row)
        }
    }

    /// Records a row that will lose its values.
    func remove(_ row: Row, _ frozen: FrozenEntity) {
        for constraint in frozen.uniqueness {
            guard let key = constraint.key(of: row, frozen) else { continue }
            known[Claim(constraint: ObjectIdentifier(constraint), key: UniqueValues(key))]?.removeAll { $0.objectID == row.objectID }
        }
    }

    private func question(_ constraint: UniquenessConstraint, _ key: [PropertyValue]) -> (plan: RowPlan, call: Call)? {
        // The first entity with the constraint declares it: entities precede their subentities.
        let owner = content.schema.entities.filter { $0.entity.frozenParts.uniqueness.contains { $0 === constraint } }
            .min { $0.entity.frozenParts.uniqueness.count < $1.entity.frozenParts.uniqueness.count || $0.numbers.count > $1.numbers.count }
        guard let owner else { return nil }
        var conditions: [String] = []
        var values: [BinaryValue] = []
        for (index, value) in zip(constraint.slotIndexes, key) {
            switch owner.properties[index] {
            case .attribute(let place):
                switch (place.storage, BinaryValue(comparing: value, place.storage, content)) {
                case (.transformable, _), (.composite, _): conditions.append("t.\(place.column) IS NOT NULL")
                case (_, let bound?):
                    values.append(bound)
                    conditions.append("t.\(place.column) = $\(values.count)")
                case (_, nil): return nil
                }
            case .toOne(let place):
                guard case .object(let reference) = value, let id = reference.object as? NSManagedObjectID, id.token === content.token,
                    let kind = content.schema.entity(id.owningEntity.rootEntity)?.keyKind, let key = kind.value(id.reference)
                else { return nil }
                values.append(key)
                conditions.append("t.\(place.column) = $\(values.count)")
            case .toMany, .unstored: return nil
            }
        }
        if let kind = owner.condition(includingSubentities: true, alias: "t") { conditions.append(kind) }
        let plan = content.plan(owner)
        let sql = "SELECT \(plan.list(of: "t")) FROM \(owner.table) t WHERE \(conditions.joined(separator: " AND "))"
        return (plan, Call(content.statement(sql), values))
    }
}

extension UniqueOwners: ConflictFinding {
    /// Returns `.unknown`: the statements of a save detect conflicts.
    func latestRow(for id: NSManagedObjectID) -> LatestRow { .unknown }

    func owners(of constraint: UniquenessConstraint, _ key: [PropertyValue]) -> [Row] {
        if let rows = known[Claim(constraint: ObjectIdentifier(constraint), key: UniqueValues(key))] { return rows }
        asked.append((constraint, key))
        return []
    }
}

extension BinaryValue {
    /// Creates the value of a column that equals a value; nil if no column value does.
    fileprivate init?(comparing value: PropertyValue, _ storage: SQLStorage, _ content: StoreContent) {
        switch (storage, value) {
        case (.boolean, .bool(let flag)): self = .boolean(flag)
        case (.boolean, .int64(let number)): self = .boolean(number != 0)
        case (.integer, .int64(let number)): self = .integer(number)
        case (.double, .double(let number)): self = .double(number)
        case (.double, .int64(let number)): self = .double(Double(number))
        case (.decimal, .decimal(let number)): self = .numeric(number)
        case (.decimal, .int64(let number)): self = .numeric(Decimal(number))
        case (.text, .string(let text)):
            if content.mapping != nil, text.utf8.contains(0) { return nil }
            self = content.mapping == nil ? .text(text) : .verbatim(text)
        case (.date, .date(let date)): self = .date(ColumnValues.bound(date))
        case (.data, .data(let data)), (.externalData, .data(let data)): self = .bytes(data)
        case (.uuid, .uuid(let uuid)): self = .uuid(uuid)
        case (.uri, .url(let url)): self = .text(url.absoluteString)
        case (.transformable, _), (.composite, _): self = .null(PostgreSQLType.bytes)
        default: return nil
        }
    }
}
#endif
