public import Foundation

/// Describes a store that a container is to open.
///
/// Source: [NSPersistentStoreDescription](https://developer.apple.com/documentation/coredata/nspersistentstoredescription).
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type of the store. ``NSSQLiteStoreType`` unless set.
    open var type: String = NSSQLiteStoreType
    /// The part of the model that the store is limited to; nil for all.
    open var configuration: String?
    /// The place of the store; nil for one without. `/dev/null` stands for no place: a SQLite store lives in memory then.
    open var url: URL?
    /// Whether the container opens the store in the background.
    open var shouldAddStoreAsynchronously = false
    /// Whether the store is opened for reading only.
    open var isReadOnly: Bool {
        get { (options[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false }
        set { setOption(newValue ? NSNumber(value: true) : nil, forKey: NSReadOnlyPersistentStoreOption) }
    }
    /// Whether a store of another version of the model is migrated when it is opened. True unless set; see
    /// ``NSMigratePersistentStoresAutomaticallyOption``.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }
    /// Whether a mapping model is inferred for that where there is none. True unless set; see ``NSInferMappingModelAutomaticallyOption``.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }
    /// For how many seconds the store waits for others that use its file. 240 unless set; see ``NSPersistentStoreTimeoutOption``.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteStoreDefaults.timeout }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }
    /// The pragmas of an SQLite store, by name; see ``NSSQLitePragmasOption``.
    open var sqlitePragmas: [String: NSObject] {
        var pragmas: [String: NSObject] = [:]
        for (name, value) in options[NSSQLitePragmasOption] as? NSDictionary ?? [:] {
            guard let name = name as? String else { continue }
            pragmas[name] = value as? NSObject ?? NSString(string: "\(value)")
        }
        return pragmas
    }
    /// What the store is opened with.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true), NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    private func flag(_ key: String) -> Bool { (options[key] as? NSNumber)?.boolValue ?? false }

    /// Describes a SQLite store at `/dev/null`: one in memory.
    public override init() {
        url = URL(fileURLWithPath: "/dev/null")
        super.init()
    }

    /// Describes a SQLite store at `url`; for another, set the ``type``.
    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// Sets an option, or takes it away.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Sets a pragma of an SQLite store, or takes it away. Other stores have none.
    ///
    /// - Parameters:
    ///   - value: the value, a text; nil takes the pragma away.
    ///   - name: the name of the pragma.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var pragmas = sqlitePragmas
        pragmas[name] = value
        setOption(NSDictionary(dictionary: pragmas), forKey: NSSQLitePragmasOption)
    }

    /// A description like this one.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        copy.options = options
        return copy
    }

    /// The type and the place.
    open override var description: String { "NSPersistentStoreDescription(type: \(type), url: \(url?.absoluteString ?? "nil"))" }
}
