internal import Foundation
@_spi(Stores) internal import ObjectGraph

/// A property of an entity with its names in the files.
// Immutable.
final class RecordField: @unchecked Sendable {
    enum Role {
        case attribute(ValueCodec)
        /// The key of the related object.
        case toOne
        /// The keys of the related objects.
        case list
    }

    let property: NSPropertyDescription
    /// The columns: one, or several for a relationship to objects with composite keys.
    let columns: [String]
    let role: Role
    let place: RowPlace

    init(_ property: NSPropertyDescription, _ columns: [String], _ role: Role, _ place: RowPlace) {
        (self.property, self.columns, self.role, self.place) = (property, columns, role, place)
    }

    /// The columns as one name.
    var name: String { columns.joined(separator: "/") }

    var relationship: NSRelationshipDescription? { property as? NSRelationshipDescription }

    /// Returns whether the property has no value in a row.
    func isNil(in row: Row) -> Bool {
        if let relationship { return row.relatedIDs(relationship).isEmpty }
        return row.isNil(at: row.layout.slots[property.slotIndex])
    }
}

/// The form of the records of one entity.
// Immutable but for `writer`, which is made and used under the store's lock.
final class RecordShape: @unchecked Sendable {
    struct Owner {
        let entity: NSEntityDescription?
        let list: String
        let field: String
    }

    let entity: NSEntityDescription
    let root: NSEntityDescription
    /// The name in the entity column.
    let entityText: String
    /// The name of the file or, in a JSON document, of the list.
    let file: String
    let fields: [RecordField]
    /// The relationships that are derived from the records of others.
    let derived: [(relationship: NSRelationshipDescription, place: RowPlace)]
    /// The record around the records, in JSON: its entity, the list there, and the name of the relationship to it; nil for records in a list of their
    /// own.
    let owner: Owner?
    /// The columns of the key.
    let keyColumns: [String]
    /// Whether the layout or the model names the key.
    let hasChosenKey: Bool
    /// The attribute with the key; nil if the model has none, and for a composite key.
    let keyField: RecordField?
    /// The fields with the values of the key, by its columns: each field, and the index of the column in the field.
    let keyParts: [[(field: RecordField, part: Int)]]
    /// The columns without a property: in a join file, those of both objects, and of their order.
    let otherColumns: [[String]]
    /// Whether the records are pairs of related objects, rather than objects.
    let isJoin: Bool
    /// Writes the rows of the entity.
    private(set) lazy var writer = PackedRowWriter(entity)

    init(
        _ entity: NSEntityDescription, entityText: String, file: String, fields: [RecordField],
        derived: [(relationship: NSRelationshipDescription, place: RowPlace)], owner: Owner?, keyColumns: [String], hasChosenKey: Bool,
        otherColumns: [[String]] = []
    ) {
        self.entity = entity
        root = entity.rootEntity
        self.entityText = entityText
        self.file = file
        self.fields = fields
        self.derived = derived
        self.owner = owner
        self.keyColumns = keyColumns
        self.hasChosenKey = hasChosenKey
        self.otherColumns = otherColumns
        isJoin = !otherColumns.isEmpty
        keyField = keyColumns.count > 1 ? nil : fields.first { $0.columns == keyColumns }
        keyParts = keyColumns.map { column in
            fields.compactMap { field in field.columns.firstIndex(of: column).map { (field, $0) } }
        }
    }

    /// The columns of the key as one name.
    var keyName: String { keyColumns.joined(separator: "/") }
}

extension NSEntityDescription {
    /// The entity and its superentities, from the entity upwards.
    var withSuperentities: [NSEntityDescription] { [self] + (superentity?.withSuperentities ?? []) }
}
