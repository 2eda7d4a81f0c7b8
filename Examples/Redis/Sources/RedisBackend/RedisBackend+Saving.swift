internal import Foundation
internal import Predicates
public import RemoteStore

extension RedisBackend {
    /// Saves changes as one transaction: those that conflict are left out, and told with the current values.
    ///
    /// - Throws: ``RedisError``; `UnknownOutcome` where the connection broke while the transaction was made.
    public func save(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        guard let name = changes.first?.entity, let entity = schema.entities[name] else { return [:] }
        return try await writer.perform { redis in
            let ids = try identifiers(of: changes, entity, redis)
            for _ in 0..<20 {
                if let outcomes = try attempt(changes, ids, entity, redis) { return outcomes }
            }
            throw RedisError.contended
        }
    }

    /// Returns the identifiers of resources as text; new ones are counted up.
    private func identifiers(
        of changes: [BackendChange], _ entity: RedisSchema.Entity, _ redis: RedisConversation
    ) throws -> [String] {
        let new = changes.count { $0.id == nil }
        var next = 0
        if new > 0 { next = Int(try redis.send("INCRBY", schema.counter(entity.top), "\(new)").integer ?? 0) - new }
        return changes.map { change in
            if let id = change.id { return id.description }
            next += 1
            return "\(next)"
        }
    }

    /// Reads what is there, compares the versions, and saves.
    ///
    /// - Returns: The outcomes; nil where others have changed the same resources meanwhile.
    private func attempt(
        _ changes: [BackendChange], _ ids: [String], _ entity: RedisSchema.Entity, _ redis: RedisConversation
    ) throws -> [BackendChange.Key: BackendOutcome]? {
        var commands = [RedisCommand(["WATCH"] + ids.map { schema.hash(entity.top, $0) })]
        for (change, id) in zip(changes, ids) {
            commands.append(RedisCommand("GET", schema.outcome(change.idempotencyKey)))
            commands += reading(id, entity)
        }
        let replies = try redis.send(commands)
        let width = 2 + entity.listsOfAll.count
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        var writes: [RedisCommand] = []
        for (index, (change, id)) in zip(changes, ids).enumerated() {
            let own = replies[1 + index * width..<1 + (index + 1) * width]
            // Sent again, a change that was saved has the outcome that was lost.
            if let known = own.first?.text?.split(separator: " ").compactMap({ Int64($0) }), known.count == 2 {
                outcomes[change.key] = outcome(change, known[0], known[1])
                continue
            }
            let current = stored(id, entity, own.dropFirst())
            do {
                if change.kind != .insert {
                    guard let current else {
                        outcomes[change.key] = .conflict(current: nil)
                        continue
                    }
                    if let version = change.version, version != .number(current.version) {
                        outcomes[change.key] = .conflict(
                            current: try values(of: current, schema.entities[current.entity]), version: .number(current.version))
                        continue
                    }
                }
                let version = (current?.version ?? 0) + 1
                writes += try self.writes(change, id, current, version, entity)
                writes.append(RedisCommand("SET", schema.outcome(change.idempotencyKey), "\(id) \(version)", "EX", "86400"))
                outcomes[change.key] = outcome(change, Int64(id) ?? 0, version)
            } catch { outcomes[change.key] = .refused(error) }
        }
        if writes.isEmpty {
            _ = try redis.send("UNWATCH")
            return outcomes
        }
        do { return try redis.transaction(writes) ? outcomes : nil } catch let error as RedisError {
            if case .connection = error { throw UnknownOutcome(error) }
            throw error
        }
    }

    private func outcome(_ change: BackendChange, _ id: Int64, _ version: Int64) -> BackendOutcome {
        .saved(id: change.id == nil ? .integer(id) : nil, version: change.kind == .delete ? nil : .number(version))
    }

    // MARK: Writes

