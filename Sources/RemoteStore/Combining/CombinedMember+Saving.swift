internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension CombinedMember {
    /// Returns a change with the part's own identifiers of shared objects.
    ///
    /// - Throws: Code 134030 if it refers to an object that the part does not have.
    func translated(_ change: BackendChange) async throws -> BackendChange {
        if isPlain { return change }
        var wanted: [String: Set<ResourceID>] = [:]
        var needed: [String: Set<ResourceID>] = [:]
        let lists = change.lists.mapValues { $0.added + ($0.members ?? []) }
        for (name, references) in change.values.mapValues(\.references).merging(lists, uniquingKeysWith: { $0 + $1 }) {
            guard let share = translation(of: name, change.entity) else { continue }
            needed[share.entity, default: []].formUnion(references.map(\.id))
            // An object that the part does not have is not in its list either.
            let removed = change.lists[name]?.removed ?? []
            // Nor can it have been the previous destination.
            let before = change.base[name]?.references ?? []
            wanted[share.entity, default: []].formUnion((references + removed + before).map(\.id))
        }
        var known: [String: [ResourceID: ResourceID]] = [:]
        for (entity, ids) in wanted {
            guard let share = share(of: entity) else { continue }
            known[entity] = try await natives(of: ids, share)
            if let missing = needed[entity]?.first(where: { known[entity]?[$0] == nil }) {
                throw CoreDataError.make(
                    NSPersistentStoreSaveError, "“\(change.entity)” cannot be saved in “\(name)”.",
                    reason: "It refers to “\(entity)” \(missing), which “\(name)” does not have.",
                    next: "Give that object a value that “\(name)” keeps, save it, and save again.")
            }
        }
        func native(_ property: String) -> (ResourceReference) -> ResourceReference? {
            guard let share = translation(of: property, change.entity) else { return { $0 } }
            let ids = known[share.entity] ?? [:]
            return { reference in ids[reference.id].map { ResourceReference($0) } }
        }
        var own = change
        for (name, value) in change.values { own.values[name] = value.mapReferences(native(name)) }
        for (name, value) in change.base {
            let known = value.mapReferences(native(name))
            own.base[name] = known.references.count == value.references.count ? known : nil
        }
        for (name, list) in change.lists {
            own.lists[name] = .init(
                added: list.added.compactMap(native(name)), removed: list.removed.compactMap(native(name)),
                members: list.members?.compactMap(native(name)))
        }
        return own
    }

    /// Returns the values that the part has reported, without references to shared objects by its own identifiers, which are read instead.
    func identified(_ values: [String: ResourceValue], _ entity: String) -> [String: ResourceValue] {
        values.filter { translation(of: $0.key, entity) == nil }
    }

    /// Saves changes of an entity that only this part has.
    func forward(_ changes: [BackendChange]) async throws -> [BackendChange.Key: BackendOutcome] {
        if isPlain { return try await part.backend.save(changes) }
        var outcomes: [BackendChange.Key: BackendOutcome] = [:]
        var own: [BackendChange] = []
        for change in changes {
            do { own.append(try await translated(change)) } catch { outcomes[change.key] = .refused(error) }
        }
        if own.isEmpty { return outcomes }
        for (key, outcome) in try await part.backend.save(own) {
            guard let change = changes.first(where: { $0.key == key }) else { continue }
            switch outcome {
            case .saved(let id, let version, let values):
                outcomes[key] = .saved(id: id, version: version, values: identified(values, change.entity))
            case .conflict(let current?, let version):
                let isWhole = !current.keys.contains { translation(of: $0, change.entity) != nil }
                outcomes[key] = isWhole ? .conflict(current: current, version: version) : .conflict(current: nil)
            default: outcomes[key] = outcome
            }
        }
        return outcomes
    }
}

extension BackendChange {
    /// Returns the change with another user.
    func owned(by principal: String?) -> BackendChange {
        var change = self
        change.principal = principal
        return change
    }

    /// Returns the change with the number of the change to which it belongs.
    func keyed(_ number: Int) -> BackendChange {
        var change = self
        change.key = Key(number: number)
        return change
    }
}

extension BackendChange.ListChange {
    /// Whether it adds nothing.
    var isNothing: Bool { added.isEmpty && (members ?? []).isEmpty }
}

extension PartRow {
    /// Whether the part has these values; values that its answers lack are ignored.
    func has(_ sent: [String: ResourceValue]) -> Bool {
        sent.allSatisfy { name, value in values[name].map { $0.isSame(as: value) } ?? true }
    }
}

extension UUID {
    /// Returns a key that is the same for the same purpose each time, and differs for each purpose.
    func derived(for purpose: String) -> UUID {
        var bytes = uuid
        let name = Array(purpose.utf8)
        withUnsafeMutableBytes(of: &bytes) { bytes in
            for half in 0..<2 {
                // FNV-1a over the key and the purpose, with another start value for each half.
                var hash: UInt64 = half == 0 ? 0xcbf2_9ce4_8422_2325 : 0x8422_2325_cbf2_9ce4
                for byte in withUnsafeBytes(of: uuid, Array.init) + name { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
                for place in 0..<8 { bytes[half * 8 + place] = UInt8(truncatingIfNeeded: hash >> (8 * UInt64(place))) }
            }
            bytes[6] = bytes[6] & 0x0f | 0x80
            bytes[8] = bytes[8] & 0x3f | 0x80
        }
        return UUID(uuid: bytes)
    }
}
