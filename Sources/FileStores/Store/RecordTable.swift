@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The records of a store as a table for fetches.
final class RecordTable: RowTable {
    private unowned let store: RecordStore
    private var schemas: [ObjectIdentifier: RowSchema] = [:]

    init(_ store: RecordStore) { self.store = store }

    func forEachRow(of entity: NSEntityDescription, includingSubentities: Bool, _ body: (Row) throws -> Void) throws {
        guard let file = store.fileOfRoot[ObjectIdentifier(entity.rootEntity)] else { return }
        let image = store.images[file]
        let isWanted = image.plan.shapes.map { includingSubentities ? $0.entity.isKindOf(entity: entity) : $0.entity === entity }
        for record in 0..<image.count where isWanted[image.shapeIndex(record)] {
            if !image.skipped.isEmpty, image.skipped.contains(record) { continue }
            try body(store.row(record, in: file))
        }
    }

    func row(with id: NSManagedObjectID) throws -> Row? { try store.row(with: id) }

    func relatedIDs(of relationship: NSRelationshipDescription, in row: Row) throws -> [NSManagedObjectID] {
        if !row.isUnknown(relationship) { return row.relatedIDs(relationship) }
        return try store.relatedIDs(relationship, of: row.knownObjectID)
    }

    func schema(of entity: NSEntityDescription) -> RowSchema {
        if let schema = schemas[ObjectIdentifier(entity)] { return schema }
        let schema = RowSchema(entity: entity, table: self)
        schemas[ObjectIdentifier(entity)] = schema
        return schema
    }
}
