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
    /// What the store is opened with.
    open private(set) var options: [String: NSObject] = [:]

    /// How many seconds the store waits for the locks of others.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? SQLiteOpening.standardTimeout }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }
    /// The pragmas of SQLite that are set when the store is opened.
    open var sqlitePragmas: [String: NSObject] {
        var pragmas: [String: NSObject] = [:]
        for (name, value) in options[NSSQLitePragmasOption] as? NSDictionary ?? [:] {
            if let name = name as? String { pragmas[name] = value as? NSObject ?? "\(value)" as NSString }
        }
        return pragmas
    }

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

    /// Sets a pragma of SQLite, or takes it away.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        let pragmas = NSMutableDictionary()
        for (name, value) in sqlitePragmas { pragmas.setObject(value, forKey: name as NSString) }
        if let value { pragmas.setObject(value, forKey: name as NSString) } else { pragmas.removeObject(forKey: name as NSString) }
        setOption(pragmas.count == 0 ? nil : pragmas, forKey: NSSQLitePragmasOption)
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
