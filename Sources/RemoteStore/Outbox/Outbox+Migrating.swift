internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Brings pending changes along into another version of the model.
extension Outbox {
    /// Gives pending changes the names that entities and properties have now, by their renaming identifiers. What the model does not have any
    /// more is left out.
    func adapt() throws {
        if try count() == 0 { return }
        try file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, catalog)
            for record in try pending.all() {
                guard let entity = entity(record.entity) else {
                    RequestRunner.log.warning("A pending change of “\(record.entity)” is left out, which the model does not have any more.")
                    try pending.put(nil, record.key)
                    continue
                }
                var adapted = adapted(record, entity)
                adapted.entity = entity.name
                adapted.key = LocalKey(root: entity.inner.top.name ?? "?", key: record.key.key)
                let isKnown = try transaction.row(pending.place(adapted)).map { entity.knowledge(of: $0).unknown.isEmpty } ?? false
                if adapted == record, isKnown { continue }
                if adapted.key != record.key { try pending.put(nil, record.key) }
                guard let subject = try pending.subject(pending.place(adapted)) else {
                    try pending.put(nil, adapted.key)
                    continue
                }
                adapted.prune(subject.shown)
                // What is pending is known, whatever a new version has added.
                var knowledge = subject.row.knowledge
                let pendingNames = adapted.isConfirmed ? Set(adapted.confirmed.keys) : knowledge.unknown
                if !knowledge.unknown.isDisjoint(with: pendingNames) {
                    knowledge.setUnknown(knowledge.unknown.subtracting(pendingNames))
                    subject.row.setKnowledge(knowledge)
                }
                try pending.finish(adapted, subject.row)
            }
        }
    }

    private func entity(_ name: String) -> CacheEntity? {
        if let entity = file.entity(named: name), entity.outer != nil { return entity }
        return file.entities.first { $0.outer?.renamingIdentifier == name }
    }

    private func adapted(_ record: PendingRecord, _ entity: CacheEntity) -> PendingRecord {
        let properties = entity.outer?.frozenParts.properties ?? []
        var names: [String: NSPropertyDescription] = [:]
        for property in properties { if let old = property.renamingIdentifier { names[old] = property } }
        for property in properties { names[property.name] = property }
        func values(_ values: [String: ResourceValue]) -> [String: ResourceValue] {
            var adapted: [String: ResourceValue] = [:]
            for (name, value) in values {
                guard let property = names[name], !property.isTransient else { continue }
                switch (property, value) {
                case (let attribute as NSAttributeDescription, .value(let known)):
                    // Of another type: it is as if it had never been read.
                    adapted[property.name] = attribute.canHold(known) ? value : .many([])
                case (let relationship as NSRelationshipDescription, .one) where !relationship.isToMany: adapted[property.name] = value
                case (_, .many): adapted[property.name] = value
                default: continue
                }
            }
            return adapted
        }
        func lists(_ lists: [String: BackendChange.ListChange]) -> [String: BackendChange.ListChange] {
            var adapted: [String: BackendChange.ListChange] = [:]
            for (name, list) in lists {
                guard let relationship = names[name] as? NSRelationshipDescription, relationship.isToMany else { continue }
                adapted[relationship.name] = list
            }
            return adapted
        }
        var adapted = record
        adapted.confirmed = values(record.confirmed)
        adapted.lists = lists(record.lists)
        // What was sent is sent again as it was; only what is made of its answer is adapted.
        if let sent = record.sent {
            adapted.sent?.values = values(sent.values)
            adapted.sent?.lists = lists(sent.lists)
            let changed = sent.change.changedProperties.compactMap { names[$0]?.name }
            adapted.sent?.change.changedProperties.formUnion(changed)
        }
        if let theirs = record.theirs?.values { adapted.theirs?.values = values(theirs) }
        return adapted
    }
}

extension NSAttributeDescription {
    /// Whether a value fits.
    fileprivate func canHold(_ value: PropertyValue) -> Bool {
        guard let entity else { return false }
        let row = Row.blank(entity.frozenParts.layout)
        return (try? row.setValue(value, of: self)) != nil
    }
}
