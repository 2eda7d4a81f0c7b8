internal import CoreDataRuntime
public import Foundation

/// The key of the stores that were added, in a notification of ``Foundation/Notification/Name/NSPersistentStoreCoordinatorStoresDidChange``.
public let NSAddedPersistentStoresKey = "added"
/// The key of the stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// The key of the stores whose UUID has changed.
public let NSUUIDChangedPersistentStoresKey = "changed"

extension Notification.Name {
    /// A coordinator has added or removed a store.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name("_NSPersistentStoresChangedNotification")
    /// A coordinator is about to change its stores. On Apple's platforms it tells of iCloud's stores only; nothing here posts it.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name("NSPersistentStoreCoordinatorStoresWillChange")
    /// A coordinator is about to remove a store, which is the notification's object.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
        "_NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// The store classes by type.
// `lock` guards `classes`.
private final class StoreClasses: @unchecked Sendable {
    /// The classes, with those that ship besides: whatever a program says of them comes later.
    static var shared: StoreClasses {
        _ = shipped
        return instance
    }
    /// The classes while those that ship are being registered.
    static let instance = StoreClasses()
    private static let shipped: Void = coredata_register()

    private let lock = NSLock()
    private var classes: [String: NSPersistentStore.Type] = [NSInMemoryStoreType: InMemoryStore.self]

    subscript(type: String) -> NSPersistentStore.Type? {
        get { lock.withLock { classes[type] } }
        set { lock.withLock { classes[type] = newValue } }
    }

    var all: [String: NSPersistentStore.Type] { lock.withLock { classes } }
}

extension NSPersistentStoreCoordinator {
    /// Registers a store class that ships with the graph, from the function that ``coredata_set_registration(_:)`` was given.
    class func registerShippedStoreClass(_ storeClass: NSPersistentStore.Type, forStoreType storeType: String) {
        StoreClasses.instance[storeType] = storeClass
    }

    /// Makes a store class known under a type, so that stores of the type can be added; nil takes the type away.
    ///
    /// A class that is no store stops the program with a message. May be called on any thread.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        guard let storeClass else {
            StoreClasses.shared[storeType] = nil
            return
        }
        guard let storeClass = storeClass as? NSPersistentStore.Type else {
            preconditionFailure("\(storeClass) is registered for the store type “\(storeType)” but is no NSPersistentStore.")
        }
        StoreClasses.shared[storeType] = storeClass
    }

    /// Makes a store class known under a type, in the spelling of current SDKs.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }

    /// The registered store classes by type.
    public class var registeredStoreTypes: [String: NSPersistentStore.Type] { StoreClasses.shared.all }

    /// Opens the store of a type at a place and adds it.
    ///
    /// - Parameters:
    ///   - storeType: the type under which its class is registered.
    ///   - configuration: the part of the model it is limited to; nil for all.
    ///   - storeURL: its place; nil for stores without one.
    ///   - options: what the store is opened with.
    /// - Returns: the store.
    /// - Throws: code 134000 for an unknown type, 134010 when its metadata name another, 134080 when the place is taken, 134070 when it
    ///   breaks its contract, or the store's own error.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?, options: [AnyHashable: Any]? = nil
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
        // What lies nowhere may do so more than once.
        let place = storeURL.flatMap { storeClass.isPlace($0) ? $0 : nil }
        try reserve(place)
        defer { giveUpReservation(of: place) }
        let store = storeClass.init(
            persistentStoreCoordinator: self, configurationName: configuration, at: storeURL ?? NSPersistentStore.noURL, options: options)
        try store.loadMetadata()
        if store.metadata == nil, let storeURL { store.metadata = Self.basicMetadata(ofType: storeType, at: storeURL) }
        try check(store, type: storeType)
        try store.settleInterface()
        try refuseTwin(of: store, among: persistentStores)
        try store.open()
        try append(store)
        store.didAdd(to: self)
        postStoresChange(NSAddedPersistentStoresKey, store)
        return store
    }

    /// What a store at a place has for metadata if it has set none: the same whenever that place is opened.
    private static func basicMetadata(ofType type: String, at url: URL) -> [String: Any] {
        let place = (url.isFileURL ? url.standardizedFileURL : url.standardized).absoluteString
        var bytes = [UInt8](SHA2.sha256(Data("\(type)\0\(place)".utf8)).prefix(16))
        // A UUID of version 8: made in a way of one's own (RFC 9562).
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
        return [NSStoreTypeKey: type, NSStoreUUIDKey: uuid.uuidString]
    }

    /// Opens the store of a type at a place and adds it, in the spelling of current SDKs.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Opens and adds the store that a description describes.
    ///
    /// - Parameters:
    ///   - storeDescription: which store, and whether to open it in the background.
    ///   - block: called with nil, or with the error that adding it met; on the calling thread unless the description says otherwise.
    public func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = Handover { [self] in
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

    func postStoresChange(_ key: String, _ store: NSPersistentStore) {
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: [key: [store]])
    }

    // MARK: Metadata of stores that are not open

    /// The metadata of the store of a type at a place, as its class tells them without opening it.
    ///
    /// - Throws: code 134000 for an unknown type, or the class's error.
    public class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try storeClass(storeType).metadataForPersistentStore(with: url)
    }

    /// Sets the metadata of the store of a type at a place, without opening it.
    ///
    /// - Throws: code 134000 for an unknown type, or the class's error.
    public class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try storeClass(storeType).setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// The metadata of the store of a type at a place, in the spelling of current SDKs.
    public class func metadataForPersistentStore(
        type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
    }

    /// Sets the metadata of the store of a type at a place, in the spelling of current SDKs.
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
