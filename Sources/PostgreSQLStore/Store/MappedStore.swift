#if PostgreSQL
internal import Foundation
internal import Logging
@_spi(Stores) internal import ObjectGraph
internal import SQLQueries

/// The store about the tables of another program in a PostgreSQL database.
///
/// The class is internal: coordinators create it, and programs use it as an `NSPersistentStore`.
// Unchecked: `content` is set once, before the store is shared, and guards itself.
final class MappedStore: NSPersistentStore, DatabaseStore, @unchecked Sendable {
    /// A store that is opened before it is added, as the value of an option.
    // Immutable.
    final class Preparation: NSObject, @unchecked Sendable {
        let url: URL
        let options: PostgreSQLStoreOptions
        /// Nil for a store that is opened when it is added.
        let opened: MappedOpening.Opened?

        init(_ url: URL, _ options: PostgreSQLStoreOptions, opened: MappedOpening.Opened? = nil) {
            (self.url, self.options, self.opened) = (url, options, opened)
        }
    }
    static let preparationOption = "PostgreSQLExistingStorePreparation"

    private(set) var content: StoreContent!
    private var opened: MappedOpening.Opened?
    private let givenURL: URL
    // A property list, which is not changed.
    private var openedMetadata: [String: Any] = [:]

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        givenURL = url
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: ConnectionSettings.redacted(url) ?? url, options: options)
    }

    /// Connects, unless that was done before.
    override func loadMetadata() throws {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        let preparation = options?[Self.preparationOption] as? Preparation
        let opened: MappedOpening.Opened
        if let made = preparation?.opened {
            opened = made
        } else {
            var settings = preparation?.options ?? PostgreSQLStoreOptions()
            settings.layout = .existing
            let opening = try Self.opening(
                preparation?.url ?? givenURL, settings, model, configurationName, isReadOnly: isReadOnly)
            opened = try BlockingCall.wait(for: "the store at \(opening.pool.settings.place)") { try await opening.open() }
        }
        self.opened = opened
        let entities = opened.mapping.schema.entities.map(\.entity)
        // The tables say whether the model fits, not hashes that somebody has written.
        metadata = [
            NSStoreTypeKey: ExistingPostgreSQLStoreType, NSStoreUUIDKey: opened.uuid.uuidString,
            NSStoreModelVersionHashesKey: Dictionary(
                entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }, uniquingKeysWith: { first, _ in first }),
            "NSStoreModelVersionHashesVersion": 3,
        ]
        openedMetadata = metadata ?? [:]
    }

    /// Returns what opens a store.
    ///
    /// - Throws: Code 134080 for a URL that libpq does not understand.
    static func opening(
        _ url: URL, _ options: PostgreSQLStoreOptions, _ model: NSManagedObjectModel, _ configuration: String?, isReadOnly: Bool
    ) throws -> MappedOpening {
        try model.freeze()
        let isWhole = configuration == nil || configuration == NSPersistentStore.defaultConfiguration
        return MappedOpening(
            model: model, entities: model.entities(forConfigurationName: isWhole ? nil : configuration) ?? [], isReadOnly: isReadOnly,
            options: options, pool: try pool(url, options))
    }

    /// Returns connections to the tables of another program.
    static func pool(_ url: URL, _ options: PostgreSQLStoreOptions) throws -> ConnectionPool {
        let settings = try ConnectionSettings(
            url, schema: options.schema, furtherSchema: ServerFunctions.schema, statementTimeout: options.statementTimeout,
            password: options.password)
        return ConnectionPool(settings, limit: options.connectionLimit, timeout: options.connectionTimeout)
    }

    override func open() throws {
        guard let opened else { return }
        content = StoreContent(opened.pool, opened.mapping.schema, token: token, mapping: opened.mapping)
        self.opened = nil
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) { (content?.pool ?? opened?.pool)?.close() }

    // Several stores may be in one database.
    override class func isSingleStoreURL(_ url: URL) -> Bool { false }

    /// Whether the metadata are those that were made at opening.
    private var hasNewMetadata: Bool {
        !NSDictionary(dictionary: metadata ?? [:]).isEqual(NSDictionary(dictionary: openedMetadata))
    }

    func saveChanges(_ changes: StoreChangeSet, for caller: StoreCaller) async throws -> SaveOutcome {
        if hasNewMetadata {
            throw CoreDataError.make(
                NSPersistentStoreSaveError, "The metadata of the store at \(content.place) cannot be saved.",
                reason: "The tables are another program's, and have no place for them.", next: "Keep what is in them elsewhere.")
        }
        if changes.isEmpty { return SaveOutcome() }
        let saving = MappedSaving(content)
        // On threads that are not the pool's, all of which may wait for saves; and not cancelled with the task, for a save has an outcome.
        return try await Task(executorPreference: BlockingCall.executor) { try await saving.save(changes) }.value
    }
}

extension MappedStore: LateIdentityStore {
    /// The database gives the keys, or they are among the values.
    func knownIDs(for new: NewObjects, for caller: StoreCaller) throws -> [NSManagedObjectID?] { Array(repeating: nil, count: new.count) }
}
#endif