    /// Returns the commands that save a change.
    private func writes(
        _ change: BackendChange, _ id: String, _ current: Stored?, _ version: Int64, _ entity: RedisSchema.Entity
    ) throws -> [RedisCommand] {
        let hash = schema.hash(entity.top, id)
        if change.kind == .delete {
            return [RedisCommand(["DEL", hash] + entity.listsOfAll.map { schema.list($0, of: id) })]
                + entity.line.map { RedisCommand("SREM", schema.all($0), id) }
                + entity.links.filter { !$0.isList }.flatMap { moving($0, id, from: current, to: nil) }
                + entity.links.filter(\.isList).flatMap { leaving($0, id, current) }
                + entity.attributes.filter(\.isIndexed).flatMap { index in
                    entity.line.map { RedisCommand("ZREM", schema.index(index.name, of: $0), id) }
                }
        }
        var set = [(RedisText.versionField, Data("\(version)".utf8))]
        var removed: [String] = []
        var commands: [RedisCommand] = []
        for attribute in entity.attributes {
            let isNew = change.kind == .insert
            guard let value = change.values[attribute.name]?.value ?? (isNew ? .null : nil) else { continue }
            if let bytes = try RedisText.bytes(value, attribute.name) {
                set.append((attribute.name, bytes))
            } else {
                removed.append(attribute.name)
            }
            guard attribute.isIndexed else { continue }
            let score = try RedisText.score(value, attribute.name)
            commands += entity.line.map { RedisCommand("ZADD", schema.index(attribute.name, of: $0), score, id) }
        }
        for link in entity.links {
            if let list = change.lists[link.name] {
                commands += changing(link, id, list)
            } else if !link.isList, case .one(let reference)? = change.values[link.name] {
                if let reference { set.append((link.name, Data(RedisText.text(reference).utf8))) } else { removed.append(link.name) }
                commands += moving(link, id, from: current, to: reference)
            }
        }
        if change.kind == .insert {
            set.append((RedisText.entityField, Data(entity.name.utf8)))
            commands += entity.line.map { RedisCommand("SADD", schema.all($0), id) }
        }
        if !removed.isEmpty { commands.append(RedisCommand(["HDEL", hash] + removed)) }
        return commands + [RedisCommand("HSET", hash).adding(set)]
    }

    /// Enters a resource under another destination of a to-one relationship.
    private func moving(_ link: RedisSchema.Link, _ id: String, from current: Stored?, to reference: ResourceReference?) -> [RedisCommand] {
        let old = current?.fields[link.name].flatMap { RedisText.reference(String(decoding: $0, as: UTF8.self)) }
        return (old.map { [RedisCommand("SREM", schema.owners(link, to: "\($0.id)"), id)] } ?? [])
            + (reference.map { [RedisCommand("SADD", schema.owners(link, to: "\($0.id)"), id)] } ?? [])
    }

    /// Removes a resource from what leads back from the destinations of a list.
    private func leaving(_ link: RedisSchema.Link, _ id: String, _ current: Stored?) -> [RedisCommand] {
        (current?.lists[link.name] ?? []).compactMap(RedisText.reference).map {
            RedisCommand("SREM", schema.owners(link, to: "\($0.id)"), id)
        }
    }

    /// Changes a list, and what leads back from its destinations.
    private func changing(_ link: RedisSchema.Link, _ id: String, _ list: BackendChange.ListChange) -> [RedisCommand] {
        let key = schema.list(link, of: id)
        var commands =
            list.removed.map { RedisCommand("SREM", schema.owners(link, to: "\($0.id)"), id) }
            + list.added.map { RedisCommand("SADD", schema.owners(link, to: "\($0.id)"), id) }
        if link.isOrdered {
            let members = (list.members ?? list.added).map(RedisText.text)
            commands.append(RedisCommand("DEL", key))
            if !members.isEmpty { commands.append(RedisCommand(["RPUSH", key] + members)) }
        } else {
            if !list.removed.isEmpty { commands.append(RedisCommand(["SREM", key] + list.removed.map(RedisText.text))) }
            if !list.added.isEmpty { commands.append(RedisCommand(["SADD", key] + list.added.map(RedisText.text))) }
        }
        return commands
    }
}
