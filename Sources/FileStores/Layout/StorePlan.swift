internal import Foundation
internal import ObjectGraph

/// A file of a store, with the entities whose records it has.
final class FilePlan: Sendable {
    let name: String
    let shapes: [RecordShape]
    /// Whether records say of which entity they are.
    let hasEntityColumn: Bool
    /// All names that records have values under, without repetition, in the order of a new file.
    let names: [String]
    /// The indexes of names: those of the fields by shape, of the keys by shape, of the entity and of the version; -1 for none.
    let fieldNames: [[Int]]
    let keyNames: [Int]
    let entityName: Int
    let versionName: Int

    init(_ name: String, _ shapes: [RecordShape], _ layout: FileLayout) {
        self.name = name
        self.shapes = shapes
        hasEntityColumn = shapes.count > 1
        var names: [String] = []
        func index(_ name: String) -> Int {
            if let known = names.firstIndex(of: name) { return known }
            names.append(name)
            return names.count - 1
        }
        entityName = hasEntityColumn ? index(layout.entityColumn) : -1
        keyNames = shapes.map { index($0.keyName) }
        versionName = layout.versionColumn.map(index) ?? -1
        fieldNames = shapes.map { $0.fields.map { index($0.name) } }
        self.names = names
    }

    func shapeIndex(_ text: UnsafeRawBufferPointer) -> Int? {
        shapes.firstIndex { $0.entityText.utf8.count == text.count && $0.entityText.utf8.elementsEqual(text) }
    }

    func shapeIndex(of entity: NSEntityDescription) -> Int? { shapes.firstIndex { $0.entity === entity } }
}

/// Decides, for the entities of a store, which files have which properties under which names.
final class StorePlan: Sendable {
    let files: [FilePlan]
    let layout: FileLayout
    let isJSON: Bool

    /// Makes the plan of a model.
    ///
    /// - Parameters:
    ///   - wholeFile: The name of the only file; nil for a store that is a folder, or has a list for each entity.
    ///   - knownNames: The names that the records of an existing file (in JSON, list) have, by its name; they decide which side of a relationship is in the file.
    /// - Throws: Code 134020 for a model that the files cannot hold.
    init(
        _ entities: [NSEntityDescription], _ layout: FileLayout, _ spelling: ValueSpelling, isJSON: Bool, wholeFile: String?,
        knownNames: [String: Set<String>]
    ) throws {
        self.layout = layout
        self.isJSON = isJSON
        let concrete = entities.filter { !$0.isAbstract }
        var shapes: [String: [RecordShape]] = [:]
        var order: [String] = []
        let sides = RelationshipSides(layout, wholeFile: isJSON ? nil : wholeFile, knownNames: knownNames)
        for entity in concrete {
            let list = Self.file(of: entity, layout)
            let file = wholeFile ?? list
            let shape = try Self.shape(of: entity, list, layout, spelling, isJSON, sides)
            if shapes[file] == nil { order.append(file) }
            shapes[file, default: []].append(shape)
        }
        files = order.map { FilePlan($0, shapes[$0] ?? [], layout) }
    }

    static func file(of entity: NSEntityDescription, _ layout: FileLayout) -> String {
        for entity in entity.withSuperentities {
            if let file = layout.entities[entity.name ?? ""]?.file ?? entity.userInfo?["fileName"] as? String { return file }
        }
        return entity.rootEntity.name ?? "?"
    }

