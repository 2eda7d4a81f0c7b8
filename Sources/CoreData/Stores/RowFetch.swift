internal import Foundation
internal import Predicates

/// Rows that a store has in memory.
protocol RowTable: AnyObject {
    /// Calls `body` with every row of an entity, in the order in which they came.
    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws
    /// The row of an ID; nil when there is none.
    func row(with id: NSManagedObjectID) throws -> Row?
    /// Shows the rows of an entity to compiled predicates.
    func schema(of entity: NSEntityDescription) -> RowSchema
}

/// Answers a fetch from rows in memory: predicate, order, offset, limit, and every result type.
struct RowFetch {
    let table: any RowTable
    let request: NSFetchRequest<any NSFetchRequestResult>

    func answer() throws -> FetchAnswer {
        let entity = request.entity.unsafelyUnwrapped
        let schema = table.schema(of: entity)
        let predicate = try request.predicate?.compiled(for: schema)
        var rows: [Row] = []
        try table.forEachRow(of: entity, includingSubentities: request.includesSubentities) { row in
            if try predicate?.matches(row.subject) ?? true { rows.append(row) }
        }
        if request.resultType == .countResultType {
            return .count(request.page(rows).count)
        }
        if let descriptors = request.sortDescriptors, !descriptors.isEmpty {
            let sort = try CompiledSort(descriptors, for: schema)
            rows = rows.permuted(by: try sort.sortedIndices(count: rows.count) { rows[$0].subject })
        }
        if request.resultType == .dictionaryResultType {
            var dictionaries = try self.dictionaries(rows, schema)
            if request.returnsDistinctResults {
                var seen: Set<NSDictionary> = []
                dictionaries.removeAll { !seen.insert($0).inserted }
            }
            return .dictionaries(request.page(dictionaries))
        }
        rows = request.page(rows)
        if request.resultType == .managedObjectIDResultType { return .ids(rows.map { $0.objectID.unsafelyUnwrapped }) }
        return .rows(rows)
    }

    private func dictionaries(_ rows: [Row], _ schema: RowSchema) throws -> [NSDictionary] {
        let paths = try (request.propertiesToFetch ?? defaultProperties).map { property -> (String, CompiledKeyPath) in
            let path: String
            switch property {
            case let name as String: path = name
            case let description as NSPropertyDescription: path = description.name
            default:
                throw CoreDataError.make(
                    NSPersistentStoreOperationError, "propertiesToFetch cannot hold \(property).",
                    next: "Name attributes, relationships and key paths, as text or property descriptions.")
            }
            return (path, try CompiledKeyPath(path, for: schema))
        }
        return try rows.map { row in
            let dictionary = NSMutableDictionary()
            for (name, path) in paths {
                if let value = try path.value(of: row.subject).any { dictionary.setObject(value, forKey: name as NSString) }
            }
            return dictionary
        }
    }

    private var defaultProperties: [Any] {
        request.entity!.frozen!.properties.filter { $0 is NSAttributeDescription && !$0.isTransient }
    }
}

/// Shows rows to compiled predicates: attributes where they lie, relationships through the table.
// Immutable; used under the lock of its table.
final class RowSchema: PredicateSchema, @unchecked Sendable {
    private let entity: NSEntityDescription
    private unowned let table: any RowTable

    init(entity: NSEntityDescription, table: any RowTable) {
        self.entity = entity
        self.table = table
    }

    var schemaName: String { entity.name ?? "?" }

    func predicateProperty(named name: String) -> PredicateProperty? {
        guard let frozen = entity.frozen, let property = frozen.byName[name] else { return nil }
        let slot = frozen.layout.slots[property.slotIndex]
        guard let relationship = property as? NSRelationshipDescription else {
            if let kind = slot.kind.slotKind { return .slot(slot.location, kind) }
            return .computed { try PropertyValue(any: Self.row($0).any(at: slot, of: property as? NSAttributeDescription)) }
        }
        let destination = table.schema(of: relationship.destinationEntity!)
        if relationship.isToMany {
            return .toMany(
                destination: destination, count: { Self.row($0).objectIDs(at: slot)?.ids.count ?? 0 },
                forEach: { [unowned table] subject, visit in
                    for id in Self.row(subject).objectIDs(at: slot)?.ids ?? [] {
                        guard let row = try table.row(with: id) else { continue }
                        if try !visit(row.subject) { return }
                    }
                })
        }
        return .toOne(
            destination: destination,
            identity: { Self.row($0).objectID(at: slot).map { .object(ObjectReference($0)) } ?? .null },
            follow: { [unowned table] in try Self.row($0).objectID(at: slot).flatMap { try table.row(with: $0)?.subject } })
    }

    func identity(of subject: PredicateSubject) -> PropertyValue { .object(ObjectReference(Self.row(subject).objectID.unsafelyUnwrapped)) }

    func constant(for object: AnyObject) -> PropertyValue? { EntitySchema.identifier(of: object) }

    /// What a block predicate sees: the values by property name.
    func publicObject(of subject: PredicateSubject) -> Any { Self.row(subject).dictionary(of: entity) }

    private static func row(_ subject: PredicateSubject) -> Row { unsafeDowncast(subject.object, to: Row.self) }
}
