internal import Foundation
@_spi(Stores) internal import ObjectGraph

extension CombinedBackend {
    /// Whether every part has a change feed, and identifies objects by the identities of the combination.
    ///
    /// A part with other identifiers for shared objects cannot tell the identity of a removed object.
    public var hasChangeFeed: Bool { members.allSatisfy { $0.isPlain && $0.part.backend.hasChangeFeed } }

    /// Asks every part for its changes. An object that one part has removed and that another one has counts as changed, not as removed.
    ///
    /// - Throws: ``ExpiredChangeToken`` if a part no longer has the changes, or was not among the parts when the token was created; the error of a part that
    ///   cannot be asked.
    public func changes(_ request: ChangesRequest) async throws -> BackendChanges {
        guard hasChangeFeed else { throw RemoteStoreError.noChangeFeed(at: location) }
        var tokens: [String: String]?
        if let token = request.token {
            guard let known = try? JSONDecoder().decode([String: String].self, from: Data(token.text.utf8)),
                Set(known.keys) == Set(members.map(\.name))
            else { throw ExpiredChangeToken() }
            tokens = known
        }
        let before = tokens
        let answers = try await withThrowingTaskGroup(of: (Int, BackendChanges).self) { group in
            for (index, member) in members.enumerated() {
                let own = ChangesRequest(token: before?[member.name].map { ChangeToken($0) }, decoding: member.decoding)
                group.addTask {
                    let changes = try await member.part.backend.changes(own)
                    return (index, changes)
                }
            }
            var answers: [Int: BackendChanges] = [:]
            for try await (index, changes) in group { answers[index] = changes }
            return answers
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Bounded: the program names the parts, each by a name of its own.
        let next = Dictionary(uniqueKeysWithValues: answers.map { (members[$0].name, $1.token.text) })
        var changes = request.answer(ChangeToken(String(decoding: try encoder.encode(next), as: UTF8.self)))
        changes.hasMore = answers.values.contains(where: \.hasMore)
        var touched: [String: Set<ResourceID>] = [:]
        for (index, answer) in answers.sorted(by: { $0.key < $1.key }) {
            for row in members[index].rows(of: answer) {
                if entities[row.entity] != nil {
                    touched[row.entity, default: []].insert(row.native)
                } else {
                    try changes.add(row.native, entity: row.entity, version: row.version, row.values)
                }
            }
            for (id, version) in answer.removed {
                guard let name = id.owningEntity.name, let resource = ResourceID(id.reference) else { continue }
                if entities[name] != nil {
                    touched[name, default: []].insert(resource)
                } else {
                    try changes.remove(resource, entity: name, version: version)
                }
            }
        }
        for (name, ids) in touched {
            guard let entity = entities[name] else { continue }
            try await add(ids, of: entity, to: &changes)
        }
        return changes
    }

    /// Adds the current state of objects in all parts, or their removal.
    private func add(_ ids: Set<ResourceID>, of entity: CombinedEntity, to changes: inout BackendChanges) async throws {
        let rows = try await lookup(ids, entity, Array(entity.shares.indices))
        for id in ids.sorted(by: { $0.encoded < $1.encoded }) {
            if rows.values.contains(where: { $0[id] != nil }) {
                try changes.add(
                    id, entity: entity.name, values(id, entity, entity.shares.indices.map { (entity.shares[$0], rows[$0]?[id]) }))
            } else {
                try changes.remove(id, entity: entity.name)
            }
        }
    }
}
