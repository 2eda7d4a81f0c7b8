internal import CoreData

/// The columns of a file, from its first record.
struct SongColumns {
    let names: [String]
    let type: Int
    let id: Int
    let version: Int
}

/// The identity, version and references of a row, and its bytes, without its values.
struct SongHeader {
    let entity: NSEntityDescription
    let id: UUID
    let version: UInt64
    /// The identifiers in the row's relationship columns, by the relationship's name.
    let references: [String: [UUID]]
    var line: Int
    /// The bytes of the row in the file.
    var range: Range<Int>
}

/// Maps objects of the model to rows: one row for each object of any entity.
///
/// The columns are `type`, `id`, `version`, the attributes of all entities and the relationships that ``SongModel`` marks, in any order.
/// A column that is not a property of the row's entity is empty. Nil is an empty field, an empty string is `""`. A to-many relationship
/// is a list of identifiers separated by spaces.
struct SongFileFormat {
    private let url: URL
    private let entities: [String: NSEntityDescription]
    /// The attributes with columns, by entity.
    private let attributes: [String: [NSAttributeDescription]]
    /// The relationships with columns, by entity.
    private let relationships: [String: [NSRelationshipDescription]]

    init(_ model: NSManagedObjectModel, url: URL) {
        self.url = url
        entities = model.entitiesByName
        attributes = entities.mapValues { entity in
            entity.properties.compactMap { $0 as? NSAttributeDescription }.filter { $0.name != "id" && !$0.isTransient }
        }
        relationships = entities.mapValues { entity in
            entity.properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.userInfo?[SongModel.columnKey] as? Bool == true }
        }
    }

    /// The columns of a new file.
    var newColumns: [CSVField] {
        var names = ["type", "id", "version"]
        for name in entities.keys.sorted(by: >) { names += (attributes[name] ?? []).map(\.name) }
        for name in entities.keys.sorted(by: >) { names += (relationships[name] ?? []).map(\.name) }
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }.map { CSVField(text: $0) }
    }

    /// Returns the relationships of an entity with columns.
    func storedRelationships(of entity: NSEntityDescription) -> [NSRelationshipDescription] { relationships[entity.name ?? ""] ?? [] }

    // MARK: Reading

    /// Parses the first record of a file.
    func columns(_ record: CSVRecord) throws -> SongColumns {
        let known = Set(newColumns.map(\.text))
        var seen: Set<String> = []
        for field in record.fields {
            guard known.contains(field.text) else {
                throw malformed(
                    "There is no property “\(field.text)” in the model.",
                    advice: "Use the columns \(newColumns.map(\.text).joined(separator: ", ")).", field)
            }
            guard seen.insert(field.text).inserted else {
                throw malformed("There are two columns “\(field.text)”.", advice: "Remove one of them.", field)
            }
        }
        let names = record.fields.map(\.text)
        for name in newColumns.map(\.text) where !seen.contains(name) {
            throw SongFileError(
                .malformed, url, at: CSVPosition(line: record.line, column: 1), "There is no column “\(name)”.",
                advice: "Add it to the first line; the rows may leave it empty.")
        }
        return SongColumns(
            names: names, type: names.firstIndex(of: "type")!, id: names.firstIndex(of: "id")!, version: names.firstIndex(of: "version")!)
    }

    /// Parses the header of a row.
    func header(_ record: CSVRecord, _ columns: SongColumns) throws -> SongHeader {
        guard record.fields.count == columns.names.count else {
            let place =
                record.fields.count > columns.names.count ? record.fields[columns.names.count] : record.fields[record.fields.count - 1]
            throw malformed(
                "The row has \(record.fields.count) fields, the first line has \(columns.names.count).",
                advice: "Write as many, empty ones included, and put fields with commas in quotes.", place)
        }
        let type = record.fields[columns.type]
        guard let entity = entities[type.text] else {
            throw malformed(
                "There is no type “\(type.text)”.", advice: "Write one of \(entities.keys.sorted().joined(separator: ", ")).", type)
        }
        let version = record.fields[columns.version]
        guard let number = UInt64(version.text), number > 0, number <= Int64.max else {
            throw malformed("“\(version.text)” is not a version.", advice: "Write 1 for a new row; each save adds 1.", version)
        }
        var references: [String: [UUID]] = [:]
        for relationship in storedRelationships(of: entity) {
            let field = record.fields[columns.names.firstIndex(of: relationship.name)!]
            let ids = try field.text.split(separator: " ").map { try identifier(String($0), field) }
            guard relationship.isToMany || ids.count <= 1 else {
                throw malformed("“\(relationship.name)” leads to one object, not to \(ids.count).", advice: "Write one identifier.", field)
            }
            guard Set(ids).count == ids.count else {
                throw malformed("“\(relationship.name)” names an object twice.", advice: "Write each identifier once.", field)
            }
            references[relationship.name] = ids
        }
        let id = record.fields[columns.id]
        return SongHeader(
            entity: entity, id: try identifier(id.text, id), version: number, references: references, line: record.line, range: record.range
        )
    }

    /// Parses the attributes of a row.
    func values(_ record: CSVRecord, _ columns: SongColumns, of header: SongHeader) throws -> [String: Any] {
        var values: [String: Any] = ["id": header.id]
        let own = Dictionary(uniqueKeysWithValues: (attributes[header.entity.name ?? ""] ?? []).map { ($0.name, $0) })
        for (name, field) in zip(columns.names, record.fields) where !["type", "id", "version"].contains(name) {
            if let attribute = own[name] {
                values[name] = try value(field, of: attribute)
            } else if header.references[name] == nil, !field.isNil {
                throw malformed("A \(header.entity) has no “\(name)”.", advice: "Leave the field empty.", field)
            }
        }
        return values
    }

    private func value(_ field: CSVField, of attribute: NSAttributeDescription) throws -> Any? {
        if field.isNil {
            guard attribute.isOptional else {
                throw malformed(
                    "“\(attribute.name)” is empty, but each \(attribute.entity?.name ?? "row") must have it.", advice: "Fill it in.", field)
            }
            return nil
        }
        let value: Any? =
            switch attribute.attributeType {
            case .stringAttributeType: field.text
            case .doubleAttributeType: Double(field.text).flatMap { $0.isFinite ? $0 : nil }
            case .integer16AttributeType: Int16(field.text)
            default: nil
            }
        guard let value else {
            throw malformed(
                "“\(field.text)” is not a value of “\(attribute.name)”.", advice: "Write a number, with a point for decimals.", field)
        }
        return value
    }

    private func identifier(_ text: String, _ field: CSVField) throws -> UUID {
        if let id = UUID(uuidString: text) { return id }
        throw malformed("“\(text)” is not an identifier.", advice: "Write a UUID; several have spaces between them.", field)
    }

    private func malformed(_ reason: String, advice: String, _ field: CSVField) -> SongFileError {
        SongFileError(.malformed, url, at: field.position, reason, advice: advice)
    }

    // MARK: Writing

    /// Returns a row as fields.
    ///
    /// - Parameter value: Returns the value of an attribute: a string, a number or nil.
    func fields(of header: SongHeader, _ columns: SongColumns, value: (String) -> Any?) throws -> [CSVField] {
        guard value("id") as? UUID == header.id else {
            throw SongFileError(
                .unstorable, url, "The id of a saved \(header.entity), \(header.id), was changed.",
                advice: "Leave it as it is: it is what the row is known by. Make a new object instead.")
        }
        let own = Set((attributes[header.entity.name ?? ""] ?? []).map(\.name))
        return try columns.names.map { name in
            switch name {
            case "type": return CSVField(text: header.entity.name ?? "")
            case "id": return CSVField(text: header.id.uuidString)
            case "version": return CSVField(text: String(header.version))
            case _ where own.contains(name): return try field(value(name), name)
            default: return CSVField(text: (header.references[name] ?? []).map(\.uuidString).joined(separator: " "))
            }
        }
    }

    private func field(_ value: Any?, _ name: String) throws -> CSVField {
        switch value {
        case nil: return CSVField(text: "")
        case let text as String: return CSVField(text: text, isQuoted: text.isEmpty)
        case let number as NSNumber where number.doubleValue.isFinite:
            // Integral numbers are written without a decimal point.
            return CSVField(text: Int64(exactly: number.doubleValue).map { "\($0)" } ?? "\(number.doubleValue)")
        case let value?:
            throw SongFileError(
                .unstorable, url, "“\(name)” is \(value), for which the file has no text.", advice: "Give it text or a finite number.")
        }
    }
}
