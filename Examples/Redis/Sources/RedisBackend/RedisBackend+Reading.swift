internal import Foundation
internal import Predicates
public import RemoteStore

extension RedisBackend {
    /// Answers a request by two round trips: one for the identifiers, one for the hashes and lists of all of them.
    ///
    /// - Throws: ``RedisError``.
    public func answer(_ request: BackendRequest) async throws -> BackendAnswer {
        guard let entity = schema.entities[request.entity] else { throw RedisError.unexpected(command: request.entity) }
        var answer = request.answer()
        let found = try await reader.perform { redis in
            let found = try identifiers(request, entity, redis)
            return (found, request.wantsCount ? [] : try resources(found.ids, entity, redis))
        }
        answer.isComplete = true
        answer.total = found.0.total
        answer.next = found.0.next
        for resource in found.1 {
            try answer.add(
                resource.id, entity: resource.entity, version: .number(resource.version),
                values(of: resource, schema.entities[resource.entity]))
        }
        return answer
    }

    // MARK: Identifiers

    private struct Identifiers: Sendable {
        var ids: [String] = []
        var next: PageToken?
        var total: Int?
    }

    private func identifiers(
        _ request: BackendRequest, _ entity: RedisSchema.Entity, _ redis: RedisConversation
    ) throws -> Identifiers {
        if request.endpoint == "hashes" { return Identifiers(ids: request.ids("SELF").map(\.description)) }
        if request.endpoint == "all" {
            if request.wantsCount { return Identifiers(total: try redis.send("SCARD", schema.all(entity.name)).integer.map { Int($0) }) }
            // An identifier may come twice, as the store allows for.
            let answer = try redis.send("SSCAN", schema.all(entity.name), request.page?.text ?? "0", "COUNT", "\(Self.pageSize)").elements
            guard answer.count == 2, let cursor = answer[0].text else { throw RedisError.unexpected(command: "SSCAN") }
            return Identifiers(ids: answer[1].elements.compactMap(\.text), next: cursor == "0" ? nil : PageToken(cursor))
        }
        if let link = entity.links.first(where: { "by \($0.name)" == request.endpoint }) {
            let keys = request.ids("to").map { schema.owners(link, to: $0.description) }
            if keys.isEmpty { return Identifiers() }
            var ids = try redis.send([RedisCommand(["SUNION"] + keys)])[0].elements.compactMap(\.text)
            if entity.line.count > 1 { ids = try members(of: entity, among: ids, redis) }
            return Identifiers(ids: ids)
        }
        return try sorted(request, entity, redis)
    }

    /// Returns those that are of an entity: the relationship may be declared above it.
    private func members(of entity: RedisSchema.Entity, among ids: [String], _ redis: RedisConversation) throws -> [String] {
        let answers = try redis.send(ids.map { RedisCommand("SISMEMBER", schema.all(entity.name), $0) })
        return zip(ids, answers).filter { $1.integer == 1 }.map(\.0)
    }

    /// Reads a range of a sorted set.
    private func sorted(_ request: BackendRequest, _ entity: RedisSchema.Entity, _ redis: RedisConversation) throws -> Identifiers {
        let attribute = String(request.endpoint.dropFirst("sorted by ".count))
        let key = schema.index(attribute, of: entity.name)
        var (low, high) = ("-inf", "+inf")
        for filter in request.filters {
            // Resources without a value are at -inf, and match no comparison with a value.
            if filter.comparison == .isNil {
                high = "-inf"
                continue
            }
            if low == "-inf" { low = "(-inf" }
            guard let value = filter.values.first else { continue }
            let score = try RedisText.score(value, attribute)
            switch filter.comparison {
            case .equal: (low, high) = (score, score)
            case .greaterThan: low = "(" + score
            case .greaterThanOrEqual: low = score
            case .lessThan: high = "(" + score
            default: high = score
            }
        }
        if request.wantsCount { return Identifiers(total: try redis.send("ZCOUNT", key, low, high).integer.map { Int($0) }) }
        let offset = request.page.flatMap { Int($0.text) } ?? request.offset
        let count = min(request.limit ?? Self.pageSize, Self.pageSize)
        let isDescending = request.sorts.first.map { !$0.isAscending } ?? false
        // One more tells whether there is another page.
        let range = isDescending ? ["ZREVRANGEBYSCORE", key, high, low] : ["ZRANGEBYSCORE", key, low, high]
        let ids = try redis.send([RedisCommand(range + ["LIMIT", "\(offset)", "\(count + 1)"])])[0].elements.compactMap(\.text)
        return Identifiers(ids: Array(ids.prefix(count)), next: ids.count > count ? PageToken("\(offset + count)") : nil)
    }

    // MARK: Resources

    /// A resource as it is in Redis.
    struct Stored: Sendable {
        let id: ResourceID
        let entity: String
        let version: Int64
        var fields: [String: Data]
        var lists: [String: [String]]
    }

    /// Reads hashes and lists together. Those that do not exist are left out.
    func resources(_ ids: [String], _ entity: RedisSchema.Entity, _ redis: RedisConversation) throws -> [Stored] {
        let commands = ids.flatMap { reading($0, entity) }
        let replies = try redis.send(commands)
        let width = 1 + entity.listsOfAll.count
        return ids.enumerated().compactMap { index, id in stored(id, entity, replies[index * width..<(index + 1) * width]) }
    }

    /// The commands that read a resource.
    func reading(_ id: String, _ entity: RedisSchema.Entity) -> [RedisCommand] {
        [RedisCommand("HGETALL", schema.hash(entity.top, id))]
            + entity.listsOfAll.map { link in
                let key = schema.list(link, of: id)
                return link.isOrdered ? RedisCommand("LRANGE", key, "0", "-1") : RedisCommand("SMEMBERS", key)
            }
    }

    /// Returns the resource of the answers to ``reading(_:_:)``.
    func stored(_ id: String, _ entity: RedisSchema.Entity, _ replies: ArraySlice<RedisReply>) -> Stored? {
        guard let number = Int64(id), let fields = replies.first?.hash, let name = fields[RedisText.entityField],
            let version = fields[RedisText.versionField].flatMap({ Int64(String(decoding: $0, as: UTF8.self)) })
        else { return nil }
        var lists: [String: [String]] = [:]
        for (link, reply) in zip(entity.listsOfAll, replies.dropFirst()) { lists[link.name] = reply.elements.compactMap(\.text) }
        return Stored(
            id: .integer(number), entity: String(decoding: name, as: UTF8.self), version: version, fields: fields, lists: lists)
    }

    /// Returns the values of a resource.
    func values(of resource: Stored, _ entity: RedisSchema.Entity?) throws -> [String: ResourceValue] {
        var values: [String: ResourceValue] = [:]
        for attribute in entity?.attributes ?? [] {
            values[attribute.name] = .value(try RedisText.value(resource.fields[attribute.name], attribute))
        }
        for link in entity?.links ?? [] {
            if link.isList {
                values[link.name] = .many((resource.lists[link.name] ?? []).compactMap(RedisText.reference))
            } else {
                let text = resource.fields[link.name].map { String(decoding: $0, as: UTF8.self) }
                values[link.name] = .one(text.flatMap(RedisText.reference))
            }
        }
        return values
    }
}
