@_spi(Stores) public import ObjectGraph

extension NSPersistentStore {
    /// Returns the data of an object that a remote store received and could not read, in whole or in part; nil for an object that could be read, and for other
    /// stores.
    ///
    /// Call it on any thread. The data is available for as long as a context has the object.
    public func unreadableResource(of id: NSManagedObjectID) -> UnreadableResource? {
        switch self {
        case let store as BackendStore: return store.reader.unreadable.note(id)
        case let store as CachedStore: return store.remoteIDOfUnread(id).flatMap { store.reader.unreadable.note($0) }
        default: return nil
        }
    }
}
