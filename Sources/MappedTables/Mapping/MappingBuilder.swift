@_spi(Stores) package import ObjectGraph
package import SQLQueries

/// Maps the entities of a model to the tables and views of a catalogue, and finds mismatches.
package struct MappingBuilder<Dialect: TableDialect> {
    private let model: NSManagedObjectModel
    private let entities: [NSEntityDescription]
    private let catalogue: Catalogue<Dialect>
    private var tables: [ObjectIdentifier: MappedTable<Dialect>] = [:]
    private var joins: [SQLIdentifier: MappedJoin<Dialect>] = [:]
    /// The joins of relationships, of both ends.
    private var joined: [ObjectIdentifier: SQLJoin] = [:]
    /// The relationships whose joins were already searched for, from either end.
    private var tried: Set<ObjectIdentifier> = []
    package private(set) var differences: [MappingDifference] = []
    private var notices: [String] = []

    /// - Parameter entities: The entities that the store holds.
    package init(_ model: NSManagedObjectModel, _ entities: [NSEntityDescription], _ catalogue: Catalogue<Dialect>) {
        (self.model, self.catalogue) = (model, catalogue)
        self.entities = entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in self.entities { mapTable(entity) }
        for entity in self.entities where tables[ObjectIdentifier(entity)] != nil { mapProperties(entity) }
        for entity in self.entities { mapJoins(entity) }
    }

    // MARK: Mismatches

    private mutating func note(
        _ entity: NSEntityDescription, _ property: NSPropertyDescription? = nil, column: String? = nil, expected: String, found: String
    ) {
        differences.append(
            MappingDifference(
                entity: entity.name ?? "?", property: property?.name, column: column, expected: expected, found: found))
    }

    private func declared(_ columns: [CatalogueColumn<Dialect>]) -> String {
        columns.map { Dialect.declared($0.type) }.joined(separator: ", ")
    }

    private static func info(_ property: NSPropertyDescription, _ key: String) -> String? { property.userInfo?[key] as? String }

    // MARK: Tables

    private mutating func mapTable(_ entity: NSEntityDescription) {
        if entity.superentity != nil || !entity.subentities.isEmpty {
            return note(
                entity, expected: "an entity by itself: existing tables have no inheritance", found: "one that inherits or is inherited")
        }
        for name in [entity.name ?? ""] + entity.frozenParts.properties.map(\.name) where name.utf8.contains(0) {
            // Statements contain the names of the model, and end at that character.
            return note(entity, expected: "a name without U+0000", found: name.debugDescription)
        }
        let name = entity.userInfo?[MappingKey.table] as? String ?? TableNames.words(entity.name ?? "")
        let place = "\(catalogue.schema).\(name)"
        guard let relation = catalogue.relation(name) else {
            return note(entity, column: place, expected: "a table or a view", found: "none")
        }
        let stated = (entity.userInfo?[MappingKey.key] as? String).map(MappingKey.names)
        let names = stated ?? relation.primaryKey
        if names.isEmpty {
            return note(entity, column: place, expected: "a primary key, or “\(MappingKey.key)” in the user info", found: "neither")
        }
        let isNamedByValues = names == [MappingKey.allColumns] && relation.column(MappingKey.allColumns) == nil
        var columns: [CatalogueColumn<Dialect>] = isNamedByValues ? [RowDigest.column] : []
        for name in names where !isNamedByValues {
            guard let column = relation.column(name) else {
                note(entity, column: "\(place).\(name)", expected: "a column of the key", found: "none")
                continue
            }
            columns.append(column)
        }
        if columns.count < names.count { return }
        if relation.kind == .table, stated != nil, !isNamedByValues, !relation.isUnique(names) {
            notices.append("Nothing in \(place) keeps the key \(names.joined(separator: ", ")) unique.")
        }
        let isClosed = (entity.userInfo?[MappingKey.readOnly] as? String)?.uppercased() == "YES"
        let reason: String? =
            if isClosed {
                "The model says that “\(entity.name ?? "?")” is read only."
            } else if relation.kind != .table {
                "“\(entity.name ?? "?")” is the \(relation.kind.name) \(place), which is read only."
            } else if isNamedByValues {
                "“\(entity.name ?? "?")” is the table \(place), which is read only: it has no key."
            } else { nil }
        tables[ObjectIdentifier(entity)] = MappedTable(
            relation: relation, sql: isNamedByValues ? RowDigest.rows(of: relation, sqlName(relation)) : sqlName(relation),
            key: KeyColumns(columns), readOnlyReason: reason, isNamedByValues: isNamedByValues)
    }

    private func sqlName(_ relation: CatalogueRelation<Dialect>) -> String {
        "\(TableNames.identifier(catalogue.schema)).\(TableNames.identifier(relation.name))"
    }

    private func table(_ entity: NSEntityDescription?) -> MappedTable<Dialect>? { entity.flatMap { tables[ObjectIdentifier($0)] } }

    // MARK: Properties

    private mutating func mapProperties(_ entity: NSEntityDescription) {
        guard let table = table(entity) else { return }
        var values: [Int: MappedTable<Dialect>.Value] = [:]
        for property in entity.frozenParts.properties where !property.isTransient {
            switch property {
            case let attribute as NSAttributeDescription: values[attribute.slotIndex] = value(of: attribute, entity, table.relation)
            case let relationship as NSRelationshipDescription where !relationship.isToMany:
                values[relationship.slotIndex] = value(of: relationship, entity, table.relation)
            case let relationship as NSRelationshipDescription: check(toMany: relationship, entity)
            default: continue
            }
        }
        tables[ObjectIdentifier(entity)]?.values = values
        noteMissing(entity, table, values)
    }

    private mutating func value(
        of attribute: NSAttributeDescription, _ entity: NSEntityDescription, _ relation: CatalogueRelation<Dialect>
    ) -> MappedTable<Dialect>.Value? {
        guard let storage = SQLStorage(attribute) else { return nil }
        let name = Self.info(attribute, MappingKey.column) ?? TableNames.words(attribute.name)
        let place = "\(relation.name).\(name)"
        if attribute is NSDerivedAttributeDescription {
            note(entity, attribute, column: place, expected: "an attribute that is not derived", found: "one that is")
            return nil
        }
        guard let column = relation.column(name) else {
            note(entity, attribute, column: place, expected: "a column", found: "none")
            return nil
        }
        guard let form = Dialect.form(of: column.type, for: storage) else {
            note(entity, attribute, column: place, expected: words(for: storage), found: Dialect.declared(column.type))
            return nil
        }
        if let bits = Dialect.bits(of: form), bits > attribute.bits {
            note(
                entity, attribute, column: place, expected: "an integer of at most \(attribute.bits) bits",
                found: Dialect.declared(column.type))
            return nil
        }
        if column.isRequired, attribute.isOptional, !column.hasDefault {
            notices.append("“\(attribute)” of “\(entity)” is optional, and \(place) is NOT NULL without a default.")
        }
        return .attribute(column, form)
    }

    private mutating func value(
        of relationship: NSRelationshipDescription, _ entity: NSEntityDescription, _ relation: CatalogueRelation<Dialect>
    ) -> MappedTable<Dialect>.Value? {
        guard let target = table(relationship.destinationEntity) else {
            note(entity, relationship, expected: "a destination that is mapped", found: "“\(relationship.destinationEntity?.name ?? "?")”")
            return nil
        }
        let stated = Self.info(relationship, MappingKey.columns).map(MappingKey.names)
        let names = stated ?? [TableNames.words(relationship.name) + "_id"]
        if stated == nil, let inverse = relationship.storedInverse, !inverse.isToMany,
            Self.info(inverse, MappingKey.columns) != nil || relation.column(names[0]) == nil
        {
            return .inverse
        }
        let place = "\(relation.name).\(names.joined(separator: ", "))"
        let columns = names.compactMap(relation.column)
        guard columns.count == names.count else {
            note(
                entity, relationship, column: place, expected: "columns with the key of “\(relationship.destinationEntity?.name ?? "?")”",
                found: "none")
            return nil
        }
        let key = KeyColumns(columns, target: target.key, in: target.sql)
        guard key.canRefer(to: target.key) else {
            note(
                entity, relationship, column: place,
                expected: declared(target.key.columns) + " as the key of \(target.relation.name)", found: declared(columns))
            return nil
        }
        return .toOne(key)
    }

    private mutating func check(toMany relationship: NSRelationshipDescription, _ entity: NSEntityDescription) {
        if relationship.isOrdered { note(entity, relationship, expected: "an unordered relationship", found: "an ordered one") }
        if relationship.storedInverse == nil { note(entity, relationship, expected: "a relationship with an inverse", found: "none") }
        if table(relationship.destinationEntity) == nil {
            note(entity, relationship, expected: "a destination that is mapped", found: "“\(relationship.destinationEntity?.name ?? "?")”")
        }
    }

    /// Reports the columns without which no row can be inserted.
    private mutating func noteMissing(
        _ entity: NSEntityDescription, _ table: MappedTable<Dialect>, _ values: [Int: MappedTable<Dialect>.Value]
    ) {
        if table.readOnlyReason != nil { return }
        var known = Set(table.key.columns.map(\.name))
        for value in values.values {
            switch value {
            case .attribute(let column, _): known.insert(column.name)
            case .toOne(let key): known.formUnion(key.columns.map(\.name))
            case .inverse: continue
            }
        }
        for column in table.relation.columns where column.isRequired && !column.hasDefault && !known.contains(column.name) {
            notices.append("“\(entity)” has no property for \(table.relation.name).\(column.name), which every new row needs.")
        }
    }

    // MARK: Pairs

    private mutating func mapJoins(_ entity: NSEntityDescription) {
        for case let relationship as NSRelationshipDescription in entity.frozenParts.properties where relationship.isToMany {
            guard let inverse = relationship.storedInverse, inverse.isToMany, tried.insert(ObjectIdentifier(relationship)).inserted,
                let own = table(entity), let other = table(relationship.destinationEntity)
            else { continue }
            tried.insert(ObjectIdentifier(inverse))
            let isStated = Self.info(relationship, MappingKey.joinTable) != nil
            // Either of both may have the names.
            let (holder, first, second) =
                isStated || Self.info(inverse, MappingKey.joinTable) == nil ? (relationship, own, other) : (inverse, other, own)
            let holderEntity = holder === relationship ? entity : relationship.destinationEntity ?? entity
            let name =
                Self.info(holder, MappingKey.joinTable) ?? TableNames.words(entity.name ?? "") + "_" + TableNames.words(relationship.name)
            guard let relation = catalogue.relation(name) else {
                note(holderEntity, holder, column: "\(catalogue.schema).\(name)", expected: "a table of pairs", found: "none")
                continue
            }
            guard let ownKey = key(MappingKey.joinOwner, of: holder, holderEntity, first, relation),
                let otherKey = key(MappingKey.joinMember, of: holder, holderEntity, second, relation)
            else { continue }
            let virtual = SQLIdentifier("@\(holderEntity.name ?? "").\(holder.name)", isPlain: false)
            let pairColumns = Set((ownKey.columns + otherKey.columns).map(\.name))
            joins[virtual] = MappedJoin(
                sql: sqlName(relation), first: ownKey, second: otherKey,
                isUnique: ([relation.primaryKey] + relation.uniques).contains { Set($0) == pairColumns },
                readOnlyReason: relation.kind == .table ? nil : "“\(holder)” is the \(relation.kind.name) \(name), which is read only.")
            let isReflexive = holder === holder.storedInverse
            let isReferred = [ownKey, otherKey].allSatisfy { key in
                relation.references.contains { Set($0.columns) == Set(key.columns.map(\.name)) }
            }
            let mayDangle = !(Dialect.enforcesReferences && isReferred)
            let mayRepeat = joins[virtual]?.isUnique == false
            let pair = (MappedJoin<Dialect>.firstColumn, MappedJoin<Dialect>.secondColumn)
            joined[ObjectIdentifier(holder)] = SQLJoin(
                table: virtual, own: pair.0, other: pair.1, orderColumn: nil, inverseOrderColumn: nil, isReflexive: isReflexive,
                mayDangle: mayDangle, mayRepeat: mayRepeat)
            if !isReflexive, let otherEnd = holder.storedInverse {
                joined[ObjectIdentifier(otherEnd)] = SQLJoin(
                    table: virtual, own: pair.1, other: pair.0, orderColumn: nil, inverseOrderColumn: nil, isReflexive: false,
                    mayDangle: mayDangle, mayRepeat: mayRepeat)
            }
        }
    }

    /// Returns the columns of a table of pairs with the keys of one end.
    private mutating func key(
        _ word: String, of relationship: NSRelationshipDescription, _ entity: NSEntityDescription, _ end: MappedTable<Dialect>,
        _ relation: CatalogueRelation<Dialect>
    ) -> KeyColumns<Dialect>? {
        let names = Self.info(relationship, word).map(MappingKey.names) ?? []
        let columns = names.compactMap(relation.column)
        let key = columns.isEmpty ? nil : KeyColumns(columns, target: end.key, in: end.sql)
        guard let key, columns.count == names.count, key.canRefer(to: end.key) else {
            note(
                entity, relationship, column: "\(relation.name).\(names.joined(separator: ", "))",
                expected: "“\(word)” with columns of \(declared(end.key.columns))", found: columns.isEmpty ? "none" : declared(columns))
            return nil
        }
        return key
    }

    /// Returns the values that a column must hold, in messages.
    private func words(for storage: SQLStorage) -> String {
        switch storage {
        case .integer: "an integer"
        case .boolean: "a Boolean"
        case .double: "a floating-point number"
        case .date: "a date"
        case .text, .uri: "text"
        case .data, .externalData, .composite: "bytes"
        case .uuid: "a UUID"
        case .decimal: "a decimal number"
        case .transformable: Dialect.transformables
        }
    }

    // MARK: The result

    /// Returns the mapping of a model that fits.
    package func mapping(_ identity: SQLIdentityColumns) -> Mapping<Dialect> {
        let alias = MappedTable<Dialect>.alias
        var mapped: [SQLEntity] = []
        var definitions: [(name: String, sql: String)] = []
        var bounded: [String: String] = [:]
        for (index, entity) in entities.enumerated() {
            guard let table = table(entity) else { continue }
            let number = Int64(index + 1)
            let virtual = virtualName(entity)
            let keyNames = table.key.columns.map { table.key.name($0, of: alias) }
            var columns = [
                "\(table.key.selected(of: alias)) AS \(identity.key)", "\(Dialect.literal(number)) AS \(identity.entity)",
                "\(table.version) AS \(identity.version)",
            ]
            var boundedColumns: [Int: String] = [:]
            let properties = entity.frozenParts.properties.map { property -> SQLProperty in
                if let relationship = property as? NSRelationshipDescription, relationship.isToMany { return toMany(relationship) }
                let column = SQLIdentifier("p_\(property.name)", isPlain: false)
                switch table.values[property.slotIndex] {
                case .attribute(let source, let form)?:
                    guard let attribute = property as? NSAttributeDescription, let storage = SQLStorage(attribute) else { return .unstored }
                    let name = "\(alias).\(TableNames.identifier(source.name))"
                    let selected = Dialect.selected(name, form, key: keyNames)
                    if let sql = Dialect.bounded(selected, form) { boundedColumns[columns.count] = "\(sql) AS \(column)" }
                    columns.append("\(selected) AS \(column)")
                    return .attribute(SQLAttribute(column: column, storage: storage))
                case .toOne(let key)?:
                    columns.append("\(key.selected(of: alias)) AS \(column)")
                    return .toOne(SQLToOne(column: column, entityColumn: nil))
                case .inverse?:
                    guard let sql = inverse(property, table) else { return .unstored }
                    columns.append("\(sql) AS \(column)")
                    return .toOne(SQLToOne(column: column, entityColumn: nil))
                case nil: return .unstored
                }
            }
            definitions.append((virtual.sql, "SELECT \(columns.joined(separator: ", ")) FROM \(table.sql) AS \(alias)"))
            if !boundedColumns.isEmpty {
                let list = columns.indices.map { boundedColumns[$0] ?? columns[$0] }.joined(separator: ", ")
                bounded[virtual.sql] = "SELECT \(list) FROM \(table.sql) AS \(alias)"
            }
            mapped.append(
                SQLEntity(
                    entity: entity, table: virtual, identity: identity, number: number, rootNumber: number,
                    numbers: [number], isWholeTable: true, properties: properties, keyKind: table.key.kind))
        }
        for (name, join) in joins.sorted(by: { $0.key.name < $1.key.name }) {
            definitions.append(
                (
                    name.sql,
                    "SELECT \(join.first.selected(of: alias)) AS \(MappedJoin<Dialect>.firstColumn), "
                        + "\(join.second.selected(of: alias)) AS \(MappedJoin<Dialect>.secondColumn) FROM \(join.sql) AS \(alias)"
                ))
        }
        return Mapping(
            schema: SQLSchema(model: model, entities: mapped, tables: [], joins: []), tables: tables, joins: joins,
            definitions: definitions, bounded: bounded, notices: notices)
    }

    private func virtualName(_ entity: NSEntityDescription) -> SQLIdentifier { SQLIdentifier("@\(entity.name ?? "")", isPlain: false) }

    private func toMany(_ relationship: NSRelationshipDescription) -> SQLProperty {
        if let join = joined[ObjectIdentifier(relationship)] { return .toMany(.join(join)) }
        guard let inverse = relationship.storedInverse, !inverse.isToMany, let destination = relationship.destinationEntity else {
            return .unstored
        }
        return .toMany(
            .foreignKey(
                SQLForeignKey(
                    table: virtualName(destination), column: SQLIdentifier("p_\(inverse.name)", isPlain: false), entityColumn: nil,
                    orderColumn: nil)))
    }

    /// Returns the SQL that selects the key of the row that refers to a row.
    private func inverse(_ property: NSPropertyDescription, _ table: MappedTable<Dialect>) -> String? {
        guard let relationship = property as? NSRelationshipDescription, let other = relationship.storedInverse,
            let owner = self.table(relationship.destinationEntity), case .toOne(let key)? = owner.values[other.slotIndex]
        else { return nil }
        let condition = key.refers(of: "o", to: table.key, of: MappedTable<Dialect>.alias)
        return "(SELECT \(owner.key.selected(of: "o")) FROM \(owner.sql) AS o WHERE \(condition) LIMIT 1)"
    }
}

extension NSAttributeDescription {
    /// The number of bits of an integer.
    fileprivate var bits: Int {
        switch attributeType {
        case .integer16AttributeType: 16
        case .integer32AttributeType: 32
        default: 64
        }
    }
}
