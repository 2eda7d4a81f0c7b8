internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The pending changes of a file of another model version, with the displayed values of their objects, so that no change is lost with the rows.
struct CarriedChanges: CarriedContent {
    /// A pending change.
    struct Change: Sendable {
        let record: PendingRecord
        /// The values in the object's row, with local references.
        let values: [String: ResourceValue]
        /// The names of the unknown properties.
        let unknown: Set<String>
    }

    /// The file's data about an object.
    struct Place: Sendable {
        let entity: String
        /// The backend's identifier of the object, in the file's form; nil for a new object.
        let resource: String?
    }

    private(set) var changes: [Change] = []
    /// The objects that changes belong to or refer to.
    private(set) var places: [LocalKey: Place] = [:]

    /// Reads the changes of a file with its own model; nil if there are none.
    init?(_ store: NSPersistentStore, _ model: NSManagedObjectModel) throws {
        guard let pending = model.entities.first(where: { $0.attributesByName["objectKey"] != nil && $0.attributesByName["body"] != nil })
        else { return nil }
        let caller = StoreCaller(author: "cache")
        guard case .rows(let rows) = try store.interface.answer(StoreQuery(pending), for: caller), !rows.isEmpty else { return nil }
        func value(_ name: String, _ row: Row) -> PropertyValue { pending.attributesByName[name].map { row.value(of: $0) } ?? .null }
        func row(of key: LocalKey) throws -> Row? {
            guard let entity = model.entitiesByName[key.root] else { return nil }
            let id = NSManagedObjectID(
                entity: entity, token: store.token, number: key.key, keyBase: NSManagedObjectID.keyBase(of: entity))
            return try store.interface.row(for: id, for: caller)
        }
        for own in rows {
            guard case .string(let root) = value("objectEntity", own), case .int64(let number) = value("objectKey", own),
                case .int64(let sequence) = value("sequence", own), case .int64(let state) = value("state", own),
                case .data(let body) = value("body", own)
            else { continue }
            let key = LocalKey(root: root, key: number)
            var record = try PendingRecord(key, sequence: sequence, state: .init(rawValue: Int16(clamping: state)) ?? .waiting, body)
            record = record.opened(model.entitiesByName[record.entity])
            guard let shown = try row(of: key) else { continue }
            let entity = shown.knownObjectID.owningEntity
            var values: [String: ResourceValue] = [:]
            for property in entity.frozenParts.properties where !property.isTransient && !property.isToManyRelationship {
                values[property.name] = OutboxTransaction.value(shown, property)
            }
            changes.append(Change(record: record, values: values, unknown: Self.unknown(of: shown, entity)))
            places[key] = Self.place(shown)
            for other in Self.references(of: record, values, entity) where places[other] == nil {
                if let referred = try row(of: other) { places[other] = Self.place(referred) }
            }
        }
        changes.sort { $0.record.sequence < $1.record.sequence }
    }

    private static func place(_ row: Row) -> Place {
        let entity = row.knownObjectID.owningEntity
        var resource: String?
        if case .string(let text)? = added("cacheResource", entity).map({ row.value(of: $0) }) { resource = text }
        return Place(entity: entity.name ?? "?", resource: resource)
    }

    private static func unknown(of row: Row, _ entity: NSEntityDescription) -> Set<String> {
        guard case .string(let text)? = added("cacheKnown", entity).map({ row.value(of: $0) }) else { return [] }
        return Set(text.split(separator: ",").filter { $0.first != "=" && $0.first != "#" && !$0.contains("@") }.map(String.init))
    }

    /// Returns an attribute that the cache has added. Underscores distinguish its name from those of the program's model.
    private static func added(_ name: String, _ entity: NSEntityDescription) -> NSAttributeDescription? {
        let own = entity.attributesByName.filter { $0.key.hasPrefix(name) && $0.key.dropFirst(name.count).allSatisfy { $0 == "_" } }
        return own.max { $0.key.count < $1.key.count }?.value
    }

    /// Returns the objects that a change refers to.
    private static func references(
        of record: PendingRecord, _ values: [String: ResourceValue], _ entity: NSEntityDescription
    ) -> [LocalKey] {
        var found: [LocalKey] = []
        for case let relationship as NSRelationshipDescription in entity.frozenParts.properties {
            guard let root = relationship.destinationEntity?.top.name else { continue }
            let name = relationship.name
            var keys = [values[name], record.confirmed[name], record.sent?.values[name], record.theirs?.values?[name]].map { $0?.localKey }
            for list in [record.lists[name], record.sent?.lists[name]] {
                keys += ((list?.added ?? []) + (list?.removed ?? []) + (list?.members ?? [])).map(\.localKey)
            }
            found += keys.compactMap { $0 }.map { LocalKey(root: root, key: $0) }
        }
        return found
    }

    // MARK: Writing

