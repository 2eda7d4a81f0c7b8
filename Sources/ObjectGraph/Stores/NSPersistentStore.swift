internal import CoreDataRuntime
public import Foundation
package import Platform
internal import Predicates
internal import Synchronization

/// The metadata key of a store's UUID.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The metadata key of a store's type.
public let NSStoreTypeKey = "NSStoreType"
/// The type of the in-memory store.
public let NSInMemoryStoreType = "InMemory"
/// The option to open a store read-only.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"

/// The base class of ``NSAtomicStore``, ``NSIncrementalStore`` and custom stores.
///
/// A coordinator creates the instances.
///
/// Source: [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
open class NSPersistentStore: NSObject {
    /// A type of store.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The type as a string.
        public let rawValue: String
        /// Creates a type from the string that the store class is registered under.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The in-memory store.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }

    /// The coordinator of the store; nil once it is removed.
    open package(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The name of the configuration that the store is limited to; nil for the whole model.
    public let configurationName: String
    /// The options that the store was opened with.
    public let options: [AnyHashable: Any]?
    /// The URL of the store; nil for a store without one. Use it on any thread.
    open var url: URL? {
        get { place.withLock { $0 } }
        set { place.withLock { $0 = newValue } }
    }
    private let place: LockedBox<URL?>
    /// Whether the store rejects saves. Use it on any thread.
    open var isReadOnly: Bool {
        get { rejectsSaves.load(ordering: .relaxed) }
        set { rejectsSaves.store(newValue, ordering: .relaxed) }
    }
    private let rejectsSaves: Atomic<Bool>

    /// The metadata of the store: its UUID, its type, and values of the application.
    ///
    /// Set it in ``loadMetadata()``, with ``NSStoreUUIDKey`` and ``NSStoreTypeKey``. The next save of a context writes later values, even if the
    /// context has no changes. Use it on any thread.
    open var metadata: [String: Any]! {
        get { knownMetadata.withLock { $0.values } }
        set {
            // The replaced ones are released without the lock: they may be the program's own.
            let old = knownMetadata.withLock { known in
                defer { known = (newValue, known.number + 1) }
                if let uuid = newValue?[NSStoreUUIDKey] as? String { token.identifier = uuid }
                return known.values
            }
            withExtendedLifetime(old) {}
            persistentStoreCoordinator?.noteNewMetadata(of: self)
        }
    }
    private let knownMetadata = LockedBox<(values: [String: Any]?, number: Int)>((nil, 0))

    /// Returns the metadata if they differ from those that the store has saved; otherwise nil. Use it on any thread.
    ///
    /// Comparing them takes longer than a small save: it is done once after they were set.
    ///
    /// - Parameters:
    ///   - saved: The metadata that the store has saved.
    ///   - equal: The number of the metadata that were found to be equal; nil for none, as after each save of other metadata.
    package func changedMetadata(since saved: [String: Any], equal: inout Int?) -> [String: Any]? {
        let (metadata, number) = knownMetadata.withLock { $0 }
        if number == equal { return nil }
        if let metadata, !NSDictionary(dictionary: metadata).isEqual(NSDictionary(dictionary: saved)) { return metadata }
        equal = number
        return nil
    }

    /// The UUID of the store, once the metadata is loaded.
    open var identifier: String! { metadata?[NSStoreUUIDKey] as? String }
    /// The type of the store, once the metadata is loaded.
    open var type: String { metadata?[NSStoreTypeKey] as? String ?? "" }

    /// Links IDs to the store. A view of an earlier state has the token of the store.
    package final var token = StoreToken(identifier: "")

    /// The URL passed for stores without one; ``url`` is nil then.
    static let noURL = URL(string: "coredata:no-url")!
    package static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    /// Creates a store that is about to be opened. Overrides call super and set up their own state only.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        persistentStoreCoordinator = root
        configurationName = name ?? Self.defaultConfiguration
        place = LockedBox(url == Self.noURL ? nil : url)
        self.options = options
        rejectsSaves = Atomic((options?[NSReadOnlyPersistentStoreOption] as? Bool) ?? false)
        super.init()
        token.store = self
    }

    /// Opens the store: checks its URL and sets ``metadata``. Called once, when the store is added, on the thread that adds it.
    ///
    /// A store with a URL and without existing metadata may leave ``metadata`` unset: the coordinator then sets basic metadata, the type
    /// and a UUID derived from type and URL, so that the URIs of its objects are valid whenever that URL is opened. Metadata must contain
    /// ``NSStoreUUIDKey`` and ``NSStoreTypeKey``, and a store without a URL must set it.
    ///
    /// - Throws: The error of opening the store.
    open func loadMetadata() throws {
        throw CoreDataError.contract(
            self, "loadMetadata()", "It is not overridden, so the store has no metadata.",
            next: "Override it and set metadata with NSStoreUUIDKey and NSStoreTypeKey.")
    }

