#if PostgreSQL
internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Platform
internal import Predicates

/// A store in a PostgreSQL database, whether its tables are its own or another program's: how it is opened and closed.
// Unchecked: `content` and `origin` are set once, before the store is shared, and guard themselves; `derived` is guarded by its lock.
class DatabaseStore: NSPersistentStore, @unchecked Sendable {
    /// A store that is opened before it is added, as the value of an option.
    // Immutable.
    final class Preparation: NSObject, @unchecked Sendable {
        let url: URL
        let options: PostgreSQLStoreOptions
        /// Nil for a store that is opened when it is added.
        let opened: OpenedDatabase?

        init(_ url: URL, _ options: PostgreSQLStoreOptions, opened: OpenedDatabase? = nil) {
            (self.url, self.options, self.opened) = (url, options, opened)
        }
    }
    static let preparationOption = "PostgreSQLStorePreparation"

    /// The layout of the tables of stores of the class.
    class var layout: PostgreSQLStoreOptions.Layout { .own }

    private(set) var content: StoreContent!
    /// The opened database, until the store itself is open.
    private(set) var opened: OpenedDatabase?
    /// The coordinator whose store has opened the connections; nil for this store's own.
    private(set) var origin: NSPersistentStoreCoordinator?
    /// The coordinators of the same connections with settings of their own.
    let derived = LockedBox<[[String: String]: WeakCoordinator]>([:])
    /// The given URL, including its secrets.
    private let givenURL: URL

    // Unchecked: guarded by the lock of `derived`.
    struct WeakCoordinator: @unchecked Sendable {
        weak var coordinator: NSPersistentStoreCoordinator?
    }

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        givenURL = url
        super.init(
            persistentStoreCoordinator: root, configurationName: name, at: ConnectionSettings.redacted(url), options: options)
    }

    /// Connects, unless that was done before.
    override func loadMetadata() throws {
        guard let model = persistentStoreCoordinator?.managedObjectModel else { return }
        let preparation = options?[Self.preparationOption] as? Preparation
        let opened: OpenedDatabase
        if let made = preparation?.opened {
            opened = made
        } else {
            var settings = preparation?.options ?? PostgreSQLStoreOptions()
            if isOn(NSPersistentHistoryTrackingKey) { settings.tracksHistory = true }
            if isOn(NSPersistentStoreRemoteChangeNotificationPostOptionKey) { settings.postsRemoteChanges = true }
            let opening = try Self.layout.opening(
                preparation?.url ?? givenURL, settings, model, configurationName, isReadOnly: isReadOnly,
                migrates: (options?[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber)?.boolValue ?? false)
            opened = try BlockingCall.wait(for: "the store at \(opening.pool.settings.place)") { try await opening.open() }
        }
        self.opened = opened
        metadata = opened.metadata
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

    override func open() throws {
        guard let opened else { return }
        content = StoreContent(opened, token: token)
        origin = opened.origin
        self.opened = nil
    }

    override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        // The connections of another coordinator's store are closed by that store.
        if (origin ?? opened?.origin) == nil { (content?.pool ?? opened?.pool)?.close() }
    }

    // Several stores may be in one database.
    override class func isSingleStoreURL(_ url: URL) -> Bool { false }
}
#endif