    func write(into file: CacheFile) throws {
        guard let records = file.entity(named: file.names.pending) else { return }
        try file.write { transaction in
            // Objects that others refer to keep their identity.
            var rows: [LocalKey: CacheRow] = [:]
            let own = Set(changes.map(\.record.key))
            for (key, place) in places.sorted(by: { ($0.key.root, $0.key.key) < ($1.key.root, $1.key.key) }) {
                guard let entity = file.entity(renamedFrom: place.entity) else { continue }
                let row = try transaction.insert(entity, place.resource.flatMap(ResourceID.init(fileText:)))
                if !own.contains(key) { row.setState(.stub) }
                rows[key] = row
            }
            var lists: [(CacheRow, PendingRecord)] = []
            for change in changes {
                guard let row = rows[change.record.key] else {
                    try stranded(change)?.add(to: file, in: transaction)
                    continue
                }
                let moved = try move(change, to: row, rows)
                lists.append((row, moved))
                let place = try transaction.insert(records)
                try place.set(.string(moved.key.root), "objectEntity")
                try place.set(.int64(moved.key.key), "objectKey")
                try place.set(.int64(place.key.number), "sequence")
                try place.set(.int64(Int64(moved.state.rawValue)), "state")
                try place.set(.data(try moved.archived(row.entity.outer).encoded()), "body")
            }
            // The members that were added to lists are displayed; the other members are read when they are needed.
            for (row, record) in lists {
                for (name, list) in record.lists {
                    guard let relationship = row.entity.propertiesByOldName[name] as? NSRelationshipDescription else { continue }
                    let added = Set(list.added.compactMap(\.localKey))
                    let top = destination(relationship, row)
                    let members = rows.values.filter { added.contains($0.key.number) && $0.entity.inner.isKindOf(entity: top) }
                    try transaction.setList(row.key, relationship.name, members.map(\.key).sorted { $0.number < $1.number })
                }
            }
        }
    }

    /// Writes the pending values of an object to its row.
    ///
    /// - Returns: The record, with references to the new rows. Its properties still have the names of the older version.
    private func move(_ change: Change, to row: CacheRow, _ rows: [LocalKey: CacheRow]) throws -> PendingRecord {
        let names = row.entity.propertiesByOldName
        var record = change.record
        record.entity = row.entity.name
        record.key = LocalKey(root: row.entity.inner.top.name ?? "?", key: row.key.number)
        row.setState(record.isShown ? (record.isConfirmed ? .pendingUpdate : .pendingInsert) : .pendingDelete)
        row.setVersion(record.version)
        var knowledge = CacheEntity.Knowledge()
        var unknown = Set(row.entity.outer?.frozenParts.properties.filter { !$0.isTransient && !$0.isToManyRelationship }.map(\.name) ?? [])
        func local(_ reference: ResourceReference, _ relationship: NSRelationshipDescription) -> CacheRow? {
            reference.localKey.flatMap { key in
                rows.first { $0.key.key == key && $0.value.entity.inner.isKindOf(entity: destination(relationship, row)) }?.value
            }
        }
        func moved(_ values: [String: ResourceValue]) -> [String: ResourceValue] {
            var moved = values
            for (name, value) in values {
                guard case .one(let reference?) = value, let relationship = names[name] as? NSRelationshipDescription else { continue }
                moved[name] = local(reference, relationship).map { .one(.local($0.key.number)) } ?? .many([])
            }
            return moved
        }
        func moved(_ lists: [String: BackendChange.ListChange]) -> [String: BackendChange.ListChange] {
            var moved: [String: BackendChange.ListChange] = [:]
            for (name, list) in lists {
                guard let relationship = names[name] as? NSRelationshipDescription else { continue }
                func all(_ references: [ResourceReference]) -> [ResourceReference] {
                    references.compactMap { local($0, relationship).map { .local($0.key.number) } }
                }
                moved[name] = .init(added: all(list.added), removed: all(list.removed), members: list.members.map(all))
            }
            return moved
        }
        record.confirmed = moved(record.confirmed)
        record.lists = moved(record.lists)
        record.rewrite { sent in
            (sent.values, sent.lists) = (moved(sent.values), moved(sent.lists))
        } theirs: {
            moved($0)
        }
        for (name, value) in change.values where !change.unknown.contains(name) {
            switch (names[name], value) {
            case (let attribute as NSAttributeDescription, .value(let value)):
                // If the type has changed, the value is read again, unless it is pending.
                guard (try? row.set(value, attribute.name)) != nil else { continue }
                unknown.remove(attribute.name)
            case (let relationship as NSRelationshipDescription, .one(let reference)) where !relationship.isToMany:
                let destination = reference.flatMap { local($0, relationship) }
                if reference != nil, destination == nil { continue }
                try row.setOne(destination?.key, relationship.name)
                unknown.remove(relationship.name)
            default: continue
            }
        }
        if record.isConfirmed { knowledge.setUnknown(unknown) }
        row.setKnowledge(knowledge)
        return record
    }

    /// Returns the root entity of a relationship's destination, in the file.
    private func destination(_ relationship: NSRelationshipDescription, _ row: CacheRow) -> NSEntityDescription {
        let inner = row.entity.inner.frozenParts.byName[relationship.name] as? NSRelationshipDescription
        return inner?.destinationEntity?.top ?? row.entity.inner
    }
}
