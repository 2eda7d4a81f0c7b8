internal import ObjectGraph

/// Finds the files that relate the records of other files, by their headers.
struct DraftedRelationships {
    /// A column with the keys of another file.
    private struct Reference {
        let column: String
        let draft: Int
    }

    private let drafts: [CSVDraft]
    /// The files with `id`, by the possible names of columns with their keys.
    private let keyed: [String: [Int]]
    /// The possible names of a column with the position of a pair.
    private static let orders: Set = ["position", "place", "order", "sort_order", "sortorder", "rank", "ordinal", "sequence", "index"]

    init(_ drafts: [CSVDraft]) {
        self.drafts = drafts
        var keyed: [String: [Int]] = [:]
        for (index, draft) in drafts.enumerated() where draft.columns.contains("id") {
            // A column has the name of the file, or its plural is the name of the file.
            keyed[draft.name.lowercased(), default: []].append(index)
        }
        self.keyed = keyed
    }

    func entities() throws -> [NSEntityDescription] {
        var entities: [Int: NSEntityDescription] = [:]
        var joins: [(draft: Int, references: [Reference], order: String?)] = []
        var keyed: [(draft: Int, references: [Reference])] = []
        for (index, draft) in drafts.enumerated() {
            let references = references(of: draft, besides: index)
            guard references.count > 1, try draft.areKeys(references.map(\.column)) else {
                entities[index] = try draft.entity()
                continue
            }
            let referring = Set(references.map(\.column))
            let others = draft.columns.filter { !referring.contains($0) }
            let order = others.first { Self.orders.contains($0.lowercased()) }
            if references.count == 2, references[0].draft != references[1].draft, others.count == (order == nil ? 0 : 1) {
                joins.append((index, references, order))
            } else {
                let entity = try draft.entity(without: Set(references.map(\.column)))
                entity.userInfo?["fileKeys"] = references.map(\.column).joined(separator: ",")
                entities[index] = entity
                keyed.append((index, references))
            }
        }
        for (draft, references) in keyed { if let entity = entities[draft] { relate(entity, draft, references, entities) } }
        for (draft, references, order) in joins { relate(draft, references, order, entities) }
        return drafts.indices.compactMap { entities[$0] }
    }

    /// Returns the columns that name other files; empty for a file with a key of its own.
    private func references(of draft: CSVDraft, besides index: Int) -> [Reference] {
        if draft.columns.contains("id") || draft.columns.contains(where: { $0.contains(",") }) { return [] }
        return draft.columns.compactMap { column in
            var name = column.lowercased()
            for ending in ["_id", " id", "-id", "id"] where name.hasSuffix(ending) && name.count > ending.count {
                // `paid` is not a key of `pa`.
                if ending == "id", !column.hasSuffix("Id"), !column.hasSuffix("ID") { continue }
                name.removeLast(ending.count)
                break
            }
            let found = Set([name, Self.plural(name)]).flatMap { keyed[$0] ?? [] }.filter { $0 != index }
            return found.count == 1 ? Reference(column: column, draft: found[0]) : nil
        }
    }

    private static func plural(_ name: String) -> String {
        if name.hasSuffix("s") { return name }
        return name.hasSuffix("y") ? name.dropLast() + "ies" : name + "s"
    }

    /// Adds a relationship to each of the files that the key of an entity refers to.
    private func relate(_ entity: NSEntityDescription, _ draft: Int, _ references: [Reference], _ entities: [Int: NSEntityDescription]) {
        for reference in references {
            guard let other = entities[reference.draft] else { continue }
            let toOne = NSRelationshipDescription(name: name(drafts[reference.draft].name, isPlural: false, in: entity), destination: other)
            toOne.userInfo = ["fileColumn": reference.column]
            let toMany = NSRelationshipDescription(
                name: name(drafts[draft].name, isPlural: true, in: other), destination: entity, toMany: true)
            toOne.inverse(to: toMany)
            entity.properties.append(toOne)
            other.properties.append(toMany)
        }
    }

    /// Adds the relationship of a join file.
    private func relate(_ draft: Int, _ references: [Reference], _ order: String?, _ entities: [Int: NSEntityDescription]) {
        guard let owner = entities[references[0].draft], let member = entities[references[1].draft] else { return }
        let members = NSRelationshipDescription(
            name: name(drafts[references[1].draft].name, isPlural: true, in: owner), destination: member, toMany: true)
        members.isOrdered = order != nil
        var info: [String: Any] = [
            "joinFile": drafts[draft].name + ".csv", "joinOwner": references[0].column, "joinMember": references[1].column,
        ]
        info["joinOrder"] = order
        members.userInfo = info
        let owners = NSRelationshipDescription(
            name: name(drafts[references[0].draft].name, isPlural: true, in: member), destination: owner, toMany: true)
        members.inverse(to: owners)
        owner.properties.append(members)
        member.properties.append(owners)
    }

    /// Returns the name of a relationship to the records of a file.
    private func name(_ file: String, isPlural: Bool, in entity: NSEntityDescription) -> String {
        var name = CSVDraft.identifier(file, isEntity: false, besides: [])
        if isPlural {
            name = Self.plural(name)
        } else if name.hasSuffix("ies") {
            name = name.dropLast(3) + "y"
        } else if name.hasSuffix("s") {
            name.removeLast()
        }
        return CSVDraft.identifier(name, isEntity: false, besides: Set(entity.properties.map(\.name)))
    }
}
