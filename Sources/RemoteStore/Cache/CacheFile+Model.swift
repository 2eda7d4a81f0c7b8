internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Adapts a file that an earlier version of the program has created.
extension CacheFile {
    private static let modelKey = "model"

    /// Records the properties of the model. Properties that it did not have when the file was last open become unknown in existing rows.
    func noteModel() throws {
        guard let settings = entity(named: names.setting) else { return }
        var now: [String: [String]] = [:]
        for entity in entities {
            now[entity.name] = (entity.outer?.frozenParts.properties ?? []).filter { !$0.isTransient && !$0.isToManyRelationship }
                .map(\.name).sorted()
        }
        let isModelKey = PredicateTree.compare(.keyPath(["key"]), .equal, .constant(.string(Self.modelKey)))
        try write { transaction in
            let row: CacheRow
            if let known = try transaction.rows(of: settings, where: isModelKey).first {
                row = transaction.edit(known)
                if case .data(let data) = try row.value("data"), let before = try? JSONDecoder().decode([String: [String]].self, from: data)
                {
                    if before == now { return }
                    try forgetAdded(before, now, in: transaction)
                }
            } else {
                row = try transaction.insert(settings)
                try row.set(.string(Self.modelKey), "key")
            }
            try row.set(.data(JSONEncoder().encode(now)), "data")
        }
    }

    private func forgetAdded(_ before: [String: [String]], _ now: [String: [String]], in transaction: CacheTransaction) throws {
        for entity in entities {
            guard let old = before[entity.name] else { continue }
            let added = Set(now[entity.name] ?? []).subtracting(old)
            if added.isEmpty { continue }
            guard case .rows(let rows) = try read(StoreQuery(entity.inner, includesSubentities: false)) else { continue }
            for row in rows where entity.state(of: row) != .stub && entity.state(of: row) != .pendingInsert {
                let edit = transaction.edit(row)
                var knowledge = edit.knowledge
                knowledge.setUnknown(knowledge.unknown.union(added))
                edit.setKnowledge(knowledge)
            }
        }
        // Queries by removed properties are never asked again.
        guard let coverage = self.entity(named: names.coverage) else { return }
        let removed = Set(before.values.joined()).subtracting(now.values.joined())
        if removed.isEmpty, Set(before.keys).isSubset(of: now.keys) { return }
        for row in try transaction.rows(of: coverage) { try transaction.delete(key(of: row)) }
    }
}
