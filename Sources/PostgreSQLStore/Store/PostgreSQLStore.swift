#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries
internal import Synchronization

/// The store in a PostgreSQL database.
///
/// The class is internal: coordinators create it, and programs use it as an `NSPersistentStore`.
// Unchecked: `content` is set once, before the store is shared, and guards itself; `state` is guarded by its mutex.
final class PostgreSQLStore: NSPersistentStore, DatabaseStore, @unchecked Sendable {
    /// A store that is opened before it is added, as the value of an option.
    // Immutable.
    final class Preparation: NSObject, @unchecked Sendable {
        let url: URL
        let options: PostgreSQLStoreOptions
        /// Nil for a store that is opened when it is added.
        let opened: PostgreSQLOpening.Opened?

        init(_ url: URL, _ options: PostgreSQLStoreOptions, opened: PostgreSQLOpening.Opened? = nil) {
            (self.url, self.options, self.opened) = (url, options, opened)
        }
    }
    static let preparationOption = "PostgreSQLStorePreparation"

    private(set) var content: StoreContent!
    private var opened: PostgreSQLOpening.Opened?
    /// The URL with what may be secret.
    private let givenURL: URL
    // The metadata are property lists, which are not changed.
    private struct State: @unchecked Sendable {
        /// The keys that no object has got yet, by the number of the root entity.
        var keys: [Int64: [Range<Int64>]] = [:]
        /// The metadata in the database.
        var metadata: [String: Any] = [:]
    }
    private let state = Synchronization.Mutex(State())
    /// Listens for the commits of all programs, where that is asked for.
    private let listening = Synchronization.Mutex<RemoteChangeListener?>(nil)

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        givenURL = url
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: ConnectionSettings.redacted(url) ?? url, options: options)
    }

    deinit { listening.withLock { $0.take() }?.stop() }

    /// Connects, unless that was done before.
    override func loadMetadata() throws {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        let preparation = options?[Self.preparationOption] as? Preparation
        let opened: PostgreSQLOpening.Opened
        if let made = preparation?.opened {
            opened = made
        } else {
            var settings = preparation?.options ?? PostgreSQLStoreOptions()
            if isOn(NSPersistentHistoryTrackingKey) { settings.tracksHistory = true }
            if isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey) { settings.postsRemoteChanges = true }
            let opening = try Self.opening(
                preparation?.url ?? givenURL, settings, model, configurationName, isReadOnly: isReadOnly,
                migrates: (options?[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false)
            opened = try BlockingCall.wait(for: "the store at \(opening.pool.settings.place)") { try await opening.open() }
        }
        self.opened = opened
        metadata = opened.metadata
        state.withLock { $0.metadata = opened.metadata }
    }

    /// Returns what opens a store.
    ///
    /// - Throws: Code 134080 for a URL that libpq does not understand.
    static func opening(
        _ url: URL, _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel, _ configuration: String?, isReadOnly: Bool,
        migrates: Bool = false
    ) throws -> PostgreSQLOpening {
        try model.freeze()
        let isWhole = configuration == nil || configuration == NSPersistentStore.defaultConfiguration
        let settings = try ConnectionSettings(
            url, schema: options.schema, statementTimeout: options.statementTimeout, password: options.password)
        return PostgreSQLOpening(
            model: model, entities: model.entities(forConfigurationName: isWhole ? nil : configuration) ?? [], isReadOnly: isReadOnly,
            options: options,
            pool: ConnectionPool(settings, limit: options.connectionLimit, timeout: options.connectionTimeout),
            migrates: migrates || options.migratesAutomatically)
    }

    override func open() throws {
        guard let opened else { return }
        content = StoreContent(
            opened.pool, opened.schema, token: token,
            channel: CommitAftermath.channel(of: opened.metadata[NSStoreUUIDKey] as? String ?? ""),
            keepsHistory: opened.keepsHistory)
        self.opened = nil
        if let look = opened.look { listening.withLock { $0 = listener(since: look) } }
    }

    /// Returns whether an option is set and not `false`.
    private func isOn(_ option: String) -> Bool {
        switch options?[option] {
        case let flag as Bool: flag
        case let flag as NSNumber: flag.boolValue
        case is NSDictionary: true
        default: false
        }
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        listening.withLock { $0.take() }?.stop()
        (content?.pool ?? opened?.pool)?.close()
    }

    // Several stores may be in one database.
    override class func isSingleStoreURL(_ url: URL) -> Bool { false }

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

    /// Sees to it that there are keys. Others may take them meanwhile, in which case more are reserved.
    private func reserve(_ count: Int, of entity: SQLEntity, _ root: Int64) throws {
        let missing = count - available(root)
        if missing <= 0 { return }
        let size = LayoutDefinition.keysPerBlock
        let blocks = (Int64(missing) + size - 1) / size
        let sequence = sqlLiteral(LayoutDefinition.sequence(of: entity.table).sql)
        let content = content!
        let starts = try BlockingCall.wait(for: "the keys of \(count) objects") {
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

    /// The metadata to write; nil where the database has them.
    func newMetadata() throws -> (values: [String: Any], data: Data)? {
        guard let metadata, !NSDictionary(dictionary: metadata).isEqual(NSDictionary(dictionary: state.withLock { $0.metadata })) else {
            return nil
        }
        return (metadata, try PostgreSQLOpening.encode(metadata))
    }

    func didWrite(_ metadata: [String: Any]) {
        let written = State(metadata: metadata)
        state.withLock { $0.metadata = written.metadata }
    }
}
#endif
