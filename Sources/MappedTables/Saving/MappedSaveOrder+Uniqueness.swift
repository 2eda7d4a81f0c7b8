internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates
internal import SQLQueries

extension MappedSaveOrder {
    /// The values of a rule, such that rows that are equal to the database are equal here. Rows that only seem equal are written one after another,
    /// which does no harm.
    private struct Claim: Hashable {
        let entity: Int64
        let rule: Int
        let values: [PropertyValue]
    }

    /// Orders changes that give up unique values before those that take them.
    mutating func addUniqueness(_ membership: Membership) {
        var givers: [Claim: [Int]] = [:]
        var takers: [(claim: Claim, rule: UniqueRule, index: Int)] = []
        for (index, node) in nodes.enumerated() {
            for rule in node.table.relation.uniqueRules {
                let (slots, conditions) = (node.table.slots(of: rule.columns), node.table.slots(of: rule.conditionColumns))
                if node.kind == .update, !(slots + conditions).contains(where: node.writes) { continue }
                func claim(_ row: Row?) -> Claim? {
                    row.flatMap { values(of: $0, slots, node.entity) }.map {
                        Claim(entity: node.entity.number, rule: rule.number, values: $0)
                    }
                }
                let old = node.kind == .insert ? nil : claim(stored(node.change))
                let new = node.kind == .delete ? nil : claim(node.change.row)
                if node.kind == .update, old == new, !conditions.contains(where: node.writes) { continue }
                if let old, rule.condition == nil || membership(node.entity, rule, node.change.objectID) {
                    givers[old, default: []].append(index)
                }
                if let new { takers.append((new, rule, index)) }
            }
        }
        for (claim, rule, index) in takers {
            for giver in givers[claim] ?? [] where nodes[giver].change.objectID != nodes[index].change.objectID {
                add(giver, before: index, rule)
            }
        }
    }

    private func values(of row: Row, _ slots: [Int], _ entity: SQLEntity) -> [PropertyValue]? {
        if slots.isEmpty { return nil }
        var values: [PropertyValue] = []
        for index in slots {
            let slot = row.layout.slots[index]
            guard let value = row.any(at: slot, of: entity.entity.frozenParts.properties[index] as? NSAttributeDescription),
                let comparable = try? PropertyValue(any: value)
            else { return nil }
            if case .string(let text) = comparable {
                // However the database compares texts.
                let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
                values.append(.string(folded.trimmingCharacters(in: .whitespaces)))
            } else {
                values.append(comparable)
            }
        }
        return values
    }

    /// Returns the columns by which a row may give up its place in a rule, best first. An updated row gets their values back when it is written.
    func parkedColumns(_ node: Node, _ rule: UniqueRule) -> [CatalogueColumn<Dialect>] {
        func columns(_ names: [String]) -> [CatalogueColumn<Dialect>] {
            names.compactMap { name in
                guard let column = node.table.relation.column(name) else { return nil }
                if case .expression = column.source { return nil }
                // References to the row would lead to the row that takes its key.
                if node.table.key.columns.contains(where: { $0.name == name }) { return nil }
                return node.kind == .delete || node.table.slots(of: [name]).contains(where: node.writes) ? column : nil
            }
        }
        // NULL fulfils no condition, while another value may.
        return [rule.columns, rule.conditionColumns].map(columns).flatMap { columns in
            columns.filter { !$0.isRequired } + columns.filter(\.isRequired)
        }
    }
}

extension MappedTable {
    /// Returns the properties that have columns.
    func slots(of columns: [String]) -> [Int] {
        if columns.isEmpty { return [] }
        return values.filter { _, value in
            switch value {
            case .attribute(let column, _): columns.contains(column.name)
            case .toOne(let key): key.columns.contains { columns.contains($0.name) }
            case .inverse: false
            }
        }.keys.sorted()
    }
}
