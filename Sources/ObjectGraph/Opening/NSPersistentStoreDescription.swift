public import Foundation

/// Describes a store for a container to open.
///
/// Source: [NSPersistentStoreDescription](https://developer.apple.com/documentation/coredata/nspersistentstoredescription).
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type of the store. The default is ``NSSQLiteStoreType``.
    open var type: String = NSSQLiteStoreType
    /// The configuration of the model that the store is limited to; nil for all entities.
    open var configuration: String?
    /// The URL of the store; nil for a store without one. A SQLite store at `/dev/null` is held in memory.
    open var url: URL?
    /// Whether the container opens the store in the background.
    open var shouldAddStoreAsynchronously = false
    /// Whether the store is opened read-only.
    open var isReadOnly: Bool {
        get { (options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(newValue ? NSNumber(value: true) : nil, forKey: NSReadOnlyPersistentStoreOption) }
    }
    /// Whether a store of another model version is migrated when it is opened. The default is true; see
    /// ``NSMigratePersistentStoresAutomaticallyOption``.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }
    /// Whether the migration infers a missing mapping model. The default is true; see ``NSInferMappingModelAutomaticallyOption``.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }
    /// The handling of rows that the new version forbids in a migration. The default is ``ForbiddenRowsPolicy/fail``. Not in Apple's API.
    open var forbiddenRowsPolicy: ForbiddenRowsPolicy {
        get { (options[ForbiddenRowsPolicyOption] as? NSString).flatMap { ForbiddenRowsPolicy(rawValue: String(describing: $0)) } ?? .fail }
        set { setOption(NSString(string: newValue.rawValue), forKey: ForbiddenRowsPolicyOption) }
    }
    /// A progress that a migration reports to, and that cancels it; see ``MigrationProgressOption``. Not in Apple's API.
    open var migrationProgress: Progress? {
        get { options[MigrationProgressOption] as? Progress }
        set { setOption(newValue, forKey: MigrationProgressOption) }
    }
    /// The number of seconds that the store waits while others lock its file. The default is 240; see ``NSPersistentStoreTimeoutOption``.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }
    /// The pragmas of a SQLite store, by name; see ``NSSQLitePragmasOption``.
    open var sqlitePragmas: [String: NSObject] {
        var pragmas: [String: NSObject] = [:]
        for (name, value) in options[NSSQLitePragmasOption] as? NSDictionary ?? [:] {
            guard let name = name as? String else { continue }
            pragmas[name] = value as? NSObject ?? NSString(string: "\(value)")
        }
        return pragmas
    }
    /// The options to open the store with.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true), NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

    /// Creates a description of a SQLite store at `/dev/null`, which is held in memory.
    public override init() {
        url = URL(fileURLWithPath: "/dev/null")
        super.init()
    }

    /// Creates a description of a SQLite store at `url`; set ``type`` for another kind of store.
    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// Sets an option; nil removes it.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Sets a pragma of a SQLite store. Other stores ignore pragmas.
    ///
    /// - Parameters:
    ///   - value: The value, a string; nil removes the pragma.
    ///   - name: The name of the pragma.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
    }

    /// Returns a copy of the description.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.options = options
        return copy
    }

    /// A description of the type and the URL.
    open override var description: String { "NSPersistentStoreDescription(type: \(type), url: \(url?.absoluteString ?? "nil"))" }
}
