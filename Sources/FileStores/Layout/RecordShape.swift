internal import Foundation
internal import ObjectGraph

/// A property of an entity that files have under a name of its own.
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
    let name: String
    let role: Role
    let place: RowPlace

    init(_ property: NSPropertyDescription, _ name: String, _ role: Role, _ place: RowPlace) {
        (self.property, self.name, self.role, self.place) = (property, name, role, place)
    }

    var relationship: NSRelationshipDescription? { property as? NSRelationshipDescription }
}

/// The form of the records of one entity.
// Immutable but for `writer`, which is used under the store's lock.
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
    /// The relationships that the records of others imply.
    let derived: [(relationship: NSRelationshipDescription, place: RowPlace)]
    /// The record in which the records stand, in JSON: its entity, the list there, and the name of the relationship to it. Nil for records of
    /// their own list.
    let owner: Owner?
    let keyName: String
    /// Whether the layout or the model names the key.
    let hasChosenKey: Bool
    /// The attribute that the key is; nil where the model has none.
    let keyField: RecordField?
    /// Writes the rows of the entity.
    let writer: PackedRowWriter

    init(
        _ entity: NSEntityDescription, entityText: String, file: String, fields: [RecordField],
        derived: [(relationship: NSRelationshipDescription, place: RowPlace)], owner: Owner?, keyName: String, hasChosenKey: Bool
    ) {
        self.entity = entity
        root = entity.rootEntity
        self.entityText = entityText
        self.file = file
        self.fields = fields
        self.derived = derived
        self.owner = owner
        self.keyName = keyName
        self.hasChosenKey = hasChosenKey
        keyField = fields.first { $0.name == keyName }
        writer = PackedRowWriter(entity)
    }
}

extension NSEntityDescription {
    /// The entity and its superentities, from the entity upwards.
    var withSuperentities: [NSEntityDescription] { [self] + (superentity?.withSuperentities ?? []) }
}
