#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates
internal import SQLQueries

/// The store in a PostgreSQL database.
///
/// The class is internal: coordinators create it, and programs use it as an `NSPersistentStore`.
// Unchecked, as its superclass; `state` and `listening` are guarded by their locks.
final class PostgreSQLStore: DatabaseStore, AnsweringStore, @unchecked Sendable {
    // The metadata are property lists, which are not changed.
    private struct State: @unchecked Sendable {
        /// The reserved keys that no object has got yet, by the number of the root entity.
        var keys: [Int64: [Range<Int64>]] = [:]
        /// The metadata in the database.
        var metadata: [String: Any] = [:]
        /// The number of the store's metadata that equal these; nil if it is unknown.
        var metadataNumber: Int?
        /// The number of saves that have written metadata.
        var metadataWrites = 0
    }
    private let state = LockedBox(State())
    /// Sends small saves together.
    let combiners = SaveCombiners()
    /// The listener for the commits of all programs, if it is enabled.
    private let listening = LockedBox<RemoteChangeListener?>(nil)

    deinit { listening.withLock { $0.take() }?.stop() }

    override func open() throws {
        let look = opened?.look
        if let opened { didWrite(opened.metadata) }
        try super.open()
        if let look { listening.withLock { $0 = listener(since: look) } }
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        listening.withLock { $0.take() }?.stop()
        super.willRemove(from: coordinator)
    }

    // MARK: Keys

    func permanentIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID] {
        var wanted: [Int64: (entity: SQLEntity, count: Int)] = [:]
        for (description, count) in new.entityRuns {
            let entity = try content.sqlEntity(description)
            wanted[entity.rootNumber, default: (entity, 0)].count += count
        }
        for (root, group) in wanted { try reserve(group.count, of: group.entity, root) }
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(new.count)
        for (description, count) in new.entityRuns {
            let root = try content.sqlEntity(description).rootNumber
            let keyBase = NSManagedObjectID.keyBase(of: description)
            for key in try take(count, of: root) {
                ids.append(NSManagedObjectID(entity: description, token: token, number: key, keyBase: keyBase))
            }
        }
        return ids
    }

    /// Returns keys for new rows of an entity.
    func keys(_ count: Int, of entity: SQLEntity) throws -> [Int64] {
        try reserve(count, of: entity, entity.rootNumber)
        return try take(count, of: entity.rootNumber)
    }

    private func available(_ root: Int64) -> Int { state.withLock { ($0.keys[root] ?? []).reduce(0) { $0 + $1.count } } }

    /// Ensures that there are enough keys. Other threads may take them meanwhile, in which case more are reserved.
    private func reserve(_ count: Int, of entity: SQLEntity, _ root: Int64) throws {
        let missing = count - available(root)
        if missing <= 0 { return }
        let size = LayoutDefinition.keysPerBlock
        let blocks = (Int64(missing) + size - 1) / size
        let sequence = sqlLiteral(LayoutDefinition.sequence(of: entity.table).sql)
        let content = content!
        let starts = try BlockingCall.wait(for: "the keys of \(count) objects", onCallingThread: true) {
            try await content.reading { connection in
                let result = try await connection.query("SELECT nextval(\(sequence)) FROM generate_series(1, $1)", [.integer(blocks)])
                return (0..<result.rowCount).map { result.integer($0, 0) }
            }
        }
        state.withLock { $0.keys[root, default: []] += starts.map { $0..<$0 + size } }
    }

    private func take(_ count: Int, of root: Int64) throws -> [Int64] {
        var keys: [Int64] = []
        while keys.count < count {
            let part = state.withLock { state -> [Int64] in
                guard let first = state.keys[root]?.first else { return [] }
                let taken = Array(first.prefix(count - keys.count))
                state.keys[root]?[0] = first.dropFirst(taken.count)
                if state.keys[root]?.first?.isEmpty ?? false { state.keys[root]?.removeFirst() }
                return taken
            }
            if part.isEmpty, let entity = content.schema.entity(numbered: root) { try reserve(count - keys.count, of: entity, root) }
            keys += part
        }
        return keys
    }

    // MARK: Metadata

    /// Returns the metadata to write; nil if the database has them already.
    func newMetadata() throws -> (values: [String: Any], data: Data)? {
        // Compared without the lock: they may be the program's own.
        var known = state.withLock { $0 }
        let changed = changedMetadata(since: known.metadata, equal: &known.metadataNumber)
        let (number, writes) = (known.metadataNumber, known.metadataWrites)
        // Another save may have written others meanwhile.
        state.withLock { state in if state.metadataWrites == writes { state.metadataNumber = number } }
        guard let changed else { return nil }
        return (changed, try PostgreSQLOpening.encode(changed))
    }

    func didWrite(_ metadata: [String: Any]) {
        let written = State(metadata: metadata)
        state.withLock { state in
            (state.metadata, state.metadataNumber) = (written.metadata, nil)
            state.metadataWrites += 1
        }
    }
}
#endif
