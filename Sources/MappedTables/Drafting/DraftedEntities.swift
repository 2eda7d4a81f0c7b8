internal import Foundation
package import ObjectGraph
internal import Predicates

/// The entities that a catalogue suggests, and the parts that they leave out.
package struct DraftedEntities<Dialect: TableDialect> {
    /// A table or view that becomes an entity.
    private struct Draft {
        let relation: CatalogueRelation<Dialect>
        let entity: NSEntityDescription
        let key: [String]
        var names = DraftedNames()
        /// The properties by their columns.
        var byColumns: [[String]: String] = [:]
    }
    private let catalogue: Catalogue<Dialect>
    /// The columns that name a row, of each table that has some.
    private let keys: [String: KeyColumns<Dialect>]
    private var drafts: [String: Draft] = [:]
    package private(set) var unmapped: [String] = []
    package private(set) var notes: [String] = []

    package var entities: [NSEntityDescription] { drafts.values.map(\.entity).sorted { ($0.name ?? "") < ($1.name ?? "") } }

    package init(_ catalogue: Catalogue<Dialect>) {
        self.catalogue = catalogue
        keys = Self.keys(of: catalogue)
        (unmapped, notes) = (catalogue.unread, catalogue.notes)
        let pairs = catalogue.relations.filter(isPairTable)
        var names = DraftedNames()
        for relation in catalogue.relations where !pairs.contains(where: { $0.name == relation.name }) { draft(relation, &names) }
        let references = catalogue.relations.filter { drafts[$0.name] != nil }.flatMap { relation in
            relation.references.filter { isUsable($0, in: relation) }.map { (relation.name, $0) }
        }
        for (table, reference) in references { relate(table, reference, references.map { ($0.0, $0.1.target) }) }
        for table in drafts.keys.sorted() { addAttributes(table, references.filter { $0.0 == table }.flatMap(\.1.columns)) }
        for relation in pairs { addPairs(relation) }
        for table in drafts.keys.sorted() { addUniqueness(table) }
    }

    // MARK: Tables

    /// Returns whether a table contains only pairs of keys, and perhaps a number of its own.
    private func isPairTable(_ relation: CatalogueRelation<Dialect>) -> Bool {
        guard relation.kind == .table, relation.references.count == 2, !isReferredTo(relation) else { return false }
        let columns = relation.references.flatMap(\.columns)
        let areEnds = relation.references.allSatisfy { reference in
            guard reference.target != relation.name, let (own, key) = ends(of: reference, in: relation) else { return false }
            return own.canRefer(to: key)
        }
        guard areEnds, Set(columns).count == columns.count, relation.isUnique(columns) else { return false }
        let others = relation.columns.filter { !columns.contains($0.name) }
        return others.isEmpty || others.count == 1 && relation.primaryKey == [others[0].name] && others[0].hasDefault
    }

    private func isReferredTo(_ relation: CatalogueRelation<Dialect>) -> Bool {
        catalogue.relations.contains { $0.references.contains { $0.targetSchema == catalogue.schema && $0.target == relation.name } }
    }

    /// Returns the columns that identify a row of each table. Of several keys, these are the columns that most foreign keys refer to, since a
    /// relationship can only follow references to them; if there is a tie, those of the primary key.
    private static func keys(of catalogue: Catalogue<Dialect>) -> [String: KeyColumns<Dialect>] {
        let references = catalogue.relations.flatMap(\.references).filter { $0.targetSchema == catalogue.schema }
        let counts = Dictionary(grouping: references, by: \.target).mapValues { references in
            Dictionary(references.map { (Set($0.targetColumns), 1) }, uniquingKeysWith: +)
        }
        return catalogue.relations.reduce(into: [:]) { keys, relation in
            let columns = key(of: relation, counts[relation.name] ?? [:]).compactMap(relation.column)
            if !columns.isEmpty { keys[relation.name] = KeyColumns(columns) }
        }
    }

    private static func key(of relation: CatalogueRelation<Dialect>, _ counts: [Set<String>: Int]) -> [String] {
        func isRequired(_ names: [String]) -> Bool { names.allSatisfy { relation.column($0)?.isRequired ?? false } }
        var key = relation.primaryKey
        for unique in relation.uniques where isRequired(unique) {
            if key.isEmpty || counts[Set(unique), default: 0] > counts[Set(key), default: 0] { key = unique }
        }
        // A view has no keys.
        if key.isEmpty, relation.kind != .table, let id = relation.columns.first(where: { $0.name.lowercased() == "id" }) {
            return [id.name]
        }
        return key
    }

    private mutating func draft(_ relation: CatalogueRelation<Dialect>, _ names: inout DraftedNames) {
        let place = "\(relation.kind.name) \(relation.name)"
        let known = keys[relation.name]?.columns.map(\.name)
        let key = known ?? [MappingKey.allColumns]
        if known == nil, relation.column(MappingKey.allColumns) != nil {
            return unmapped.append("The \(place): it has no key, and a column is named “\(MappingKey.allColumns)”.")
        }
        if relation.columns.contains(where: { $0.name.contains(",") }) {
            return unmapped.append("The \(place): the name of a column contains a comma.")
        }
        let entity = NSEntityDescription(name: names.entity(relation.name))
        entity.userInfo = [MappingKey.table: relation.name, MappingKey.key: key.joined(separator: ",")]
        if relation.kind != .table || known == nil { entity.userInfo?[MappingKey.readOnly] = "YES" }
        if known == nil {
            notes.append(
                "The \(place) has no key: its objects are read only, and named by a digest of all columns and their number among equal rows. "
                    + "“\(MappingKey.key)” in the user info may name columns that tell them apart.")
        } else if relation.kind != .table {
            notes.append("The \(place) is read only, and “\(key.joined(separator: ", "))” is taken for its key.")
        }
        if !relation.primaryKey.isEmpty, Set(key) != Set(relation.primaryKey) {
            notes.append("The \(place) is referred to by “\(key.joined(separator: ", "))”, which is taken for its key.")
        }
        if let number = relation.rowNumber, key == [number.name] {
            notes.append("The \(place) has no key of its own: “\(number.name)” is taken for it, which the database may change.")
        }
        drafts[relation.name] = Draft(relation: relation, entity: entity, key: key)
    }

    // MARK: Foreign keys

    private mutating func isUsable(_ reference: CatalogueReference, in relation: CatalogueRelation<Dialect>) -> Bool {
        let place = "The foreign key \(reference.name) of \(relation.name)"
        func leaveOut(_ reason: String) -> Bool {
            unmapped.append("\(place): \(reason) Its columns are attributes.")
            return false
        }
        guard reference.targetSchema == catalogue.schema else {
            return leaveOut("it leads to \(reference.targetSchema).\(reference.target), which is in another schema.")
        }
        guard drafts[reference.target] != nil else { return leaveOut("it leads to \(reference.target), which is no entity.") }
        guard reference.isPaired else {
            return leaveOut(
                "it has \(reference.columns.joined(separator: ", ")), and leads to \(reference.targetColumns.joined(separator: ", ")) of "
                    + "\(reference.target): not a column to each.")
        }
        guard let (own, key) = ends(of: reference, in: relation) else {
            return leaveOut("it leads to \(reference.targetColumns.joined(separator: ", ")) of \(reference.target), not to the key.")
        }
        guard own.canRefer(to: key) else {
            func declared(_ key: KeyColumns<Dialect>) -> String { key.columns.map { Dialect.declared($0.type) }.joined(separator: ", ") }
            return leaveOut("its type is \(declared(own)), and that of the key of \(reference.target) is \(declared(key)).")
        }
        return true
    }

    /// Returns the columns of a foreign key, and the key of rows that they refer to; nil if they refer to other columns.
    private func ends(
        of reference: CatalogueReference, in relation: CatalogueRelation<Dialect>
    ) -> (own: KeyColumns<Dialect>, key: KeyColumns<Dialect>)? {
        guard reference.isPaired, reference.targetSchema == catalogue.schema, let key = keys[reference.target] else { return nil }
        let names = key.columns.map(\.name)
        guard Set(names) == Set(reference.targetColumns) else { return nil }
        return (KeyColumns(ordered(reference, names).compactMap(relation.column), target: key), key)
    }

    /// Returns the columns of a reference in the order of the key that they refer to.
    private func ordered(_ reference: CatalogueReference, _ key: [String]) -> [String] {
        let own = Dictionary(zip(reference.targetColumns, reference.columns), uniquingKeysWith: { first, _ in first })
        return key.compactMap { own[$0] }
    }

    /// Adds a to-one relationship and its inverse.
    private mutating func relate(_ table: String, _ reference: CatalogueReference, _ all: [(from: String, to: String)]) {
        guard let owner = drafts[table], let target = drafts[reference.target] else { return }
        let columns = ordered(reference, target.key)
        let words = columns.count == 1 ? DraftedNames.reference(columns[0]) : DraftedNames.singular(DraftedNames.words(reference.target))
        let toOne = NSRelationshipDescription(
            name: drafts[table]?.names.property(words) ?? "", destination: target.entity,
            isOptional: !columns.allSatisfy { owner.relation.column($0)?.isRequired ?? false })
        toOne.userInfo = [MappingKey.columns: columns.joined(separator: ",")]
        let isOne = owner.relation.isUnique(columns)
        var inverseWords = DraftedNames.words(table)
        inverseWords = isOne ? DraftedNames.singular(inverseWords) : DraftedNames.plural(inverseWords)
        // Several references from one table to another are distinguished by their own names.
        if all.filter({ $0 == (table, reference.target) }).count > 1 { inverseWords += ["by"] + words }
        let isReadOnly = owner.entity.userInfo?[MappingKey.readOnly] != nil
        let rule: NSDeleteRule =
            switch reference.onDelete {
            // The database handles rows that objects cannot change.
            case .cascade where isReadOnly, .clear where isReadOnly: .noActionDeleteRule
            case .cascade: .cascadeDeleteRule
            case .clear: .nullifyDeleteRule
            case .refuse: .denyDeleteRule
            }
        let inverse = NSRelationshipDescription(
            name: drafts[reference.target]?.names.property(inverseWords) ?? "", destination: owner.entity, toMany: !isOne, deleteRule: rule)
        toOne.inverse(to: inverse)
        owner.entity.properties.append(toOne)
        target.entity.properties.append(inverse)
        drafts[table]?.byColumns[columns] = toOne.name
    }

    /// Adds the relationships of a table of pairs.
    private mutating func addPairs(_ relation: CatalogueRelation<Dialect>) {
        let (first, second) = (relation.references[0], relation.references[1])
        guard let owner = drafts[first.target], let member = drafts[second.target] else {
            return unmapped.append("The table \(relation.name): one of the tables whose rows it pairs is no entity.")
        }
        func words(_ reference: CatalogueReference) -> [String] {
            DraftedNames.plural(
                reference.columns.count == 1 ? DraftedNames.reference(reference.columns[0]) : DraftedNames.words(reference.target))
        }
        let members = NSRelationshipDescription(
            name: drafts[first.target]?.names.property(words(second)) ?? "", destination: member.entity, toMany: true)
        members.userInfo = [
            MappingKey.joinTable: relation.name, MappingKey.joinOwner: ordered(first, owner.key).joined(separator: ","),
            MappingKey.joinMember: ordered(second, member.key).joined(separator: ","),
        ]
        let owners = NSRelationshipDescription(
            name: drafts[second.target]?.names.property(words(first)) ?? "", destination: owner.entity, toMany: true)
        members.inverse(to: owners)
        owner.entity.properties.append(members)
        member.entity.properties.append(owners)
    }

    // MARK: Columns

    private mutating func addAttributes(_ table: String, _ referring: [String]) {
        guard let draft = drafts[table] else { return }
        for column in draft.relation.columns where !referring.contains(column.name) {
            let name = drafts[table]?.names.property(DraftedNames.words(column.name)) ?? ""
            guard let drafted = Dialect.drafted(column.type) else {
                unmapped.append("The column \(table).\(column.name): nothing says of what kind its values are.")
                continue
            }
            let attribute = NSAttributeDescription(name: name, type: drafted.type)
            // The store assigns the UUIDs of new rows' keys if the database does not.
            let isGiven = column.hasDefault || draft.key == [column.name] && (Dialect.form(of: column.type).map(Dialect.isUUID) ?? false)
            attribute.isOptional = !column.isRequired || isGiven
            attribute.userInfo = [MappingKey.column: column.name]
            if !drafted.labels.isEmpty {
                attribute.setValidationPredicates(
                    [NSPredicate(format: "SELF IN %@", drafted.labels)],
                    withValidationWarnings: ["The type \(Dialect.declared(column.type)) has no such label."])
            } else if let note = drafted.note {
                notes.append("\(table).\(column.name), \(Dialect.declared(column.type)), is \(note).")
            }
            draft.entity.properties.append(attribute)
            drafts[table]?.byColumns[[column.name]] = name
        }
    }

    private mutating func addUniqueness(_ table: String) {
        guard let draft = drafts[table] else { return }
        // A program cannot choose a key that the database assigns.
        let isGiven = keys[table] == nil || draft.key.contains { draft.relation.column($0)?.hasDefault ?? false }
        let ownKey = isGiven ? [] : [draft.key]
        var constraints: [[Any]] = []
        // A program cannot choose the number of a row, either.
        let primary = draft.relation.rowNumber.map { [$0.name] } == draft.relation.primaryKey ? [] : [draft.relation.primaryKey]
        let others = (primary + draft.relation.uniques).filter { Set($0) != Set(draft.key) }
        for columns in others + ownKey where !columns.isEmpty {
            let names = draft.byColumns[columns].map { [$0] } ?? columns.compactMap { draft.byColumns[[$0]] }
            let isWhole = draft.byColumns[columns] != nil || names.count == columns.count
            if !isWhole {
                unmapped.append(
                    "A uniqueness rule of \(table): its columns \(columns.joined(separator: ", ")) are only a part of relationships. "
                        + "The database keeps it.")
            } else if !constraints.contains(where: { ($0 as? [String]) == names }) {
                constraints.append(names)
            }
        }
        draft.entity.uniquenessConstraints = constraints
    }
}