    /// Called when the store was added to `coordinator`.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    /// Called before the store is removed from `coordinator`; nil when the coordinator is being deallocated.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// Returns the metadata of the store at `url` without opening it. Override it in stores that support this.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(self) cannot tell the metadata of \(url).",
            reason: "The class does not override metadataForPersistentStore(with:).", next: "Add the store and read its metadata.")
    }

    /// Sets the metadata of the store at `url` without opening it. Override it in stores that support this.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(self) cannot set the metadata of \(url).",
            reason: "The class does not override setMetadata(_:forPersistentStoreAt:).", next: "Add the store and set its metadata.")
    }

    /// Returns the class of the manager that migrates such stores, if a migration manager requests it: `NSMigrationManager`.
    ///
    /// Override it to return a subclass; the manager uses it unless its `usesStoreSpecificMigrationManager` is false.
    open class func migrationManagerClass() -> AnyClass {
        ShippedClasses.register()
        return MigrationClasses.manager.withLock { $0 }
    }

    // MARK: Calls from the coordinator

    /// Returns whether a URL is the place of a single store. `/dev/null` is not.
    @_spi(Stores) open class func isSingleStoreURL(_ url: URL) -> Bool { url.path != "/dev/null" }
    /// Whether the contents of such stores outlive the instances, and can therefore be destroyed.
    @_spi(Stores) open class var isPersistent: Bool { true }
    /// Whether ``loadMetadata()`` compares the version of the store with that of the model itself, with code 134100 for another one. The
    /// coordinator compares the version hashes in the metadata otherwise.
    @_spi(Stores) open class var checksModelVersion: Bool { false }

    /// Called once the metadata was checked, before the store receives requests.
    @_spi(Stores) open func open() throws {}

    /// The coordinator's interface of the store; nil before the store is added.
    ///
    /// Set once, before the store is shared. It may be the store itself, which must not retain itself.
    package final unowned(unsafe) private(set) var interface: (any StoreInterface)!
    /// The coordinator's access to the store's rows. Set once, like ``interface``.
    package final unowned(unsafe) private(set) var rowAccess: (any RowAccess)!
    /// Retains ``interface`` and ``rowAccess`` if they are not the store itself.
    private var owned: [AnyObject] = []

    /// Returns the interface: the store itself, unless its kind has an adapter. Nil for a plain store.
    func makeInterface() -> (any StoreInterface)? { self as? any StoreInterface }

    /// Calls `body` with the row access, and retains the store meanwhile, which its adapter does not.
    @inline(__always) final func withRowAccess<Result>(_ body: (any RowAccess) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(rowAccess)
    }

    /// Determines the store's interface before the store is shared.
    ///
    /// - Throws: Code 134070 for a class that conforms to no interface.
    final func connectInterface() throws {
        guard let interface = makeInterface() else {
            throw CoreDataError.contract(
                self, "init(persistentStoreCoordinator:configurationName:at:options:)",
                "It is a plain NSPersistentStore, which keeps nothing.",
                next: "Inherit from NSIncrementalStore or NSAtomicStore, or conform to StoreInterface.")
        }
        let access = interface as? any RowAccess ?? (interface.hasRowsInMemory ? DirectAccess(interface) : CachedAccess(interface))
        owned = [interface, access].filter { $0 !== self }
        self.interface = interface
        rowAccess = access
    }

    /// Returns the object ID for a reference object: a string, an integer or a UUID. Another value stops the program with a message.
    @_spi(Stores) public final func objectID(for entity: NSEntityDescription, _ reference: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: reference)
    }

    /// Returns the object ID for a number, which is fast.
    @_spi(Stores) public final func objectID(for entity: NSEntityDescription, number: Int64) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(number))
    }

    package func unsupported(_ request: NSPersistentStoreRequest) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "\(Swift.type(of: self)) does not serve \(Swift.type(of: request)).",
            next: "Send the request to a store that does.", info: [NSAffectedStoresErrorKey: [self]])
    }
}

/// The classes that ship with the object graph, and register themselves on first use.
enum ShippedClasses {
    private static let registered: Void = coredata_register()

    /// Registers the classes, once.
    static func register() { registered }
}

/// The classes of the module that migrates stores, which depends on this one.
package enum MigrationClasses {
    /// The class of migration managers; `NSObject` in a program without that module.
    package static let manager = LockedBox<AnyClass>(NSObject.self)
}
