internal import Foundation
internal import ObjectGraph

/// A file of a store, with the entities of its records.
final class FilePlan: Sendable {
    let name: String
    let shapes: [RecordShape]
    /// Whether records name their entity.
    let hasEntityColumn: Bool
    /// All names of values in records, without repetition, in the order of a new file. Names for several columns follow.
    let names: [String]
    /// The number of names that are single columns (in JSON, members).
    let columnCount: Int
    /// The names of the columns for each composite name, by index from ``columnCount``.
    let composites: [[Int]]
    /// The indexes of names: those of the fields by shape, of the keys by shape, of the entity and of the version; -1 for none.
    let fieldNames: [[Int]]
    let keyNames: [Int]
    /// The indexes of ``RecordShape/otherColumns``.
    let otherNames: [[Int]]
    /// The fields that write the columns of a new record, by shape: each field, and the index of the column in the field; -1 for none.
    let writers: [[[(field: Int, part: Int)]]]
    /// The columns that several properties share, or a property and a composite key, by shape.
    let sharedNames: [Set<Int>]
    let entityName: Int
    let versionName: Int

    init(_ name: String, _ shapes: [RecordShape], _ layout: FileLayout) {
        self.name = name
        self.shapes = shapes
        hasEntityColumn = shapes.count > 1
        var names: [String] = []
        // A model that was drafted from a file has as many columns as the file: a dictionary finds each at once.
        var places: [String: Int] = [:]
        var composites: [[Int]] = []
        func index(_ name: String) -> Int {
            if let known = places[name] { return known }
            places[name] = names.count
            names.append(name)
            return names.count - 1
        }
        let isJoin = shapes.allSatisfy(\.isJoin)
        entityName = hasEntityColumn ? index(layout.entityColumn) : -1
        for shape in shapes { for column in shape.keyColumns { _ = index(column) } }
        versionName = isJoin ? -1 : layout.versionColumn.map(index) ?? -1
        for shape in shapes { for column in shape.otherColumns.joined() { _ = index(column) } }
        for shape in shapes { for column in shape.fields.flatMap(\.columns) { _ = index(column) } }
        let columnCount = names.count
        func index(_ columns: [String]) -> Int {
            if columns.count == 1 { return index(columns[0]) }
            let parts = columns.map { index($0) }
            if let known = composites.firstIndex(of: parts) { return known + columnCount }
            composites.append(parts)
            let name = columns.joined(separator: "/")
            if places[name] == nil { places[name] = names.count }
            names.append(name)
            return names.count - 1
        }
        keyNames = shapes.map { index($0.keyColumns) }
        fieldNames = shapes.map { $0.fields.map { index($0.columns) } }
        otherNames = shapes.map { $0.otherColumns.map { index($0) } }
        let columns = Array(names.prefix(columnCount))
        writers = shapes.map { shape in
            var writers = Array(repeating: [(field: Int, part: Int)](), count: columnCount)
            for (field, value) in shape.fields.enumerated() {
                for (part, column) in value.columns.enumerated() {
                    guard let place = places[column], writers[place].last?.field != field else { continue }
                    writers[place].append((field, part))
                }
            }
            return writers
        }
        sharedNames = zip(shapes, writers).map { shape, writers in
            Set(
                columns.indices.filter {
                    writers[$0].count > 1 || shape.keyColumns.count > 1 && !writers[$0].isEmpty && shape.keyColumns.contains(columns[$0])
                })
        }
        self.names = names
        self.composites = composites
        self.columnCount = columnCount
    }

    var hasSharedNames: Bool { sharedNames.contains { !$0.isEmpty } }

    /// The names that are single columns (in JSON, members).
    var columns: ArraySlice<String> { names.prefix(columnCount) }

    /// Returns the columns of a name, by index.
    func parts(_ name: Int) -> [Int] { name < columnCount ? [name] : composites[name - columnCount] }

    func shapeIndex(_ text: UnsafeRawBufferPointer) -> Int? {
        shapes.firstIndex { $0.entityText.utf8.count == text.count && $0.entityText.utf8.elementsEqual(text) }
    }

