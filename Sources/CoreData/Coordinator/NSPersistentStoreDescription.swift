public import Foundation

/// Describes a store that a container is to open.
///
/// Source: [NSPersistentStoreDescription](https://developer.apple.com/documentation/coredata/nspersistentstoredescription).
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type of the store. ``NSInMemoryStoreType`` unless set.
    open var type: String = NSInMemoryStoreType
    /// The part of the model that the store is limited to; nil for all.
    open var configuration: String?
    /// The place of the store; nil for one without.
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

    /// Describes a store in memory.
    public override init() { super.init() }

    /// Describes a store at `url`; set its ``type``.
    public init(url: URL) {
        self.url = url
        super.init()
    }

    /// Sets an option, or takes it away.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

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
