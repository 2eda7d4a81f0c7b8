internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// The possible gaps in rows of a file: names of properties that are unknown in some row, and entities with stubs.
///
/// It may contain more than there is, but never less.
// Everything is in a `LockedBox`.
final class Gaps: Sendable {
    private struct Gap {
        var names: Set<String> = []
        var mayHaveStubs = false
    }
    private struct State {
        var gaps: [ObjectIdentifier: Gap] = [:]
        var loaded: Set<ObjectIdentifier> = []
    }
    private let state = LockedBox(State())

    func note(unknown names: Set<String>, _ root: ObjectIdentifier) {
        if !names.isEmpty { state.withLock { $0.gaps[root, default: Gap()].names.formUnion(names) } }
    }

    func noteStub(_ root: ObjectIdentifier) { state.withLock { $0.gaps[root, default: Gap()].mayHaveStubs = true } }

    private func gap(_ entity: CacheEntity, _ file: CacheFile) throws -> Gap {
        if let known = state.withLock({ $0.loaded.contains(entity.root) ? $0.gaps[entity.root] ?? Gap() : nil }) { return known }
        let top = file.entity(inner: entity.inner.top)
        var names: Set<String> = []
        let known = PredicateTree.compare(.keyPath([file.names.known]), .notEqual, .constant(.null))
        if case .rows(let rows) = try file.read(StoreQuery(top.inner).with(predicate: NSPredicate(tree: known))) {
            for row in rows { names.formUnion(file.entity(inner: row.knownObjectID.owningEntity).knowledge(of: row).unknown) }
        }
        let hasStubs = try Self.hasStubs(top, file)
        return state.withLock { state in
            var gap = state.gaps[entity.root] ?? Gap()
            gap.names.formUnion(names)
            gap.mayHaveStubs = gap.mayHaveStubs || hasStubs
            state.gaps[entity.root] = gap
            state.loaded.insert(entity.root)
            return gap
        }
    }

    private static func hasStubs(_ entity: CacheEntity, _ file: CacheFile) throws -> Bool {
        let stub = PredicateTree.compare(.keyPath([file.names.state]), .equal, .constant(.int64(CacheState.stub.rawValue)))
        let query = StoreQuery(entity.inner).with(predicate: NSPredicate(tree: stub)).with(fetchOffset: 0, fetchLimit: 1)
        guard case .rows(let rows) = try file.read(query) else { return true }
        return !rows.isEmpty
    }

    /// Returns whether there are stubs of an entity.
    func hasStubs(_ entity: CacheEntity, _ file: CacheFile) throws -> Bool {
        try gap(entity, file).mayHaveStubs && Self.hasStubs(entity, file)
    }

    /// Returns whether some of the properties are unknown in rows of an entity.
    func lacks(_ names: Set<String>, _ entity: CacheEntity, _ file: CacheFile) throws -> Bool {
        if try gap(entity, file).names.isDisjoint(with: names) { return false }
        let known = PredicateTree.compare(.keyPath([file.names.known]), .notEqual, .constant(.null))
        guard case .rows(let rows) = try file.read(StoreQuery(entity.inner).with(predicate: NSPredicate(tree: known))) else { return true }
        return rows.contains { row in
            let own = file.entity(inner: row.knownObjectID.owningEntity)
            return own.state(of: row).isShown && !own.knowledge(of: row).unknown.isDisjoint(with: names)
        }
    }
}