    func shapeIndex(of entity: NSEntityDescription) -> Int? { shapes.firstIndex { $0.entity === entity } }
}

/// The assignment of properties to names and files, for the entities of a store.
final class StorePlan: Sendable {
    let files: [FilePlan]
    let joins: [JoinPlan]
    let layout: FileLayout
    let isJSON: Bool

    /// Creates the plan of a model.
    ///
    /// - Parameters:
    ///   - wholeFile: The name of the only file; nil for a store in a folder, or with a list for each entity.
    ///   - knownNames: The names in the records of an existing file (in JSON, list), by its name. They determine which side of a relationship is in the
    ///     file.
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
        joins = try JoinPlan.all(concrete, layout)
        let sides = RelationshipSides(layout, joins, wholeFile: isJSON ? nil : wholeFile, knownNames: knownNames)
        for entity in concrete {
            let list = Self.file(of: entity, layout)
            let file = wholeFile ?? list
            let shape = try Self.shape(of: entity, list, layout, spelling, isJSON, sides)
            if shapes[file] == nil { order.append(file) }
            shapes[file, default: []].append(shape)
        }
        for join in joins {
            if wholeFile != nil, !isJSON {
                throw JoinPlan.failure(join.relationship, "The store is one file. A join file is another.", next: "Use a folder.")
            }
            if concrete.contains(where: { Self.file(of: $0, layout) == join.shape.file }) {
                throw JoinPlan.failure(
                    join.relationship, "“\(join.shape.file)” is that of an entity.", next: "Give the join file a name of its own.")
            }
            let file = wholeFile ?? join.shape.file
            if shapes[file] == nil { order.append(file) }
            shapes[file, default: []].append(join.shape)
        }
        files = order.map { FilePlan($0, shapes[$0] ?? [], layout) }
        for join in joins {
            for (index, file) in files.enumerated() {
                if let shape = file.shapes.firstIndex(where: { $0 === join.shape }) { join.locate(index, shape) }
            }
        }
    }

    static func file(of entity: NSEntityDescription, _ layout: FileLayout) -> String {
        for entity in entity.withSuperentities {
            if let file = layout.entities[entity.name ?? ""]?.file ?? entity.userInfo?["fileName"] as? String { return file }
        }
        return entity.rootEntity.name ?? "?"
    }

    /// Returns the record around the records of an entity.
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

    /// Returns the columns of the chosen key; nil if none was chosen.
    static func key(of entity: NSEntityDescription, _ layout: FileLayout) -> [String]? {
        for entity in entity.withSuperentities {
            let chosen = layout.entities[entity.name ?? ""]
            if let keys = chosen?.keys, !keys.isEmpty { return keys }
            if let key = chosen?.key { return [key] }
            if let keys = listedNames(entity.userInfo?["fileKeys"]) { return keys }
            if let key = entity.userInfo?["fileKey"] as? String { return [key] }
        }
        return nil
    }

    /// Returns the names in an entry of user info, which are separated by commas; nil if there are none.
    static func listedNames(_ text: Any?) -> [String]? {
        guard let text = text as? String else { return nil }
        let names = text.split(separator: ",").map { String($0.drop(while: { $0 == " " })) }
        return names.isEmpty ? nil : names
    }

    static func column(of property: NSPropertyDescription, in entity: NSEntityDescription, _ layout: FileLayout) -> String {
        for entity in entity.withSuperentities {
            if let column = layout.entities[entity.name ?? ""]?.columns[property.name] { return column }
        }
        return property.userInfo?["fileColumn"] as? String ?? property.name
    }

    /// Returns the columns of a to-one relationship.
    ///
    /// - Throws: Code 134020 if the key of the related objects has another number of columns.
    static func referenceColumns(
        of relationship: NSRelationshipDescription, in entity: NSEntityDescription, _ layout: FileLayout
    ) throws -> [String] {
        let chosen = entity.withSuperentities.lazy.compactMap { layout.entities[$0.name ?? ""]?.referenceColumns[relationship.name] }.first
        guard let columns = chosen ?? listedNames(relationship.userInfo?["fileColumns"]) else {
            return [column(of: relationship, in: entity, layout)]
        }
        let key = relationship.destinationEntity.flatMap { Self.key(of: $0, layout) } ?? ["id"]
        guard key.count == columns.count, Set(columns).count == columns.count else {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "“\(relationship)” has the columns \(columns.joined(separator: ", ")).",
                reason: "The key of “\(relationship.destinationEntity?.name ?? "")” has \(key.joined(separator: ", ")).",
                next: "Name one for each of them, in their order.")
        }
        return columns
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
                let codec = try ValueCodec(
                    attribute, spelling, format: format(of: attribute, in: entity, layout), isJSON: isJSON)
                fields.append(RecordField(property, [name], .attribute(codec), place))
            } else if let relationship = property as? NSRelationshipDescription {
                if try sides.isInRecords(relationship) {
                    let columns = relationship.isToMany ? [name] : try referenceColumns(of: relationship, in: entity, layout)
                    fields.append(RecordField(property, columns, relationship.isToMany ? .list : .toOne, place))
                } else {
                    derived.append((relationship, place))
                }
            }
        }
        // Only the columns of composite references may be shared.
        let names = fields.filter { $0.columns.count == 1 }.map(\.name)
        var known: Set<String> = []
        if let twice = names.first(where: { !known.insert($0).inserted }) {
            throw CoreDataError.make(
                NSPersistentStoreIncompatibleSchemaError, "Two properties of “\(entity)” have the column “\(twice)”.",
                next: "Give each its own in the layout.")
        }
        let text = layout.entities[entity.name ?? ""]?.entityText ?? entity.name ?? "?"
        let key = Self.key(of: entity, layout)
        let owner = isJSON ? try owner(of: entity, layout) : nil
        return RecordShape(
            entity, entityText: text, file: file, fields: fields, derived: derived, owner: owner, keyColumns: key ?? ["id"],
            hasChosenKey: key != nil)
    }
}

