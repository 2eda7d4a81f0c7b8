public import Foundation
internal import Platform
internal import Predicates

/// The registered store classes by type.
private final class StoreClasses: Sendable {
    /// The classes, including the shipped ones: registrations by a program come later.
    static var shared: StoreClasses {
        ShippedClasses.register()
        return instance
    }
    /// The classes, while the shipped ones are being registered.
    static let instance = StoreClasses()

    private let classes = LockedBox<[String: NSPersistentStore.Type]>([NSInMemoryStoreType: InMemoryStore.self])

    subscript(type: String) -> NSPersistentStore.Type? {
        get { classes.withLock { $0[type] } }
        set { classes.withLock { $0[type] = newValue } }
    }

    var all: [String: NSPersistentStore.Type] { classes.withLock { $0 } }
}

extension NSPersistentStoreCoordinator {
    /// Registers a store class that ships with the graph, from the function that ``coredata_set_registration(_:)`` was given.
    package class func registerShippedStoreClass(_ storeClass: NSPersistentStore.Type, forStoreType storeType: String) {
        StoreClasses.instance[storeType] = storeClass
    }

    /// Registers a store class under a type, so that stores of the type can be added; nil unregisters the type.
    ///
    /// A class that does not inherit from ``NSPersistentStore`` stops the program with a message. Call it on any thread.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else {
            StoreClasses.shared[storeType] = nil
            return
        }
        guard let storeClass = storeClass as? NSPersistentStore.Type else {
            stopProgram("\(storeClass) is registered for the store type “\(storeType)” but is not an NSPersistentStore.")
        }
        StoreClasses.shared[storeType] = storeClass
    }

    /// Registers a store class under a type.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }

    /// The registered store classes by type.
    public class var registeredStoreTypes: [String: NSPersistentStore.Type] { StoreClasses.shared.all }

    /// Opens a store of a type at a URL and adds it.
    ///
    /// - Parameters:
    ///   - storeType: The type that the store class is registered under.
    ///   - configuration: The configuration of the model that the store is limited to; nil for all entities.
    ///   - storeURL: The URL of the store; nil for a store without one.
    ///   - options: The options to open the store with.
    /// - Returns: The store. A store of another version of the model is migrated first, if the options request that: see
    ///   ``NSMigratePersistentStoresAutomaticallyOption``.
    /// - Throws: Code 134100 for a store of another version that is not to be migrated, the errors of the migration, 134000 for an unknown type,
    ///   134010 if the metadata names another type, 134080 if a store at the URL is already open, 134070 if the store violates its contract, or the
    ///   store's own error.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addStore(ofType: storeType, configurationName: configuration, at: storeURL, options: options)
    }

    /// Works like ``addPersistentStore(ofType:configurationName:at:options:)``.
    ///
    /// - Parameter former: A store with the same files, the same UUID and the same keys. It is replaced, and gives up its token, so that the IDs of
    ///   its objects lead to the new store. It remains if the new store cannot be opened.
    func addStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?, options: [AnyHashable: Any]?,
        inPlaceOf former: NSPersistentStore? = nil
    ) throws -> NSPersistentStore {
        guard let storeClass = StoreClasses.shared[storeType] else {
            throw CoreDataError.make(
                NSPersistentStoreInvalidTypeError, "There is no store class for the type “\(storeType)”.",
                reason: "The registered types are: \(StoreClasses.shared.all.keys.sorted().joined(separator: ", ")).",
                next: "Call registerStoreClass(_:forStoreType:) before adding the store.")
        }
        if let configuration, managedObjectModel.entities(forConfigurationName: configuration) == nil {
            throw CoreDataError.make(
                NSPersistentStoreOpenError, "The model has no configuration “\(configuration)”.",
                reason: "It has: \(managedObjectModel.configurations.joined(separator: ", ")).", next: "Check the name.")
        }
        // Several stores may be opened at a URL that does not name a place.
        let place = storeURL.flatMap { storeClass.isSingleStoreURL($0) ? $0 : nil }
        try reserve(place)
        defer { giveUpReservation(of: place) }
        let opening = StoreOpening(
            coordinator: self, storeClass: storeClass, type: storeType, configuration: configuration, url: storeURL, options: options)
        let store: NSPersistentStore
        if let former {
            // A store whose files have no metadata has given its token another UUID.
            let uuid = former.token.identifier
            do {
                store = try openedStore(opening, former)
                try exchange(former, for: store)
            } catch {
                former.token.identifier = uuid
                throw error
            }
        } else {
            store = try openedStore(opening, nil)
            try append(store)
        }
        store.didAdd(to: self)
        postStoresChange(NSAddedPersistentStoresKey, store)
        return store
    }

    private func openedStore(_ opening: StoreOpening, _ former: NSPersistentStore?) throws -> NSPersistentStore {
        let store = try identifiedStore(opening, former)
        try store.connectInterface()
        try checkUUID(of: store, among: persistentStores.filter { $0 !== former })
        try store.open()
        if let former = former?.interface as? any FileStore { try (store.interface as? any FileStore)?.takeOver(stateOf: former) }
        return store
    }

    /// Creates a store and loads its metadata. A store of another version is migrated first, if the options request that.
    private func identifiedStore(_ opening: StoreOpening, _ former: NSPersistentStore?) throws -> NSPersistentStore {
        do { return try storeOfModelVersion(opening, former) } catch let refusal as NSError where refusal.isVersionRefusal {
            try opening.migrate(refusedWith: refusal)
        }
        return try storeOfModelVersion(opening, former)
    }

    private func storeOfModelVersion(_ opening: StoreOpening, _ former: NSPersistentStore?) throws -> NSPersistentStore {
        let store = opening.storeClass.init(
            persistentStoreCoordinator: self, configurationName: opening.configuration, at: opening.url ?? NSPersistentStore.noURL,
            options: opening.options)
        // Before the store uses its token. The token still leads to the former store.
        if let former { store.token = former.token }
        try store.loadMetadata()
        if store.metadata == nil, let url = opening.url { store.metadata = Self.basicMetadata(ofType: opening.type, at: url) }
        try check(store, type: opening.type)
        try opening.checkVersion(of: store)
        return store
    }

    /// Returns the metadata of a store that has set none; it is always the same for a URL.
    private static func basicMetadata(ofType type: String, at url: URL) -> [String: Any] {
        let place = (url.isFileURL ? url.standardizedFileURL : url.standardized).absoluteString
        var bytes = [UInt8](SHA2.sha256(Data("\(type)\0\(place)".utf8)).prefix(16))
        // A UUID of version 8, which is free-form (RFC 9562).
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
        return [NSStoreTypeKey: type, NSStoreUUIDKey: uuid.uuidString]
    }

    /// Opens a store of a type at a URL and adds it.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Opens the store of a description and adds it.
    ///
    /// - Parameters:
    ///   - storeDescription: The store, and whether to open it in the background.
    ///   - block: Called with nil or with the error of adding the store; on the calling thread unless the description requests the background.
    public func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = Transfer { [self] in
            do {
                try addPersistentStore(
                    ofType: storeDescription.type, configurationName: storeDescription.configuration, at: storeDescription.url,
                    options: storeDescription.options)
                block(storeDescription, nil)
            } catch {
                block(storeDescription, error)
            }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            DispatchQueue.global().async { work.value() }
        } else {
            work.value()
        }
    }

    private func check(_ store: NSPersistentStore, type: String) throws {
        guard let metadata = store.metadata else {
            throw CoreDataError.contract(
                store, "loadMetadata()", "It set no metadata, and the store has no URL that they could follow from.",
                next: "Set metadata with NSStoreUUIDKey and NSStoreTypeKey.")
        }
        guard let found = metadata[NSStoreTypeKey] as? String else {
            throw CoreDataError.contract(
                store, "loadMetadata()", "The metadata have no NSStoreTypeKey.", next: "Set it to “\(type)”, the registered type.")
        }
        guard found == type else {
            throw CoreDataError.make(
                NSPersistentStoreTypeMismatchError, "The store was added as “\(type)” but its metadata say “\(found)”.",
                next: "Use one string for both, such as a static property of the store class.", info: [NSAffectedStoresErrorKey: [store]])
        }
        guard let uuid = metadata[NSStoreUUIDKey] as? String, !uuid.isEmpty else {
            throw CoreDataError.contract(
                store, "loadMetadata()", "The metadata have no NSStoreUUIDKey.",
                next: "Set it to text that is the same whenever this place is opened; object URIs carry it.")
        }
    }

    // MARK: Metadata of stores that are not open

    /// Returns the metadata of a store, as its class reads it without opening the store.
    ///
    /// - Throws: Code 134000 for an unknown type, or the error of the class.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try storeClass(storeType).metadataForPersistentStore(with: url)
    }

    /// Sets the metadata of a store without opening it.
    ///
    /// - Throws: Code 134000 for an unknown type, or the error of the class.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try storeClass(storeType).setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// Returns the metadata of a store without opening it.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// Sets the metadata of a store without opening it.
    public class func setMetadata(
        _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
    }

    private class func storeClass(_ type: String) throws -> NSPersistentStore.Type {
        if let found = StoreClasses.shared[type] { return found }
        throw CoreDataError.make(
            NSPersistentStoreInvalidTypeError, "There is no store class for the type “\(type)”.",
            next: "Call registerStoreClass(_:forStoreType:) first.")
    }
}
