public import Foundation
internal import Predicates

/// The key of a store's UUID in its metadata.
public let NSStoreUUIDKey = "NSStoreUUID"
/// The key of a store's type in its metadata.
public let NSStoreTypeKey = "NSStoreType"
/// The type of the store that lives in memory.
public let NSInMemoryStoreType = "InMemory"
/// The option that opens a store for reading only.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"

/// Where objects are kept: the base of ``NSAtomicStore`` and ``NSIncrementalStore``, which stores of your own inherit from.
///
/// A coordinator makes the instances.
///
/// Source: [NSPersistentStore](https://developer.apple.com/documentation/coredata/nspersistentstore).
open class NSPersistentStore: NSObject {
    /// A type of store, in the spelling of current SDKs.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The type string.
        public let rawValue: String
        /// Makes a type of the string under which the store class is registered.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The store that lives in memory.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    }

    /// The coordinator of the store; nil once it is removed.
    open internal(set) weak var persistentStoreCoordinator: NSPersistentStoreCoordinator?
    /// The part of the model that the store is limited to; nil for all of it.
    public let configurationName: String
    /// What the store was opened with.
    public let options: [AnyHashable: Any]?
    /// Where the store lies; nil for a store without a place.
    open var url: URL?
    /// Whether the store refuses to save.
    open var isReadOnly = false

    /// What is known about the store: its UUID, its type, and what applications put there.
    ///
    /// Set it in ``loadMetadata()``, with ``NSStoreUUIDKey`` and ``NSStoreTypeKey``. May be read and set on any thread.
    open var metadata: [String: Any]! {
        get { knownMetadata.withLock { $0 } }
        set {
            knownMetadata.withLock {
                $0 = newValue
                if let uuid = newValue?[NSStoreUUIDKey] as? String { token.identifier = uuid }
            }
        }
    }
    private let knownMetadata = LockedBox<[String: Any]?>(nil)

    /// The UUID of the store, once the metadata are loaded.
    open var identifier: String! { metadata?[NSStoreUUIDKey] as? String }
    /// The type of the store, once the metadata are loaded.
    open var type: String { metadata?[NSStoreTypeKey] as? String ?? "" }

    /// What ties IDs to the store. A view of a store as it was has the one of the store.
    final var token = StoreToken(identifier: "")

    /// The place given to stores that are added without one; ``url`` is nil then.
    static let noURL = URL(string: "coredata:no-url")!
    static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

    /// Makes a store that is about to be opened. Overrides set up their own state and call super; they touch nothing outside.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        persistentStoreCoordinator = root
        configurationName = name ?? Self.defaultConfiguration
        self.url = url == Self.noURL ? nil : url
        self.options = options
        isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? Bool) ?? false
        super.init()
        token.store = self
    }

    /// Opens the store: checks its place and sets ``metadata``. Called once, when the store is added, on the thread that adds it.
    ///
    /// A store may leave setting them to the coordinator where it has a URL and no metadata yet: it gets basic ones then, its type and a UUID that
    /// follows from type and URL, so that the URIs of its objects hold whenever that place is opened. Metadata that are set must have
    /// ``NSStoreUUIDKey`` and ``NSStoreTypeKey``, and a store without a URL must set them.
    ///
    /// - Throws: why the store cannot be opened.
    open func loadMetadata() throws {
        throw CoreDataError.contract(
            self, "loadMetadata()", "It is not overridden, so the store has no metadata.",
            next: "Override it and set metadata with NSStoreUUIDKey and NSStoreTypeKey.")
    }

    /// Called when the store has been added to `coordinator`.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}
    /// Called before the store is removed from `coordinator`, nil when the coordinator is going away.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The metadata of the store at `url`, without opening it. Overridden by stores that can tell.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(self) cannot tell the metadata of \(url).",
            reason: "The class does not override metadataForPersistentStore(with:).", next: "Add the store and read its metadata.")
    }

    /// Sets the metadata of the store at `url`, without opening it. Overridden by stores that can.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataError.make(
            NSPersistentStoreOperationError, "\(self) cannot set the metadata of \(url).",
            reason: "The class does not override setMetadata(_:forPersistentStoreAt:).", next: "Add the store and set its metadata.")
    }

    // MARK: What the coordinator asks

    /// Whether a URL names a place where one store may lie, and no second one. `/dev/null` does not.
    @_spi(Stores) open class func isPlace(_ url: URL) -> Bool { url.path != "/dev/null" }
    /// Whether what stores of this kind hold lies somewhere else than in them, so that there is something to destroy when they are gone.
    @_spi(Stores) open class var outlivesProgram: Bool { true }

    /// Called once the metadata have been checked, before the store is asked anything.
    func open() throws {}

    /// What the coordinator asks and tells the store; nil before the store is added.
    ///
    /// Set once, before the store is known to others. It is the store itself, which is not to keep itself alive.
    final unowned(unsafe) private(set) var interface: (any StoreInterface)!
    /// How the coordinator gets at the store's rows. Set once, as ``interface``.
    final unowned(unsafe) private(set) var rowAccess: (any RowAccess)!
    /// Keep ``interface`` and ``rowAccess`` alive where they are not the store itself.
    private var owned: [AnyObject] = []

    /// What the coordinator is to ask: the store itself, unless its kind has something that answers for it. Nil for a plain store.
    func makeInterface() -> (any StoreInterface)? { self as? any StoreInterface }

    /// Asks for rows. The store stays meanwhile, which what answers for it does not see to.
    @inline(__always) final func asking<Result>(_ body: (any RowAccess) throws -> Result) rethrows -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(rowAccess)
    }

    /// Finds out what the store can do, before it is known to others.
    ///
    /// - Throws: code 134070 for a class that conforms to no interface.
    final func settleInterface() throws {
        guard let interface = makeInterface() else {
            throw CoreDataError.contract(
                self, "init(persistentStoreCoordinator:configurationName:at:options:)",
                "It is a plain NSPersistentStore, which keeps nothing.",
                next: "Inherit from NSIncrementalStore or NSAtomicStore, or conform to StoreInterface.")
        }
        let access = interface as? any RowAccess ?? (interface.holdsRows ? DirectAccess(interface) : CachedAccess(interface))
        owned = [interface, access].filter { $0 !== self }
        self.interface = interface
        rowAccess = access
    }

    /// The ID of an object of the store by its key: text, a whole number or a UUID. Anything else stops the program with a message.
    @_spi(Stores) public final func objectID(for entity: NSEntityDescription, _ reference: Any) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, referenceObject: reference)
    }

    /// The ID of an object of the store by its number, quickly.
    @_spi(Stores) public final func objectID(for entity: NSEntityDescription, number: Int64) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, token: token, reference: .integer(number))
    }

    func unsupported(_ request: NSPersistentStoreRequest) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "\(Swift.type(of: self)) does not serve \(Swift.type(of: request)).",
            next: "Send the request to a store that does.", info: [NSAffectedStoresErrorKey: [self]])
    }
}
