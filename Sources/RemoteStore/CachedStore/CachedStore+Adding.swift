public import Foundation
@_spi(Stores) public import ObjectGraph

extension NSPersistentStore.StoreType {
    /// A ``CachedStore``.
    public static let cached = NSPersistentStore.StoreType(rawValue: CachedStore.typeName)
}

extension NSPersistentStoreCoordinator {
    /// Adds a store that caches a backend's answers, and keeps changes until they are saved to the backend.
    ///
    /// ```swift
    /// let store = try coordinator.addCachedStore(Bandcamp(key: key), at: directory.appendingPathComponent("bandcamp.sqlite"))
    /// ```
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - url: The location of the file; nil for a cache in memory, which exists as long as the store. The URIs of object IDs are valid as long as the file
    ///     exists.
    ///   - configuration: The configuration of the model that the store is limited to; nil for all entities.
    ///   - options: The configuration of the store.
    /// - Returns: The store.
    /// - Throws: Code 134080 for a description that does not fit the model, and in a program without the SQLite store; the errors of opening the
    ///   file.
    @discardableResult
    public func addCachedStore(
        _ backend: some Backend, at url: URL?, configurationName configuration: String? = nil,
        options: CachedStoreOptions = CachedStoreOptions()
    ) throws -> CachedStore {
        NSPersistentStoreCoordinator.registerStoreClass(CoordinatedCachedStore.self, forStoreType: CachedStore.typeName)
        let store = try addPersistentStore(
            ofType: CachedStore.typeName, configurationName: configuration, at: url.map { CachedStore.place($0, user: options.user) },
            options: [CachedStore.backendOption: CachedStore.Reference(backend, options)])
        return store as! CachedStore
    }
}

extension NSPersistentStoreDescription {
    /// Creates the description of a store that caches a backend's answers, for a container.
    ///
    /// - Parameters:
    ///   - backend: The backend.
    ///   - url: The location of the file.
    ///   - options: The configuration of the store.
    public convenience init(backend: some Backend, cachedAt url: URL, options: CachedStoreOptions = CachedStoreOptions()) {
        NSPersistentStoreCoordinator.registerStoreClass(CoordinatedCachedStore.self, forStoreType: CachedStore.typeName)
        self.init(url: CachedStore.place(url, user: options.user))
        type = CachedStore.typeName
        setOption(CachedStore.Reference(backend, options), forKey: CachedStore.backendOption)
    }
}

extension CachedStore {
    /// Returns the location of a user's file.
    static func place(_ url: URL, user: String?) -> URL {
        guard let user else { return url }
        let name = user.utf8.map { byte in
            let isPlain =
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            return isPlain ? String(UnicodeScalar(byte)) : "_\(byte)_"
        }.joined()
        let whole = url.deletingPathExtension().lastPathComponent + "-" + name
        let place = url.deletingLastPathComponent().appendingPathComponent(whole)
        return url.pathExtension.isEmpty ? place : place.appendingPathExtension(url.pathExtension)
    }
}
