internal import Foundation
@_spi(Stores) public import ObjectGraph

extension NSPersistentStore.StoreType {
    /// A store over a ``Backend``.
    public static let remote = NSPersistentStore.StoreType(rawValue: BackendStore.typeName)
}

extension NSPersistentStoreCoordinator {
    /// Adds a store over a backend.
    ///
    /// ```swift
    /// try coordinator.addRemoteStore(Bandcamp(key: key))
    /// ```
    ///
    /// - Parameters:
    ///   - backend: The backend. Its location is the URL of the store, and URIs of object IDs are valid wherever the location is the same.
    ///   - configuration: The configuration of the model that the store is limited to; nil for all entities.
    ///   - options: The limits of the store.
    /// - Returns: The store.
    /// - Throws: Code 134080 for a description that does not fit the model, naming entity and property.
    @discardableResult
    public func addRemoteStore(
        _ backend: some Backend, configurationName configuration: String? = nil, options: RemoteStoreOptions = RemoteStoreOptions()
    ) throws -> NSPersistentStore {
        NSPersistentStoreCoordinator.registerStoreClass(BackendStore.self, forStoreType: BackendStore.typeName)
        return try addPersistentStore(
            ofType: BackendStore.typeName, configurationName: configuration, at: backend.location,
            options: [BackendStore.backendOption: BackendStore.Reference(backend, options)])
    }
}

extension NSPersistentStoreDescription {
    /// Creates the description of a store over a backend, for a container.
    public convenience init(backend: some Backend, options: RemoteStoreOptions = RemoteStoreOptions()) {
        NSPersistentStoreCoordinator.registerStoreClass(BackendStore.self, forStoreType: BackendStore.typeName)
        self.init(url: backend.location)
        type = BackendStore.typeName
        setOption(BackendStore.Reference(backend, options), forKey: BackendStore.backendOption)
    }
}
