internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// Migrates pending changes to another version of the model.
extension Outbox {
    /// Gives pending changes the current names of entities and properties, by their renaming identifiers. Names that the model no longer has are dropped.
    func adapt() throws {
        let carried = file.carried as? CarriedChanges
        if try count() == 0, carried == nil { return }
        try file.write { transaction in
            let pending = try OutboxTransaction.of(transaction, catalog)
            for record in try pending.all() {
                guard let entity = file.entity(renamedFrom: record.entity) else {
                    // Its row was removed with the table of the entity.
                    let known = carried?.changes.first { $0.record.key == record.key }
                    if let stranded = known.flatMap({ carried?.stranded($0) }) ?? StrandedRecord(record) {
                        try stranded.add(to: file, in: transaction)
                    }
                    try pending.put(nil, record.key)
                    continue
                }
                noteRemoved(record, entity)
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
                // Pending values are known, even if the new model version has added the properties.
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

    /// Logs the parts of a change that are dropped because the model no longer has them.
    private func noteRemoved(_ record: PendingRecord, _ entity: CacheEntity) {
        let known = entity.propertiesByOldName
        let removed = Set(record.confirmed.keys).union(record.lists.keys).filter { known[$0] == nil }
        for name in removed.sorted() {
            RequestRunner.log.warning(
                "A pending change of “\(name)” of \(record.resource?.description ?? "a new “\(entity.name)”") is left out: the model of “\(entity.name)” does not have it any more."
            )
        }
    }

    private func adapted(_ record: PendingRecord, _ entity: CacheEntity) -> PendingRecord {
        let names = entity.propertiesByOldName
        func values(_ values: [String: ResourceValue]) -> [String: ResourceValue] {
            var adapted: [String: ResourceValue] = [:]
            for (name, value) in values {
                guard let property = names[name], !property.isTransient else { continue }
                switch (property, value) {
                case (let attribute as NSAttributeDescription, .value(let known)):
                    if record.uploads[name]?.standIn == value || value == PendingRecord.Upload.settled, attribute.isLarge {
                        adapted[property.name] = value
                        continue
                    }
                    // If the type has changed, the value counts as never read.
                    let opened = ArchivedValue.open(known, attribute)
                    adapted[property.name] = opened.flatMap { attribute.canHold($0) ? .value($0) : nil } ?? .many([])
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
        // A sent change is sent again unchanged; only the data for handling its answer is adapted.
        adapted.rewrite { sent in
            sent.values = values(sent.values)
            sent.lists = lists(sent.lists)
            sent.change.changedProperties.formUnion(sent.change.changedProperties.compactMap { names[$0]?.name })
        } theirs: {
            values($0)
        }
        adapted.uploads = [:]
        for (name, upload) in record.uploads {
            guard let attribute = names[name] as? NSAttributeDescription, attribute.isLarge else { continue }
            adapted.uploads[attribute.name] = upload
        }
        return adapted
    }
}

extension NSAttributeDescription {
    /// Whether its values may be uploaded.
    fileprivate var isLarge: Bool { attributeType == .binaryDataAttributeType && allowsExternalBinaryDataStorage }

    /// Whether a value fits.
    fileprivate func canHold(_ value: PropertyValue) -> Bool {
        guard let entity else { return false }
        let row = Row.blank(entity.frozenParts.layout)
        return (try? row.setValue(value, of: self)) != nil
    }
}