/// Decides which side of a relationship is in the records. The other side is derived from it.
private struct RelationshipSides {
    private let layout: FileLayout
    private let joins: [JoinPlan]
    private let wholeFile: String?
    private let knownNames: [String: Set<String>]

    init(_ layout: FileLayout, _ joins: [JoinPlan], wholeFile: String?, knownNames: [String: Set<String>]) {
        (self.layout, self.joins, self.wholeFile, self.knownNames) = (layout, joins, wholeFile, knownNames)
    }

    /// Returns whether the relationship's own records contain its keys.
    ///
    /// - Throws: Code 134020 if an existing file has both sides, which may contradict each other.
    func isInRecords(_ relationship: NSRelationshipDescription) throws -> Bool {
        if joins.contains(where: { $0.side(of: relationship) != nil }) { return false }
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

    /// Returns whether a relationship leads to the owner of nested records.
    private func isOwner(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.entity?.withSuperentities.contains { layout.entities[$0.name ?? ""]?.owner == relationship.name } ?? false
    }

    /// Returns whether the existing records have the relationship; nil if there are none.
    private func isKnown(_ relationship: NSRelationshipDescription) -> Bool? {
        guard let entity = relationship.entity else { return nil }
        let file = wholeFile ?? StorePlan.file(of: entity, layout)
        let columns = (try? StorePlan.referenceColumns(of: relationship, in: entity, layout)) ?? []
        return knownNames[file].map { known in columns.allSatisfy(known.contains) }
    }

    private func isChosen(_ relationship: NSRelationshipDescription) -> Bool {
        relationship.userInfo?["fileColumn"] is String
            || relationship.entity?.withSuperentities.contains {
                layout.entities[$0.name ?? ""].map { $0.columns[relationship.name] != nil || $0.referenceColumns[relationship.name] != nil }
                    ?? false
            }
                ?? false
    }

    private func isPreferred(_ relationship: NSRelationshipDescription, to inverse: NSRelationshipDescription) -> Bool {
        // A side that the layout names has precedence.
        if isChosen(relationship) != isChosen(inverse) { return isChosen(relationship) }
        // Only a list can have an order.
        if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
        if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
        let own = "\(relationship.entity?.name ?? "").\(relationship.name)"
        return own < "\(inverse.entity?.name ?? "").\(inverse.name)"
    }
}