    /// Returns the record in which records of an entity stand.
    private static func owner(of entity: NSEntityDescription, _ layout: FileLayout) throws -> RecordShape.Owner? {
        guard let name = entity.withSuperentities.lazy.compactMap({ layout.entities[$0.name ?? ""]?.owner }).first else { return nil }
        guard let relationship = entity.relationshipsByName[name], !relationship.isToMany, let inverse = relationship.storedInverse,
            let destination = inverse.entity
        else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "“\(name)” cannot be the owner of “\(entity)”.",
                reason: "An owner is a to-one relationship with an inverse.", next: "Correct the layout.")
        }
        return RecordShape.Owner(
            entity: destination, list: column(of: inverse, in: destination, layout), field: column(of: relationship, in: entity, layout))
    }

    /// Returns the name of the key that was chosen; nil where none was.
    static func key(of entity: NSEntityDescription, _ layout: FileLayout) -> String? {
        for entity in entity.withSuperentities {
            if let key = layout.entities[entity.name ?? ""]?.key ?? entity.userInfo?["fileKey"] as? String { return key }
        }
        return nil
    }

    static func column(of property: NSPropertyDescription, in entity: NSEntityDescription, _ layout: FileLayout) -> String {
        for entity in entity.withSuperentities {
            if let column = layout.entities[entity.name ?? ""]?.columns[property.name] { return column }
        }
        return property.userInfo?["fileColumn"] as? String ?? property.name
    }

    private static func shape(
        of entity: NSEntityDescription, _ file: String, _ layout: FileLayout, _ spelling: ValueSpelling, _ isJSON: Bool,
        _ sides: RelationshipSides
    ) throws -> RecordShape {
        var fields: [RecordField] = []
        var derived: [(relationship: NSRelationshipDescription, place: RowPlace)] = []
        for (property, place) in zip(entity.frozenParts.properties, entity.rowPlaces) where !property.isTransient {
            let name = column(of: property, in: entity, layout)
            if let attribute = property as? NSAttributeDescription {
                let format = entity.withSuperentities.lazy.compactMap { layout.entities[$0.name ?? ""]?.formats[property.name] }.first
                let codec = try ValueCodec(
                    attribute, spelling, format: format ?? property.userInfo?["fileFormat"] as? String, isJSON: isJSON)
                fields.append(RecordField(property, name, .attribute(codec), place))
            } else if let relationship = property as? NSRelationshipDescription {
                if try sides.isInRecords(relationship) {
                    fields.append(RecordField(property, name, relationship.isToMany ? .list : .toOne, place))
                } else {
                    derived.append((relationship, place))
                }
            }
        }
        let names = fields.map(\.name)
        if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "Two properties of “\(entity)” have the column “\(twice)”.",
                next: "Give each its own in the layout.")
        }
        let text = layout.entities[entity.name ?? ""]?.entityText ?? entity.name ?? "?"
        let key = key(of: entity, layout)
        let owner = isJSON ? try owner(of: entity, layout) : nil
        return RecordShape(
            entity, entityText: text, file: file, fields: fields, derived: derived, owner: owner, keyName: key ?? "id",
            hasChosenKey: key != nil)
    }
}

/// Decides which side of a relationship is in the records; the other follows from it.
private struct RelationshipSides {
    private let layout: FileLayout
    private let wholeFile: String?
    private let knownNames: [String: Set<String>]

    init(_ layout: FileLayout, wholeFile: String?, knownNames: [String: Set<String>]) {
        (self.layout, self.wholeFile, self.knownNames) = (layout, wholeFile, knownNames)
    }

    /// Returns whether the records of the relationship's entity have its keys.
    ///
    /// - Throws: Code 134020 where an existing file has both sides, which may contradict each other.
    func isInRecords(_ relationship: NSRelationshipDescription) throws -> Bool {
        guard let inverse = relationship.storedInverse, inverse !== relationship else { return true }
        if isOwner(relationship) { return true }
        if isOwner(inverse) { return false }
        switch (isKnown(relationship), isKnown(inverse)) {
        case (true?, false?), (true?, nil): return true
        case (false?, true?), (nil, true?): return false
        case (true?, true?):
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "“\(relationship)” and its inverse “\(inverse)” are both in the files.",
                reason: "They may contradict each other.",
                next: "Give one of them another column in the layout, one that the files do not have.")
        default: return isPreferred(relationship, to: inverse)
        }
    }

    /// Whether records stand in those that a relationship leads to.
    private func isOwner(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.entity?.withSuperentities.contains { layout.entities[$0.name ?? ""]?.owner == relationship.name } ?? false
    }

    /// Whether the records that exist have the relationship; nil where there are none yet.
    private func isKnown(_ relationship: NSRelationshipDescription) -> Bool? {
        guard let entity = relationship.entity else { return nil }
        let file = wholeFile ?? StorePlan.file(of: entity, layout)
        return knownNames[file].map { $0.contains(StorePlan.column(of: relationship, in: entity, layout)) }
    }

    private func isChosen(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.userInfo?["fileColumn"] is String
            || relationship.entity?.withSuperentities.contains { layout.entities[$0.name ?? ""]?.columns[relationship.name] != nil }
                ?? false
    }

    private func isPreferred(_ relationship: NSRelationshipDescription, to inverse: NSRelationshipDescription) -> Bool {
        // What the layout names is chosen.
        if isChosen(relationship) != isChosen(inverse) { return isChosen(relationship) }
        // An order is in a list only.
        if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
        if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
        let own = "\(relationship.entity?.name ?? "").\(relationship.name)"
        return own < "\(inverse.entity?.name ?? "").\(inverse.name)"
    }
}
